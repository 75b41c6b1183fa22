"""Programs as their users start them: interlockd, interlockctl, the simulator.

Everything is started on ports of its own and stopped by pid. The real Druid comes from
the environment (DRUID_COORDINATOR, DRUID_OVERLORD, DRUID_BROKER): a test that wants it
fails without.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("INTERLOCK_BIN", ROOT / "build" / "dev" / "bin"))
sys.path.insert(0, str(ROOT / "deploy" / "quickstart"))
from druid import Druid  # noqa: E402

PATIENCE = 120  # seconds until something that should come is given up


def wait_for(what, condition, seconds=PATIENCE):
    """Until `condition()` is truthy, which it gives; AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"gave up waiting for {what}")
        time.sleep(0.02)


class Simulator:
    """interlock-simulator as a process."""

    def __init__(self, folder, version="33.0.0", task_seconds=None):
        self.deep_storage = folder / "deep-storage"
        self.deep_storage.mkdir(exist_ok=True)
        command = [str(BIN / "interlock-simulator"), "--port", "0", "--version", version,
                   "--deep-storage", str(self.deep_storage)]
        if task_seconds is not None:
            command += ["--task-seconds", str(task_seconds)]
        with open(folder / "simulator.log", "w") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=log)
        line = self.process.stdout.readline()
        self.address = re.search(r"http://[0-9.:]+", line).group(0)

    def druid(self):
        return Druid(self.address, self.address, self.address, self.deep_storage)

    def fault(self, **fault):
        _http("POST", f"{self.address}/simulator/faults", fault)

    def clear_faults(self):
        _http("DELETE", f"{self.address}/simulator/faults")

    def requests(self):
        reply = _http("GET", f"{self.address}/simulator/requests")
        return reply if isinstance(reply, list) else reply["requests"]

    def stop(self):
        _stop(self.process)
        self.process.stdout.close()


class Gate:
    """Stands between interlockd and Druid; holds back the first request whose head starts
    with `wanted` until it is let through. Everything else passes."""

    def __init__(self, target, wanted):
        host, port = target.removeprefix("http://").split(":")
        self.target = (host, int(port))
        self.wanted = wanted.encode()
        self.caught = threading.Event()
        self.open = threading.Event()
        # What was held is answered, whether whoever asked is still there or not.
        self.answered = threading.Event()
        self.held = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.target)
            for one, other, watch in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pump, args=(one, other, watch), daemon=True).start()

    def _pump(self, source, sink, watch):
        try:
            while piece := source.recv(1 << 16):
                if watch and piece.startswith(self.wanted) and not self.caught.is_set():
                    self.caught.set()
                    self.open.wait(PATIENCE)
                    self.held = sink
                if source is self.held:
                    self.answered.set()
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one side has gone: so has the other's reason to wait

    def stop(self):
        self.open.set()
        self.listener.close()


class RealDruid:
    """The one that tests/run has started."""

    def __init__(self):
        missing = [n for n in ("DRUID_COORDINATOR", "DRUID_OVERLORD", "DRUID_BROKER")
                   if n not in os.environ]
        if missing:
            raise AssertionError(f"this test wants a real Druid: set {', '.join(missing)}, "
                                 "as deploy/druid/run start writes them into DIR/env")
        self.coordinator = os.environ["DRUID_COORDINATOR"]
        self.overlord = os.environ["DRUID_OVERLORD"]
        self.broker = os.environ["DRUID_BROKER"]
        self.deep_storage = os.environ.get("DRUID_DEEP_STORAGE", "")

    def druid(self):
        return Druid(self.coordinator, self.overlord, self.broker, self.deep_storage)


CONFIG = """
listen {{ address: "127.0.0.1:{port}" admin_address: "127.0.0.1:{admin}" }}
store {{ {engine} }}
druid {{
  access: {access}
  {druid}
  coordinator_urls: "{coordinator}"
  overlord_urls: "{overlord}"
  broker_urls: "{broker}"
}}
backfills {{ poll_interval {{ nanos: 100000000 }} settle_time {{ nanos: 200000000 }} {backfills} }}
drops {{
  min_window {{ seconds: 1 }}
  floor {{ seconds: 3600 }}
  settle_time {{ nanos: 200000000 }}
  {drops}
}}
verification {{ {verification} }}
log {{ level: LEVEL_DEBUG }}
"""


