#!/usr/bin/env python3
"""Drops as people ask for them, on the simulator (class SimulatedDrops) and on the real Druid
(class OnDruidDrops): the same statements must hold on both. Restores, and drops that are
interrupted: drop_restore_test.py."""
import contextlib
import http.client
import json
import os
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from drops import SHORT, DropSteps, OnDruid, OnSimulator, undeletable  # noqa: E402
from harness import BIN, EndToEnd, hours, wait_for  # noqa: E402
from prometheus import Prometheus  # noqa: E402


class Drops(DropSteps):
    """What must hold whatever stands behind the adapter."""

    def test_two_drops_that_overlap_take_each_its_own(self):
        druid, server = self.loaded({10: 5, 11: 7, 12: 9})
        first = self.drop(server, 10, 11, window="1h")
        self.await_state(server, first, "MARKED")
        second = self.drop(server, 10, 13)
        files = self.files_of(druid, 11, 13)
        now = self.await_state(server, second, "KILLED")
        self.assertEqual(int(now["manifest"]["segment_count"]), 2, "the first one's is not on it")
        self.killed_for_good(druid, 11, 13, files)
        code, _, error = server.ctl("drops", "restore", first)
        self.assertEqual(code, 0, error)
        self.assertEqual(self.rows(druid, 10, 5), 5)

    def test_a_drop_under_its_callers_own_lease_is_never_in_its_own_way(self):
        druid, server = self.loaded({10: 5, 11: 7})
        files = self.files_of(druid, 10, 11)
        code, text, error = server.ctl(
            "reserve", self.datasource, hours(10, 11), "--", BIN / "interlockctl", "drop",
            self.datasource, hours(10, 11), "--reason", "test", "--window", "1s", "--wait",
            json_output=False)
        self.assertEqual(code, 0, text + error)
        self.killed_for_good(druid, 10, 11, files)
        self.assertEqual(self.rows(druid, 11, 7), 7)
        drop = server.ctl("drops", "list", self.datasource)[1]["drops"][0]
        self.assertEqual(drop["state"], "KILLED")
        leases = server.query("SELECT state FROM lease_reservation r JOIN lease_datasource d ON "
                              "d.number = r.datasource WHERE purpose LIKE ?",
                              f"{drop['drop_id']}:%")
        self.assertEqual(leases, [], "it took none of its own")
        self.assertEqual(server.ctl("reservations", "list", self.datasource)[1]
                         .get("reservations", []), [], "and its caller's was given back")

    def test_a_drop_goes_on_when_the_command_that_asked_for_it_has_ended(self):
        druid, server = self.loaded({10: 5})
        files = self.files_of(druid, 10, 11)
        code, _, error = server.ctl(
            "reserve", self.datasource, hours(10, 11), "--", BIN / "interlockctl", "-o", "json",
            "drop", self.datasource, hours(10, 11), "--reason", "test", "--window", "1s",
            json_output=False)
        self.assertEqual(code, 0, error)
        drop = server.ctl("drops", "list", self.datasource)[1]["drops"][0]
        self.await_state(server, drop["drop_id"], "KILLED")
        self.killed_for_good(druid, 10, 11, files)
        self.assertEqual(server.ctl("reservations", "list", self.datasource)[1]
                         .get("reservations", []), [])

    def test_a_drop_against_a_running_backfill_is_refused_and_names_it(self):
        druid, cluster = self.cluster()
        server = self.run_interlockd(self.gated(cluster), drops=SHORT)
        spec = self.job(self.events({10: 5}))
        # Something has to be there to be dropped, and not written while the backfill waits:
        # whose version is whose could not be told then.
        task = json.loads(spec.read_text())
        task["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [hours(10, 11)]
        task["spec"]["ioConfig"]["inputSource"]["filter"] = "2026-07-16T10.json"
        self.assertEqual(druid.run_task(task), "SUCCESS")
        self.assertEqual(self.rows(druid, 10, 5), 5)
        self.hold("POST /druid/indexer/v1/task ")
        code, _, error = server.ctl("submit", "--spec", spec, "--interval", hours(10, 11),
                                    "--request-id", "b", caller="airflow")
        self.assertEqual(code, 0, error)
        self.await_held()
        error = self.drop(server, 10, 11, expect=1)
        self.assertIn("HELD", error)
        self.assertIn("airflow", error)
        self.assertEqual(druid.unused(self.datasource, hours(10, 11)), [])
        self.gate.open.set()
        wait_for("the backfill to end", lambda: server.ctl("backfills", "list", self.datasource)[1]
                 ["backfills"][0]["state"] == "DONE")

    def test_young_data_is_refused_whoever_asks(self):
        druid, server = self.loaded({10: 5}, drops=SHORT + """
            datasource_floors { datasource_pattern: "e2e_*" floor { seconds: 315360000 } }""")
        error = self.drop(server, 10, 11, expect=1)
        self.assertIn("YOUNGER_THAN_FLOOR", error)
        code, _, error = server.ctl("drop", self.datasource, hours(10, 11), "--reason", "now",
                                    "--floor", "1s", caller="admin")
        self.assertEqual(code, 2, error)
        self.assertIn("FLOOR_TOO_LOW", error)
        self.assertEqual(self.rows(druid, 10, 5), 5)
        self.assertEqual(druid.unused(self.datasource, hours(10, 11)), [])

    def test_a_policy_makes_drops_and_asks_beyond_its_caps(self):
        druid, server = self.loaded({10: 5, 11: 7})
        policy = self.folder / "policy.json"
        policy.write_text(json.dumps({"name": "old", "datasource_pattern": self.datasource,
                                      "age": "P1D", "window": "1s", "max_share": 0.4}))
        code, reply, error = server.ctl("retention", "put", policy, "--dry-run")
        self.assertEqual(code, 0, error)
        blocker = reply["plans"][0]["blockers"][0]
        self.assertEqual((blocker["reason"], blocker["kind"]), ("CAP_REACHED", "CAP"))
        table = server.ctl("-o", "table", "retention", "put", policy, "--dry-run",
                           json_output=False)[1]
        self.assertRegex(table, f"(?s)WOULD DROP FROM.*{self.datasource}.*CAP")
        code, _, error = server.ctl("retention", "put", policy, "--reason", "GDPR")
        self.assertEqual(code, 0, error)
        drop = wait_for("the policy's drop", lambda: server.ctl("drops", "list", self.datasource)
                        [1].get("drops"))[0]
        self.assertEqual((drop["state"], drop["reason"], drop["retention_policy"]),
                         ("AWAITING_APPROVAL", "CAP_REACHED", "old"))
        self.assertEqual(self.rows(druid, 11, 7), 7, "nothing is marked while it asks")
        files = self.files_of(druid, 10, 12)
        code, _, error = server.ctl("drops", "approve", drop["drop_id"], "--reason", "all of it")
        self.assertEqual(code, 0, error)
        self.await_state(server, drop["drop_id"], "KILLED")
        self.killed_for_good(druid, 10, 12, files)
        self.assertIn("asks before", server.ctl("retention", "list")[1]["policies"][0]["run_message"])
        self.assertEqual(server.ctl("retention", "delete", "old")[0], 0)

    def test_a_manifest_is_exported_as_json_lines(self):
        _, server = self.loaded({10: 5, 11: 7})
        drop = self.drop(server, 10, 12, window="1h")
        self.await_state(server, drop, "MARKED")
        entries = self.entries(server, drop)
        self.assertEqual([entry["state"] for entry in entries], ["UNUSED", "UNUSED"])
        self.assertTrue(all(entry["segment"]["load_spec"] for entry in entries))
        self.assertTrue(all(entry["segment"]["shard_type"] in ("numbered", "single") for entry in entries))


class SimulatedDrops(Drops, OnSimulator, EndToEnd):
    def test_a_seal_over_what_a_drop_has_marked_says_so_and_what_would_do(self):
        _, server = self.loaded({10: 5, 11: 7})
        drop = self.drop(server, 10, 11, window="1h")
        self.await_state(server, drop, "MARKED")
        code, reply, error = server.ctl("seal", self.datasource, hours(10, 12), "--reason", "sent")
        self.assertEqual(code, 0, error)
        notice, = [n for n in reply["notices"] if n["reason"] == "DROPPED_HERE"]
        self.assertIn(drop, notice["message"])
        error = self.restore(server, drop, None, 1)
        self.assertIn("SEALED", error)
        self.assertIn("seals unseal", error)
        self.assertNotIn("--correction", error, "a restore is no backfill")

    def test_what_is_asked_badly_is_refused(self):
        _, server = self.loaded({10: 5})
        code, _, error = server.ctl("drop", self.datasource, hours(10, 11), "--reason", "  \t ")
        self.assertEqual(code, 2, error)
        self.assertIn("REASON_REQUIRED", error)
        code, _, error = server.ctl("drops", "list", "--limit", "-1")
        self.assertEqual(code, 2, error)

    def test_a_dry_run_lists_the_segments_that_go_and_none_that_stay(self):
        druid, server = self.loaded({10: 5, 11: 7})
        code, reply, error = server.ctl(
            "drop", self.datasource, "2026-07-16T10:00Z/2026-07-16T11:30Z", "--reason", "test",
            "--dry-run", "--segments", "--accept-partial-cover")
        self.assertEqual(code, 0, error)
        listed = [e["segment"]["segment_id"] for e in reply["plan"]["entries"]]
        self.assertEqual(listed, [s["identifier"]
                                  for s in druid.segments(self.datasource, hours(10, 11))])
        self.assertEqual(reply["plan"]["leaves_empty"], [hours(10, 11)])
        self.assertEqual(reply["plan"]["manifest"]["row_count"], "5", "of what goes")

    def test_failures_stay_counted_over_a_restart_which_needs_no_patience(self):
        _, server = self.loaded({10: 5})
        self.simulator.fault(match={"path": "/druid/indexer/v1/task", "method": "POST"},
                             kind="failed_task", times=1)
        drop = self.drop(server, 10, 11)
        self.await_state(server, drop, "KILLED")
        counted = f'interlock_kill_failures_total{{datasource="{self.datasource}",reason="OTHER"}} 1'
        self.assertIn(counted, server.http("/metrics"))
        # A scraper that keeps its connection, as Prometheus does.
        scraper = http.client.HTTPConnection("127.0.0.1", server.admin)
        self.addCleanup(scraper.close)
        scraper.request("GET", "/metrics")
        scraper.getresponse().read()
        begun = time.monotonic()
        server.process.terminate()
        wait_for("the end of the log", lambda: '"drained"' in server.log())
        # A sanitizer looks through all memory before it lets the process go.
        slower = 10 if os.environ.get("INTERLOCK_SANITIZED") else 1
        self.assertEqual(server.process.wait(0.3 * slower), 0, "drained, and gone")
        self.assertLess(time.monotonic() - begun, 1.5 * slower)
        server.start()
        self.assertIn(counted, server.http("/metrics"))


class OnDruidDrops(Drops, OnDruid, EndToEnd):
    def test_a_segment_appended_in_the_window_stops_the_kill(self):
        druid, server = self.loaded({10: 5})
        drop = self.drop(server, 10, 11, window="2s")
        self.await_state(server, drop, "MARKED")
        task = json.loads(self.spec.read_text())
        task["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [hours(10, 11)]
        task["spec"]["ioConfig"].update(appendToExisting=True, dropExisting=False)
        task["spec"]["ioConfig"]["inputSource"]["filter"] = "2026-07-16T10.json"
        self.assertEqual(druid.run_task(task), "SUCCESS")
        now = wait_for("the kill to be held", lambda: (
            lambda d: d if d.get("reason") == "NEWER_DATA" else None)(self.get(server, drop)))
        self.assertEqual(now["state"], "MARKED")
        self.assertEqual(now["blockers"][0]["kind"], "NEWER_DATA")
        self.assertEqual(len(druid.unused(self.datasource, hours(10, 11))), 1, "nothing was killed")
        code, _, error = server.ctl("drops", "restore", drop)
        self.assertEqual(code, 1, error)
        self.assertIn("NEWER_DATA", error)

    def test_a_failed_kill_fires_the_alert_and_its_orphan_is_listed(self):
        druid, server = self.loaded(
            {10: 5}, drops=SHORT + ' storage_probes { local_path: "/" }')
        prometheus = Prometheus(self.folder, server.admin)
        self.addCleanup(prometheus.stop)
        self.assertEqual(prometheus.alerts("InterlockKillFailed"), [])
        file = self.files_of(druid, 10, 11)[0]
        try:
            with undeletable(file):
                drop = self.drop(server, 10, 11)
                now = self.await_state(server, drop, "KILLED")
                self.assertEqual(druid.unused(self.datasource, hours(10, 11)), [])
                self.assertTrue(file.exists())
                self.assertEqual(now["kill_tasks"][0]["druid_status"], "FAILED")
                self.assertEqual((int(now["orphan_count"]), now["storage_probe"]),
                                 (1, "LEFT_BEHIND"))
                self.assertEqual(now["reason"], "FILES_LEFT")
                self.assertIn(self.datasource, now["message"], "which file")
                # Druid's Indexer tells no cause; that it could not delete it does.
                self.assertEqual(now["kill_tasks"][0]["failure_reason"], "FILES_LEFT")
                labels = wait_for("the alert", lambda: [
                    a["labels"] for a in prometheus.alerts("InterlockKillFailed")
                    if a["state"] == "firing"], 60)[0]
                self.assertEqual(labels["datasource"], self.datasource)
                self.assertEqual(labels["reason"], now["kill_tasks"][0]["failure_reason"])
                wait_for("the gauge", lambda: [
                    s["value"][1] for s in prometheus.samples("interlock_orphan_segments")
                    if s["metric"]["datasource"] == self.datasource] == ["1"], 60)
        except PermissionError as error:
            self.skipTest(f"no file can be made undeletable here: {error}")
        finally:
            with contextlib.suppress(OSError):
                file.unlink()


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
