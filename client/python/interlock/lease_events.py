"""What happens to leases, as it happens, past a server's restart."""
from __future__ import annotations

import datetime
from typing import Any, Callable, Dict, Iterator, Optional

from interlock import errors, messages
from interlock.durations import DurationLike
from interlock.patience import Patience

# After these nothing more is told of a lease, unless a part of it lives on.
_FINAL = {"RELEASED", "EXPIRED", "FORCED", "SETTLED", "GAVE_UP"}


class _Told:
    """A watch that begins anew tells again what is live: said before is not said twice."""

    def __init__(self) -> None:
        self._revisions: Dict[str, int] = {}

    def before(self, event: messages.WatchReservationsResponse) -> bool:
        lease = event.reservation
        assert lease is not None, "an event without a lease is a sign of life"
        if 0 < lease.revision <= self._revisions.get(lease.reservation_id, 0):
            return True
        self._revisions[lease.reservation_id] = lease.revision
        if event.event in _FINAL and lease.state != "ACTIVE":
            del self._revisions[lease.reservation_id]
        return False


def watch(stream: Callable[..., Iterator[Any]], datasource: Optional[str], from_revision: int,
          timeout: Optional[DurationLike],
          **fields: Any) -> Iterator[messages.WatchReservationsResponse]:
    """The events of `Reservations.WatchReservations`; `stream` is that of a Client."""
    patience, told, revision = Patience(timeout), _Told(), from_revision
    while True:
        left = patience.left()
        if left is not None and left <= 0:
            return
        try:
            for event in stream("Reservations.WatchReservations", datasource=datasource,
                                timeout=None if left is None else datetime.timedelta(seconds=left),
                                from_revision=revision, **fields):
                patience.answered()
                if datasource:  # of all of them, revisions do not compare
                    revision = max(revision, event.revision)
                if event.reservation is not None and not told.before(event):
                    yield event
            raise errors.NotReachable("the server ended the watch", code="UNAVAILABLE")
        except errors.InterlockError as error:
            if left is not None and error.code == "DEADLINE_EXCEEDED":
                return
            if error.reason != "REVISION_TOO_OLD" or revision == 0:
                patience.pause_or_raise(error)
            else:
                revision = 0
