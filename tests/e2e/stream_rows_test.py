#!/usr/bin/env python3
"""Rows of a stream over rows of a batch, on a real Kafka: the same rows twice inside one
version, which is what a version alone never shows; and what the metrics say of it.

Started by tests/lib/guard/druid/run, which brings a Druid with Kafka.
"""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import hours, wait_for  # noqa: E402
from streams import HOUR, OnKafka, row  # noqa: E402

SWEEPS = "grace { nanos: 1000000 } sweep_interval { seconds: 2 }"
ROWS = 30


class OnKafkaRows(OnKafka):
    def load(self, server, *words):
        """The batch: rows as the stream has them, byte for byte."""
        folder = self.folder / "events"
        folder.mkdir()
        (folder / "2026-07-16T13.json").write_text(
            "".join(row(13, n) + "\n" for n in range(ROWS)))
        code, reply, error = server.ctl("submit", "--spec", self.job(folder), "--interval", HOUR,
                                        "--wait", *words, timeout=240)
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)

    def metric(self, server, name):
        """Of this datasource, all of its labels together."""
        found = re.findall(rf'^interlock_{name}{{[^}}]*datasource="{self.datasource}"[^}}]*}} (\d+)',
                           server.http("/metrics"), re.M)
        return sum(map(int, found))

    def test_a_stream_that_delivers_what_the_batch_wrote_is_duplicate_rows_in_one_version(self):
        server = self.serve(verification=SWEEPS)
        self.load(server)
        self.assertEqual(self.metric(server, "duplicate_row_partitions"), 0)
        self.stream.post().await_task()
        self.stream.produce({13: ROWS})
        self.stream.await_locks()
        self.stream.rest()
        self.assertEqual(self.druid.wait_for_count(self.datasource, HOUR, 2 * ROWS), 2 * ROWS)

        def twice():
            code, reply, _ = server.ctl("verify", self.datasource, HOUR)
            kinds = {v["kind"]: v for p in reply.get("partitions", []) for v in p["verdicts"]}
            return "DUPLICATE_ROWS" in kinds and (code, kinds["DUPLICATE_ROWS"], reply)
        code, verdict, reply = wait_for("the duplicate rows", twice, 90)
        self.assertEqual(code, 1, verdict)
        visible = {v["version"] for p in reply["partitions"] for v in p["versions"]
                   if v["standing"] == "VISIBLE"}
        self.assertEqual(len(visible), 1, "one version, and two copies")
        self.assertEqual(set(verdict["versions"]), visible)
        # Where somebody says how many there should be, it is counted, and not only weighed.
        code, reply, _ = server.ctl("verify", self.datasource, HOUR, "--expect-rows", ROWS,
                                    "--count-metric", "events")
        self.assertEqual(code, 1)
        checks = {c["result"]: c for p in reply["partitions"] for c in p["rows"]}
        self.assertEqual(checks["MORE"]["counted"]["long_value"], str(2 * ROWS))
        wait_for("the gauge", lambda: self.metric(server, "duplicate_row_partitions") == 1, 90)

    def test_an_hour_that_only_a_stream_has_rows_of_is_not_empty(self):
        server = self.serve(verification=SWEEPS)
        self.load(server)
        self.stream.post().await_task()
        self.stream.produce({15: 7})
        self.stream.await_locks()

        def realtime(*flags):
            code, reply, _ = server.ctl("verify", self.datasource, hours(15, 16), *flags)
            reasons = {v["reason"] for p in reply["partitions"] for v in p["verdicts"]}
            return code == 6 and "REALTIME_ROWS" in reasons
        wait_for("rows that nobody has published", realtime, 60)
        self.assertTrue(realtime("--expect-rows", 7, "--count-metric", "events"))

    def test_what_the_guard_finds_beside_a_plain_backfill_is_in_the_metrics(self):
        server = self.serve(verification=SWEEPS)
        self.stream.post().await_task()
        self.knows(server)
        self.load(server, "--accept-unbounded-tail")
        before = self.metric(server, "foreign_writes_total")
        self.stream.produce({13: 2})
        self.stream.await_locks()
        self.stream.rest()
        wait_for("the guard's finding", lambda: self.findings(server, "FOREIGN_WRITE"), 120)
        wait_for("the counter", lambda: self.metric(server, "foreign_writes_total") > before, 60)


if __name__ == "__main__":
    unittest.main()
