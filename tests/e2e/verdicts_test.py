#!/usr/bin/env python3
"""Each verdict, by really bringing a Druid into the state that it speaks of.

What a real one can't be brought to is shown elsewhere: FOREIGN_WRITE and NEIGHBOUR_CHANGED
over what a backfill proved (tests/lib/verify, tests/lib/backfill), a load rule that is there
for no segment (Druid's default rule is always there), shard specs that nobody knows."""
import copy
import json
import pathlib
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, RealDruid, hours, wait_for  # noqa: E402

NOWHERE = [{"type": "loadForever", "tieredReplicants": {"a_tier_without_servers": 1}}]
NO_REPLICA = [{"type": "loadForever", "tieredReplicants": {}}]
DAY = "2026-07-16T00:00:00.000Z/2026-07-17T00:00:00.000Z"
QUICK_GRACE = "grace { nanos: 1000000 } sweep_interval { seconds: -1 }"


class VerdictSite:
    """A Druid with data of its own, written past Interlock."""

    def begin(self, verification="sweep_interval { seconds: -1 }"):
        self.real = RealDruid()
        self.druid = self.real.druid()
        self.server = self.run_interlockd(self.real, verification=verification)
        self.addCleanup(self.rules, [])

    def post(self, url, body):
        request = urllib.request.Request(url, json.dumps(body).encode(), {
            "Content-Type": "application/json", "Accept": "application/json"}, method="POST")
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.read()

    def rules(self, rules):
        self.post(f"{self.real.coordinator}/druid/coordinator/v1/rules/{self.datasource}", rules)

    def mark_unused(self, ids):
        self.post(f"{self.real.overlord}/druid/indexer/v1/datasources/{self.datasource}/markUnused",
                  {"segmentIds": ids})

    def write(self, hour=10, until=None, append=False, granularity="HOUR", shards=None, files=None,
              most_rows=None, as_it_came=False, context=None):
        """A task over the files of the hours, as any scheduler would run it."""
        spec = json.loads(self.job(self.folder / "events").read_text())
        body = copy.deepcopy(spec["spec"])
        body["dataSchema"]["granularitySpec"]["segmentGranularity"] = granularity
        span = hours(hour, until or hour + 1) if granularity == "HOUR" \
            else DAY
        body["dataSchema"]["granularitySpec"]["intervals"] = [span]
        body["ioConfig"].update(appendToExisting=append, dropExisting=not append)
        body["ioConfig"]["inputSource"]["filter"] = files or f"2026-07-16T{hour:02d}.json"
        if shards:
            body["tuningConfig"].update(forceGuaranteedRollup=True, partitionsSpec={
                "type": "hashed", "numShards": shards})
        if as_it_came:
            body["dataSchema"]["granularitySpec"].update(rollup=False, queryGranularity="NONE")
        if most_rows:
            body["tuningConfig"].update(partitionsSpec={
                "type": "dynamic", "maxRowsPerSegment": most_rows})
        task = {"type": "index_parallel", "spec": body}
        if context:
            task["context"] = context
        self.assertEqual(self.druid.run_task(task), "SUCCESS")

    def verify(self, first=10, end=11, *flags):
        code, reply, error = self.server.ctl("verify", self.datasource, hours(first, end), *flags)
        return code, reply, error

    def kinds(self, reply):
        return {v["kind"]: v for p in reply["partitions"] for v in p["verdicts"]}

    def becomes(self, kind, *flags, interval=hours(10, 11)):
        """Looks until the verdict is there; gives code and verdict."""
        def look():
            code, reply, _ = self.server.ctl("verify", self.datasource, interval, *flags)
            found = self.kinds(reply).get(kind) if reply else None
            return found and (code, found)
        code, verdict = wait_for(kind, look, 60)
        self.assertTrue(verdict.get("message"), verdict)
        if kind != "SINGLE_VERSION":
            self.assertTrue(verdict.get("remedy"), "what to do next is missing")
        return code, verdict


