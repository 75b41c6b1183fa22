"""What reaches a body that does not look at its lease: a signal of its own thread."""
import asyncio
import logging
import signal
import subprocess
import threading
import time
import unittest

import interlock
from interlock.interruption import Interruption
from manual_clock import ManualClock
from scripted_client import ScriptedClient, hold, lost, spin


def setUpModule():
    logging.disable(logging.CRITICAL)


class Interrupting(unittest.TestCase):
    def soon(self, act):
        """Runs `act` once the main thread is at rest in a call of the operating system."""
        timer = threading.Timer(0.2, act)
        timer.start()
        self.addCleanup(timer.join)

    def test_a_sleep_of_the_main_thread_ends_at_once(self):
        interruption = Interruption()
        self.addCleanup(interruption.disarm)
        self.soon(lambda: interruption.interrupt(KeyError))
        begun = time.monotonic()
        with self.assertRaises(KeyError):
            time.sleep(20)
        self.assertLess(time.monotonic() - begun, 15)

    def test_so_does_waiting_for_a_child_process_which_is_killed(self):
        interruption = Interruption()
        self.addCleanup(interruption.disarm)
        self.soon(lambda: interruption.interrupt(KeyError))
        begun = time.monotonic()
        with self.assertRaises(KeyError):
            subprocess.run(["sleep", "20"], check=False)
        self.assertLess(time.monotonic() - begun, 15)

    def test_nothing_is_raised_after_the_end_and_the_signal_is_given_back(self):
        interruption = Interruption()
        interruption.disarm()
        interruption.interrupt(KeyError)
        self.assertEqual(signal.getsignal(signal.SIGURG), signal.SIG_DFL)

    def test_what_is_on_its_way_at_the_end_is_raised_there_and_not_later(self):
        """Whether it comes before or after the end is open; a hundred rounds see both."""
        late = []

        def body():
            interruption = Interruption()
            other = threading.Thread(target=interruption.interrupt, args=(KeyError,))
            try:
                try:
                    other.start()
                    interruption.disarm()
                except KeyError:
                    interruption.disarm()
                for _ in range(100):
                    pass
            except KeyError:
                late.append("after the end")
            other.join()
        for _ in range(100):
            thread = threading.Thread(target=body)
            thread.start()
            thread.join()
        self.assertEqual(late, [])

    def test_a_signal_handler_of_the_program_is_left_alone(self):
        def own(*_):
            pass
        signal.signal(signal.SIGURG, own)
        self.addCleanup(signal.signal, signal.SIGURG, signal.SIG_DFL)
        interruption = Interruption()
        self.assertIs(signal.getsignal(signal.SIGURG), own)
        interruption.disarm()
        self.assertIs(signal.getsignal(signal.SIGURG), own)

    def test_one_reservation_inside_another_leaves_the_outer_one_its_signal(self):
        with hold(ScriptedClient(), ManualClock()):
            with hold(ScriptedClient(), ManualClock()):
                pass
            self.assertNotEqual(signal.getsignal(signal.SIGURG), signal.SIG_DFL)
        self.assertEqual(signal.getsignal(signal.SIGURG), signal.SIG_DFL)

    def test_a_body_in_another_thread_is_interrupted_too(self):
        raised = []

        def body():
            clock = ManualClock()
            try:
                with hold(ScriptedClient(60, [lost()]), clock) as lease:
                    threading.Thread(target=clock.run, args=(lease, 25)).start()
                    spin()
            except interlock.ReservationLost as error:
                raised.append(error.reason)
        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        self.assertEqual(raised, ["EXPIRED"])

    def test_an_event_loop_is_not_interrupted_but_hears_when_it_asks(self):
        async def body():
            clock = ManualClock()
            with hold(ScriptedClient(60, [lost()]), clock) as lease:
                clock.run(lease, 25)
                self.assertTrue(lease.lost)
                lease.check()
        with self.assertRaises(interlock.ReservationLost):
            asyncio.run(body())


if __name__ == "__main__":
    unittest.main()