class Interlockd:
    """interlockd as a process, with a folder that outlives it."""

    def __init__(self, folder, druid, access="MANAGE", backfills="", druid_settings="",
                 verification="sweep_interval { seconds: -1 }", drops=""):
        self.folder = folder
        self.store = folder / "interlock.db"
        self.config = folder / "interlockd.textproto"
        self.process = None
        self.port = self.admin = 0
        addresses = {"coordinator": getattr(druid, "coordinator", None) or druid.address,
                     "overlord": getattr(druid, "overlord", None) or druid.address,
                     "broker": getattr(druid, "broker", None) or druid.address}
        self.settings = dict(addresses, engine=f'sqlite {{ path: "{self.store}" }}',
                             access=access, backfills=backfills, druid=druid_settings,
                             verification=verification, drops=drops)

    def start(self):
        self.spawn()
        return self.await_serving()

    def spawn(self):
        """Starts it, and does not wait until it serves."""
        self.config.write_text(CONFIG.format(port=self.port, admin=self.admin, **self.settings))
        with open(self.folder / "interlockd.log", "a+") as log:
            self.begin = log.tell()
            self.process = subprocess.Popen([str(BIN / "interlockd"), "--config", str(self.config)],
                                            stdout=log, stderr=log)

    def await_serving(self):
        def serving():
            if self.process.poll() is not None:
                raise AssertionError(f"interlockd ended: {self.log()[-2000:]}")
            with open(self.folder / "interlockd.log") as lines:
                lines.seek(self.begin)
                return next((json.loads(line) for line in lines
                             if line.startswith("{") and '"serving"' in line), None)
        told = wait_for("interlockd to serve", serving, 30)
        # The same ports again after a restart: clients keep their address.
        self.port = int(told["address"].rsplit(":", 1)[1])
        self.admin = int(told["admin"].rsplit(":", 1)[1])
        return self

    def log(self):
        return (self.folder / "interlockd.log").read_text()

    def kill(self):
        """As a power cut: no drain, no goodbye."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Drains; gives the exit code."""
        if self.process is None or self.process.poll() is not None:
            return None
        return _stop(self.process)

    def query(self, sql, *values):
        """Looks into the store's file, beside the running server."""
        with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=5) as db:
            return db.execute(sql, values).fetchall()

    def http(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}{path}", timeout=10) as reply:
            return reply.read().decode()

    def ctl(self, *words, caller="tester", text=None, timeout=PATIENCE, json_output=True):
        """Runs interlockctl: exit code, reply, error line."""
        command = [str(BIN / "interlockctl"), "--address", f"127.0.0.1:{self.port}",
                   "--caller", caller]
        if json_output:
            command += ["-o", "json"]
        result = subprocess.run([*command, *map(str, words)], capture_output=True, text=True,
                                input=text, timeout=timeout, check=False)
        reply = result.stdout
        if json_output:
            reply = json.loads(reply) if reply.strip() else {}
        return result.returncode, reply, result.stderr.strip()


class EndToEnd(unittest.TestCase):
    """A folder of its own, and everything that was started in it stopped at the end."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="interlock-e2e-"))
        self.addCleanup(self._clean)
        self._running = []
        # Tests share one Druid: each has datasources of its own.
        name = self._testMethodName.removeprefix("test_").lower()[:30]
        self.datasource = f"e2e_{os.getpid()}_{time.time_ns() // 1000 % 10**9}_{name}"

    def _clean(self):
        for program in reversed(self._running):
            program.stop()
        failed = any(error for _, error in getattr(self._outcome, "errors", []) or []) \
            or any(t is self for t, _ in getattr(self._outcome.result, "failures", [])
                   + getattr(self._outcome.result, "errors", []))
        if failed:
            log = self.folder / "interlockd.log"
            if log.exists():
                print(f"--- end of {log}\n{log.read_text()[-4000:]}", file=sys.stderr)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run_simulator(self, **options):
        simulator = Simulator(self.folder, **options)
        self._running.append(simulator)
        return simulator

    def run_interlockd(self, druid, **options):
        server = Interlockd(self.folder, druid, **options).start()
        self._running.append(server)
        return server

    def events(self, counts, day="2026-07-16"):
        """Files of events, one an hour: {hour: lines}."""
        folder = self.folder / "events"
        folder.mkdir(exist_ok=True)
        for hour, count in counts.items():
            with open(folder / f"{day}T{hour:02d}.json", "w") as lines:
                for i in range(count):
                    lines.write(json.dumps({"ts": f"{day}T{hour:02d}:{i % 60:02d}:{i // 60:02d}Z",
                                            "site": f"s{i % 3}", "bytes": 100 + i}) + "\n")
        return folder

    def job(self, folder, name="job.json"):
        """A spec whose input is one file an hour; narrows with each partition."""
        spec = {
            "type": "index_parallel",
            "spec": {
                "dataSchema": events_schema(self.datasource),
                "ioConfig": {
                    "type": "index_parallel",
                    "inputSource": {"type": "local", "baseDir": str(folder),
                                    "filter": "{start:%Y-%m-%dT%H}.json"},
                    "inputFormat": {"type": "json"},
                    "appendToExisting": False, "dropExisting": True},
                "tuningConfig": {"type": "index_parallel"}}}
        path = self.folder / name
        path.write_text(json.dumps(spec))
        return path


def events_schema(datasource):
    """Of rows like those of files(): ts, site, bytes."""
    return {
        "dataSource": datasource,
        "timestampSpec": {"column": "ts", "format": "iso"},
        "dimensionsSpec": {"dimensions": ["site"]},
        "metricsSpec": [{"type": "count", "name": "events"},
                        {"type": "longSum", "name": "sent", "fieldName": "bytes"}],
        "granularitySpec": {"type": "uniform", "segmentGranularity": "HOUR",
                            "queryGranularity": "MINUTE", "rollup": True}}


def hours(first, last, day="2026-07-16"):
    return f"{day}T{first:02d}:00:00.000Z/{day}T{last:02d}:00:00.000Z"


def _http(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as reply:
        text = reply.read()
    return json.loads(text) if text.strip() else None


def _stop(process):
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return process.returncode
