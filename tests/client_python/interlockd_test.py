"""Against a real interlockd: the one at INTERLOCK_ADDRESS, else one started here from the
program that INTERLOCKD names, with an empty store and a simulated Druid."""
import contextlib
import io
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from unittest import mock

import interlock

ADDRESS = os.environ.get("INTERLOCK_ADDRESS")
INTERLOCKD = os.environ.get("INTERLOCKD")
ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "client" / "python" / "README.md"
EXAMPLE = ROOT / "client" / "python" / "examples" / "reserve_submit_verify.py"
QUICKSTART = ROOT / "deploy" / "quickstart"


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless(ADDRESS or INTERLOCKD, "neither INTERLOCK_ADDRESS nor INTERLOCKD is set")
class Interlockd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.address = ADDRESS or cls.start()
        cls.client = interlock.Client(cls.address, caller="nightly")
        cls.other = interlock.Client(cls.address, caller="auditor")
        cls.addClassCleanup(cls.client.close)
        cls.addClassCleanup(cls.other.close)

    @classmethod
    def start(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        address = f"127.0.0.1:{free_port()}"
        config = pathlib.Path(folder.name) / "interlockd.textproto"
        config.write_text(f"""
            listen {{ address: "{address}" admin_address: "127.0.0.1:0" }}
            store {{ sqlite {{ path: "{folder.name}/interlock.db" }} }}
            druid {{ simulated: true }}
            backfills {{ poll_interval {{ nanos: 100000000 }} settle_time {{ nanos: 100000000 }} }}
            drops {{ settle_time {{ nanos: 100000000 }} }}
        """)
        log = open(pathlib.Path(folder.name) / "log", "w+", encoding="utf-8")
        cls.addClassCleanup(log.close)
        server = subprocess.Popen([INTERLOCKD, "--config", str(config)], stdout=log, stderr=log)
        cls.addClassCleanup(server.wait)
        cls.addClassCleanup(server.terminate)
        cls.wait_until_it_serves(address, server, log)
        return address

    @staticmethod
    def wait_until_it_serves(address, server, log):
        give_up = time.monotonic() + 60
        host, port = address.split(":")
        while time.monotonic() < give_up and server.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
                return
            time.sleep(0.05)
        log.seek(0)
        raise AssertionError(f"interlockd does not serve on {address}:\n{log.read()}")

    def setUp(self):
        self.datasource = f"python_{uuid.uuid4().hex[:12]}"

    def test_a_lease_is_held_told_of_renewed_and_given_back(self):
        with interlock.Reservation(self.client, self.datasource, "2026-07-16T13", ttl="1m",
                                   purpose="late events", holder="orders") as lease:
            self.assertEqual(lease.intervals,
                             ("2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z",))
            with self.assertRaises(interlock.Held) as caught:
                self.other.reserve(self.datasource, "2026-07-16")
            self.assertIn("nightly/orders", str(caught.exception))
            self.assertIn("late events", str(caught.exception))
            self.assertIsNotNone(caught.exception.retry_after)
            renewed = self.client.renew(lease, ttl="2m")
            self.assertGreater(renewed.remaining.total_seconds(), 100)
            listed = list(self.client.list_reservations(self.datasource))
            self.assertEqual([one.reservation_id for one in listed], [lease.reservation_id])
        self.assertEqual(self.client.get_reservation(lease.reservation_id).state, "RELEASED")
        self.other.reserve(self.datasource, "2026-07-16", ttl="1s")

    def test_the_same_request_gets_the_same_lease(self):
        first = self.client.reserve(self.datasource, "2026-07-16", request_id="run-1", ttl="1m")
        again = self.client.reserve(self.datasource, "2026-07-16", request_id="run-1", ttl="1m")
        self.assertEqual(again.reservation.fencing_token, first.reservation.fencing_token)
        self.assertTrue(again.attached)

    def test_what_others_hold_is_skipped_and_told(self):
        self.other.reserve(self.datasource, "2026-07-16T13", ttl="1m", purpose="audit")
        granted = self.client.reserve(self.datasource, "2026-07-16", ttl="1m", skip_held=True)
        self.assertEqual(len(granted.reservation.intervals), 2)
        self.assertEqual(granted.skipped[0].purpose, "audit")

    def test_a_lease_that_is_given_away_is_lost_to_its_body(self):
        with self.assertRaises(interlock.ReservationLost) as caught:
            with interlock.Reservation(self.client, self.datasource, "2026-07-16",
                                       ttl="3s") as lease:
                self.client.release(lease)
                time.sleep(60)
        self.assertEqual(caught.exception.reason, "RELEASED")

    def test_faults_of_what_was_sent_are_named(self):
        with self.assertRaises(interlock.InvalidArgument) as caught:
            self.client.reserve(self.datasource, "2026-07-16T14/2026-07-16T13")
        self.assertRegex(caught.exception.faults[0].pointer, "^/intervals")
        with self.assertRaises(interlock.InvalidArgument) as caught:
            self.client.submit(spec={"type": "index_parallel"}, intervals="2026-07-16")
        self.assertEqual(caught.exception.reason, "SPEC_INVALID")
        self.assertTrue(re.match("^/", caught.exception.faults[0].pointer))

    def test_the_example_recomputes_an_hour_which_is_then_dropped_and_restored(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder) / "page_views.json"
            spec.write_text((QUICKSTART / "page_views.json").read_text(encoding="utf-8").replace(
                "@EVENTS@", str(QUICKSTART / "events")), encoding="utf-8")
            ran = subprocess.run(
                [sys.executable, str(EXAMPLE), str(spec), "2026-07-16T13", "30"], check=False,
                capture_output=True, text=True, timeout=100,
                env={**os.environ, "INTERLOCK_ADDRESS": self.address})
        self.assertEqual((ran.returncode, ran.stdout), (0, "DONE SINGLE_VERSION\n"), ran.stderr)
        drop = self.client.drop("page_views", "2026-07-16T13", reason="a mistake", window="1h").drop
        self.wait_for_drop(drop.drop_id, "MARKED")
        self.client.restore_drop(drop.drop_id, reason="it was one")
        self.wait_for_drop(drop.drop_id, "RESTORED")
        found = self.client.verify("page_views", "2026-07-16T13", expect_rows=30,
                                   count_metric="events", wait="20s")
        self.assertTrue(found.good, found)

    def wait_for_drop(self, drop_id, state):
        give_up = time.monotonic() + 60
        while self.client.get_drop(drop_id).state != state:
            self.assertLess(time.monotonic(), give_up, self.client.get_drop(drop_id))
            time.sleep(0.1)

    def test_the_first_hour_of_the_readme_says_what_it_says(self):
        text = README.read_text(encoding="utf-8")
        code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))
        said = io.StringIO()
        with mock.patch.dict(os.environ, {"INTERLOCK_ADDRESS": self.address}):
            with contextlib.redirect_stdout(said):
                exec(compile(code, str(README), "exec"), {})  # pylint: disable=exec-used
        self.assertIn("('2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z',)", said.getvalue())
        self.assertRegex(said.getvalue(), "(?s)HELD: .*auditor.*quarterly audit")
        self.assertRegex(said.getvalue(), r"(?m)^/\S* .+$")


if __name__ == "__main__":
    unittest.main()
