#!/usr/bin/env python3
"""The main job as a user runs it, on the simulator (class Simulated) and on the real Druid
(class OnDruid): the same statements must hold on both."""
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, Gate, RealDruid, hours, wait_for  # noqa: E402


class MainJob:
    """What must hold whatever stands behind the adapter."""

    def loaded(self, counts):
        """A server, and a backfill over `counts` that is DONE."""
        druid, cluster = self.cluster()
        server = self.run_interlockd(cluster)
        job = self.job(self.events(counts))
        first, last = min(counts), max(counts) + 1
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", hours(first, last),
                                        "--request-id", "load", "--wait")
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)
        for hour, count in counts.items():
            self.assertEqual(druid.wait_for_count(self.datasource, hours(hour, hour + 1), count), count)
        return druid, server, job

    def test_a_backfill_replaces_the_asked_hour_and_no_other(self):
        druid, server, job = self.loaded({10: 5, 11: 7, 12: 3})
        before = [druid.fingerprint(self.datasource, hours(h, h + 1)) for h in (10, 12)]
        self.events({11: 9})
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", hours(11, 12),
                                        "--request-id", "again", "--reprocess", "all", "--wait",
                                        "--expect-rows", 9)
        self.assertEqual((code, reply["state"]), (0, "DONE"), error)
        self.assertEqual(druid.wait_for_count(self.datasource, hours(11, 12), 9), 9)
        self.assertEqual([druid.fingerprint(self.datasource, hours(h, h + 1)) for h in (10, 12)], before)
        code, reply, _ = server.ctl("verify", self.datasource, hours(10, 13), "--level", "served")
        self.assertEqual((code, reply["verdict"]), (0, "SINGLE_VERSION"))
        self.assertIn("interlock_backfill_partition_seconds_count 4\n", server.http("/metrics"))

    def test_the_same_request_starts_no_second_task(self):
        druid, server, job = self.loaded({10: 5})
        before = druid.tasks(self.datasource)
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", hours(10, 11),
                                        "--request-id", "load", "--wait")
        self.assertEqual((code, reply["state"]), (0, "DONE"), error)
        self.assertEqual(druid.tasks(self.datasource), before)

    def test_a_second_holder_is_refused_and_told_who_holds_it(self):
        druid, server, job = self.loaded({10: 5})
        code, reply, error = server.ctl("reserve", self.datasource, hours(10, 11), "--purpose", "audit",
                                        caller="auditor")
        self.assertEqual(code, 0, error)
        before = druid.tasks(self.datasource)
        code, _, error = server.ctl("submit", "--spec", job, "--interval", hours(10, 11), "--reprocess",
                                    "all", "--request-id", "refused", "--wait")
        self.assertEqual(code, 1, error)
        self.assertIn("auditor", error)
        self.assertEqual(druid.tasks(self.datasource), before)

    def append_past_interlock(self, druid, job, hour, count):
        """The job's rows of that hour once more, as a scheduler sends them; the hour counts `count` then."""
        spec = json.loads(job.read_text())
        spec["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [hours(hour, hour + 1)]
        spec["spec"]["ioConfig"].update(appendToExisting=True, dropExisting=False)
        spec["spec"]["ioConfig"]["inputSource"]["filter"] = f"2026-07-16T{hour}.json"
        self.assertEqual(druid.run_task(spec), "SUCCESS")
        self.assertEqual(druid.wait_for_count(self.datasource, hours(hour, hour + 1), count), count)

    def test_rows_that_an_append_doubled_are_found(self):
        druid, server, job = self.loaded({10: 5})
        self.append_past_interlock(druid, job, 10, 10)
        code, reply, _ = server.ctl("verify", self.datasource, hours(10, 11), "--expect-rows", 5,
                                    "--count-metric", "events")
        self.assertEqual((code, reply["verdict"]), (1, "DUPLICATE_ROWS"))
        self.assertIn(f'interlock_duplicate_row_partitions{{datasource="{self.datasource}"}} 1',
                      server.http("/metrics"))

    def test_the_same_work_mends_rows_that_an_append_doubled(self):
        druid, server, job = self.loaded({10: 5, 11: 7})
        self.append_past_interlock(druid, job, 10, 10)
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", hours(10, 12),
                                        "--request-id", "mend", "--wait")
        self.assertEqual((code, reply["state"]), (0, "DONE"), error)
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 11), 5), 5)
        _, reply, _ = server.ctl("backfills", "get", reply["backfill_id"])
        self.assertEqual([p["state"] for p in reply["partitions"]], ["DONE", "SKIPPED"])

    def test_a_drop_is_restored_and_another_is_killed(self):
        druid, server, _ = self.loaded({10: 5, 11: 7})
        code, reply, error = server.ctl("drop", self.datasource, hours(10, 11), "--reason", "mistake",
                                        "--window", "10m", "--request-id", "d1")
        self.assertEqual(code, 0, error)
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 11), 0), 0)
        code, _, error = server.ctl("drops", "restore", reply["drop"]["drop_id"])
        self.assertEqual(code, 0, error)
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 11), 5), 5)
        segments = druid.segments(self.datasource, hours(10, 11))
        files = [f for s in segments for f in druid.files(s)]
        code, reply, error = server.ctl("drop", self.datasource, hours(10, 11), "--reason", "old",
                                        "--window", "1s", "--request-id", "d2", "--wait")
        self.assertEqual((code, reply["drop"]["state"]), (0, "KILLED"), error)
        self.assertEqual(druid.segments(self.datasource, hours(10, 11)), [])
        self.assertEqual(druid.unused(self.datasource, hours(10, 11)), [])
        self.assertEqual([f for f in files if f.exists()], [])
        self.assertEqual(druid.wait_for_count(self.datasource, hours(11, 12), 7), 7)

    def test_the_same_job_over_changed_input_runs_twice(self):
        druid, server, job = self.loaded({10: 5})
        self.events({10: 8})
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", hours(10, 11),
                                        "--request-id", "second", "--reprocess", "all", "--wait")
        self.assertEqual((code, reply["state"]), (0, "DONE"), error)
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 11), 8), 8)

    def test_the_same_job_runs_again_after_the_store_was_deleted(self):
        druid, server, job = self.loaded({10: 5})
        server.stop()
        for file in server.folder.glob("interlock.db*"):
            file.unlink()
        server.start()
        self.events({10: 8})
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", hours(10, 11),
                                        "--request-id", "load", "--wait")
        self.assertEqual((code, reply["state"]), (0, "DONE"), error)
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 11), 8), 8)

    def test_kill_9_at_any_moment_leaves_one_task_a_unit_and_one_copy(self):
        seed = int(os.environ.get("INTERLOCK_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}: INTERLOCK_SEED={seed} replays it", file=sys.stderr)
        chance = random.Random(seed)
        druid, cluster = self.cluster()
        server = self.run_interlockd(cluster)
        counts = {h: 4 + h for h in range(8, 14)}
        job = self.job(self.events(counts))
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", hours(8, 14),
                                        "--request-id", "b", "--max-parallel", "2")
        self.assertEqual(code, 0, error)
        backfill = reply["backfill"]["backfill_id"]
        for _ in range(4):
            pause = chance.uniform(0.02, 1.2)
            try:
                server.process.wait(timeout=pause)
            except subprocess.TimeoutExpired:
                pass
            server.kill()
            server.start()

        def over():
            _, reply, _ = server.ctl("backfills", "get", backfill)
            return reply if reply["backfill"]["state"] not in ("PENDING", "RUNNING") else None
        reply = wait_for("the backfill to end", over)
        self.assertEqual(reply["backfill"]["state"], "DONE", reply)
        for hour, count in counts.items():
            self.assertEqual(druid.wait_for_count(self.datasource, hours(hour, hour + 1), count), count)
        tasks = druid.tasks(self.datasource)
        attempts = collections.Counter(p["task_id"] for p in reply["partitions"])
        self.assertEqual(max(attempts.values()), 1, "a task is of one partition")
        self.assertLessEqual(set(attempts), set(tasks))
        made = sum(p["attempt_count"] for p in reply["partitions"])
        self.assertEqual(len(tasks), made, "one task an attempt, and none that nobody knows of")

    def test_under_observe_nothing_is_written(self):
        druid, cluster = self.cluster()
        server = self.run_interlockd(cluster, access="OBSERVE")
        job = self.job(self.events({10: 5}))
        code, _, error = server.ctl("submit", "--spec", job, "--interval", hours(10, 11), "--request-id",
                                    "o", "--wait")
        self.assertNotEqual(code, 0)
        self.assertIn("OBSERVE", error)
        self.assertEqual(druid.tasks(self.datasource), [])
        code, _, error = server.ctl("submit", "--spec", job, "--interval", hours(10, 11), "--dry-run")
        self.assertEqual(code, 0, error)

    def test_doctor_finds_the_services_up(self):
        _, cluster = self.cluster()
        server = self.run_interlockd(cluster)
        code, reply, error = server.ctl("doctor")
        results = {(c["name"], c["subject"]): c["result"] for c in reply["checks"]}
        self.assertEqual(results[("service", "overlord")], "OK", error)
        self.assertEqual(results[("service", "broker")], "OK", error)

    def test_faulty_specs_store_nothing(self):
        druid, cluster = self.cluster()
        server = self.run_interlockd(cluster)
        spec = json.loads(self.job(self.events({10: 5})).read_text())
        spec["spec"]["ioConfig"].update(appendToExisting=True, dropExisting=False)
        path = self.folder / "faulty.json"
        path.write_text(json.dumps(spec))
        code, _, error = server.ctl("submit", "--spec", path, "--interval", hours(10, 11), "--wait")
        self.assertEqual(code, 2)
        self.assertIn("/spec/ioConfig/appendToExisting", error)
        self.assertIn("/spec/ioConfig/dropExisting", error)
        self.assertEqual(druid.tasks(self.datasource), [])
        code, reply, _ = server.ctl("backfills", "list", self.datasource)
        self.assertEqual((code, reply.get("backfills", [])), (0, []))


