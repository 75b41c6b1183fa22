#!/usr/bin/env python3
"""A concurrent history of the lease table, taken from two servers on one PostgreSQL while one
server is killed and started again, and the primary is killed and its standby promoted: it must
be one that a single table, asked in some order, can have given. Nothing acknowledged is lost.

INTERLOCK_SEED repeats a run's choices (not its timing), INTERLOCK_HISTORY_SECONDS its length.
"""
import contextlib
import itertools
import os
import pathlib
import queue
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from history import Grant, History, Refusal  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
REPLICA = os.environ.get("LEASE_REPLICA", ROOT / "build" / "dev" / "bin" / "lease_replica")
PATIENCE = 90  # seconds


class Postgres:
    """A server with a standby that confirms each commit."""

    def __init__(self, folder):
        # It runs as another user where the tests run as root.
        folder.chmod(0o755)
        self.folder = folder / "postgres"
        self.run("start", "--port", str(_two_free_ports()), "--synchronous")
        env = dict(line.split("=", 1) for line in (self.folder / "env").read_text().splitlines())
        self.dsn = env["POSTGRES_DSN"].strip("'")

    def run(self, command, *flags):
        subprocess.run([ROOT / "deploy" / "postgres" / "run", command, "--dir", self.folder, *flags],
                       check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)


def _two_free_ports():
    for port in random.SystemRandom().sample(range(16000, 20000, 2), 200):
        try:
            for one in (port, port + 1):
                socket.create_server(("127.0.0.1", one)).close()
            return port
        except OSError:
            continue
    raise AssertionError("no two free ports")


class Replica:
    """lease_replica as a process; calls that it leaves unanswered get None."""

    def __init__(self, dsn):
        self.dsn = dsn
        self.lock = threading.Lock()
        self.start()

    def start(self):
        self.waiting = {}
        self.process = subprocess.Popen([REPLICA, self.dsn], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        if self.process.stdout.readline() != "serving\n":
            raise AssertionError("the replica did not start")
        threading.Thread(target=self._read, args=(self.process, self.waiting), daemon=True).start()

    @staticmethod
    def _read(process, waiting):
        for line in process.stdout:
            call, *answer = line.split()
            waiting[call].put(answer)
        for one in list(waiting.values()):
            one.put(None)

    def call(self, verb, number, *words):
        answer = queue.Queue()
        try:
            with self.lock:
                self.waiting[number] = answer
                self.process.stdin.write(" ".join(map(str, (verb, number, *words))) + "\n")
            return answer.get(timeout=PATIENCE)
        except (OSError, ValueError):
            return None

    def kill(self):
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):  # what was not written yet goes nowhere
            self.process.stdin.close()

    def stop(self):
        with self.lock:
            self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()


class Client(threading.Thread):
    """Reserves and releases; asks again, with the same id, where it got no answer."""

    numbers = itertools.count()

    def __init__(self, number, seed, replicas, history, ended):
        super().__init__()
        self.name = f"client-{number}"
        self.random = random.Random(seed * 1000 + number)
        self.replicas = replicas
        self.history = history
        self.ended = ended
        self.fault = None

    def run(self):
        try:
            while not self.ended.is_set():
                self.reserve()
        except Exception as error:  # told by the test's own thread
            self.fault = repr(error)

    def call(self, verb, *words):
        """The answer, and when the first call was made and the last one answered."""
        begin = time.monotonic()
        end_of_patience = begin + PATIENCE
        while True:
            answer = self.random.choice(self.replicas).call(verb, f"c{next(self.numbers)}", *words)
            if answer is not None and answer[0] != "unknown":
                return answer, begin, time.monotonic()
            self.history.lost()
            if end_of_patience < time.monotonic():
                raise AssertionError(f"no answer to {verb} {words}: {answer}")
            time.sleep(0.05)

    def reserve(self):
        first = self.random.randrange(16)
        last = first + self.random.randrange(1, 4)
        answer, begin, end = self.call(
            "reserve", self.name, f"{self.name}-{self.random.getrandbits(64):x}", first, last,
            self.random.choice([1500, 3000, 6000]))
        if answer[0] == "refused":
            if answer[1] == "HELD":
                self.history.refused(Refusal(begin, end, (answer[2],)))
            return
        reservation, token, created, deadline = answer[1], *map(int, answer[2:])
        grant = Grant(reservation, token, first, last, begin, end, created, deadline)
        if self.random.random() < 0.8:
            time.sleep(self.random.random() * 0.05)
            grant.release_begin = time.monotonic()
            answer, *_ = self.call("release", self.name, reservation, token)
            if answer[0] == "done":
                grant.release_end = time.monotonic()
        self.history.granted(grant)


class HistoryOfTwoServers(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="interlock-history-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.postgres = Postgres(self.folder)
        self.addCleanup(self.postgres.run, "stop")
        self.replicas = []
        for _ in range(2):
            self.replicas.append(Replica(self.postgres.dsn))
            self.addCleanup(self.replicas[-1].stop)

    def test_is_one_tables_through_a_kill_and_a_fail_over(self):
        seconds = float(os.environ.get("INTERLOCK_HISTORY_SECONDS", "12"))
        seed = int(os.environ.get("INTERLOCK_SEED", random.SystemRandom().randrange(10**6)))
        print(f"seed {seed}: again with INTERLOCK_SEED={seed} {sys.argv[0]}", flush=True)
        history = History()
        ended = threading.Event()
        clients = [Client(number, seed, self.replicas, history, ended) for number in range(8)]
        for client in clients:
            client.start()
        self.break_things(seconds)
        failed_over = time.monotonic()
        time.sleep(seconds / 2)
        ended.set()
        for client in clients:
            client.join()
        self.assertEqual([client.fault for client in clients if client.fault], [])
        print(f"{len(history.grants)} grants, {len(history.refusals)} refusals, {history.unknown}"
              " answers lost", flush=True)
        self.assertEqual(history.faults(), [])
        self.assertTrue([grant for grant in history.grants if grant.begin > failed_over],
                        "nothing was granted after the fail-over")
        self.lost_none(history.grants)

    def break_things(self, seconds):
        time.sleep(seconds / 4)
        self.replicas[0].kill()
        time.sleep(seconds / 20)
        self.replicas[0].start()
        time.sleep(seconds / 4)
        self.postgres.run("kill")
        self.postgres.run("promote")

    def lost_none(self, grants):
        """What was acknowledged is there, with the token that was told."""
        for grant in grants:
            answer = self.replicas[1].call("get", f"g{grant.token}", grant.reservation)
            self.assertEqual(answer, ["done", str(grant.token)], grant)


if __name__ == "__main__":
    unittest.main()
