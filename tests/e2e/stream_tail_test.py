#!/usr/bin/env python3
"""What a real supervisor may still write, and backfills that reach into it.

Started by tests/lib/guard/druid/run, which brings a Druid with Kafka.
"""
import json
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import wait_for  # noqa: E402
from streams import OnKafka  # noqa: E402


class OnKafkaTails(OnKafka):
    def test_a_spec_as_the_guides_write_it_is_told_what_druid_makes_of_it(self):
        server = self.serve()
        path = self.folder / "supervisor.json"
        path.write_text(json.dumps(self.stream.spec(tuning={"skipOffsetFromLatest": "PT1H"})))
        code, reply, error = server.ctl("streams", "register", self.datasource,
                                        "--supervisor-spec", path)
        self.assertEqual(code, 0, error)
        self.assertIn("TAIL_NOT_ENFORCED", [n["reason"] for n in reply["notices"]])
        self.stream.post(tuning={"skipOffsetFromLatest": "PT1H"}).await_task()
        self.assertNotIn("skipOffsetFromLatest", json.dumps(
            self.stream.call("GET", f"supervisor/{self.datasource}")))
        stream = self.knows(server)
        self.assertEqual(stream["tail"]["source"], "SKIP_OFFSET_DECLARED")
        self.assertFalse(stream["tail"].get("enforced", False))

    def test_a_backfill_into_the_tail_is_refused_with_the_boundary(self):
        server = self.serve()
        self.stream.post(io={"lateMessageRejectionPeriod": "PT2H"})
        payload = self.stream.await_task()[0]
        boundary = payload["ioConfig"]["minimumMessageTime"]
        self.knows(server)
        day = boundary[:10]
        now = time.strftime("%Y-%m-%dT%H:00:00.000Z", time.gmtime())
        before = time.strftime("%Y-%m-%dT%H:00:00.000Z", time.gmtime(time.time() - 6 * 3600))
        code, _, error = server.ctl("submit", "--spec", self.reindex(f"{before}/{now}"))
        self.assertEqual(code, 1, error)
        self.assertIn("TAIL", error)
        self.assertIn(boundary, error)
        self.assertIn(f"the largest that would do is {before}/{day}", error)
        self.assertIn("--handover", error)

    def test_an_unbounded_tail_refuses_with_the_command_that_declares_one(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        code, _, error = server.ctl("submit", "--spec", self.reindex())
        self.assertEqual(code, 1, error)
        self.assertIn("UNBOUNDED_TAIL", error)
        command = f"interlockctl streams register {self.datasource} --tail P2D"
        self.assertIn(command, error)
        code, reply, error = server.ctl(*command.split()[1:])
        self.assertEqual(code, 0, error)
        self.assertEqual(reply["stream"]["tail"]["source"], "SETTING")
        self.assertEqual(server.ctl("submit", "--spec", self.reindex(), "--dry-run")[0], 0)

    def test_a_second_supervisor_of_the_datasource_is_noticed_and_said(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.post(topic=self.stream.topic + "_b")
        found = wait_for("it to be noticed", lambda: self.findings(server, "SUPERVISOR_REPLACED"))
        self.assertIn(self.stream.topic + "_b", found[0]["message"])


if __name__ == "__main__":
    unittest.main()
