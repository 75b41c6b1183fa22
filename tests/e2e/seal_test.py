#!/usr/bin/env python3
"""What went out stays: seals, corrections and the audit, as a user sees them."""
import json
import pathlib
import sqlite3
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, RealDruid, hours, wait_for  # noqa: E402


class Seals:
    """What must hold whatever stands behind the adapter."""

    def loaded(self, counts):
        druid, cluster = self.cluster()
        server = self.run_interlockd(cluster)
        job = self.job(self.events(counts))
        code, reply, error = server.ctl("submit", "--spec", job, "--interval",
                                        hours(min(counts), max(counts) + 1), "--request-id", "load", "--wait")
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)
        return druid, server, job

    def sealed(self, server, first, last, *flags):
        snapshot = self.folder / "snapshot.json"
        aggregates = [{"name": "sent", "expression": 'SUM("sent")'},
                      {"name": "events", "expression": 'SUM("events")'}]
        snapshot.write_text(json.dumps({"dimensions": self.dimensions, "aggregates": aggregates}))

        def take():
            code, reply, self.error = server.ctl(
                "seal", self.datasource, hours(first, last), "--reason", "sent to the tax office",
                "--label", "report 7", "--snapshot", snapshot, *flags)
            return code == 0 and reply["seal"]
        # The broker learns of a new datasource's columns a moment after it is served.
        return wait_for("the seal", take, 60)

    def totals(self, server):
        code, reply, error = server.ctl("seals", "corrections", self.datasource)
        self.assertEqual(code, 0, error)
        values = {}
        for total in reply["totals"]:
            numbers = [float(total[key].get("long_value", total[key].get("double_value", 0)))
                       for key in ("was", "is_now", "delta")]
            values[total["was"]["metric"]] = tuple(numbers)
        return reply["corrections"], values

    def test_a_late_voucher_is_a_correction_and_the_seal_is_as_it_was(self):
        druid, server, job = self.loaded({10: 5, 11: 7, 12: 3})
        seal = self.sealed(server, 10, 12)
        before = druid.fingerprint(self.datasource, hours(10, 12))
        # One event more has come for 11:00.
        self.events({11: 8})
        code, _, error = server.ctl("submit", "--spec", job, "--interval", hours(11, 12),
                                    "--request-id", "plain", "--reprocess", "all", "--wait")
        self.assertEqual(code, 1, error)
        self.assertIn("SEALED", error)
        self.assertIn(seal["seal_id"], error)
        code, plan, error = server.ctl("submit", "--spec", job, "--interval", hours(11, 12),
                                       "--reprocess", "all", "--dry-run")
        self.assertEqual(code, 1, f"the plan knows of the seal: {plan} {error}")
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", hours(11, 12),
                                        "--request-id", "late", "--correction", "--wait")
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)
        corrections, totals = wait_for(
            "the difference", lambda: (lambda r: r if r[0] else None)(self.totals(server)), 60)
        self.assertEqual(len(corrections), 1)
        self.assertEqual(corrections[0]["interval"], hours(11, 12))
        self.assertEqual(corrections[0]["seal_label"], "report 7")
        # bytes are 100 + i for event i: the eighth has 107.
        self.assertEqual(totals["events"], (7, 8, 1))
        self.assertEqual(totals["sent"], (721, 828, 107))
        self.assertEqual(druid.fingerprint(self.datasource, hours(10, 12)), before)
        code, reply, error = server.ctl("seals", "get", seal["seal_id"])
        self.assertEqual(code, 0, error)
        for digest in ("ids_digest", "content_digest"):
            self.assertEqual(reply["seal"][digest], seal[digest])
        self.assertEqual(reply["seal"]["integrity"], "INTACT")
        self.assertEqual(druid.wait_for_count(f"{self.datasource}__corrections", hours(11, 12), 8), 8)
        code, text, error = server.ctl("report", self.datasource, "--markdown", json_output=False)
        self.assertEqual(code, 0, error)
        self.assertRegex(text, r"(?m)^\| 1 \| .* \| report 7 \|")
        self.assertIn("## What was given out, and what is right", text)
        self.assertIn("| events | 7 | 8 | 1 |", text, "and of what it is a sum")
        code, reply, error = server.ctl("report", self.datasource)
        self.assertEqual([c["number"] for c in reply["corrections"]], ["1"], error)
        self.assertEqual(len(reply["totals"]), 2)

    def correct(self, server, *words):
        """Submits beside the seal; when its difference is stored: the totals."""
        code, reply, error = server.ctl("submit", *words, "--interval", hours(11, 12),
                                        "--request-id", "late", "--correction", "--wait")
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)
        corrections, totals = wait_for(
            "the difference", lambda: (lambda r: r if r[0] else None)(self.totals(server)), 60)
        self.assertEqual(len(corrections), 1)
        return corrections[0], totals

    def test_corrections_go_where_the_seal_says(self):
        druid, server, job = self.loaded({10: 5, 11: 7})
        side = f"{self.datasource}_right"
        seal = self.sealed(server, 10, 12, "--corrections-datasource", side)
        self.assertEqual(seal["corrections_datasource"], side)
        self.events({11: 8})
        code, plan, error = server.ctl("submit", "--spec", job, "--interval", hours(11, 12),
                                       "--correction", "--dry-run")
        self.assertEqual((code, plan["plan"]["corrections_datasource"]), (0, side), error)
        correction, totals = self.correct(server, "--spec", job)
        self.assertEqual(correction["corrections_datasource"], side)
        self.assertEqual(totals["events"], (7, 8, 1))
        self.assertEqual(druid.wait_for_count(side, hours(11, 12), 8), 8)
        self.assertEqual(druid.segments(f"{self.datasource}__corrections", hours(11, 12)), [])

    def test_an_unseal_ends_by_itself(self):
        _, server, job = self.loaded({10: 5, 11: 7})
        seal = self.sealed(server, 10, 12)
        code, _, error = server.ctl("drop", self.datasource, hours(10, 11), "--reason", "mistake")
        self.assertEqual(code, 1, error)
        self.assertIn("SEALED", error)
        code, reply, error = server.ctl("seals", "unseal", seal["seal_id"], "--reason", "sent back",
                                        "--for", "6s")
        self.assertEqual((code, reply["seal"]["state"]), (0, "UNSEALED"), error)
        code, _, error = server.ctl("reserve", self.datasource, hours(10, 11), "--ttl", "2s")
        self.assertEqual(code, 0, error)

        def holds_again():
            _, reply, _ = server.ctl("seals", "get", seal["seal_id"])
            return reply["seal"]["state"] == "ACTIVE"
        wait_for("the seal to hold again", holds_again, 60)
        code, _, error = server.ctl("reserve", self.datasource, hours(10, 11), "--ttl", "2s")
        self.assertEqual(code, 1, error)
        self.assertIn("SEALED", error)

    def mark_unused(self, server, segment):
        overlord = server.settings["overlord"]
        request = urllib.request.Request(
            f"{overlord}/druid/indexer/v1/datasources/{self.datasource}/markUnused",
            json.dumps({"segmentIds": [segment]}).encode(),
            {"Content-Type": "application/json", "Accept": "application/json"}, method="POST")
        urllib.request.urlopen(request, timeout=30).read()

    def test_what_somebody_else_changes_under_a_seal_is_an_alert(self):
        druid, server, job = self.loaded({10: 5, 11: 7})
        seal = self.sealed(server, 10, 12)
        self.events({11: 9})
        spec = json.loads(job.read_text())
        spec["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [hours(11, 12)]
        spec["spec"]["ioConfig"]["inputSource"]["filter"] = "2026-07-16T11.json"
        self.assertEqual(druid.run_task(spec), "SUCCESS")
        self.assertEqual(druid.wait_for_count(self.datasource, hours(11, 12), 9), 9)
        # Every seal is looked at when the server starts, and every quarter of an hour.
        server.stop()
        server.start()

        def integrity():
            _, reply, _ = server.ctl("seals", "get", seal["seal_id"])
            return reply["seal"]["integrity"] == "BROKEN"
        wait_for("the look that finds it", integrity, 60)
        self.assertIn(f'interlock_broken_seals{{datasource="{self.datasource}"}} 1',
                      server.http("/metrics"))

        def findings(*flags):
            code, reply, error = server.ctl("findings", self.datasource, *flags)
            self.assertEqual(code, 0, error)
            return [f for f in reply.get("findings", []) if f["kind"] == "SEAL_BROKEN"]
        found = wait_for("the finding", findings, 30)
        self.assertEqual([f["seal_id"] for f in found], [seal["seal_id"]])
        self.assertTrue(found[0]["remedy"])
        server.stop()  # another look, and the same finding
        server.start()
        wait_for("another look", lambda: findings()[0]["seen_time"] > found[0]["seen_time"], 60)
        self.assertEqual(findings()[0]["finding_id"], found[0]["finding_id"])
        self.assertIn(f'interlock_findings{{datasource="{self.datasource}",kind="SEAL_BROKEN"}} 1',
                      server.http("/metrics"))
        # What was sealed comes back: it closes by itself.
        newest = max(druid.segments(self.datasource, hours(11, 12)), key=lambda s: s["version"])
        self.mark_unused(server, newest["identifier"])
        server.stop()
        server.start()
        wait_for("it to close", lambda: not findings(), 60)
        self.assertEqual(len(findings("--state", "CLOSED")), 1)


class SimulatedSeals(Seals, EndToEnd):
    dimensions = []  # the simulator's SQL knows no GROUP BY

    def cluster(self):
        simulator = self.run_simulator()
        return simulator.druid(), simulator


    def test_a_correction_that_failed_is_retried_and_stores_its_difference(self):
        _, server, job = self.loaded({10: 5, 11: 7})
        self.sealed(server, 10, 12)
        spec = json.loads(job.read_text())
        spec["spec"].setdefault("tuningConfig", {"type": "index_parallel"})["maxParseExceptions"] = 0
        job.write_text(json.dumps(spec))
        (self.folder / "events" / "2026-07-16T11.json").write_text("no row at all\n")
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", hours(11, 12),
                                        "--request-id", "late", "--correction", "--wait")
        self.assertEqual((code, reply.get("state")), (1, "FAILED"), error)
        self.events({11: 8})
        code, reply, error = server.ctl("backfills", "retry", reply["backfill_id"], "--reason",
                                        "the file is mended")
        self.assertEqual(code, 0, error)
        corrections, totals = wait_for(
            "the difference", lambda: (lambda r: r if r[0] else None)(self.totals(server)), 60)
        self.assertEqual(len(corrections), 1)
        self.assertEqual(totals["events"], (7, 8, 1))


