"""`interlockctl reserve … -- COMMAND` against a real interlockd, both as processes: what is
stopped, killed and unreachable here is so for real."""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import uuid

BIN = pathlib.Path(os.environ["INTERLOCK_BIN"])
INTERVAL = "2026-07-16T13"
# Longer than anything here takes, on a machine that does much else.
PATIENCE = 60


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, condition):
    give_up = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > give_up:
            raise AssertionError(f"gave up waiting for {what}")
        time.sleep(0.02)


def is_alive(pid):
    """False for a zombie too: it writes nothing any more."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.note = self.folder / "note"
        self.datasource = f"programs_{uuid.uuid4().hex[:8]}"
        self.address = f"127.0.0.1:{free_port()}"
        self.config = self.folder / "interlockd.textproto"
        self.config.write_text(f"""
            listen {{ address: "{self.address}" admin_address: "127.0.0.1:0" }}
            store {{ sqlite {{ path: "{self.folder}/interlock.db" }} }}
            druid {{ simulated: true }}
        """, encoding="utf-8")
        self.server = None
        self.start_server()
        self.addCleanup(self.stop_server)

    def start_server(self):
        log = open(self.folder / "log", "ab")
        self.server = subprocess.Popen([str(BIN / "interlockd"), "--config", str(self.config)],
                                       stdout=log, stderr=log)
        log.close()
        host, port = self.address.split(":")

        def serves():
            self.assertIsNone(self.server.poll(), (self.folder / "log").read_text(encoding="utf-8"))
            with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
                return True
            return False
        wait_for("interlockd", serves)

    def stop_server(self):
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGCONT)
            self.server.kill()
        self.server.wait()

    def ctl(self, *words, caller="nightly"):
        return subprocess.Popen([str(BIN / "interlockctl"), "--address", self.address, "--caller", caller, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def under(self, script, *flags, ttl="2s", kill_after="1s", **more):
        """A shell script under a lease; returns once it runs, or has ended."""
        self.note.unlink(missing_ok=True)
        started = self.ctl("reserve", self.datasource, INTERVAL, "--ttl", ttl, "--kill-after", kill_after, *flags,
                           "--", "/bin/sh", "-c", f"echo $$ > {self.note}; {script}", **more)
        self.addCleanup(self.end, started)
        wait_for("the command", lambda: started.poll() is not None or
                 (self.note.exists() and self.note.read_text(encoding="utf-8").strip()))
        return started

    @staticmethod
    def end(program):
        if program.poll() is None:
            program.kill()
        program.communicate()

    def ends(self, program, code):
        out, err = program.communicate(timeout=PATIENCE)
        self.assertEqual(program.returncode, code, out + err)
        return err

    def reserve(self, caller):
        """Another one's try, without waiting; gives the exit code."""
        asked = self.ctl("reserve", self.datasource, INTERVAL, "--ttl", "30s", caller=caller)
        asked.communicate(timeout=PATIENCE)
        return asked.returncode

    def said(self):
        return self.note.read_text(encoding="utf-8").split()


class Case99(Programs):
    def test_a_holder_that_died_blocks_until_its_lease_ends_and_no_longer(self):
        program = self.under("sleep 60", ttl="2s")
        begun = time.monotonic()
        program.kill()
        self.assertEqual(self.reserve("auditor"), 1)
        wait_for("the dead one's time", lambda: self.reserve("auditor") == 0)
        self.assertLess(time.monotonic() - begun, 10)


class Case115(Programs):
    def test_a_command_is_stopped_before_its_lease_ends_though_nobody_answers(self):
        """The server hangs: it neither answers nor closes a connection."""
        program = self.under(f"trap 'date +%s%N >> {self.note}; exit 3' TERM; while :; do sleep 0.02; done", ttl="3s")
        granted = time.monotonic()
        self.server.send_signal(signal.SIGSTOP)
        err = self.ends(program, 124)
        self.assertIn("LEASE_DEADLINE", err)
        # It may have been renewed just before.
        self.assertLess(time.monotonic() - granted, 3 + 3)

    def test_a_stopped_server_loses_no_lease_if_it_comes_back_in_time(self):
        program = self.under("sleep 3; exit 7", ttl="6s")
        self.server.terminate()
        self.server.wait()
        self.start_server()
        err = self.ends(program, 7)
        self.assertEqual(self.reserve("auditor"), 0, err)  # it was given back


