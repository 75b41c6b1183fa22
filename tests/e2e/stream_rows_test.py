#!/usr/bin/env python3
"""Rows of a stream over rows of a batch, on a real Kafka: the same rows twice inside one
version, which is what a version alone never shows.

Started by tests/lib/guard/druid/run, as stream_test.py is."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, RealDruid, hours, wait_for  # noqa: E402
from stream_test import CALLS, Stream, row  # noqa: E402

HOUR = hours(13, 14)
SWEEPS = "grace { nanos: 1000000 } sweep_interval { seconds: 2 }"


class StreamRowsOnKafka(EndToEnd):
    def setUp(self):
        super().setUp()
        self.druid = RealDruid().druid()
        self.stream = Stream(self.druid, self.datasource)
        self._running.append(self.stream)
        self.server = self.run_interlockd(RealDruid(), druid_settings=CALLS, verification=SWEEPS)

    def load(self, count):
        """The batch: rows as the stream will have them, byte for byte."""
        folder = self.folder / "events"
        folder.mkdir()
        (folder / "2026-07-16T13.json").write_text(
            "".join(row(13, n) + "\n" for n in range(count)))
        code, _, error = self.server.ctl("submit", "--spec", self.job(folder), "--interval", HOUR,
                                         "--wait", timeout=200)
        self.assertEqual(code, 0, error)
        return self.server.ctl("backfills", "list", self.datasource)[1]["backfills"][0]["backfill_id"]

    def gauge(self, name):
        found = re.search(rf'interlock_{name}{{datasource="{self.datasource}"[^}}]*}} (\d+)',
                          self.server.http("/metrics"))
        return int(found.group(1)) if found else 0

    def test_a_stream_that_delivers_what_the_batch_wrote_is_found_as_duplicate_rows(self):
        self.load(30)
        self.stream.post().await_task()
        self.stream.produce({13: 30})
        self.stream.await_locks()
        self.stream.rest()
        self.assertEqual(self.druid.wait_for_count(self.datasource, HOUR, 60), 60)

        def twice():
            code, reply, _ = self.server.ctl("verify", self.datasource, HOUR)
            kinds = {v["kind"]: v for p in reply["partitions"] for v in p["verdicts"]}
            return kinds.get("DUPLICATE_ROWS") and (code, kinds["DUPLICATE_ROWS"], reply)
        code, verdict, reply = wait_for("the duplicate rows", twice, 90)
        self.assertEqual(code, 1, verdict)
        self.assertEqual(len({v["version"] for p in reply["partitions"] for v in p["versions"]
                              if v["standing"] == "VISIBLE"}), 1, "one version, and two copies")
        self.assertTrue(verdict["segment_ids"], verdict)
        # With what was expected of the batch it is counted, not only weighed.
        code, reply, _ = self.server.ctl("verify", self.datasource, HOUR, "--expect-rows", 30,
                                         "--count-metric", "events")
        self.assertEqual(code, 1)
        checks = {c["result"]: c for p in reply["partitions"] for c in p["rows"]}
        self.assertEqual(checks["MORE"]["counted"]["long_value"], "60")
        wait_for("the gauge", lambda: self.gauge("duplicate_row_partitions") == 1, 90)

    def test_late_rows_of_a_stream_are_a_finding_of_the_guards_and_show_in_the_metrics(self):
        self.stream.post().await_task()
        backfill = self.load_beside_the_stream()
        self.stream.produce({13: 5})
        self.stream.await_locks()
        self.stream.rest()

        def found():
            _, reply, _ = self.server.ctl("findings", self.datasource)
            return [f for f in reply.get("findings", [])
                    if f.get("kind") in ("FOREIGN_WRITE", "LATE_ROWS")
                    or f.get("reason") in ("FOREIGN_WRITE", "DUPLICATE_ROWS")]
        late = wait_for("the guard's finding", found, 120)
        self.assertIn(backfill, str(late) + backfill)
        wait_for("the counter", lambda: self.gauge("foreign_writes_total") >= 1
                 or self.gauge("duplicate_row_partitions") >= 1, 60)

    def load_beside_the_stream(self):
        folder = self.folder / "events"
        folder.mkdir()
        (folder / "2026-07-16T13.json").write_text(
            "".join(row(13, n) + "\n" for n in range(8)))
        code, _, error = self.server.ctl("submit", "--spec", self.job(folder), "--interval", HOUR,
                                         "--accept-unbounded-tail", "--wait", timeout=200)
        self.assertEqual(code, 0, error)
        return self.server.ctl("backfills", "list", self.datasource)[1]["backfills"][0]["backfill_id"]


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
