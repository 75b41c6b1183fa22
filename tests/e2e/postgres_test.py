#!/usr/bin/env python3
"""Servers that share a PostgreSQL: interlockd as a process, a database as a process, and
both of them killed."""
import datetime
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
import unittest
import urllib.error

sys.path[:0] = [str(pathlib.Path(__file__).parent),
                str(pathlib.Path(__file__).parents[1] / "fault" / "postgres")]
from harness import BIN, EndToEnd, hours, wait_for  # noqa: E402
from history import Grant, History, Refusal  # noqa: E402
from replicas import Replicas  # noqa: E402


def _seconds(timestamp):
    return datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


class Client(threading.Thread):
    """Reserves, releases, and asks again with the same id where it got no answer."""

    def __init__(self, number, seed, servers, history, datasource, until):
        super().__init__()
        self.name = f"client-{number}"
        self.random = random.Random(seed * 1000 + number)
        self.servers = servers
        self.history = history
        self.datasource = datasource
        self.until = until
        self.fault = None

    def run(self):
        try:
            while time.monotonic() < self.until:
                self.reserve()
        except Exception as error:  # shown by the test's own thread
            self.fault = error

    def call(self, *words):
        """Until there is an answer: exit code, reply, error, begin and end."""
        begin = time.monotonic()
        while True:
            server = self.random.choice(self.servers)
            code, reply, error = server.ctl(*words, caller=self.name, timeout=60)
            if code in (0, 1):
                return code, reply, error, begin, time.monotonic()
            self.history.lost()
            if time.monotonic() > self.until + 60:
                raise AssertionError(f"no answer for a minute: {words}: {code} {error}")
            time.sleep(0.05)

    def reserve(self):
        first = self.random.randrange(10)
        last = first + self.random.randrange(1, 4)
        code, reply, error, begin, end = self.call(
            "reserve", self.datasource, hours(first, last), "--ttl",
            self.random.choice(["2s", "10s", "60s"]), "--purpose", "history", "--request-id",
            f"{self.name}-{self.random.getrandbits(64):x}")
        if code != 0:
            return self.history.refused(Refusal(begin, end, tuple(
                word.strip(".,;:()") for word in error.split() if word.startswith("r"))))
        lease = reply["reservation"]
        grant = Grant(lease["reservation_id"], int(lease["fencing_token"]), first, last, begin, end,
                      _seconds(lease["create_time"]), _seconds(lease["expire_time"]))
        if self.random.random() < 0.8:
            time.sleep(self.random.random() * 0.2)
            grant.release_begin = time.monotonic()
            code, *_ = self.call("reservations", "release", grant.reservation, "--fencing-token",
                                 grant.token)
            if code == 0:
                grant.release_end = time.monotonic()
        self.history.granted(grant)


