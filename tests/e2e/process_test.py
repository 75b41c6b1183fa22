#!/usr/bin/env python3
"""The server as a process: what its calls, pages, logs and signals answer, on the simulator."""
import json
import pathlib
import subprocess
import sys
import unittest
import urllib.error

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import BIN, ROOT, EndToEnd, hours  # noqa: E402

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


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
