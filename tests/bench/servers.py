"""The servers that are measured: each started here, on a free port of loopback, with a state
of its own under .run/bench, and stopped and removed afterwards."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "release" / "bin"
ROUNDS = 3
SECONDS = 3.0
# Nothing here takes so long unless it is stuck.
START_SECONDS = 60


class Failed(Exception):
    """A server did not start, or a call was not granted."""


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, ready, process=None):
    give_up = time.monotonic() + START_SECONDS
    while not ready():
        if process is not None and process.poll() is not None:
            raise Failed(f"{what} ended with {process.returncode}")
        if time.monotonic() > give_up:
            raise Failed(f"{what} does not serve after {START_SECONDS} s")
        time.sleep(0.02)


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


class Folder:
    """Of a server: on the disk of this tree, since a folder in memory has no fsync."""

    def __init__(self, name):
        parent = ROOT / ".run" / "bench"
        parent.mkdir(parents=True, exist_ok=True)
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


def terminate(process):
    process.terminate()
    try:
        process.wait(START_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Interlock:
    """interlockd with SQLite; serving when made. `again` starts it on the same state."""

    name = "interlock"
    CONFIG = """
listen {{ address: "127.0.0.1:0" admin_address: "127.0.0.1:0" }}
store {{ sqlite {{ path: "{folder}/interlock.db" }} }}
druid {{ coordinator_urls: "http://127.0.0.1:9" broker_urls: "http://127.0.0.1:9" }}
limits {{ max_reservations_per_holder: 10000000 max_reservations_per_datasource: 10000000 }}
"""

    def __init__(self):
        self.folder = Folder("interlock")
        self.config = self.folder.path / "interlockd.textproto"
        self.config.write_text(self.CONFIG.format(folder=self.folder.path), encoding="utf-8")
        self.again()

    def again(self):
        begun = time.monotonic()
        log = open(self.folder.path / "log", "wb")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen([str(BIN / "interlockd"), "--config", str(self.config)], stderr=log)
        log.close()
        wait_for("interlockd", self._serving, self.process)
        urllib.request.urlopen(f"http://{self.admin}/readyz", timeout=START_SECONDS).read()
        self.seconds = time.monotonic() - begun

    def _serving(self):
        for line in (self.folder.path / "log").read_text(encoding="utf-8").splitlines():
            if '"serving"' in line:
                said = json.loads(line)
                self.admin, self.target = said["admin"], said.get("grpc") or said["address"]
                return True
        return False

    def resident_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    def cpu_seconds(self):
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        fields = stat.rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def halt(self):
        terminate(self.process)

    def stop(self):
        self.halt()
        self.folder.remove()


class Etcd:
    """One member; its own defaults, each commit on disk."""

    name = "etcd"

    def __init__(self):
        self.folder = Folder("etcd")
        port, peer = free_port(), free_port()
        self.target = f"127.0.0.1:{port}"
        url, peer_url = f"http://{self.target}", f"http://127.0.0.1:{peer}"
        self.process = subprocess.Popen(
            ["etcd", "--data-dir", str(self.folder.path / "data"), "--listen-client-urls", url,
             "--advertise-client-urls", url, "--listen-peer-urls", peer_url,
             "--initial-advertise-peer-urls", peer_url, "--initial-cluster", f"default={peer_url}",
             "--quota-backend-bytes", str(8 << 30)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "ETCD_UNSUPPORTED_ARCH": os.uname().machine})
        wait_for("etcd", lambda: self._healthy(url), self.process)

    @staticmethod
    def _healthy(url):
        with contextlib.suppress(OSError, ValueError):
            return json.load(urllib.request.urlopen(url + "/health", timeout=1))["health"] == "true"
        return False

    def stop(self):
        terminate(self.process)
        self.folder.remove()


class Redis:
    """Every command in the append-only file, on disk, before it is acknowledged."""

    name = "redis"

    def __init__(self):
        self.folder = Folder("redis")
        port = free_port()
        self.target = f"127.0.0.1:{port}"
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(self.folder.path),
             "--appendonly", "yes", "--appendfsync", "always", "--save", ""],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("redis-server", lambda: listens(port), self.process)

    def stop(self):
        terminate(self.process)
        self.folder.remove()


class Postgres:
    """With its defaults (each commit on disk), and an exclusion constraint that refuses overlap."""

    name = "postgresql"
    SCHEMA = """
CREATE EXTENSION btree_gist;
CREATE TABLE reservations (
  id bigserial PRIMARY KEY, datasource text NOT NULL, span int8range NOT NULL, holder text NOT NULL,
  purpose text NOT NULL, EXCLUDE USING gist (datasource WITH =, span WITH &&));
"""

    def __init__(self):
        self.folder = Folder("postgresql")
        self.programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda bin: int(bin.parent.name))
        port = free_port()
        data, sockets = self.folder.path / "data", tempfile.mkdtemp(prefix="interlock-bench-")
        self.sockets = pathlib.Path(sockets)
        self._give_away()
        self._run(str(self.programs / "initdb"), "-D", str(data), "-U", "bench", "--auth=trust",
                  "--no-instructions", "--locale=C", "--encoding=UTF8")
        self.process = subprocess.Popen(
            self._as_other([str(self.programs / "postgres"), "-D", str(data), "-p", str(port), "-k", sockets,
                            "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=300"]),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        self.target = f"host=127.0.0.1 port={port} user=bench dbname=postgres"
        wait_for("postgresql", self._answers, self.process)
        self._run("psql", "-q", "-v", "ON_ERROR_STOP=1", self.target, "-c", self.SCHEMA)

    def _answers(self):
        return subprocess.run(["psql", "-qc", "", self.target], check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def _give_away(self):
        """PostgreSQL refuses to run as root."""
        if os.geteuid() == 0:
            for path in (self.folder.path, self.sockets):
                shutil.chown(path, "postgres", "postgres")

    def _as_other(self, command):
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] + command \
            if os.geteuid() == 0 else command

    def _run(self, *command):
        done = subprocess.run(self._as_other(list(command)), check=False, capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            raise Failed(f"{command[0]}: {done.stderr.strip()}")

    def stop(self):
        terminate(self.process)
        self.folder.remove()
        shutil.rmtree(self.sockets, ignore_errors=True)


@contextlib.contextmanager
def serving(*kinds):
    """One of each kind, in the same order; stopped and removed afterwards."""
    with contextlib.ExitStack() as stack:
        made = []
        for kind in kinds:
            server = kind()
            stack.callback(server.stop)
            made.append(server)
        yield made


def load(server, clients, *, what=None, seconds=None, **more):
    """Runs interlock-load against it; gives what it measured."""
    command = [str(BIN / "interlock-load"), what or server.name, server.target, "--clients", str(clients),
               "--seconds", str(seconds or SECONDS)]
    for flag, value in more.items():
        command += [f"--{flag}", str(value)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command[1:4])}: {done.stderr.strip()}")
    return json.loads(done.stdout)
