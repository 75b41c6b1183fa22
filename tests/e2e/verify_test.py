#!/usr/bin/env python3
"""What `verify` and `explain` say of what a caller names and expects, by the programs."""
import copy
import json
import pathlib
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, hours, wait_for  # noqa: E402


class Expectations(EndToEnd):
    """Three hours with 5, 7 and 9 events, written past Interlock into a simulated Druid."""

    def setUp(self):
        super().setUp()
        self.simulator = self.run_simulator()
        self.druid = self.simulator.druid()
        self.server = self.run_interlockd(self.simulator)
        self.write({10: 5, 11: 7, 12: 9})

    def write(self, counts, datasource=None):
        spec = json.loads(self.job(self.events(counts)).read_text())
        body = copy.deepcopy(spec["spec"])
        name = datasource or self.datasource
        body["dataSchema"]["dataSource"] = name
        first, last = min(counts), max(counts) + 1
        body["dataSchema"]["granularitySpec"]["intervals"] = [hours(first, last)]
        body["ioConfig"]["inputSource"]["filter"] = "*.json"
        self.assertEqual(self.druid.run_task({"type": "index_parallel", "spec": body}), "SUCCESS")
        # Some seconds until the broker sees it.
        code, _, error = self.server.ctl("verify", name, hours(first, last), "--wait", "30s")
        self.assertEqual(code, 0, error)

    def verify(self, *flags, first=10, end=13, **options):
        return self.server.ctl("verify", self.datasource, hours(first, end), *flags, **options)

    def test_a_total_is_proven_as_a_total(self):
        code, reply, error = self.verify("--expect-rows", 21, "--count-metric", "events")
        self.assertEqual((code, reply["verdict"], reply["level"]), (0, "SINGLE_VERSION", "SERVED"),
                         error)
        self.assertEqual([row["result"] for row in reply["rows"]], ["EQUAL"])
        self.assertEqual((reply["good_count"], reply["partition_count"]), ("3", "3"))
        for partition in reply["partitions"]:
            self.assertEqual([v["kind"] for v in partition["verdicts"]], ["SINGLE_VERSION"])
            self.assertEqual([row["result"] for row in partition["rows"]], ["NOT_PROVABLE"])
        self.assertEqual([p["rows"][0]["counted"]["long_value"] for p in reply["partitions"]],
                         ["5", "7", "9"])

    def test_a_total_that_is_not_as_expected_is_wrong_as_a_whole(self):
        code, reply, error = self.verify("--expect-rows", 22, "--count-metric", "events")
        self.assertEqual((code, reply["verdict"], reply.get("good", False)),
                         (1, "MISSING_ROWS", False))
        self.assertEqual((reply["level"], reply["good_count"]), ("SERVED", "3"))
        self.assertIn("21 rows, and 22 are expected by the caller", error)
        self.assertNotIn("not good", error)
        code, reply, error = self.verify("--expect-rows", 7, "--count-metric", "events")
        self.assertEqual((code, reply["verdict"]), (1, "DUPLICATE_ROWS"))
        self.assertIn("3 times as many", error)
        code, text, _ = self.verify("--expect-rows", 22, "--count-metric", "events",
                                    "-o", "table", json_output=False)
        self.assertIn("MISSING_ROWS: 3 of 3 partition(s) good by themselves, and not together, "
                      "at level SERVED", text)

    def test_a_partition_that_is_short_is_named(self):
        code, reply, error = self.verify("--min-rows", 6, "--count-metric", "events")
        self.assertEqual((code, reply["verdict"], reply["good_count"]), (1, "MISSING_ROWS", "2"))
        self.assertIn("at least 6", error)
        self.assertIn("1 of 3 partition(s) not good", error)

    def test_calls_that_wait_hold_up_nobody_else_and_poll_the_coordinator_once(self):
        before = len(self.simulator.requests())

        def polls():
            asked = [r["target"] for r in self.simulator.requests()[before:]]
            return sum("forceMetadataRefresh=true" in target for target in asked)
        words = ("--expect-rows", 22, "--count-metric", "events", "--wait", "8s")
        waiting = [threading.Thread(target=self.verify, args=words) for _ in range(20)]
        for one in waiting:
            one.start()
        wait_for("the first look of each", lambda: polls() == len(waiting))
        begun = time.monotonic()
        code, _, error = self.server.ctl("findings")
        self.assertEqual(code, 0, error)
        self.assertLess(time.monotonic() - begun, 5, "it waits for none of them")
        for one in waiting:
            one.join()
        self.assertEqual(polls(), len(waiting), "one each")

    def test_a_drain_does_not_wait_for_those_who_wait(self):
        before = len(self.simulator.requests())
        told = []
        waiting = threading.Thread(target=lambda: told.append(self.verify(
            "--expect-rows", 22, "--count-metric", "events", "--wait", "10m", "--timeout", "5s")))
        waiting.start()
        wait_for("its first look", lambda: len(self.simulator.requests()) > before)
        begun = time.monotonic()
        self.assertEqual(self.server.stop(), 0)
        self.assertLess(time.monotonic() - begun, 10, "of the 20 s that a drain may take")
        waiting.join(120)
        self.assertEqual(told[0][0], 3, told)

    def test_all_of_time_is_answered_by_what_is_there(self):
        code, reply, error = self.server.ctl("verify", self.datasource, "eternity",
                                             "--expect-rows", 21, "--count-metric", "events")
        self.assertEqual((code, reply["verdict"]), (0, "SINGLE_VERSION"), error)
        self.assertEqual(reply["partition_count"], "5")

    def test_a_misspelt_metric_is_bad_input(self):
        code, _, error = self.verify("--expect-rows", 21, "--count-metric", "evnts")
        self.assertEqual(code, 2, error)
        self.assertIn("UNKNOWN_METRIC", error)
        self.assertIn("'evnts'", error)
        self.assertIn("events", error)
        code, _, error = self.verify("--count-metric", "site")
        self.assertEqual(code, 2, error)
        self.assertIn("METRIC_NOT_NUMERIC", error)

    def test_a_misspelt_datasource_is_not_good_by_being_empty(self):
        code, reply, error = self.server.ctl("verify", "clikcs", hours(10, 13))
        self.assertEqual((code, reply["verdict"]), (6, "UNDETERMINED"))
        self.assertIn("Druid knows no datasource clikcs", error)
        code, reply, _ = self.server.ctl("explain", "clikcs", hours(10, 13))
        self.assertEqual(code, 0)
        self.assertIn("UNKNOWN_DATASOURCE", [n["reason"] for n in reply["notices"]])
        code, reply, _ = self.verify(first=20, end=21)
        self.assertEqual((code, reply["verdict"]), (0, "EMPTY"))

    def test_a_copy_is_compared_by_all_that_adds_up(self):
        copied = self.datasource + "_copy"
        self.write({10: 5, 11: 7, 12: 9}, datasource=copied)
        code, reply, error = self.verify("--same-as", copied)
        self.assertEqual(code, 0, error)
        measures = {row["measure"] for p in reply["partitions"] for row in p["rows"]}
        self.assertEqual(measures, {"events", "sent"})
        self.write({11: 8}, datasource=copied)
        code, reply, error = self.verify("--same-as", copied)
        self.assertEqual((code, reply["verdict"], reply["good_count"]), (1, "MISSING_ROWS", "2"))
        self.assertIn("datasource " + copied, error)
        code, reply, _ = self.verify("--same-as", "cpoy")
        self.assertEqual((code, reply["verdict"]), (6, "UNDETERMINED"))

    def test_what_a_backfill_proved_is_compared(self):
        spec = self.job(self.events({10: 5, 11: 7}))
        code, reply, error = self.server.ctl("submit", "--spec", spec, "--interval", hours(10, 12),
                                             "--wait")
        self.assertEqual(code, 0, error)
        backfill = reply["backfill"]["backfill_id"] if "backfill" in reply else reply["backfill_id"]
        code, reply, error = self.verify("--backfill", backfill, end=12)
        self.assertEqual(code, 0, error)
        rows = [row for p in reply["partitions"] for row in p["rows"]]
        self.assertEqual({(r["source"], r["result"]) for r in rows}, {("LAST_PROOF", "EQUAL")})
        self.write({11: 8})
        code, reply, error = self.verify("--backfill", backfill, end=12)
        self.assertEqual(code, 1)
        kinds = {v["kind"] for p in reply["partitions"] for v in p["verdicts"]}
        self.assertLessEqual({"FOREIGN_WRITE", "DUPLICATE_ROWS"}, kinds)
        code, _, error = self.verify("--backfill", backfill, first=12)
        self.assertEqual(code, 1)
        self.assertIn("NOTHING_PROVEN", error)
        code, _, error = self.server.ctl("verify", "other", hours(10, 11), "--backfill", backfill)
        self.assertEqual(code, 2, error)

    def test_an_explanation_has_seals_and_streams(self):
        code, _, error = self.server.ctl("streams", "register", self.datasource, "--stream", "live",
                                         "--tail", "P2D")
        self.assertEqual(code, 0, error)
        code, reply, error = self.server.ctl("seal", self.datasource, hours(10, 11), "--reason",
                                             "the report is out")
        self.assertEqual(code, 0, error)
        code, reply, error = self.server.ctl("explain", self.datasource, hours(10, 12))
        self.assertEqual(code, 0, error)
        self.assertEqual([s["stream"] for s in reply["streams"]], ["live"])
        self.assertTrue(reply["streams"][0]["tail"])
        self.assertEqual([s["interval"] for s in reply["seals"]], [hours(10, 11)])
        kinds = {b["kind"] for b in reply["blockers"]}
        self.assertIn("SEAL", kinds)
        versions = reply["partitions"][0]["versions"]
        self.assertEqual([(v["loaded_count"], v["row_count"]) for v in versions], [(1, "5")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