class OnDruidSeals(Seals, EndToEnd):
    dimensions = ["site"]

    def cluster(self):
        real = RealDruid()
        return real.druid(), real


class Audit(EndToEnd):
    """Who did what, and whether anybody has changed the record of it."""

    def chained(self, server):
        def all_of_it():
            code, reply, _ = server.ctl("audit", "--verify")
            return code == 0 and int(reply["unchained_count"]) == 0 and reply
        return wait_for("the chain", all_of_it, 30)

    def test_a_row_that_was_changed_by_hand_is_found_and_named(self):
        server = self.run_interlockd(self.run_simulator())
        for hour in range(10, 14):
            code, _, error = server.ctl("reserve", self.datasource, hours(hour, hour + 1), "--ttl", "10m",
                                        "--request-id", f"r{hour}", caller="ada")
            self.assertEqual(code, 0, error)
        reply = self.chained(server)
        self.assertGreaterEqual(int(reply["checked_count"]), 4)
        with sqlite3.connect(server.store, timeout=10) as db:
            row, = db.execute("SELECT seq FROM audit_event WHERE request_id = 'r12'").fetchone()
            db.execute("UPDATE audit_event SET identity = 'loopback/eve' WHERE seq = ?", (row,))
        code, reply, error = server.ctl("audit", "--verify")
        self.assertEqual(code, 1, error)
        self.assertIn(f"row {row} ", error)
        self.assertGreater(int(reply["first_broken_sequence"]), 0)
        with sqlite3.connect(server.store, timeout=10) as db:
            db.execute("UPDATE audit_event SET identity = 'loopback/ada' WHERE seq = ?", (row,))
        code, _, error = server.ctl("audit", "--verify")
        self.assertEqual(code, 0, error)
        with sqlite3.connect(server.store, timeout=10) as db:
            db.execute("DELETE FROM audit_event WHERE seq = ?", (row,))
        code, _, error = server.ctl("audit", "--verify")
        self.assertEqual(code, 1, error)
        self.assertIn("missing", error)

    def test_events_are_narrowed_and_exported_line_by_line(self):
        server = self.run_interlockd(self.run_simulator())
        for hour in range(10, 15):
            server.ctl("reserve", self.datasource, hours(hour, hour + 1), "--request-id", f"r{hour}",
                       caller="ada" if hour % 2 else "bob")
        self.chained(server)
        code, reply, error = server.ctl("audit", "--datasource", self.datasource, "--identity",
                                        "loopback/ada", "--interval", hours(11, 12))
        self.assertEqual(code, 0, error)
        self.assertEqual([e["request_id"] for e in reply["events"]], ["r11"])
        event = reply["events"][0]
        self.assertEqual((event["action"], event["resource_type"]), ("ReserveInterval", "reservation"))
        self.assertEqual(event["intervals"], [hours(11, 12)])
        self.assertTrue(event["peer"])
        code, text, error = server.ctl("audit", "--export", "--type", "reservation", "--limit", "2",
                                       json_output=False)
        self.assertEqual(code, 0, error)
        events = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([e["request_id"] for e in events], [f"r{h}" for h in range(10, 15)])
        sequences = [int(e["sequence"]) for e in events]
        self.assertEqual(sequences, sorted(sequences))

    def test_a_report_tells_what_was_rerun_and_why(self):
        server = self.run_interlockd(self.run_simulator())
        job = self.job(self.events({10: 5}))
        code, _, error = server.ctl("submit", "--spec", job, "--interval", hours(10, 11), "--reason",
                                    "a | late file", "--wait", "--request-id", "q")
        self.assertEqual(code, 0, error)
        code, reply, error = server.ctl("report", self.datasource, "--since", "1h")
        self.assertEqual(code, 0, error)
        self.assertEqual(reply["backfills"][0]["state"], "DONE")
        self.assertEqual(reply["backfills"][0]["request_reason"], "a | late file")
        code, text, error = server.ctl("report", self.datasource, "--markdown", json_output=False)
        self.assertEqual(code, 0, error)
        self.assertIn("a \\| late file", text)
        self.assertIn("| DONE |", text)
        actions = [e["action"] for e in server.ctl("audit", "--type", "backfill", "--oldest-first")[1]["events"]]
        self.assertEqual(actions[0], "SubmitBackfill")
        for action in ("unit.RUNNING", "unit.DONE", "backfill.DONE"):
            self.assertIn(action, actions)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