class Case117(Programs):
    def test_interlockctl_that_was_stopped_past_the_lease_kills_its_command_when_it_wakes(self):
        """Another has the time by then: nothing is left to give to --kill-after."""
        program = self.under(f"trap 'echo term >> {self.note}; exit 3' TERM; while :; do sleep 0.02; done", ttl="1s")
        program.send_signal(signal.SIGSTOP)
        wait_for("the end of its lease", lambda: self.reserve("auditor") == 0)
        program.send_signal(signal.SIGCONT)
        err = self.ends(program, 124)
        self.assertIn("the command is killed", err)
        self.assertNotIn("term", self.said())
        self.assertFalse(is_alive(self.said()[0]))

    def test_what_a_command_leaves_running_does_not_outlive_the_lease(self):
        program = self.under(f"sleep 300 & echo $! >> {self.note}; exit 4", ttl="60s")
        err = self.ends(program, 4)
        self.assertIn("what it left running is stopped with it", err)
        self.assertFalse(any(is_alive(pid) for pid in self.said()))
        self.assertEqual(self.reserve("auditor"), 0, "it was given back")

    def test_a_command_that_ignores_term_is_dead_before_a_short_lease_ends(self):
        """--kill-after is longer than the lease leaves: the lease wins."""
        program = self.under("trap '' TERM; while :; do sleep 0.02; done", ttl="3s", kill_after="1h")
        self.server.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        self.ends(program, 124)
        self.assertLess(time.monotonic() - begun, 6)
        self.assertFalse(is_alive(self.said()[0]))

    def test_what_a_command_started_does_not_outlive_a_killed_interlockctl(self):
        program = self.under(f"sleep 300 & echo $! >> {self.note}; wait", ttl="60s")
        wait_for("the child", lambda: len(self.said()) == 2)
        program.kill()
        program.wait()
        wait_for("both to be gone", lambda: not any(is_alive(pid) for pid in self.said()))


class Case123(Programs):
    def test_lost_and_unreachable_are_told_apart(self):
        program = self.under("while :; do sleep 0.02; done", ttl="2s")
        listed = self.ctl("reservations", "list", self.datasource, "-o", "json")
        out, _ = listed.communicate(timeout=PATIENCE)
        lease = re.search(r'"reservation_id":"([^"]+)"', out).group(1)
        token = re.search(r'"fencing_token":"(\d+)"', out).group(1)
        self.ends(self.ctl("reservations", "release", lease, "--fencing-token", token), 0)
        err = self.ends(program, 124)
        self.assertIn("RELEASED", err)
        self.assertNotIn("LEASE_DEADLINE", err)


class ReserveCommand(Programs):
    def test_statuses_are_those_that_scripts_rely_on(self):
        self.ends(self.under("exit 7"), 7)
        self.ends(self.under("kill -KILL $$"), 137)
        holder = self.under("sleep 60", ttl="60s")
        err = self.ends(self.ctl("reserve", self.datasource, INTERVAL, "--", "true", caller="auditor"), 121)
        self.assertIn("nightly", err)
        self.ends(self.ctl("reserve", self.datasource, "yesterday", "--", "true"), 122)
        self.ends(self.ctl("reserve", self.datasource, "--", "true"), 122)
        self.ends(self.ctl("reserve", "other", INTERVAL, "--", "/no/such/command"), 127)
        holder.send_signal(signal.SIGTERM)
        self.ends(holder, 128 + signal.SIGTERM)
        self.assertEqual(self.reserve("auditor"), 0)
        self.server.kill()
        self.server.wait()
        self.ends(self.ctl("reserve", self.datasource, INTERVAL, "--timeout", "1s", "--", "true"), 123)

    def test_a_server_that_comes_back_in_a_moment_is_waited_for(self):
        self.server.terminate()
        self.server.wait()
        asked = self.ctl("reserve", self.datasource, INTERVAL, "--timeout", "50s", "--", "/bin/sh", "-c",
                         f"echo $INTERLOCK_RESERVATION $INTERLOCK_FENCING_TOKEN > {self.note}")
        self.start_server()
        self.ends(asked, 0)
        self.assertEqual(len(self.said()), 2)

    def test_a_commands_output_ends_with_it(self):
        """Whatever else runs beside it holds nothing open: a pipe behind it sees the end."""
        program = self.ctl("reserve", self.datasource, INTERVAL, "--", "echo", "done")
        self.assertEqual(program.stdout.read(), "done\n")
        self.ends(program, 0)


class ExampleOfTheLibrary(Programs):
    def hold(self, steps):
        example = subprocess.Popen([str(BIN / "interlock-example-hold"), self.address, self.datasource, INTERVAL,
                                    str(steps)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, example)
        return example

    def test_it_works_under_a_lease_and_gives_it_back(self):
        out, err = self.hold(3).communicate(timeout=PATIENCE)
        self.assertEqual(re.findall("step [0-9] under token [1-9]", out), re.findall("step.*", out), err)
        self.assertEqual(len(out.splitlines()), 3)
        self.assertEqual(self.reserve("auditor"), 0)
        example = self.hold(1)
        self.assertIn("HELD: ", example.communicate(timeout=PATIENCE)[1])
        self.assertEqual(example.returncode, 1)

    def test_it_stops_when_the_server_is_gone(self):
        example = self.hold(10_000)
        example.stdout.readline()
        self.server.kill()
        _, err = example.communicate(timeout=PATIENCE)
        self.assertEqual(example.returncode, 3)
        self.assertIn("unreachable so far", err)
        self.assertIn("lost: LEASE_DEADLINE", err)


if __name__ == "__main__":
    unittest.main()
