"""A clock that a test moves by hand, in place of interlock's SystemClock."""
import threading
import time


class ManualClock:
    def __init__(self):
        self._now = 1_000.0
        self._wake = None  # until when the renewing thread sleeps; None while it is awake
        self._changed = threading.Condition()

    def now(self):
        with self._changed:
            return self._now

    def wait(self, stop, seconds):
        with self._changed:
            self._wake = self._now + seconds
            self._changed.notify_all()
            while not stop.is_set() and self._now < self._wake:
                self._changed.wait(0.005)  # `stop` does not notify
            self._wake = None
            return stop.is_set()

    def advance(self, seconds):
        """Moves time at once, without letting anybody act: a machine that stood still."""
        with self._changed:
            self._now += seconds
            self._changed.notify_all()

    def settle(self, reservation):
        """Waits until the renewing thread has done what is due, or has ended."""
        give_up = time.monotonic() + 20
        with self._changed:
            while self._wake is None or self._wake <= self._now:
                thread = reservation._renewer
                if thread is None or not thread.is_alive():
                    return
                if time.monotonic() > give_up:
                    raise AssertionError("the renewing thread does not come to rest")
                self._changed.wait(0.005)

    def run(self, reservation, seconds, step=1.0):
        """Lets time pass in small steps, with the renewing thread alive."""
        while seconds > 0:
            self.settle(reservation)
            self.advance(min(step, seconds))
            seconds -= step
            self.settle(reservation)