class Simulated(MainJob, EndToEnd):
    def cluster(self):
        simulator = self.run_simulator()
        return simulator.druid(), simulator


class OnDruid(MainJob, EndToEnd):
    def cluster(self):
        real = RealDruid()
        return real.druid(), real


class Stalled:
    """interlockd stopped where it hurts most: the intent is stored, and the POST reaches
    Druid only after the lease is over."""

    def test_a_server_that_stalls_past_its_lease_makes_no_second_version(self):
        druid, cluster = self.cluster()
        overlord = getattr(cluster, "overlord", None) or cluster.address
        gate = Gate(overlord, "POST /druid/indexer/v1/task ")
        self._running.append(gate)
        cluster.overlord = gate.address
        cluster.coordinator = getattr(cluster, "coordinator", None) or cluster.address
        cluster.broker = getattr(cluster, "broker", None) or cluster.address
        server = self.run_interlockd(cluster, backfills="lease_ttl { seconds: 5 }",
                                     druid_settings="call_timeout { seconds: 2 }")
        job = self.job(self.events({10: 5}))
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", hours(10, 11),
                                        "--request-id", "s")
        self.assertEqual(code, 0, error)
        backfill = reply["backfill"]["backfill_id"]
        self.assertTrue(gate.caught.wait(60), "the POST never came")
        server.pause()
        stopped = time.monotonic()
        wait_for("the lease to be over", lambda: time.monotonic() - stopped > 6)
        server.resume()
        # Its lease is over and its POST may still be under way: nobody else gets the hour.
        code, _, error = server.ctl("reserve", self.datasource, hours(10, 11), caller="other")
        self.assertEqual(code, 1, error)
        self.assertIn("is not settled", error)
        self.assertEqual(druid.segments(self.datasource, hours(10, 11)), [])
        gate.open.set()
        reply = self.over(server, backfill)
        versions = {s["version"] for s in druid.segments(self.datasource, hours(10, 11))}
        self.assertEqual(len(versions), 1)
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 11), 5), 5)
        made = sum(p["attempt_count"] for p in reply["partitions"])
        tasks = druid.tasks(self.datasource)
        self.assertEqual(len(tasks), made, (tasks, reply["partitions"]))

    def over(self, server, backfill):
        def state():
            reply = server.ctl("backfills", "get", backfill)[1]
            return reply["backfill"]["state"] not in ("PENDING", "RUNNING") and reply
        return wait_for("the backfill to end", state)


class SimulatedStall(Stalled, EndToEnd):
    def cluster(self):
        simulator = self.run_simulator()
        return simulator.druid(), simulator


class OnDruidStall(Stalled, EndToEnd):
    def cluster(self):
        real = RealDruid()
        return real.druid(), real


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
