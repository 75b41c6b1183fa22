#!/usr/bin/env python3
"""Drops that are brought back, and drops that are interrupted: from every state, and with the
server killed at every step; on the simulator and on the real Druid."""
import json
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from drops import ENDED, DropSteps, OnDruid, OnSimulator  # noqa: E402
from harness import EndToEnd, hours, wait_for  # noqa: E402


class Restores(DropSteps):
    """What must hold whatever stands behind the adapter."""

    # --- Killed at every step ----------------------------------------------------------
    def kill_at_every_change(self, server, until):
        """kill -9 as soon as the store shows another change of a drop, again and again."""
        seen, kills = -1, 0
        deadline = time.monotonic() + 200
        while time.monotonic() < deadline:
            rows = server.query("SELECT change_number, state FROM drops")
            change = max((row[0] for row in rows), default=-1)
            if all(row[1] in until for row in rows) and change == seen:
                server.await_serving()
                return kills
            if change == seen:
                time.sleep(0.003)
                continue
            seen = change
            server.kill()
            server.spawn()  # what it changes before it serves is seen as well
            kills += 1
        self.fail(f"after {kills} kills still {rows}")

    def test_kill_9_at_every_step_of_a_drop(self):
        druid, server = self.loaded({10: 5, 11: 7, 12: 9})
        before = [druid.fingerprint(self.datasource, hours(h, h + 1)) for h in (10, 12)]
        files = self.files_of(druid, 11, 12)
        loads = set(druid.tasks(self.datasource))
        drop = self.drop(server, 11, 12)
        kills = self.kill_at_every_change(server, ENDED)
        self.assertGreaterEqual(kills, 6, "that was not every step")
        now = self.get(server, drop)
        self.assertEqual(now["state"], "KILLED", now.get("message"))
        self.killed_for_good(druid, 11, 12, files)
        self.assertEqual([druid.fingerprint(self.datasource, hours(h, h + 1)) for h in (10, 12)],
                         before)
        stored = {row[0] for row in server.query("SELECT task_id FROM drop_kill")}
        sent = set(druid.tasks(self.datasource)) - loads
        self.assertEqual(sent, stored, "one task a kill, and none that nobody knows of")

    def test_kill_9_at_every_step_of_a_restore(self):
        druid, server = self.loaded({10: 5, 11: 7})
        before = druid.fingerprint(self.datasource, hours(10, 12))
        drop = self.drop(server, 10, 11, window="1h")
        self.await_state(server, drop, "MARKED")
        self.assertEqual(self.rows(druid, 10, 0), 0)
        code, _, error = server.ctl("drops", "restore", drop, "--no-wait", "--reason", "wrong hour")
        self.assertEqual(code, 0, error)
        self.kill_at_every_change(server, ENDED)
        now = self.get(server, drop)
        self.assertEqual((now["state"], now.get("restore_reason")), ("RESTORED", "wrong hour"))
        self.assertEqual({c["measure"]: c["result"] for c in now["rows"]},
                         {m: "EQUAL" for m in ("rows", "events", "sent")})
        self.assertEqual(druid.fingerprint(self.datasource, hours(10, 12)), before)
        self.assertEqual(self.rows(druid, 10, 5), 5)

    # --- Restored from wherever it stands --------------------------------------------------
    def test_restore_at_every_state(self):
        druid, server = self.loaded({10: 5, 12: 9, 14: 4}, through=self.gated, drops="""
            recheck_every { seconds: 1 } kill_spacing { seconds: 10 }""")
        whole = druid.fingerprint(self.datasource, hours(10, 15))
        before = druid.fingerprint(self.datasource, hours(10, 11))

        # AWAITING_APPROVAL of a policy's cap, and CANCELLED from there: nothing was marked, so
        # there is nothing to bring back.
        policy = self.folder / "policy.json"
        policy.write_text(json.dumps({"name": "old", "datasource_pattern": self.datasource,
                                      "age": "P1D", "max_share": 0.1}))
        self.assertEqual(server.ctl("retention", "put", policy)[0], 0)
        drop = wait_for("the policy's drop", lambda: server.ctl("drops", "list", self.datasource)
                        [1].get("drops"))[0]
        self.assertEqual((drop["reason"], drop["restorable"]), ("CAP_REACHED", False))
        drop = drop["drop_id"]
        self.assertIn("NOTHING_TO_RESTORE", self.restore(server, drop, None, 1))
        code, reply, error = server.ctl("drops", "cancel", drop, "--reason", "no")
        self.assertEqual((code, reply["drop"]["state"]), (0, "CANCELLED"), error)
        self.assertFalse(reply["drop"]["restorable"])
        self.assertIn("NOTHING_TO_RESTORE", self.restore(server, drop, None, 1))
        self.assertEqual(server.ctl("retention", "delete", "old")[0], 0)

        # MARKED, in its window.
        drop = self.drop(server, 10, 11, window="1h")
        self.await_state(server, drop, "MARKED")
        self.assertEqual(self.rows(druid, 10, 0), 0)
        self.restore(server, drop)
        self.assertEqual(self.rows(druid, 10, 5), 5)
        self.assertEqual(druid.fingerprint(self.datasource, hours(10, 11)), before)

        # AWAITING_APPROVAL.
        code, reply, error = server.ctl("drop", self.datasource, hours(10, 11), "--reason", "test",
                                        "--window", "1s", "--approval")
        self.assertEqual(code, 0, error)
        now = self.await_state(server, reply["drop"]["drop_id"], "AWAITING_APPROVAL")
        self.assertEqual((now["reason"], now["restorable"]), ("APPROVAL_REQUIRED", True))
        self.restore(server, now["drop_id"])

        # CHECKING: in the middle of the look at running tasks, which only that state has.
        drop = self.drop(server, 10, 11, window="1s")
        self.hold("GET /druid/indexer/v1/tasks?datasource=")
        self.await_state(server, drop, "CHECKING")
        self.await_held()
        code, reply, error = server.ctl("drops", "restore", drop, "--no-wait")
        self.assertEqual((code, reply["drop"]["state"]), (0, "RESTORING"), error)
        self.gate.open.set()
        self.await_state(server, drop, "RESTORED")
        self.assertEqual(self.rows(druid, 10, 5), 5)
        self.assertEqual(druid.fingerprint(self.datasource, hours(10, 15)), whole, "as it was")

        # KILLING: not now; after a cancel what is left comes back, and what is gone is told.
        drop = self.drop(server, 10, 13, window="1s")
        self.hold("POST /druid/indexer/v1/task ")
        self.await_state(server, drop, "KILLING")
        self.await_held()
        self.assertIn("KILL_STARTED", self.restore(server, drop, None, 1))
        self.gate.open.set()

        # Between two of its kills: one hour is gone, the other still marked.
        def one_gone():
            states = sorted(entry["state"] for entry in self.entries(server, drop))
            return states == ["KILLED", "UNUSED"]
        wait_for("the first hour to be gone", one_gone)
        self.assertTrue(self.get(server, drop)["restorable"])
        now = self.restore(server, drop, "PARTLY_RESTORED", 1)
        self.assertIn("1 of 2 segments are killed, for good", now["message"])
        self.assertEqual(int(now["restored_count"]), 1)
        self.assertEqual(self.rows(druid, 12, 9), 9)
        self.assertEqual(self.rows(druid, 10, 0), 0)
        self.assertEqual(druid.segments(self.datasource, hours(10, 11)), [])

        # KILLED: nothing is left.
        drop = self.drop(server, 14, 15, window="1s")
        now = self.await_state(server, drop, "KILLED")
        self.assertFalse(now["restorable"])
        self.assertEqual(len(now["manifest"]["versions"]), 1)
        self.assertIn("NOTHING_TO_RESTORE", self.restore(server, drop, None, 1))

    def test_restore_while_the_mark_is_under_way(self):
        druid, server = self.loaded({10: 5}, through=self.gated)
        before = druid.fingerprint(self.datasource, hours(10, 11))
        self.hold(f"POST /druid/indexer/v1/datasources/{self.datasource}/markUnused")
        drop = self.drop(server, 10, 11, window="1h")
        self.await_state(server, drop, "MARKING")
        self.await_held()
        code, reply, error = server.ctl("drops", "restore", drop, "--no-wait")
        self.assertEqual((code, reply["drop"]["state"]), (0, "RESTORING"), error)
        # The mark comes only now, and is undone all the same.
        self.gate.open.set()
        now = self.await_end(server, drop)
        self.assertEqual(now["state"], "RESTORED", now.get("message"))
        self.assertEqual(druid.unused(self.datasource, hours(10, 11)), [])
        self.assertEqual(druid.fingerprint(self.datasource, hours(10, 11)), before)
        self.assertEqual(self.rows(druid, 10, 5), 5)

    def cancelled_in_the_post(self, server, drop):
        """Cancelled while the post of a kill is held before Druid; then the server dies."""
        self.await_held()
        code, _, error = server.ctl("drops", "cancel", drop, "--reason", "wrong hour")
        self.assertEqual(code, 0, error)
        server.kill()
        server.start()
        now = self.await_end(server, drop)
        # What the dead server had sent reaches Druid after all.
        self.gate.open.set()
        self.assertTrue(self.gate.answered.wait(60), "Druid answered nothing")
        return now

    def test_a_kill_that_was_cancelled_before_its_answer_never_begins_and_is_restored(self):
        druid, server = self.loaded({10: 5}, through=self.gated)
        before = druid.fingerprint(self.datasource, hours(10, 11))
        self.hold("POST /druid/indexer/v1/task ")
        drop = self.drop(server, 10, 11)
        now = self.cancelled_in_the_post(server, drop)
        self.assertEqual((now["state"], now["restorable"]), ("CANCELLED", True), now)
        self.assertEqual(now["kill_tasks"][0]["failure_reason"], "CANCELLED")
        self.assertEqual(len(druid.unused(self.datasource, hours(10, 11))), 1, "none is killed")
        self.restore(server, drop)
        self.assertEqual(druid.fingerprint(self.datasource, hours(10, 11)), before)
        self.assertEqual(self.rows(druid, 10, 5), 5)

    def test_restore_of_a_drop_that_failed_half_way(self):
        druid, server = self.loaded({10: 5, 12: 9}, through=self.gated, drops="""
            recheck_every { seconds: 1 } kill_spacing { seconds: 3 }""")
        drop = self.drop(server, 10, 13)
        wait_for("the first hour to be gone", lambda: "KILLED" in [
            entry["state"] for entry in self.entries(server, drop)])
        self.hold("POST /druid/indexer/v1/task ")
        now = self.cancelled_in_the_post(server, drop)
        self.assertEqual((now["state"], now["reason"]), ("FAILED", "CANCELLED_HALF_WAY"), now)
        self.assertTrue(now["restorable"])
        now = self.restore(server, drop, "PARTLY_RESTORED", 1)
        self.assertEqual(int(now["restored_count"]), 1)
        self.assertEqual(self.rows(druid, 12, 9), 9)
        self.assertEqual(self.rows(druid, 10, 0), 0)

    def test_what_is_written_beside_a_drop_is_no_part_of_its_restore(self):
        druid, server = self.loaded({10: 5, 12: 9})
        drop = self.drop(server, 10, 13, window="1h")
        self.await_state(server, drop, "MARKED")
        self.events({11: 4})
        code, reply, error = server.ctl("submit", "--spec", self.spec, "--interval",
                                        hours(11, 12), "--request-id", "beside", "--reprocess", "all",
                                        "--wait")
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)
        self.restore(server, drop)
        self.assertEqual([self.rows(druid, h, n) for h, n in ((10, 5), (11, 4), (12, 9))],
                         [5, 4, 9])


class SimulatedRestores(Restores, OnSimulator, EndToEnd):
    pass


class OnDruidRestores(Restores, OnDruid, EndToEnd):
    pass


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
