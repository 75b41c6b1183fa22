"""A lease that renews itself, and stops the body when it is lost."""
import datetime
import logging
import threading
import time
import unittest

import interlock
from fake_interlock import FakeInterlock
from interlock import errors, messages
from interlock.lease_clock import SystemClock
from interlock.v1 import ingestion_coordinator_pb2, reservations_pb2
from manual_clock import ManualClock
from scripted_client import ScriptedClient, hold, lost, spin, unreachable


def setUpModule():
    logging.disable(logging.CRITICAL)


class Holding(unittest.TestCase):
    def test_the_lease_is_renewed_each_third_and_given_back_at_the_end(self):
        client, clock = ScriptedClient(60), ManualClock()
        with hold(client, clock) as lease:
            self.assertEqual((lease.reservation_id, lease.fencing_token, lease.intervals),
                             ("r-1", 7, ("a/b",)))
            clock.run(lease, 205)
            self.assertEqual(client.renewed, 10)
            self.assertFalse(lease.lost)
            lease.check()
        self.assertEqual(client.released, 1)

    def test_what_is_left_shrinks_with_time_and_grows_with_a_renewal(self):
        client, clock = ScriptedClient(60), ManualClock()
        with hold(client, clock) as lease:
            clock.run(lease, 10)
            self.assertEqual(lease.remaining, datetime.timedelta(seconds=45))
            clock.run(lease, 10)
            self.assertEqual(lease.remaining, datetime.timedelta(seconds=55))

    def test_what_was_asked_is_asked_of_the_server(self):
        client = ScriptedClient()
        with hold(client, ManualClock(), ttl="1m", purpose="fix", holder="orders_daily"):
            self.assertEqual(client.asked["datasource"], "page_views")
            self.assertEqual((client.asked["ttl"], client.asked["purpose"], client.asked["holder"]),
                             ("1m", "fix", "orders_daily"))

    def test_held_by_others_is_raised_before_the_body(self):
        def refuse():
            raise errors.Held("held by auditor", code="FAILED_PRECONDITION", reason="HELD")
        with self.assertRaises(interlock.Held):
            with hold(ScriptedClient(grant=refuse), ManualClock()):
                self.fail("the body ran")

    def test_skipping_leaves_nothing_is_held_and_says_by_whom(self):
        nothing = messages.ReserveIntervalResponse(skipped=(messages.Blocker(
            reason="HELD", interval="a/b", message="held by auditor"),))
        with self.assertRaisesRegex(interlock.Held, "held by auditor"):
            with hold(ScriptedClient(grant=lambda: nothing), ManualClock(), skip_held=True):
                self.fail("the body ran")

    def test_an_error_of_the_body_goes_on_and_the_lease_is_given_back(self):
        client = ScriptedClient()
        with self.assertRaisesRegex(KeyError, "boom"):
            with hold(client, ManualClock()):
                raise KeyError("boom")
        self.assertEqual(client.released, 1)

    def test_what_is_kept_is_not_given_back(self):
        client = ScriptedClient()
        with hold(client, ManualClock()) as lease:
            lease.keep()
        self.assertEqual(client.released, 0)

    def test_case_123_unreachable_is_not_lost_and_goes_with_the_next_answer(self):
        clock, seen = ManualClock(), []
        client = ScriptedClient(60, [unreachable(), 60.0])
        with hold(client, clock) as lease:
            for _ in range(60):
                clock.run(lease, 1, 1)
                seen.append((lease.lost, lease.unreachable is not None))
        self.assertIn((False, True), seen)
        self.assertEqual(seen[-1], (False, False))

    def test_a_release_that_fails_does_not_fail_the_work(self):
        client = ScriptedClient(release=unreachable())
        with hold(client, ManualClock()):
            pass
        self.assertEqual(client.released, 1)

    def test_a_grant_that_waited_in_line_is_measured_anew(self):
        clock = ManualClock()
        client = ScriptedClient(60)

        def grant_after_minutes():
            clock.advance(300)
            return messages.ReserveIntervalResponse(reservation=client.lease(60))
        client._grant = grant_after_minutes
        with hold(client, clock, wait="10m") as lease:
            self.assertEqual(client.renewed, 1)
            self.assertEqual(lease.remaining, datetime.timedelta(seconds=55))

    def test_the_same_object_can_hold_again_but_not_twice_at_once(self):
        client, clock = ScriptedClient(60), ManualClock()
        lease = hold(client, clock)
        with lease:
            with self.assertRaises(RuntimeError):
                lease.__enter__()
        with lease:
            lease.check()
        self.assertEqual(client.released, 2)


