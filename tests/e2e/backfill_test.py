#!/usr/bin/env python3
"""What people do with backfills that did not go as they wished, by interlockctl alone."""
import json
import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, RealDruid, hours, wait_for  # noqa: E402

SECRET = "hunter2-not-to-be-seen"


def states(reply):
    return [p["state"] for p in reply["partitions"]]


class WaysOut:
    """A backfill over two hours of five and seven events."""

    def site(self, **settings):
        druid, cluster = self.cluster()
        server = self.run_interlockd(cluster, **settings)
        return druid, server, self.job(self.events({10: 5, 11: 7}))

    def submit(self, server, job, *words, request="r"):
        return server.ctl("submit", "--spec", job, "--interval", hours(10, 12), "--request-id",
                          request, "--wait", *words)

    def breach(self, server, job, request="r"):
        """Of which 13 were expected, and which ends waiting for a person."""
        code, reply, error = self.submit(server, job, "--expect-rows", 13, request=request)
        self.assertEqual((code, reply["state"], reply["reason"]),
                         (1, "NEEDS_ATTENTION", "ROWS_DIFFER"), error)
        self.assertIn("12 rows came in, and 13 were expected", error)
        self.assertEqual(states(reply), ["SUSPECT", "SUSPECT"])
        return reply["backfill_id"], error

    def state_of(self, server, backfill):
        return server.ctl("backfills", "get", backfill)[1]["backfill"]["state"]

    def test_a_breach_names_the_commands_and_accept_ends_it(self):
        _, server, job = self.site()
        backfill, error = self.breach(server, job)
        for verb in ("accept", "rollback", "retry"):
            self.assertIn(f"interlockctl backfills {verb} {backfill}", error)
        code, reply, error = server.ctl("backfills", "accept", backfill, hours(10, 12), "--reason",
                                        "the source had lost a row")
        self.assertEqual((code, reply["backfill"]["state"]), (0, "DONE"), error)
        self.assertEqual(reply["partitions"][1]["proof"]["accept_reason"],
                         "the source had lost a row")
        self.assertEqual(self.state_of(server, backfill), "DONE")

    def test_a_breach_is_rolled_back_once_and_refused_a_second_time(self):
        druid, server, job = self.site()
        self.assertEqual(self.submit(server, job, request="first")[0], 0)
        self.events({10: 6})
        code, reply, error = self.submit(server, job, "--reprocess", "all", "--expect-rows", 12,
                                         request="second")
        self.assertEqual((code, reply["state"]), (1, "NEEDS_ATTENTION"), error)
        backfill = reply["backfill_id"]
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 12), 13), 13)
        code, _, error = server.ctl("backfills", "rollback", backfill, "--reason", "too many")
        self.assertEqual(code, 0, error)
        wait_for("the rollback", lambda: self.state_of(server, backfill) == "ROLLED_BACK")
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 12), 12), 12)
        code, _, error = server.ctl("backfills", "rollback", backfill, "--reason", "again")
        self.assertEqual(code, 1)
        self.assertIn("ALREADY_ROLLED_BACK", error)

    def test_a_breach_is_written_again_or_given_up(self):
        druid, server, job = self.site()
        backfill, _ = self.breach(server, job)
        self.events({11: 8})  # the row that was missing has come
        code, reply, error = server.ctl("backfills", "retry", backfill, "--state", "suspect")
        self.assertEqual((code, reply["retried_count"]), (0, "2"), error)
        wait_for("the retry", lambda: self.state_of(server, backfill) == "DONE")
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 12), 13), 13)
        self.events({11: 7})
        code, reply, error = self.submit(server, job, "--reprocess", "all", "--expect-rows", 13,
                                         request="again")
        self.assertEqual((code, reply["state"]), (1, "NEEDS_ATTENTION"), error)
        code, reply, error = server.ctl("backfills", "cancel", reply["backfill_id"])
        self.assertEqual((code, reply["backfill"]["state"]), (0, "CANCELLED"), error)

    def test_another_expectation_is_another_backfill(self):
        _, server, job = self.site()
        first, _ = self.breach(server, job)
        code, reply, error = self.submit(server, job, "--expect-rows", 12, request="second")
        self.assertEqual((code, reply["state"]), (0, "DONE"), error)
        self.assertNotEqual(reply["backfill_id"], first)

    def test_sums_and_single_partitions_are_held_against_what_is_expected(self):
        _, server, job = self.site()
        expect = self.folder / "expect.json"
        hour = {"interval": hours(10, 11), "rows": "5",
                "sums": [{"metric": "sent", "long_value": str(sum(range(100, 105)))}]}
        total = {"metric": "sent", "long_value": str(sum(range(100, 105)) + sum(range(100, 107)))}
        expect.write_text(json.dumps({"sums": [total], "partitions": [hour]}))
        code, reply, error = self.submit(server, job, "--expect", expect)
        self.assertEqual((code, reply["state"]), (0, "DONE"), error)
        self.assertEqual(reply["expect"]["partitions"][0]["rows"], "5")
        hour["sums"][0]["long_value"] = "1"
        expect.write_text(json.dumps({"partitions": [hour]}))
        code, reply, error = self.submit(server, job, "--expect", expect, "--reprocess", "all",
                                         request="second")
        self.assertEqual((code, reply["reason"]), (1, "SUMS_DIFFER"), error)
        self.assertEqual(states(reply), ["SUSPECT", "DONE"])

    def test_numbers_that_can_not_be_are_refused_and_named(self):
        druid, server, job = self.site()
        for words, named in ((("--min-rows", 25, "--expect-rows", 10),
                              ("/expect/min_rows", "/expect/rows")),
                             (("--expect-rows", -1), ("--expect-rows",)),
                             (("--min-rows", -1), ("--min-rows",)),
                             (("--max-unparseable", -1), ("--max-unparseable",)),
                             (("--max-parallel", 0), ("--max-parallel",)),
                             (("--max-parallel", -1), ("max-parallel",)),
                             (("--run-deadline", "0s"), ("/run_deadline",))):
            code, _, error = self.submit(server, job, *words)
            self.assertEqual(code, 2, (words, error))
            for name in named:
                self.assertIn(name, error)
        self.assertEqual(druid.tasks(self.datasource), [])
        self.assertEqual(server.ctl("backfills", "list", self.datasource)[1].get("backfills", []), [])

    def test_a_secret_is_refused_and_shown_nowhere(self):
        _, server, job = self.site()
        spec = json.loads(job.read_text())
        spec["spec"]["ioConfig"]["inputSource"] = {
            "type": "s3", "prefixes": ["s3://bucket/{start:%Y/%m/%d/%H}/"],
            "properties": {"accessKeyId": "AKIA", "secretAccessKey": SECRET}}
        job.write_text(json.dumps(spec))
        shown = []
        for words in (("submit", "--spec", job, "--interval", hours(10, 12)),
                      ("submit", "--spec", job, "--interval", hours(10, 12), "--dry-run"),
                      ("jobs", "put", job, "--name", "nightly")):
            code, reply, error = server.ctl(*words)
            self.assertEqual(code, 2, error)
            self.assertIn("/properties/secretAccessKey", error)
            self.assertIn("environment", error)
            shown += [json.dumps(reply), error]
        code, mended, error = server.ctl("submit", "--spec", job, "--interval", hours(10, 12),
                                         "--dry-run", "-o", "spec", json_output=False)
        self.assertEqual(code, 2)
        self.assertIn("SECRET_ACCESS_KEY", mended)
        stored = b"".join(f.read_bytes() for f in server.folder.glob("interlock.db*"))
        for text in (*shown, mended, error, server.log(), stored.decode(errors="replace")):
            self.assertNotIn(SECRET, text)

    def test_a_faulty_spec_is_printed_mended_and_refused_all_the_same(self):
        _, server, job = self.site()
        spec = json.loads(job.read_text())
        spec["spec"]["ioConfig"].update(appendToExisting=True, dropExisting=False)
        spec["spec"]["tuningConfig"]["forceGuaranteedRollup"] = False
        job.write_text(json.dumps(spec))
        dry_run = ("submit", "--spec", job, "--interval", hours(10, 12), "--dry-run", "-o", "spec")
        code, mended, error = server.ctl(*dry_run, json_output=False)
        self.assertEqual(code, 2)
        self.assertIn("/spec/ioConfig/appendToExisting", error)
        self.assertIn("/spec/ioConfig/dropExisting", error)
        job.write_text(mended)
        code, again, error = server.ctl(*dry_run, json_output=False)
        self.assertEqual(code, 0, error)
        self.assertFalse(json.loads(again)["spec"]["ioConfig"]["appendToExisting"])
        code, reply, error = self.submit(server, job)
        self.assertEqual((code, reply["state"]), (0, "DONE"), error)

    def test_a_dry_run_is_refused_for_what_a_submit_would_be(self):
        _, server, job = self.site()
        self.assertEqual(self.submit(server, job)[0], 0)
        dry_run = ("submit", "--spec", job, "--interval", hours(10, 11), "--reprocess", "all",
                   "--dry-run")
        code, reply, error = server.ctl(*dry_run)
        self.assertEqual(code, 0, error)
        generation = reply["plan"]["partitions"][0]["generation"]
        self.assertEqual(server.ctl(*dry_run, "--expect-generation", generation)[0], 0)
        code, _, error = server.ctl(*dry_run, "--expect-generation", "2001-01-01T00:00:00.000Z")
        self.assertEqual(code, 1)
        self.assertIn("GENERATION_MOVED", error)
        code, _, error = server.ctl(*dry_run, "--plan-revision", "none")
        self.assertEqual(code, 1)
        self.assertIn("PLAN_STALE", error)

    def test_the_regular_run_and_a_backfill_share_the_days_and_name_each_other(self):
        druid, server, job = self.site()
        self.events({h: 3 for h in range(8, 14)})
        code, _, error = server.ctl("jobs", "put", job, "--name", "nightly")
        self.assertEqual(code, 0, error)
        replies = {}

        def run(caller, first, last):
            replies[caller] = server.ctl("submit", "--job", "nightly", "--interval",
                                         hours(first, last), "--skip-held", "--request-id", caller,
                                         "--wait", caller=caller)
        both = [threading.Thread(target=run, args=("scheduler", 10, 12)),
                threading.Thread(target=run, args=("ada", 8, 14))]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        done = {}
        skipped = []
        for caller, (code, reply, error) in replies.items():
            self.assertIn(code, (0, 1), error)
            for partition in reply.get("partitions", []):
                if partition["state"] == "DONE":
                    self.assertNotIn(partition["partition"], done)
                    done[partition["partition"]] = caller
                else:
                    self.assertEqual(partition["state"], "SKIPPED", partition)
                    skipped.append((caller, partition))
        self.assertEqual(len(done), 6, replies)
        for caller, partition in skipped:
            other = "ada" if caller == "scheduler" else "scheduler"
            self.assertIn(other if partition["reason"] == "HELD" else "the same work is done",
                          partition["message"])
        for code, _, error in replies.values():
            if code == 1:  # nothing was left for it
                self.assertIn("HELD", error)
        self.assertEqual(len(druid.tasks(self.datasource)), 6)


class SimulatedBackfills(WaysOut, EndToEnd):
    def cluster(self):
        simulator = self.run_simulator()
        return simulator.druid(), simulator


class OnDruidBackfills(WaysOut, EndToEnd):
    def cluster(self):
        real = RealDruid()
        return real.druid(), real


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
