#!/usr/bin/env python3
"""What people are told of a backfill: what is in its way, what was found of it, what its input
lacks, what another datasource has, what has become of its neighbours."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, RealDruid, hours, wait_for  # noqa: E402


class Told:
    def site(self, counts):
        druid, cluster = self.cluster()
        self.server = self.run_interlockd(cluster)
        return druid, self.job(self.events(counts))

    def submit(self, job, first, last, *words, wait=True):
        return self.server.ctl("submit", "--spec", job, "--interval", hours(first, last), *words,
                               *(["--wait"] if wait else []), timeout=120)

    def partitions(self, backfill):
        return self.server.ctl("backfills", "get", backfill)[1]["partitions"]

    def inline(self, job, lines, first, last):
        spec = json.loads(job.read_text())
        spec["spec"]["ioConfig"]["inputSource"] = {"type": "inline", "data": lines}
        spec["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [hours(first, last)]
        path = self.folder / "inline.json"
        path.write_text(json.dumps(spec))
        return path

    def test_who_holds_a_skipped_partition_is_told_with_it(self):
        _, job = self.site({10: 5, 11: 7})
        code, _, error = self.server.ctl("reserve", self.datasource, hours(11, 12), "--purpose",
                                         "orders", caller="bob")
        self.assertEqual(code, 0, error)
        _, reply, error = self.submit(job, 10, 12, "--skip-held", wait=False)
        skipped = self.partitions(reply["backfill"]["backfill_id"])[1]
        self.assertEqual(skipped["state"], "SKIPPED", error)
        self.assertEqual([(b["kind"], b["holder"], b["purpose"]) for b in skipped["blockers"]],
                         [("RESERVATION", "loopback/bob", "orders")])
        table = self.server.ctl("backfills", "get", reply["backfill"]["backfill_id"],
                                json_output=False)[1]
        self.assertIn("bob", table)

    def test_what_is_suspect_says_what_was_found_and_what_to_do(self):
        _, job = self.site({10: 5})
        expect = self.folder / "expect.json"
        expect.write_text(json.dumps({"partitions": [{"interval": hours(10, 11), "rows": "6"}]}))
        code, reply, error = self.submit(job, 10, 11, "--expect", expect)
        self.assertEqual(code, 1, error)
        verdict = self.partitions(reply["backfill_id"])[0]["verdicts"][0]
        self.assertEqual((verdict["kind"], verdict["reason"]), ("MISSING_ROWS", "ROWS_DIFFER"))
        self.assertIn("5 rows, and 6 are expected", verdict["message"])
        self.assertTrue(verdict["remedy"])

    def test_an_input_that_lacks_an_hour_with_rows_is_seen_in_the_plan_and_not_sent(self):
        druid, job = self.site({10: 5, 11: 7})
        self.assertEqual(self.submit(job, 10, 12)[0], 0)
        lines = (self.folder / "events" / "2026-07-16T10.json").read_text()
        short = self.inline(job, lines, 10, 12)
        code, reply, _ = self.submit(short, 10, 12, "--dry-run", wait=False)
        self.assertEqual(code, 1)
        lacking = reply["plan"]["partitions"][1]
        self.assertEqual((lacking["action"], lacking["blockers"][0]["reason"]),
                         ("BLOCKED", "INPUT_EMPTY"))
        before = len(druid.tasks(self.datasource))
        _, reply, _ = self.submit(short, 10, 12, wait=False)
        backfill = reply["backfill"]["backfill_id"]
        blocked = wait_for("the blocker", lambda: next(
            (p for p in self.partitions(backfill) if p.get("blockers")), None))
        self.assertEqual(blocked["blockers"][0]["reason"], "INPUT_EMPTY")
        self.assertEqual(len(druid.tasks(self.datasource)), before)
        self.server.ctl("backfills", "cancel", backfill)

    def test_a_datasource_that_must_have_the_same_is_compared_with(self):
        _, job = self.site({10: 5, 11: 7})
        self.assertEqual(self.submit(job, 10, 12)[0], 0)
        spec = json.loads(job.read_text())
        spec["spec"]["dataSchema"]["dataSource"] = copy = self.datasource + "_copy"
        other = self.folder / "copy.json"
        other.write_text(json.dumps(spec))
        code, reply, error = self.submit(other, 10, 12, "--same-as", self.datasource)
        self.assertEqual(code, 0, error)
        checks = self.partitions(reply["backfill_id"])[0]["proof"]["rows"]
        self.assertIn(("DATASOURCE", "EQUAL"), [(c["source"], c["result"]) for c in checks])
        self.events({10: 6})
        code, reply, error = self.submit(other, 10, 11, "--same-as", self.datasource,
                                         "--reprocess", "all")
        self.assertEqual(code, 1, error)
        self.assertIn(f"{self.datasource} has 5", self.partitions(reply["backfill_id"])[0]["message"])
        code, _, error = self.submit(other, 10, 11, "--same-as", copy, wait=False)
        self.assertEqual(code, 2, error)

    def test_a_verification_tells_what_became_of_the_neighbours(self):
        druid, job = self.site({9: 3, 10: 5, 11: 7})
        self.assertEqual(self.submit(job, 9, 10)[0], 0)
        code, reply, error = self.submit(job, 10, 11)
        self.assertEqual(code, 0, error)
        backfill = reply["backfill_id"]

        def verify():
            return self.server.ctl("verify", self.datasource, hours(10, 11), "--backfill", backfill)
        code, reply, error = verify()
        self.assertEqual((code, reply.get("neighbour_changes", [])), (0, []), error)
        # Another backfill next door is known; somebody's own task is not.
        self.assertEqual(self.submit(job, 11, 12)[0], 0)
        code, reply, error = verify()
        self.assertEqual((code, [c["cause"] for c in reply["neighbour_changes"]]),
                         (0, ["OURS_INTENDED"]), error)
        spec = json.loads(job.read_text())
        spec["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [hours(9, 10)]
        spec["spec"]["ioConfig"]["inputSource"]["filter"] = "2026-07-16T09.json"
        self.assertEqual(druid.run_task(spec), "SUCCESS")
        code, reply, error = verify()
        self.assertEqual(code, 1, error)
        self.assertIn(("UNEXPLAINED", hours(9, 10)),
                      [(c["cause"], c["interval"]) for c in reply["neighbour_changes"]])
        self.assertEqual(reply["verdict"], "FOREIGN_WRITE")


class SimulatedTold(Told, EndToEnd):
    def cluster(self):
        simulator = self.run_simulator()
        return simulator.druid(), simulator


class OnDruidTold(Told, EndToEnd):
    def cluster(self):
        real = RealDruid()
        return real.druid(), real


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