class SharedStore(Replicas, EndToEnd):

    def test_two_servers_grant_and_neither_grants_what_the_other_has(self):
        postgres, (one, two) = self.shared("require_synchronous: true")
        code, reply, error = one.ctl("reserve", self.datasource, hours(10, 12), "--purpose", "x")
        self.assertEqual(code, 0, error)
        held = reply["reservation"]
        code, _, error = two.ctl("reserve", self.datasource, hours(11, 13), "--purpose", "x")
        self.assertEqual(code, 1)
        self.assertIn("HELD", error)
        code, reply, error = two.ctl("reserve", self.datasource, hours(12, 13), "--purpose", "x")
        self.assertEqual(code, 0, error)
        self.assertGreater(int(reply["reservation"]["fencing_token"]), int(held["fencing_token"]))
        code, _, error = two.ctl("reservations", "release", held["reservation_id"],
                                 "--fencing-token", held["fencing_token"])
        self.assertEqual(code, 0, error)
        code, _, error = one.ctl("reserve", self.datasource, hours(10, 12), "--purpose", "x")
        self.assertEqual(code, 0, error)
        code, status, error = one.ctl("status")
        self.assertEqual((status["store"]["engine"], status["store"]["synchronous"]),
                         ("postgresql", True), error)
        self.assertIn("interlock_store_synchronous 1", one.http("/metrics"))
        for server in (one, two):
            wait_for("both replicas are seen",
                     lambda server=server: len(server.ctl("status")[1].get("replicas", [])) == 2)

    def test_a_history_through_a_kill_and_a_fail_over_is_one_tables(self):
        seconds = float(os.environ.get("INTERLOCK_HISTORY_SECONDS", "12"))
        seed = int(os.environ.get("INTERLOCK_SEED", random.SystemRandom().randrange(10**6)))
        print(f"seed {seed}: again by INTERLOCK_SEED={seed} {sys.argv[0]} {self.id()}", flush=True)
        postgres, servers = self.shared("require_synchronous: true")
        # The standby that takes over has no standby of its own, and refuses for want of one.
        for server in servers:
            server.settings["engine"] = server.settings["engine"].replace(
                "require_synchronous: true", "")
            server.stop()
            server.start()
        history = History()
        begin = time.monotonic()
        clients = [Client(number, seed, servers, history, self.datasource, begin + seconds)
                   for number in range(6)]
        for client in clients:
            client.start()
        time.sleep(seconds / 4)
        servers[0].kill()
        time.sleep(seconds / 10)
        servers[0].start()
        time.sleep(seconds / 6)
        postgres.run("kill")
        postgres.run("promote")
        for client in clients:
            client.join()
        self.assertEqual([client.fault for client in clients if client.fault], [])
        self.assertEqual(history.faults(), [])
        after = [grant for grant in history.grants if grant.begin > begin + seconds * 0.7]
        self.assertTrue(after, "nothing was granted after the fail-over")
        self.lost_none(history.grants, servers)
        print(f"{len(history.grants)} grants, {len(history.refusals)} refusals,"
              f" {history.unknown} answers lost", flush=True)

    def lost_none(self, grants, servers):
        """What was acknowledged is there, with the token that was told."""
        for grant in random.Random(1).sample(grants, min(40, len(grants))):
            code, reply, error = servers[1].ctl("reservations", "get", grant.reservation)
            self.assertEqual(code, 0, f"{grant}: {error}")
            self.assertEqual(int(reply.get("reservation", reply)["fencing_token"]), grant.token)

    def test_a_server_that_finds_no_database_says_so_and_is_not_ready(self):
        postgres, (one, two) = self.shared()
        postgres.run("kill")
        postgres.run("stop")
        code, _, error = one.ctl("reserve", self.datasource, hours(10, 12), "--purpose", "x")
        self.assertEqual(code, 3, error)
        self.assertIn("STORE_UNAVAILABLE", error)
        wait_for("readiness to go", lambda: "interlock_store_up 0" in two.http("/metrics"), 30)
        postgres.run("start", "--port", postgres.port, "--synchronous")
        wait_for("readiness to come back", lambda: "interlock_store_up 1" in two.http("/metrics"), 60)
        code, _, error = one.ctl("reserve", self.datasource, hours(10, 12), "--purpose", "x")
        self.assertEqual(code, 0, error)

    def test_a_server_started_before_its_database_waits_for_it_alive_and_not_ready(self):
        postgres, (one, _) = self.shared()
        one.stop()
        one.start()  # writes the ports of the first start into its file
        one.stop()
        postgres.run("stop")
        process = subprocess.Popen([str(BIN / "interlockd"), "--config", str(one.config)],
                                   stdout=open(one.folder / "waiting.log", "w"),
                                   stderr=subprocess.STDOUT)
        try:
            log = one.folder / "waiting.log"
            wait_for("it to say so", lambda: "the store does not answer" in log.read_text(), 30)
            self.assertEqual(one.http("/healthz"), "alive\n")
            with self.assertRaises(urllib.error.HTTPError) as not_ready:
                one.http("/readyz")
            self.assertEqual(not_ready.exception.code, 503)
            self.assertIsNone(process.poll(), log.read_text())
            postgres.run("start", "--port", postgres.port, "--synchronous")
            wait_for("it to serve", lambda: '"serving"' in log.read_text(), 60)
            code, _, error = one.ctl("reserve", self.datasource, hours(10, 12), "--purpose", "x")
            self.assertEqual(code, 0, error)
        finally:
            process.terminate()
            self.assertEqual(process.wait(30), 0)

    def test_a_server_that_waits_for_its_database_ends_when_told_and_by_its_deadline(self):
        postgres, (one, two) = self.shared()
        for server in (one, two):
            server.stop()
        postgres.run("stop")
        begun = time.monotonic()
        with open(one.folder / "waiting.log", "w+") as log:
            process = subprocess.Popen([str(BIN / "interlockd"), "--config", str(one.config)],
                                       stdout=log, stderr=log)
            wait_for("it to wait", lambda: "does not answer" in
                     (one.folder / "waiting.log").read_text(), 30)
            process.terminate()
            self.assertEqual(process.wait(20), 0)
        two.config.write_text(two.config.read_text().replace(
            "postgresql {", "postgresql { start_timeout { seconds: 3 }"))
        result = subprocess.run([str(BIN / "interlockd"), "--config", str(two.config)],
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("interlockd:", result.stderr)
        self.assertLess(time.monotonic() - begun, 60)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
