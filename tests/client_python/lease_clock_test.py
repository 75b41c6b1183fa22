"""When a lease is renewed and when its holder stops, decided without a clock or a thread."""
import datetime
import threading
import time
import unittest

from interlock.lease_clock import LeaseClock, SystemClock


def lease(seconds, sent=100.0):
    return LeaseClock(sent, datetime.timedelta(seconds=seconds))


class WhenToStop(unittest.TestCase):
    def test_the_holder_stops_before_the_lease_ends_whatever_its_length(self):
        for seconds, margin in [(1, 0.1), (10, 1), (50, 5), (600, 5), (86_400, 5)]:
            with self.subTest(seconds):
                left = lease(seconds)
                self.assertAlmostEqual(left.deadline, 100 + seconds - margin)
                self.assertFalse(left.over(left.deadline - 0.001))
                self.assertTrue(left.over(left.deadline))

    def test_the_deadline_counts_from_the_sending_of_the_request(self):
        left = lease(60, sent=100)
        left.renewed(120.0, datetime.timedelta(seconds=60))  # sent at 120, answered who knows when
        self.assertAlmostEqual(left.deadline, 175)

    def test_a_reply_that_leaves_less_than_asked_counts_as_it_is(self):
        left = lease(600)
        left.renewed(300.0, datetime.timedelta(seconds=30))
        self.assertAlmostEqual(left.deadline, 327)
        self.assertAlmostEqual(left.renew_at, 310)


class WhenToRenew(unittest.TestCase):
    def test_at_a_third_and_no_sooner(self):
        left = lease(600)
        self.assertAlmostEqual(left.sleep(100), 200)
        self.assertEqual(left.sleep(300), 0)
        self.assertAlmostEqual(left.late_by(302), 2)

    def test_an_unanswered_renewal_is_tried_again_soon_and_does_not_move_the_deadline(self):
        left = lease(60)
        deadline = left.deadline
        left.unanswered(120.0)
        self.assertAlmostEqual(left.renew_at, 121)
        self.assertEqual(left.deadline, deadline)

    def test_a_short_lease_has_several_tries_before_it_is_lost(self):
        left = lease(1, sent=0.0)
        now, tries = left.renew_at, 0
        while not left.over(now):
            tries += 1
            now += left.attempt(now)
            left.unanswered(now)
            now += left.sleep(now)
        self.assertGreaterEqual(tries, 3)

    def test_an_attempt_never_outlasts_the_lease(self):
        left = lease(60)
        self.assertAlmostEqual(left.attempt(120), 10)
        self.assertAlmostEqual(left.attempt(154), 1)
        self.assertEqual(left.attempt(200), 0)


class TheSystemsClock(unittest.TestCase):
    def test_never_goes_back_and_wakes_at_once_when_told_to_stop(self):
        clock = SystemClock()
        before = clock.now()
        stop = threading.Event()
        stop.set()
        begun = time.monotonic()
        self.assertTrue(clock.wait(stop, 3_600))
        self.assertLess(time.monotonic() - begun, 5)
        self.assertGreaterEqual(clock.now(), before)


if __name__ == "__main__":
    unittest.main()
