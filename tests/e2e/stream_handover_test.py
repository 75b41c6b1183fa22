#!/usr/bin/env python3
"""A real supervisor suspended, its hours recomputed, and resumed.

Started by tests/lib/guard/druid/run, which brings a Druid with Kafka.
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import wait_for  # noqa: E402
from streams import HOUR, OnKafka  # noqa: E402


class OnKafkaHandovers(OnKafka):
    def test_the_handover_under_a_running_producer_loses_nothing_and_counts_nothing_twice(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 500})
        self.stream.await_locks()
        self.stream.keep_producing({13: 7, 14: 3})
        code, reply, error = self.hand_over(server, self.reindex())
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)
        over = self.await_over(server)
        self.assertEqual(self.why_early(over), [])
        self.assertFalse(self.stream.suspended())
        self.stream.await_task()
        committed = sum(int(n) for n in over["handover"]["committed_offsets"].values())
        starts = [sum(p["ioConfig"]["startSequenceNumbers"]["partitionSequenceNumberMap"].values())
                  for p in self.stream.payloads()]
        self.assertIn(committed, starts, "the next task starts where the handover says")
        self.stream.stop_producing()
        wait_for("the rest to be read", lambda: self.druid.count(
            self.datasource, HOUR) == self.stream.produced[13])
        self.assert_once(13)
        self.assert_once(14)
        self.assertIn(f'interlock_handover_seconds_count{{datasource="{self.datasource}"}} 1',
                      server.http("/metrics"))

    def test_killed_at_each_step_of_the_handover_the_stream_comes_back(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 200})
        self.stream.await_locks()
        self.stream.keep_producing({13: 5})
        code, _, error = self.hand_over(server, self.reindex(), wait=False)
        self.assertEqual(code, 0, error)
        seen = set()

        def over():
            now = server.query(
                "SELECT h.state, s.asked_ms IS NOT NULL, s.unsettled, u.state FROM backfill_handover"
                " h LEFT JOIN backfill_handover_supervisor s ON s.backfill_id = h.backfill_id"
                " JOIN backfill_unit u ON u.backfill_id = h.backfill_id")[0]
            if now[0] != "OVER" and now not in seen:
                seen.add(now)
                server.kill()
                server.start()
            return now[0] == "OVER"
        wait_for("the handover to be over", over, 240)
        self.assertGreaterEqual(len(seen), 5, seen)
        self.assertEqual({s[0] for s in seen} & {"DRAINING", "SUSPENDED", "RESUMING"},
                         {"DRAINING", "SUSPENDED", "RESUMING"}, seen)
        self.await_over(server)
        self.assertEqual(self.backfill(server)["state"], "DONE")
        self.assertFalse(self.stream.suspended())
        self.stream.await_task()
        self.stream.stop_producing()
        self.assert_once()

    def test_when_the_pause_runs_out_in_the_middle_the_stream_resumes_and_the_rest_waits(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 100})
        self.stream.await_locks()
        # All of the indexer's slots are taken once the stream has left its own.
        for n in range(3):
            self.stream.call("POST", "task", {"type": "noop", "id": f"full-{self.datasource}-{n}",
                                              "runTime": 60_000})
        code, _, error = self.hand_over(server, self.reindex(), "--max-pause", "25s", wait=False)
        self.assertEqual(code, 0, error)
        over = self.await_over(server)
        self.assertEqual(self.why_early(over), ["PAUSE_OVER"])
        self.assertFalse(self.stream.suspended())
        self.assertIn(over["state"], ("PENDING", "RUNNING"))
        self.assertIn("PAUSE_OVER", self.partitions(server))
        self.stream.await_task()
        self.stream.produce({13: 20})
        wait_for("the stream to go on", lambda: self.druid.count(self.datasource, HOUR) == 120)
        self.assert_once()

    def test_a_person_who_resumes_the_stream_meanwhile_is_noticed_and_said(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 50})
        self.stream.await_locks()
        code, _, error = self.hand_over(server, self.reindex(), wait=False)
        self.assertEqual(code, 0, error)
        wait_for("the stream to be suspended", self.stream.suspended)
        wait_for("Interlock to have seen that", lambda: server.query(
            "SELECT seen_suspended FROM backfill_handover_supervisor")[0][0])
        self.stream.resume()
        over = self.await_over(server)
        self.assertEqual(self.why_early(over), ["RESUMED_BY_OTHERS"])
        self.assertFalse(self.stream.suspended())
        self.assert_once()

    def test_the_indexer_killed_in_the_middle_of_a_handover_counts_nothing_twice(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 100})
        self.stream.await_locks()
        code, _, error = self.hand_over(server, self.reindex(), wait=False)
        self.assertEqual(code, 0, error)
        wait_for("the stream to be suspended", self.stream.suspended)
        self.indexer("kill-role")
        self.indexer("start-role")
        over = self.await_over(server)
        self.assertFalse(self.stream.suspended())
        self.stream.await_task()
        wait_for("all to be there", lambda: self.druid.count(self.datasource, HOUR) >= 100)
        self.assertIn(over["state"], ("DONE", "RUNNING", "FAILED"))
        self.assert_once()


if __name__ == "__main__":
    unittest.main()