class Losing(unittest.TestCase):
    def lose(self, client, seconds, step=1.0, **options):
        """Lets `seconds` pass in another thread while the body is busy; gives what it raised."""
        clock = ManualClock()
        with self.assertRaises(interlock.ReservationLost) as caught:
            with hold(client, clock, **options) as lease:
                passing = threading.Thread(target=clock.run, args=(lease, seconds, step))
                passing.start()
                try:
                    spin()
                finally:
                    passing.join()
        return caught.exception

    def test_a_server_that_says_so_ends_the_body_and_nothing_is_released(self):
        for reason in ["EXPIRED", "STALE_TOKEN", "SUPERSEDED", "FORCED", "RELEASED"]:
            with self.subTest(reason):
                client = ScriptedClient(60, [lost(reason)])
                error = self.lose(client, 25)
                self.assertEqual((error.reason, client.released), (reason, 0))
                self.assertIsInstance(error.cause, interlock.Lost)
                self.assertEqual(error.reservation.reservation_id, "r-1")

    def test_a_server_that_does_not_know_the_lease_has_lost_it(self):
        gone = errors.NotFound("not here", code="NOT_FOUND", reason="UNKNOWN_RESERVATION")
        self.assertEqual(self.lose(ScriptedClient(60, [gone]), 25).reason, "UNKNOWN_RESERVATION")

    def test_case_115_without_an_answer_the_holder_stops_by_its_own_clock_before_the_deadline(self):
        client, clock = ScriptedClient(60, [unreachable()] * 1_000), ManualClock()
        with self.assertRaises(interlock.ReservationLost) as caught:
            with hold(client, clock, interrupt=False) as lease:
                clock.run(lease, 54)
                lease.check()
                self.assertFalse(lease.lost)
                clock.run(lease, 1)
                self.assertTrue(lease.lost)
        self.assertEqual(caught.exception.reason, "NOT_RENEWED")
        self.assertGreater(client.renewed, 10)
        self.assertEqual(client.released, 0)

    def test_case_115_renewals_that_fail_twice_and_then_work_keep_the_lease(self):
        client, clock = ScriptedClient(60, [unreachable(), unreachable()]), ManualClock()
        with hold(client, clock) as lease:
            clock.run(lease, 60)
            self.assertFalse(lease.lost)
        self.assertEqual(client.released, 1)

    def test_case_118_a_renewal_that_comes_late_warns_and_counts_from_its_sending(self):
        logging.disable(logging.NOTSET)
        self.addCleanup(logging.disable, logging.CRITICAL)
        client, clock = ScriptedClient(6), ManualClock()
        with hold(client, clock) as lease:
            clock.settle(lease)
            with self.assertLogs("interlock", "WARNING") as log:
                clock.advance(4.0)  # the renewal was due after 2 s: 2 s late
                clock.settle(lease)
            self.assertRegex(log.output[0], "renewed 2.0 s late, 1.4 s before it would be lost")
            self.assertEqual(client.renewed, 1)
            self.assertAlmostEqual(lease.remaining.total_seconds(), 5.4)

    def test_case_123_lost_and_unreachable_have_reasons_of_their_own(self):
        said = self.lose(ScriptedClient(60, [lost("EXPIRED")]), 25)
        silent = self.lose(ScriptedClient(60, [unreachable()] * 1_000), 60)
        self.assertEqual((said.reason, silent.reason), ("EXPIRED", "NOT_RENEWED"))
        self.assertIsNone(silent.cause)

    def test_a_machine_that_stood_still_past_the_deadline_does_not_go_on(self):
        client, clock = ScriptedClient(60), ManualClock()
        with self.assertRaises(interlock.ReservationLost) as caught:
            with hold(client, clock, interrupt=False) as lease:
                clock.settle(lease)
                clock.advance(600)
                lease.check()  # before the renewing thread has had its turn
        self.assertEqual(caught.exception.reason, "NOT_RENEWED")
        self.assertEqual((client.renewed, client.released), (0, 0))

    def test_a_renewal_is_never_taken_for_good_after_the_deadline(self):
        clock = ManualClock()
        slow = [lambda: clock.advance(100) or 60.0]
        client = ScriptedClient(60, slow)
        with self.assertRaises(interlock.ReservationLost):
            with hold(client, clock, interrupt=False) as lease:
                clock.run(lease, 25)
                lease.check()

    def test_a_loss_that_somebody_else_found_ends_the_body_too(self):
        clock = ManualClock()
        answered = threading.Event()

        def renewal():
            clock.advance(100)  # the deadline passes while the answer is on its way
            self.assertTrue(answered.wait(20))
            return 3_600.0
        with self.assertRaises(interlock.ReservationLost):
            with hold(ScriptedClient(60, [renewal]), clock) as lease:
                clock.settle(lease)
                clock.advance(25)
                while not lease.lost:
                    pass
                answered.set()
                spin()

    def test_one_that_was_taken_by_force_is_known_long_before_its_renewal(self):
        client, clock = ScriptedClient(3600), ManualClock()
        with self.assertRaises(interlock.ReservationLost) as caught:
            with hold(client, clock, interrupt=False) as lease:
                clock.run(lease, 10)
                self.assertFalse(lease.lost)
                client.state, client.forced_by = "FORCED", "root"
                clock.run(lease, 3)
                self.assertTrue(lease.lost)
        self.assertEqual(caught.exception.reason, "FORCED")
        self.assertIn("root ended it (needed)", str(caught.exception))
        self.assertEqual((client.renewed, client.released), (0, 0))

    def test_a_loss_that_shows_when_it_is_given_back_is_raised(self):
        client = ScriptedClient(release=lost("FORCED"))
        with self.assertRaises(interlock.ReservationLost) as caught:
            with hold(client, ManualClock()):
                pass
        self.assertEqual(caught.exception.reason, "FORCED")

    def test_a_loss_of_what_is_kept_is_seen_at_the_end_of_the_body(self):
        client = ScriptedClient()
        with self.assertRaises(interlock.ReservationLost):
            with hold(client, ManualClock()) as lease:
                lease.keep()
                client.state = "EXPIRED"

    def test_a_body_that_ends_without_hearing_of_it_hears_at_its_end(self):
        client, clock = ScriptedClient(60, [lost()]), ManualClock()
        with self.assertRaises(interlock.ReservationLost):
            with hold(client, clock, interrupt=False) as lease:
                clock.run(lease, 25)
        self.assertEqual(client.released, 0)

    def test_an_error_of_the_body_is_not_hidden_by_the_loss(self):
        client, clock = ScriptedClient(60, [lost()]), ManualClock()
        with self.assertRaisesRegex(KeyError, "boom"):
            with hold(client, clock, interrupt=False) as lease:
                clock.run(lease, 25)
                raise KeyError("boom")

    def test_who_runs_something_outside_of_python_is_called(self):
        told = []
        error = self.lose(ScriptedClient(60, [lost()]), 25, on_lost=told.append)
        self.assertEqual([one.reason for one in told], [error.reason])


