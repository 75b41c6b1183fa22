"""What callers of a lease table saw, and whether one table in one order can have shown it.

Times of calls are of one monotonic clock; deadlines are the store's. A call whose answer was
lost stands in the history with what was learnt by asking again with its request id.
"""
import dataclasses
import threading
from typing import Optional


@dataclasses.dataclass
class Grant:
    """A reservation that was acknowledged."""
    reservation: str
    token: int
    first: int          # hour
    last: int           # hour, exclusive
    begin: float        # of the call that asked for it first
    end: float          # of the call that was answered
    created: float      # by the store's clock
    deadline: float
    release_begin: Optional[float] = None
    release_end: Optional[float] = None  # acknowledged

    def overlaps(self, other):
        return self.first < other.last and other.first < self.last


@dataclasses.dataclass
class Refusal:
    """A request that was refused for what others hold."""
    begin: float
    end: float
    blockers: tuple     # ids of reservations


class History:
    """Grows from many threads; judged at the end."""

    def __init__(self):
        self._lock = threading.Lock()
        self.grants = []
        self.refusals = []
        self.unknown = 0

    def granted(self, grant):
        with self._lock:
            self.grants.append(grant)

    def refused(self, refusal):
        with self._lock:
            self.refusals.append(refusal)

    def lost(self):
        with self._lock:
            self.unknown += 1

    def faults(self):
        """Each a sentence; none where one table in one order explains all."""
        return [*self._tokens(), *self._overlaps(), *self._refusals()]

    def _tokens(self):
        by_token = {}
        for grant in self.grants:
            other = by_token.setdefault(grant.token, grant)
            if other is not grant:
                yield f"one token twice: {other} {grant}"
        ordered = sorted(self.grants, key=lambda g: g.token)
        # A grant that was answered before another was asked for has the lower token.
        latest_begin = float("-inf")
        for grant in ordered:
            if grant.end < latest_begin:
                yield f"a later token was asked for after this was answered: {grant}"
            latest_begin = max(latest_begin, grant.begin)

    def _overlaps(self):
        ordered = sorted(self.grants, key=lambda g: g.token)
        for i, one in enumerate(ordered):
            for other in ordered[i + 1:]:
                if one.overlaps(other) and _surely_held_throughout(one, other):
                    yield f"both held one time: {one} {other}"

    def _refusals(self):
        by_id = {grant.reservation: grant for grant in self.grants}
        for refusal in self.refusals:
            for blocker in refusal.blockers:
                grant = by_id.get(blocker)
                if grant and grant.release_end is not None and grant.release_end < refusal.begin:
                    yield f"refused for what had been released before: {grant} {refusal}"


def _surely_held_throughout(one, other):
    """Whether `one` was held during all of the call that was granted `other`."""
    given_back = one.release_begin is not None and one.release_begin < other.end
    return other.created < one.deadline and not given_back
