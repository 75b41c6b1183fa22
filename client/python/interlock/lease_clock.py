"""When a lease is to be renewed, and when its holder must stop. Decides; does nothing.

Guarantee: the holder stops before the server can let anybody else in, whether or not the
server can be asked. Reason: `remaining` of a reply counts from a moment that is never
before the request was sent, so a deadline measured from the sending, on a clock that
nobody can set, is never late. Both clocks may run apart by a little, and stopping takes a
moment: hence the margin.
"""
from __future__ import annotations

import datetime
import threading
import time

# A third of the lease: two more chances before it is over.
RENEW_AFTER = 1 / 3
# The holder stops by this part of the lease before its end, at most so many seconds.
MARGIN = 1 / 10
LONGEST_MARGIN_SECONDS = 5.0
# After a renewal that was not answered: the next one after this part of the lease.
RETRY_AFTER = 1 / 30
SHORTEST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 0.05, 1.0
# How long one renewal may take before it is given up and sent anew.
ATTEMPT = 1 / 6
SHORTEST_ATTEMPT_SECONDS, LONGEST_ATTEMPT_SECONDS = 0.2, 10.0
# Longest sleep: a machine that was suspended learns of it this soon after it wakes.
LONGEST_SLEEP_SECONDS = 1.0


class SystemClock:
    """Seconds since boot, the time a machine was suspended included where it can tell."""

    _SINCE_BOOT = getattr(time, "CLOCK_BOOTTIME", None)

    def now(self) -> float:
        if self._SINCE_BOOT is None:
            return time.monotonic()
        return time.clock_gettime(self._SINCE_BOOT)

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Until `stop` is set (True), or for a while (False), never longer than `seconds`."""
        return stop.wait(min(seconds, LONGEST_SLEEP_SECONDS))


class LeaseClock:
    """What is left of one lease. All instants are seconds of one `SystemClock`.

    Not for more than one thread at a time.
    """

    def __init__(self, sent: float, remaining: datetime.timedelta) -> None:
        self.renewed(sent, remaining)

    def renewed(self, sent: float, remaining: datetime.timedelta) -> None:
        """The request that went out at `sent` was answered with `remaining`."""
        length = remaining.total_seconds()
        self._length = length
        self.deadline = sent + length - min(length * MARGIN, LONGEST_MARGIN_SECONDS)
        self.renew_at = sent + length * RENEW_AFTER

    def unanswered(self, now: float) -> None:
        """A renewal failed in a way that says nothing of the lease."""
        pause = self._length * RETRY_AFTER
        self.renew_at = now + min(max(pause, SHORTEST_RETRY_SECONDS), LONGEST_RETRY_SECONDS)

    def over(self, now: float) -> bool:
        """True from the moment at which the holder must have stopped."""
        return now >= self.deadline

    def late_by(self, now: float) -> float:
        """Seconds by which a renewal at `now` comes late; 0 where it is on time."""
        return max(0.0, now - self.renew_at)

    def sleep(self, now: float) -> float:
        """Seconds until something is due."""
        return max(0.0, min(self.renew_at, self.deadline) - now)

    def attempt(self, now: float) -> float:
        """Seconds that a renewal sent at `now` may take."""
        part = max(self._length * ATTEMPT, SHORTEST_ATTEMPT_SECONDS)
        return max(0.0, min(part, LONGEST_ATTEMPT_SECONDS, self.deadline - now))