class OverTheWire(unittest.TestCase):
    """With the real clock and a real connection. `Reservation._left` is set to what is due."""

    def setUp(self):
        self.server = FakeInterlock()
        self.server.start()
        self.addCleanup(self.server.stop)
        self.client = interlock.Client(self.server.address)
        self.addCleanup(self.client.close)
        lease = {"reservation_id": "r-1", "fencing_token": 7, "remaining": {"seconds": 60}}
        self.server.answers = {
            "IngestionCoordinator.ReserveInterval":
                ingestion_coordinator_pb2.ReserveIntervalResponse(reservation=lease),
            "Reservations.RenewReservation":
                reservations_pb2.RenewReservationResponse(reservation=lease),
            "Reservations.ReleaseReservation":
                reservations_pb2.ReleaseReservationResponse(reservation=lease)}

    def renew_now(self, lease):
        """Makes a renewal due, and waits until one has come through."""
        before = len(self.server.requests("Reservations.RenewReservation"))
        lease._left.renew_at = 0
        while len(self.server.requests("Reservations.RenewReservation")) == before:
            lease.check()
            time.sleep(0.01)

    def test_it_is_renewed_with_its_token_and_given_back(self):
        with hold(self.client) as lease:
            self.renew_now(lease)
        for method in ["Reservations.RenewReservation", "Reservations.ReleaseReservation"]:
            request = self.server.requests(method)[-1]
            self.assertEqual((request.reservation_id, request.fencing_token), ("r-1", 7))

    def test_a_server_that_restarts_in_time_keeps_it(self):
        with hold(self.client) as lease:
            self.server.stop()
            self.server.start()
            self.renew_now(lease)
        self.assertEqual(len(self.server.requests("Reservations.ReleaseReservation")), 1)

    def test_a_server_that_goes_away_for_good_loses_it_to_the_own_clock(self):
        with self.assertRaises(interlock.ReservationLost) as caught:
            with hold(self.client) as lease:
                self.server.stop()
                lease._left.renewed(SystemClock().now(), datetime.timedelta(seconds=1))
                time.sleep(20)
        self.assertEqual(caught.exception.reason, "NOT_RENEWED")


if __name__ == "__main__":
    unittest.main()
