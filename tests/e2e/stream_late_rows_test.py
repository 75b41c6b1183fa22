#!/usr/bin/env python3
"""Rows that a real stream adds to what a backfill proved.

Started by tests/lib/guard/druid/run, which brings a Druid with Kafka.
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import wait_for  # noqa: E402
from streams import HOUR, OnKafka  # noqa: E402


class OnKafkaLateRows(OnKafka):
    def test_late_messages_after_a_plain_backfill_are_found_and_named(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        spec = self.job(self.events({13: 6}))
        code, reply, error = server.ctl("submit", "--spec", spec, "--interval", HOUR,
                                        "--accept-unbounded-tail", "--wait")
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)
        self.assertIn("LATE_ROWS_POSSIBLE", json.dumps(self.backfill(server)["notices"]))
        self.assertEqual(self.findings(server, "FOREIGN_WRITE"), [])
        self.stream.produce({13: 2})
        self.stream.await_locks()
        self.stream.rest()
        found = wait_for("the rows to be found", lambda: self.findings(server, "FOREIGN_WRITE"))
        self.assertEqual(found[0]["stream"], self.datasource)
        self.assertEqual(found[0]["backfill_id"], reply["backfill_id"])
        self.assertEqual(found[0]["interval"], HOUR)
        self.assertEqual(self.druid.wait_for_count(self.datasource, HOUR, 8), 8)

    def test_with_other_input_late_rows_are_possible_and_are_found(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 6})
        self.stream.await_locks()
        spec = self.job(self.events({13: 8}))  # has two rows that the stream reads later
        code, reply, error = self.hand_over(server, spec, "--interval", HOUR, wait=False)
        self.assertEqual(code, 0, error)
        self.assertIn("LATE_ROWS_POSSIBLE", json.dumps(self.backfill(server)["notices"]))
        self.await_over(server)
        self.stream.await_task()
        self.stream.produce({13: 2})
        self.stream.await_locks()
        self.stream.rest()
        found = wait_for("the rows to be found", lambda: self.findings(server, "FOREIGN_WRITE"))
        self.assertIn(self.datasource, found[0]["message"])
        self.assertEqual(self.druid.wait_for_count(self.datasource, HOUR, 10), 10)

    def test_rows_that_a_lost_stream_task_reads_again_beside_a_plain_backfill_are_found(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 6})
        self.stream.await_locks()
        spec = self.job(self.events({13: 6}))  # the very rows that the stream has read
        code, _, error = server.ctl("submit", "--spec", spec, "--interval", HOUR,
                                    "--accept-unbounded-tail", "--request-id", "p1")
        self.assertEqual(code, 0, error)
        wait_for("it to wait for the stream's lock",
                 lambda: "STREAM_HOLDS_LOCK" in self.partitions(server))
        self.indexer("kill-role")
        self.indexer("start-role")
        # Druid frees the stream's lock: the backfill gets in, and the stream reads its rows
        # again; or the next task has the lock first, and the backfill still waits.
        self.stream.await_task()
        self.stream.await_locks()
        self.stream.rest()
        wait_for("the backfill to be over", lambda: self.backfill(server)["state"] in (
            "DONE", "NEEDS_ATTENTION"), 240)
        if self.druid.wait_for_count(self.datasource, HOUR, 6, 20) == 6:
            return  # prevented
        found = wait_for("the rows to be found", lambda: self.findings(server, "DUPLICATE_ROWS"))
        self.assertIn("lost", found[0]["message"])

    def test_concurrent_locks_are_refused_and_where_insisted_upon_the_double_count_is_found(self):
        server = self.serve()
        self.stream.post(context={"useConcurrentLocks": True}).await_task()
        self.knows(server)
        self.stream.produce({13: 3})
        self.stream.await_locks()
        spec = json.loads(self.job(self.events({13: 2})).read_text())
        spec["context"] = {"useConcurrentLocks": True}
        path = self.folder / "concurrent.json"
        path.write_text(json.dumps(spec))
        words = ["submit", "--spec", path, "--interval", HOUR]
        code, _, error = server.ctl(*words)
        self.assertEqual(code, 2, error)
        self.assertIn("useConcurrentLocks", error)
        code, _, error = server.ctl(*words, "--accept-concurrent-append", "--wait")
        self.assertIn(code, (0, 1, 6), error)
        self.assertIn("CONCURRENT_APPEND", json.dumps(self.backfill(server)["notices"]))
        self.stream.rest()
        if code != 0:  # the stream's rows stood beside its own while it was proven
            backfill = self.backfill(server)
            self.assertEqual((backfill["state"], backfill["reason"]),
                             ("NEEDS_ATTENTION", "DUPLICATE_ROWS"), backfill["message"])
            return
        found = wait_for("the double count to be found",
                         lambda: self.findings(server, "DUPLICATE_ROWS"))
        self.assertEqual(found[0]["interval"], HOUR)
        self.assertIn("upgraded", found[0]["message"])
        self.assertIn(self.datasource, found[0]["message"])


if __name__ == "__main__":
    unittest.main()
