#!/usr/bin/env python3
"""The main job as a user runs it, on the simulator (class Simulated) and on the real Druid
(class OnDruid): the same statements must hold on both."""
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time
import unittest
import urllib.error

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import BIN, ROOT, EndToEnd, Gate, RealDruid, hours, wait_for  # noqa: E402


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

    def test_rows_that_an_append_doubled_are_found(self):
        druid, server, job = self.loaded({10: 5})
        spec = json.loads(job.read_text())
        spec["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [hours(10, 11)]
        spec["spec"]["ioConfig"].update(appendToExisting=True, dropExisting=False)
        spec["spec"]["ioConfig"]["inputSource"]["filter"] = "2026-07-16T10.json"
        self.assertEqual(druid.run_task(spec), "SUCCESS")
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 11), 10), 10)
        code, reply, _ = server.ctl("verify", self.datasource, hours(10, 11), "--expect-rows", 5,
                                    "--count-metric", "events")
        self.assertEqual((code, reply["verdict"]), (1, "DUPLICATE_ROWS"))
        self.assertIn(f'interlock_duplicate_row_partitions{{datasource="{self.datasource}"}} 1',
                      server.http("/metrics"))

    def test_the_same_work_mends_rows_that_an_append_doubled(self):
        druid, server, job = self.loaded({10: 5, 11: 7})
        spec = json.loads(job.read_text())
        spec["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [hours(10, 11)]
        spec["spec"]["ioConfig"].update(appendToExisting=True, dropExisting=False)
        spec["spec"]["ioConfig"]["inputSource"]["filter"] = "2026-07-16T10.json"
        self.assertEqual(druid.run_task(spec), "SUCCESS")
        self.assertEqual(druid.wait_for_count(self.datasource, hours(10, 11), 10), 10)
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


class Process(EndToEnd):
    """interlockd as a process, whatever Druid does."""

    def test_sigterm_drains_and_exits_0(self):
        server = self.run_interlockd(self.run_simulator())
        self.assertEqual(server.http("/readyz"), "ready\n")
        self.assertEqual(server.stop(), 0)

    def test_the_timeline_page_and_the_status_tell_what_is_there(self):
        server = self.run_interlockd(self.run_simulator())
        self.assertIn("Nothing is known", server.http("/"))
        code, _, error = server.ctl("reserve", "clicks", "2026-07-16T13", "--purpose", "<b>load</b>",
                                    caller="ada")
        self.assertEqual(code, 0, error)
        self.assertIn('href="/?datasource=clicks"', server.http("/"))
        page = server.http("/?datasource=clicks")
        self.assertIn("2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z", page)
        self.assertIn("loopback/ada: &lt;b&gt;load&lt;/b&gt;", page)
        with self.assertRaises(urllib.error.HTTPError):
            server.http("/elsewhere")
        status = server.ctl("status")[1]
        commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True)
        self.assertEqual(status.get("commit", ""), commit.stdout.strip())
        self.assertRegex(status["store"]["commit_latency"], r"^[0-9.]+[mµu]?s$")
        limits = status["limits"]
        self.assertEqual((limits["min_ttl"], limits["max_wait"], limits["lock_delay"]), ("1s", "1h", "0"))
        self.assertEqual(limits["max_request_bytes"], str(16 << 20))

    def test_a_name_that_druid_forbids_is_refused_before_druid_is_asked(self):
        simulator = self.run_simulator()
        server = self.run_interlockd(simulator)
        for name in ("a/b", "..", ".x", "a\tb", "x\N{GRINNING FACE}", "d" * 256):
            for words in (("verify", name, "2026-07-16T13"), ("explain", name, "2026-07-16T13"),
                          ("doctor", name)):
                code, _, error = server.ctl(*words)
                self.assertEqual(code, 2, (words, error))
                self.assertTrue("INVALID_DATASOURCE" in error or "FIELD_TOO_LONG" in error, error)
        self.assertFalse([r for r in simulator.requests() if ".." in r["path"] or "a%2Fb" in r["path"]])

    def test_a_request_that_is_too_large_is_bad_input_that_names_the_limit(self):
        server = self.run_interlockd(self.run_simulator())
        large = self.folder / "large.json"
        large.write_text(json.dumps({"type": "index_parallel", "x": "y" * (17 << 20)}))
        code, _, error = server.ctl("submit", "--spec", large, "--interval", "2026-07-16")
        self.assertEqual(code, 2, error)
        self.assertIn("limits.max_request_bytes", error)

    def test_a_policy_test_names_the_role_that_a_method_wants(self):
        server = self.run_interlockd(self.run_simulator())
        code, reply, error = server.ctl("policy", "test", "someone", "ReserveInterval", "clicks")
        self.assertEqual((code, reply["allowed"], reply["needed_role"]), (0, True, "reserve"), error)
        self.assertIn("reserve", reply["roles"])
        code, _, error = server.ctl("policy", "test", "someone", "ReserveIntervals", "clicks")
        self.assertEqual(code, 2)
        self.assertIn("UNKNOWN_METHOD", error)

    def test_a_file_that_is_none_is_bad_input(self):
        server = self.run_interlockd(self.run_simulator())
        for file in (self.folder, "/dev/zero", self.folder / "missing"):
            code, _, error = server.ctl("submit", "--spec", file, "--interval", "2026-07-16")
            self.assertEqual(code, 2, error)
            self.assertIn("FILE_NOT_READABLE", error)
            self.assertIn(str(file), error)

    def test_a_wait_that_runs_out_is_told_who_holds(self):
        server = self.run_interlockd(self.run_simulator())
        code, _, error = server.ctl("reserve", "clicks", "2026-07-16T13", "--ttl", "60s", caller="ada")
        self.assertEqual(code, 0, error)
        code, _, error = server.ctl("reserve", "clicks", "2026-07-16T13", "--wait", "300ms", caller="bob")
        self.assertEqual(code, 1, error)
        self.assertIn("ada", error)
        self.assertEqual(server.ctl("status")[0], 0, "the server lives")

    def test_nobody_home_is_exit_3(self):
        server = self.run_interlockd(self.run_simulator())
        server.stop()
        code, _, error = server.ctl("status")
        self.assertEqual(code, 3, error)

    def test_a_faulty_configuration_is_told_line_by_line(self):
        path = self.folder / "faulty.textproto"
        path.write_text('listen { address: "0.0.0.0:7430" }\nstore { sqlite { } }\n'
                        'druid {\n  coordinator_urls: "coordinator:8081"\n}\n')
        result = subprocess.run([str(BIN / "interlockd"), "--config", str(path), "--check"],
                                capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(result.returncode, 2)
        for fault in (":1: listen.address", "store", ":4: druid.coordinator_urls", "broker_urls"):
            self.assertIn(fault, result.stderr)

    def test_a_reservation_under_a_command_ends_with_it(self):
        server = self.run_interlockd(self.run_simulator())
        script = 'test -n "$INTERLOCK_RESERVATION" && test "$INTERLOCK_FENCING_TOKEN" -gt 0 && exit 7'
        code, _, error = server.ctl("reserve", self.datasource, hours(10, 11), "--", "sh", "-c", script,
                                    json_output=False)
        self.assertEqual(code, 7, error)
        code, reply, _ = server.ctl("reservations", "list", self.datasource)
        self.assertEqual((code, reply.get("reservations", [])), (0, []))

    def test_what_was_granted_survives_kill_9(self):
        server = self.run_interlockd(self.run_simulator())
        code, reply, error = server.ctl("reserve", self.datasource, hours(10, 11), "--ttl", "10m")
        self.assertEqual(code, 0, error)
        granted = reply["reservation"]
        server.kill()
        server.start()
        code, reply, error = server.ctl("reservations", "get", granted["reservation_id"])
        self.assertEqual((code, reply["reservation"]["state"]), (0, "ACTIVE"), error)
        code, _, _ = server.ctl("reserve", self.datasource, hours(10, 11), caller="other")
        self.assertEqual(code, 1)

    def test_the_log_and_the_process_list_carry_no_password(self):
        secret = self.folder / "password"
        secret.write_text("hunter2-of-the-test\n")
        simulator = self.run_simulator()
        server = self.run_interlockd(simulator)
        server.stop()
        server.config.write_text(server.config.read_text().replace(
            "druid {", f'druid {{ basic_auth {{ user: "interlock" password_file: "{secret}" }}', 1))
        process = subprocess.Popen([str(BIN / "interlockd"), "--config", str(server.config)],
                                   stderr=subprocess.PIPE, text=True)
        line = process.stderr.readline()
        with open(f"/proc/{process.pid}/cmdline") as cmdline:
            self.assertNotIn("hunter2", cmdline.read())
        server.ctl("doctor")
        process.terminate()
        self.assertNotIn("hunter2", line + process.stderr.read())
        process.wait()
        process.stderr.close()


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
