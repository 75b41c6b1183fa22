"""What tests of drops are made of: steps that people take, whatever stands behind the adapter."""
import contextlib
import fcntl
import json
import struct

from harness import Gate, RealDruid, hours, wait_for

ENDED = ("KILLED", "RESTORED", "PARTLY_RESTORED", "CANCELLED", "KILL_NOT_BOUNDED", "FAILED")
SHORT = "recheck_every { seconds: 1 } kill_spacing { nanos: 100000000 }"


class DropSteps:
    """Of a test that is an EndToEnd and has a cluster()."""

    def loaded(self, counts, drops=SHORT, through=lambda cluster: cluster):
        """A server, and hours with as many events as `counts` says."""
        druid, cluster = self.cluster()
        server = self.run_interlockd(through(cluster), drops=drops)
        self.spec = self.job(self.events(counts))
        code, reply, error = server.ctl(
            "submit", "--spec", self.spec, "--interval", hours(min(counts), max(counts) + 1),
            "--request-id", "load", "--wait")
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)
        for hour, count in counts.items():
            self.assertEqual(self.rows(druid, hour, count), count)
        return druid, server

    def rows(self, druid, hour, expected):
        return druid.wait_for_count(self.datasource, hours(hour, hour + 1), expected)

    def drop(self, server, first, last, window="1s", expect=0, **flags):
        words = [w for name, value in flags.items()
                 for w in ("--" + name.replace("_", "-"), value)]
        code, reply, error = server.ctl("drop", self.datasource, hours(first, last), "--reason",
                                        "test", "--window", window, *words)
        self.assertEqual(code, expect, error)
        return reply["drop"]["drop_id"] if code == 0 else error

    def get(self, server, drop):
        code, reply, error = server.ctl("drops", "get", drop)
        self.assertEqual(code, 0, error)
        return reply["drop"]

    def await_state(self, server, drop, *states):
        def there():
            now = self.get(server, drop)
            if now["state"] in states:
                return now
            self.assertNotIn(now["state"], ENDED, now.get("message"))
            return None
        return wait_for(f"{drop} to be {states}", there)

    def files_of(self, druid, first, last):
        return [f for s in druid.segments(self.datasource, hours(first, last))
                for f in druid.files(s)]

    def killed_for_good(self, druid, first, last, files):
        """By listing both: no row, used or unused, and no file."""
        self.assertEqual(druid.segments(self.datasource, hours(first, last)), [])
        self.assertEqual(druid.unused(self.datasource, hours(first, last)), [])
        self.assertEqual([f for f in files if f.exists()], [])

    def restore(self, server, drop, end="RESTORED", code=0):
        got, reply, error = server.ctl("drops", "restore", drop, "--reason", "wrong hour")
        self.assertEqual(got, code, error)
        if end is None:
            return error
        now = reply["drop"]
        self.assertEqual(now["state"], end, now.get("message"))
        if end == "RESTORED":
            self.assertEqual({c["measure"]: c["result"] for c in now["rows"]},
                             {m: "EQUAL" for m in ("rows", "events", "sent")})
        return now

    def entries(self, server, drop):
        """Of its manifest."""
        code, text, error = server.ctl("-o", "json", "drops", "manifest", drop, json_output=False)
        self.assertEqual(code, 0, error)
        return [json.loads(line)["entry"] for line in text.splitlines()]

    def await_end(self, server, drop):
        def ended():
            now = self.get(server, drop)
            return now if now["state"] in ENDED else None
        return wait_for(f"the end of {drop}", ended)

    def gated(self, cluster):
        """The cluster with a gate before its overlord, that holds nothing yet: self.gate."""
        self.gate = Gate(getattr(cluster, "overlord", None) or cluster.address, "none")
        self.addCleanup(self.gate.stop)
        self.gate.caught.set()
        parts = {s: getattr(cluster, s, None) or cluster.address for s in ("coordinator", "broker")}
        return type("Gated", (), dict(parts, overlord=self.gate.address))

    def hold(self, head):
        """The next request to the overlord that begins so is held until self.gate.open."""
        self.gate.open.clear()
        self.gate.wanted = head.encode()
        self.gate.caught.clear()

    def await_held(self):
        self.assertTrue(self.gate.caught.wait(60), f"no {self.gate.wanted} came")


class OnSimulator:
    def cluster(self):
        self.simulator = self.run_simulator()
        return self.simulator.druid(), self.simulator


class OnDruid:
    def cluster(self):
        real = RealDruid()
        return real.druid(), real


@contextlib.contextmanager
def undeletable(path):
    """A file that nobody can remove, root included (chattr +i), while the body runs."""
    get, put, immutable = 0x80086601, 0x40086602, 0x10
    with open(path, "rb") as file:
        def flags(change):
            buffer = bytearray(8)
            fcntl.ioctl(file, get, buffer)
            fcntl.ioctl(file, put, struct.pack("L", change(struct.unpack("L", buffer)[0])))
        flags(lambda now: now | immutable)
        try:
            yield
        finally:
            flags(lambda now: now & ~immutable)
