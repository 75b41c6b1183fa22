"""How long a call is repeated while the server can't be reached.

Only what is safe to repeat is repeated: every call that changes something carries a
request id or a lease's token, and the same one each time.
"""
from __future__ import annotations

import time
from typing import Optional

from interlock import errors
from interlock.durations import DurationLike, to_timedelta

# A restart of the server takes a second or two.
RETRY_FOR_SECONDS = 5.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 1.0
# Nobody spoke, or the server said that it goes down or has too much to do. A Druid that
# can't be reached is the caller's to wait for: its server did answer.
_PASSING = {
    # How gRPC ends a call that comes while the server shuts down: no service has seen it.
    "CANCELLED": {""},
    "UNAVAILABLE": {"", "UNAVAILABLE", "STORE_UNAVAILABLE", "STORE_CLOSED", "SERVER_DRAINING"},
    "RESOURCE_EXHAUSTED": {"SERVER_BUSY", "STORE_QUEUE_FULL"},
}


class Patience:
    """Of one call. longest: time for all of it; None for no end."""

    def __init__(self, longest: Optional[DurationLike]) -> None:
        self._end = (None if longest is None
                     else time.monotonic() + to_timedelta(longest).total_seconds())
        self._pause = FIRST_PAUSE_SECONDS
        self._give_up: Optional[float] = None

    def left(self) -> Optional[float]:
        """Seconds until the call must be over; None for no end."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def answered(self) -> None:
        """A stream went on: what was lost before is forgotten."""
        self._pause, self._give_up = FIRST_PAUSE_SECONDS, None

    def pause_or_raise(self, error: errors.InterlockError) -> None:
        """Raises `error` unless to call again may help; then waits a moment, ever longer."""
        now = time.monotonic()
        self._give_up = self._give_up or now + RETRY_FOR_SECONDS
        ends = self._give_up if self._end is None else min(self._give_up, self._end)
        if error.reason not in _PASSING.get(error.code, ()) or now + self._pause >= ends:
            raise error
        time.sleep(self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)
