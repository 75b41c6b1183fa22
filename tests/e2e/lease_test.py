#!/usr/bin/env python3
"""Commands under a reservation that an admin takes from them: what they exit with, and when
they are told."""
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import BIN, EndToEnd, hours, wait_for  # noqa: E402

LEASE_LOST = 124


class TakenLeases(EndToEnd):
    def setUp(self):
        super().setUp()
        self.server = self.run_interlockd(self.run_simulator())

    def command(self, *script):
        """`reserve … -- COMMAND` of an hour's lease, started and not waited for."""
        return subprocess.Popen(
            [str(BIN / "interlockctl"), "--address", f"127.0.0.1:{self.server.port}", "--caller",
             "tester", "reserve", self.datasource, hours(10, 11), "--ttl", "1h", "--", *script],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def take(self, reservation):
        code, _, error = self.server.ctl("reservations", "force-release", reservation, "--reason",
                                         "needed", caller="root")
        self.assertEqual(code, 0, error)

    def test_a_command_is_stopped_soon_after_its_lease_was_taken(self):
        command = self.command("sleep", "100")
        try:
            held = wait_for("the lease", lambda: self.server.ctl(
                "reservations", "list", self.datasource)[1].get("reservations"))
            self.take(held[0]["reservation_id"])
            taken = time.monotonic()
            _, error = command.communicate(timeout=60)
        finally:
            command.kill()
        self.assertEqual(command.returncode, LEASE_LOST, error)
        self.assertLess(time.monotonic() - taken, 30, "its renewal was 20 minutes away")
        self.assertIn("FORCED", error)
        self.assertIn("root", error)

    def test_a_command_that_ends_before_it_can_hear_of_it_does_not_end_well(self):
        command = self.command(
            "sh", "-c", f'exec {BIN}/interlockctl reservations force-release '
            '"$INTERLOCK_RESERVATION" --reason needed >/dev/null')
        _, error = command.communicate(timeout=60)
        self.assertEqual(command.returncode, LEASE_LOST, error)
        self.assertIn("FORCED", error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
