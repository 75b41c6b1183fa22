"""Servers that share a PostgreSQL of their own."""
import random
import socket
import subprocess

from harness import ROOT, Interlockd


class Postgres:
    """A server of its own, with a standby that confirms each commit."""

    def __init__(self, folder):
        # It runs as another user where the tests run as root.
        folder.chmod(0o755)
        self.folder = folder / "postgres"
        self.port = _two_free_ports()
        self.run("start", "--port", self.port, "--synchronous")
        env = dict(line.split("=", 1) for line in (self.folder / "env").read_text().splitlines())
        self.dsn = env["POSTGRES_DSN"].strip("'")

    def run(self, command, *flags):
        subprocess.run([ROOT / "deploy" / "postgres" / "run", command, "--dir", self.folder,
                        *map(str, flags)], check=True, stdout=subprocess.DEVNULL, timeout=120)

    def stop(self):
        self.run("stop")


def _two_free_ports():
    for port in random.SystemRandom().sample(range(16000, 20000, 2), 200):
        try:
            for one in (port, port + 1):
                socket.create_server(("127.0.0.1", one)).close()
            return port
        except OSError:
            continue
    raise AssertionError("no two free ports")


class Replicas:
    """For a test: two servers, one database, one simulated Druid."""

    def replica(self, name, druid, postgres, settings="", **options):
        folder = self.folder / name
        folder.mkdir()
        (folder / "dsn").write_text(postgres.dsn + "\n")
        server = Interlockd(folder, druid, **options)
        server.settings["engine"] = f'postgresql {{ dsn_file: "{folder / "dsn"}" {settings} }}'
        self._running.append(server)
        return server.start()

    def share(self, druid, settings="", **options):
        postgres = Postgres(self.folder)
        self._running.insert(0, postgres)
        return postgres, [self.replica(name, druid, postgres, settings, **options)
                          for name in ("one", "two")]

    def shared(self, settings=""):
        return self.share(self.run_simulator(), settings)