class OnDruidVerdicts(VerdictSite, EndToEnd):
    def test_single_version(self):
        self.begin()
        self.events({10: 5})
        self.write()
        self.assertEqual(self.becomes("SINGLE_VERSION", "--wait", "30s")[0], 0)

    def test_empty(self):
        self.begin()
        self.events({10: 5})
        self.write()
        self.assertEqual(self.becomes("EMPTY", interval=hours(20, 21))[0], 0)

    def test_names_that_druid_does_not_know_are_never_good(self):
        self.begin()
        code, verdict = self.becomes("UNDETERMINED")
        self.assertEqual((code, verdict["reason"]), (6, "UNKNOWN_DATASOURCE"))
        self.events({10: 5})
        self.write()
        self.becomes("SINGLE_VERSION", "--wait", "30s")
        code, _, error = self.verify(10, 11, "--expect-rows", 5, "--count-metric", "evnts")
        self.assertEqual(code, 2, error)
        self.assertIn("UNKNOWN_METRIC", error)
        # Taken away by Interlock or anybody, it is known still, and empty.
        self.mark_unused([s["identifier"] for s in self.druid.segments(self.datasource,
                                                                       hours(10, 11))])
        # Once the historical has let go of it: until then queries read it.
        self.assertEqual(self.becomes("EMPTY", "--wait", "30s")[0], 0)

    def test_partially_covered(self):
        self.begin()
        self.events({10: 5, 11: 7})
        self.write(granularity="DAY", files="2026-07-16T*.json")
        self.becomes("SINGLE_VERSION", "--wait", "30s", interval="2026-07-16")
        self.write(hour=10)  # HOUR: one hour of the day's chunk is hidden, the rest is seen
        code, verdict = self.becomes("PARTIALLY_COVERED", interval="2026-07-16")
        self.assertEqual(code, 1)
        self.assertIn("is still seen in", verdict["message"])
        # The hour by itself is one version.
        self.assertEqual(self.becomes("SINGLE_VERSION", "--wait", "30s")[0], 0)

    def test_stored_rows_of_what_was_rolled_up_prove_nothing(self):
        self.begin()
        self.events({10: 70})  # ten of them share minute and site with another
        self.write()
        self.becomes("SINGLE_VERSION", "--wait", "30s")
        code, verdict = self.becomes("UNDETERMINED", "--expect-rows", 70)
        self.assertEqual((code, verdict["reason"]), (6, "ROLLED_UP"))
        code, _, error = self.verify(10, 11, "--expect-rows", 70, "--count-metric", "events")
        self.assertEqual(code, 0, error)

    def test_a_total_over_hours(self):
        self.begin()
        self.events({10: 5, 11: 7})
        self.write(hour=10, until=12, files="2026-07-16T1?.json")
        self.becomes("SINGLE_VERSION", "--wait", "30s", interval=hours(10, 12))
        code, reply, error = self.verify(10, 12, "--expect-rows", 12, "--count-metric", "events")
        self.assertEqual((code, reply["verdict"]), (0, "SINGLE_VERSION"), error)
        code, reply, error = self.verify(10, 12, "--expect-rows", 13, "--count-metric", "events")
        self.assertEqual((code, reply["verdict"], reply["level"]), (1, "MISSING_ROWS", "SERVED"),
                         error)

    def test_tombstoned(self):
        self.begin()
        self.events({10: 5, 12: 3})
        self.write()
        self.write(files="2026-07-16T12.json")  # SUCCESS, and the hour is empty
        code, _ = self.becomes("TOMBSTONED", "--wait", "30s")
        self.assertEqual(code, 0)
        code, _, _ = self.verify(10, 11, "--expect-rows", 5, "--count-metric", "events")
        self.assertEqual(code, 1)

    def test_duplicate_rows_of_an_append_that_ran_again(self):
        self.begin()
        self.events({10: 40})
        self.write()
        self.write(append=True)
        self.assertEqual(self.druid.wait_for_count(self.datasource, hours(10, 11), 80), 80)
        code, verdict = self.becomes("DUPLICATE_ROWS", "--wait", "20s")
        self.assertEqual((code, verdict["reason"]), (1, "EQUAL_SUMS"), verdict)
        self.assertEqual(len(verdict["segment_ids"]), 2)
        code, verdict = self.becomes("DUPLICATE_ROWS", "--expect-rows", 40, "--count-metric",
                                     "events")
        self.assertEqual((code, verdict["reason"]), (1, "MORE_THAN_EXPECTED"))

    def test_late_rows_are_a_weak_sign_and_no_fault(self):
        self.begin()
        self.events({10: 40})
        self.write()
        self.events({10: 3})
        self.write(append=True)
        self.assertEqual(self.druid.wait_for_count(self.datasource, hours(10, 11), 43), 43)
        code, verdict = self.becomes("DUPLICATE_ROWS", "--wait", "20s")
        self.assertEqual((code, verdict["reason"]), (0, "OTHER_SUMS"), verdict)

    def test_one_late_row_behind_many_partitions_is_no_fault(self):
        self.begin()
        self.events({10: 400})
        self.write(most_rows=11, as_it_came=True)
        self.events({10: 1})
        self.write(append=True)
        self.assertEqual(self.druid.wait_for_count(self.datasource, hours(10, 11), 401), 401)
        code, verdict = self.becomes("DUPLICATE_ROWS", "--wait", "20s")
        self.assertEqual((code, verdict["reason"]), (0, "OTHER_SUMS"), verdict)

    def test_a_few_rows_with_equal_sums_are_no_fault(self):
        self.begin()
        folder = self.events({10: 1})
        for n, minute in enumerate((5, 45)):
            (folder / f"{n}.json").write_text(json.dumps(
                {"ts": f"2026-07-16T10:{minute:02d}:00Z", "site": f"s{n}", "bytes": 100}) + "\n")
            self.write(append=True, files=f"{n}.json")
        self.assertEqual(self.druid.wait_for_count(self.datasource, hours(10, 11), 2), 2)
        code, reply, error = self.verify(10, 11, "--wait", "20s")
        self.assertEqual((code, reply["verdict"]), (0, "SINGLE_VERSION"), error)

    def test_an_append_again_that_is_cut_otherwise_is_found_by_its_sums_of_doubles(self):
        self.begin()
        folder = self.events({10: 1})
        (folder / "amounts.json").write_text("".join(json.dumps(
            {"ts": f"2026-07-16T10:{i % 60:02d}:{i // 60:02d}Z", "site": f"s{i % 17}",
             "bytes": 1, "amount": (i * 7919 % 10007) / 13.7}) + "\n" for i in range(900)))
        spec = json.loads(self.job(folder).read_text())
        spec["spec"]["dataSchema"]["metricsSpec"] = [
            {"type": "count", "name": "events"},
            {"type": "doubleSum", "name": "amount", "fieldName": "amount"}]
        path = self.folder / "job.json"
        path.write_text(json.dumps(spec))
        self.job = lambda _: path
        self.write(files="amounts.json", shards=2, as_it_came=True)
        self.write(files="amounts.json", append=True, most_rows=400, as_it_came=True)
        code, verdict = self.becomes("DUPLICATE_ROWS", "--wait", "20s")
        self.assertEqual((code, verdict["reason"]), (1, "EQUAL_SUMS"), verdict)

    def test_missing_rows(self):
        self.begin()
        self.events({10: 5})
        self.write()
        self.assertEqual(self.druid.wait_for_count(self.datasource, hours(10, 11), 5), 5)
        code, _ = self.becomes("MISSING_ROWS", "--expect-rows", 6, "--count-metric", "events")
        self.assertEqual(code, 1)

    def test_incomplete_partition_set(self):
        self.begin()
        self.events({10: 30})
        self.write(shards=2)
        segments = self.druid.segments(self.datasource, hours(10, 11))
        self.assertEqual(len(segments), 2, segments)
        self.mark_unused([segments[1]["identifier"]])
        code, verdict = self.becomes("INCOMPLETE_PARTITION_SET")
        self.assertEqual(code, 1)
        self.assertIn("1 of 2 core partitions", verdict["message"])

    def test_a_days_version_that_lost_a_partition_is_told_though_one_hour_has_a_newer_one(self):
        self.begin(f'sweep_interval {{ seconds: 1 }} sweep_datasources: "{self.datasource}"')
        self.events({10: 30, 11: 30})
        self.write(granularity="DAY", shards=2, files="2026-07-16T1*.json")
        segments = self.druid.segments(self.datasource, DAY)
        self.write(hour=10)
        self.mark_unused([segments[0]["identifier"]])
        wait_for("the sweep's finding", lambda: [
            f for f in self.server.ctl("findings", self.datasource)[1].get("findings", [])
            if f["verdict"]["kind"] == "INCOMPLETE_PARTITION_SET" and f["interval"] == DAY], 60)
        self.becomes("INCOMPLETE_PARTITION_SET", interval="2026-07-16")

    def test_of_three_hours_only_the_one_that_is_not_loaded_is_not_loaded(self):
        self.begin()
        self.events({10: 5, 11: 7, 12: 9})
        self.rules([{"type": "loadByInterval", "interval": hours(11, 12),
                     "tieredReplicants": {"a_tier_without_servers": 1}},
                    {"type": "loadForever", "tieredReplicants": {"_default_tier": 1}}])
        self.write(hour=10, until=13, files="2026-07-16T1?.json")

        def not_loaded():
            _, reply, _ = self.verify(10, 13)
            return [p["partition"] for p in reply["partitions"]
                    if any(v["kind"] == "NOT_LOADED" for v in p["verdicts"])]
        wait_for("two to load", lambda: not_loaded() == [hours(11, 12)], 60)

    def test_an_hour_above_a_days_chunk_is_not_retired(self):
        self.begin()
        self.events({10: 5, 11: 7})
        self.write(granularity="DAY", files="2026-07-16T*.json")
        self.write(hour=10)
        self.becomes("SINGLE_VERSION", "--wait", "30s")
        code, verdict = self.becomes("NOT_RETIRED", "--level", "retired")
        self.assertEqual((code, verdict["reason"]), (1, "HIDDEN_HERE_ONLY"), verdict)

    def test_ids_of_dropped_appends_are_given_again_and_nothing_is_seen(self):
        # Case 6: what is appended where such segments were marked unused takes their ids.
        self.begin()
        concurrent = {"useConcurrentLocks": True}
        self.events({10: 5, 11: 1})
        self.write(append=True, context=concurrent)
        self.write(append=True, hour=11)
        self.becomes("SINGLE_VERSION", "--wait", "30s")
        dropped = [s["identifier"] for s in self.druid.segments(self.datasource, hours(10, 11))]
        self.mark_unused(dropped)
        self.events({10: 9})
        self.write(append=True, context=concurrent)  # SUCCESS
        self.assertEqual(self.druid.segments(self.datasource, hours(10, 11)), [])
        code, reply, error = self.verify(10, 11, "--expect-rows", 9, "--count-metric", "events",
                                         "--unused", "--wait", "15s")
        self.assertEqual((code, reply["verdict"]), (1, "MISSING_ROWS"), error)
        # A task that replaces has a version of its own.
        self.write()
        code, reply, error = self.verify(10, 11, "--expect-rows", 9, "--count-metric", "events",
                                         "--wait", "30s")
        self.assertEqual((code, reply["verdict"]), (0, "SINGLE_VERSION"), error)

    def test_not_loaded_double_version_and_not_retired(self):
        self.begin(QUICK_GRACE)
        self.events({10: 5})
        self.write()
        self.becomes("SINGLE_VERSION", "--wait", "30s")
        self.rules(NOWHERE)  # the new version is never served, so Druid keeps the old one used
        self.write()
        code, _ = self.becomes("NOT_LOADED")
        self.assertEqual(code, 1)
        code, verdict = self.becomes("DOUBLE_VERSION", "--level", "visible")
        self.assertEqual((code, verdict["reason"]), (1, "USED_PAST_GRACE"))
        old = verdict["segment_ids"]
        self.assertEqual(len(old), 1)
        self.assertEqual(self.becomes("NOT_RETIRED", "--level", "retired")[0], 1)
        self.rules([])
        self.mark_unused(old)
        self.assertEqual(self.becomes("SINGLE_VERSION", "--level", "retired", "--wait", "60s")[0], 0)

    def test_what_a_backfill_replaced_is_retired_once_its_window_is_over(self):
        self.real = RealDruid()
        self.druid = self.real.druid()
        self.server = self.run_interlockd(
            self.real, backfills="retire: true rollback_window { seconds: 2 }")
        self.events({10: 5})
        self.write()
        self.becomes("SINGLE_VERSION", "--wait", "30s")
        old = self.druid.segments(self.datasource, hours(10, 11))[0]["identifier"]
        code, _, error = self.server.ctl(
            "submit", "--spec", self.job(self.folder / "events"), "--interval", hours(10, 11),
            "--wait")
        self.assertEqual(code, 0, error)
        # By us, or by Druid's duty where that comes first.
        code, reply, error = self.server.ctl("verify", self.datasource, hours(10, 11), "--level",
                                             "retired", "--wait", "60s", "--unused")
        self.assertEqual((code, reply["level"]), (0, "RETIRED"), error)
        self.assertNotIn(old, [s["identifier"] for s in self.druid.segments(self.datasource,
                                                                            hours(10, 11))])
        self.assertIn("UNUSED", {v["standing"] for v in reply["partitions"][0]["versions"]})

    def test_the_newest_version_marked_unused_reveals_the_older(self):
        self.begin()
        self.events({10: 5})
        self.write()
        first = self.druid.segments(self.datasource, hours(10, 11))[0]
        self.rules(NOWHERE)
        self.write()
        newer = [s for s in self.druid.segments(self.datasource, hours(10, 11))
                 if s["version"] > first["version"]]
        code, reply, _ = self.server.ctl("explain", self.datasource, hours(10, 11))
        self.assertEqual([v["version"] for v in reply["reveals"]], [first["version"]])
        self.mark_unused([s["identifier"] for s in newer])
        self.rules([])
        self.becomes("SINGLE_VERSION", "--wait", "60s")
        code, reply, _ = self.verify()
        self.assertEqual(reply["partitions"][0]["generation"], first["version"])

    def test_never_loads(self):
        self.begin()
        self.events({10: 5})
        self.write()
        self.becomes("SINGLE_VERSION", "--wait", "30s")
        self.rules(NO_REPLICA)
        code, verdict = self.becomes("NEVER_LOADS")
        self.assertEqual((code, verdict["reason"]), (1, "ZERO_REPLICAS"))
        self.assertEqual(self.becomes("SINGLE_VERSION", "--level", "visible")[0], 0)

    def test_undetermined(self):
        self.begin()
        self.real.coordinator = "http://127.0.0.1:9"
        server = self.server
        server.stop()
        server.settings["coordinator"] = "http://127.0.0.1:9"
        server.start()
        code, reply, _ = self.verify()
        self.assertEqual((code, reply["verdict"]), (6, "UNDETERMINED"))
        self.assertEqual(self.kinds(reply)["UNDETERMINED"]["reason"], "NO_ANSWER")
        self.real.coordinator = RealDruid().coordinator


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
