"""A lease that renews itself while the body of a `with` runs, and stops it when it is lost."""
from __future__ import annotations

import datetime
import logging
import threading
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Tuple, Type, Union, cast

from interlock import errors, messages
from interlock.client import Client
from interlock.durations import DurationLike
from interlock.interruption import Interruption
from interlock.lease_clock import LeaseClock, SystemClock
from interlock.requests import IntervalsLike

_log = logging.getLogger("interlock")

# How long the end of the body waits for the renewing thread to notice.
JOIN_SECONDS = 1.0
# A renewal that comes later than this part of what the lease has left is worth a warning.
LATE = 1 / 4
# How often the server is asked whether the lease was taken by force, and how long it may take
# to answer.
LOOK_EVERY_SECONDS = 2.0
# What the server knows of a lease that will never be this holder's again, beside Lost.
_GONE = {"UNKNOWN_RESERVATION", "NOT_THE_HOLDER"}
# States after which it is not this holder's.
_OVER = {"RELEASED", "EXPIRED", "FORCED", "ORPHANED"}


class Reservation:
    """Holds intervals of one datasource for as long as the body of a `with` runs.

        with interlock.Reservation(client, "page_views", "2026-07-16T13") as lease:
            ...

    A thread renews the lease, and looks every other second whether it was taken by force.
    Where it is lost (the server says so, or it could not be renewed in time, measured on this
    machine's own monotonic clock) the body is interrupted by `ReservationLost`, and nothing
    more may be written. The end of the body gives the lease back, and raises
    `ReservationLost` if it was lost and the body did not hear of it.

    How soon the body is interrupted: at its next instruction; in the main thread also out
    of a call that waits (a sleep, a socket, a child process). A body in another thread that
    waits in such a call, and one in an event loop, are not interrupted there: call `check`
    before each effect. Whoever writes past a loss is fenced off by `fencing_token`.

    The arguments are those of `Client.reserve`. Raises Held where others have the time;
    with `skip_held` only where nothing is left.
    interrupt: False leaves the body alone; then only `check` and its end raise.
    on_lost: called once, in the renewing thread, with the `ReservationLost`; to stop what
        runs outside of Python.

    For one `with` at a time; `check` and the properties may be used from any thread.
    """

    def __init__(self, client: Client, datasource: str, intervals: IntervalsLike, *,
                 ttl: Optional[DurationLike] = None, mode: str = "REPLACE",
                 purpose: Optional[str] = None, holder: Optional[str] = None,
                 skip_held: bool = False, wait: Optional[DurationLike] = None,
                 request_id: Optional[str] = None, reason: Optional[str] = None,
                 labels: Optional[Mapping[str, str]] = None,
                 segment_granularity: Union[str, Mapping[str, str], None] = None,
                 accept_widening: bool = False, interrupt: bool = True,
                 on_lost: Optional[Callable[[errors.ReservationLost], None]] = None,
                 clock: Optional[SystemClock] = None) -> None:
        self._client = client
        self._ask: Mapping[str, Any] = {
            "datasource": datasource, "intervals": intervals, "ttl": ttl, "mode": mode,
            "purpose": purpose, "holder": holder, "skip_held": skip_held, "wait": wait,
            "request_id": request_id, "reason": reason, "labels": labels,
            "segment_granularity": segment_granularity, "accept_widening": accept_widening}
        self._interrupts = interrupt
        self._on_lost = on_lost
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._loss: Optional[errors.ReservationLost] = None
        self._unreached: Optional[Exception] = None
        self._kept = False
        self._record: Optional[messages.Reservation] = None
        self._skipped: Tuple[messages.Blocker, ...] = ()
        self._left: Optional[LeaseClock] = None
        self._interruption: Optional[Interruption] = None
        self._renewer: Optional[threading.Thread] = None

    # What is held.

    @property
    def record(self) -> messages.Reservation:
        """The lease as the server last gave it."""
        if self._record is None:
            raise RuntimeError("nothing is reserved yet: use it in a with statement")
        return self._record

    @property
    def reservation_id(self) -> str:
        """Names the lease in every call that acts under it."""
        return self.record.reservation_id

    @property
    def fencing_token(self) -> int:
        """Shown by every call that acts under the lease."""
        return self.record.fencing_token

    @property
    def intervals(self) -> Tuple[str, ...]:
        """What is held, canonical."""
        return self.record.intervals

    @property
    def skipped(self) -> Tuple[messages.Blocker, ...]:
        """With `skip_held`: what was left out, and who holds it."""
        return self._skipped

    @property
    def remaining(self) -> datetime.timedelta:
        """Time until the holder must have stopped, by this machine's clock."""
        with self._lock:
            left = 0.0 if self._left is None else self._left.deadline - self._clock.now()
        return datetime.timedelta(seconds=max(0.0, left))

    @property
    def lost(self) -> bool:
        """True once the lease is lost; see `check`."""
        return self._loss_now() is not None

    def check(self) -> None:
        """Raises ReservationLost if the lease is lost. Costs no call; use it before effects."""
        loss = self._loss_now()
        if loss is not None:
            raise loss

    @property
    def unreachable(self) -> Optional[Exception]:
        """Why the last renewal came to nothing, while the lease may live on; else None."""
        return self._unreached if self._loss_now() is None else None

    def keep(self) -> None:
        """The end of the body gives nothing back: something else acts under the lease still."""
        self._kept = True

    # The body's begin and end.

    def __enter__(self) -> "Reservation":
        if self._renewer is not None:
            raise RuntimeError("a Reservation is for one with statement at a time")
        self._stop.clear()
        self._loss, self._unreached, self._kept = None, None, False
        self._reserve()
        self._interruption = Interruption() if self._interrupts else None
        self._renewer = threading.Thread(target=self._renew_until_over, daemon=True,
                                         name=f"interlock-{self.reservation_id}")
        try:
            self._renewer.start()
        except BaseException:  # lost already, and told so in here
            self._stop_renewing()
            raise
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        renewer = self._renewer
        loss = self._stop_renewing()
        if loss is None:
            loss = self._kept_to_the_end() if self._kept else self._give_back()
        if renewer is not None:
            renewer.join(JOIN_SECONDS)
        if loss is not None and kind is None:
            raise loss

    def _stop_renewing(self) -> Optional[errors.ReservationLost]:
        """Gives the loss if there is one, or raises it if it was on its way to the body."""
        try:
            if self._interruption is not None:
                self._interruption.disarm()
            return self._loss_now()
        finally:
            self._stop.set()
            self._renewer = None

    def _reserve(self) -> None:
        sent = self._clock.now()
        answer = self._client.reserve(**self._ask)
        if answer.reservation is None:
            first = answer.skipped[0].message if answer.skipped else "nothing is left to reserve"
            raise errors.Held(first, code="FAILED_PRECONDITION", reason="HELD", blockers=[
                errors.Blocker(one.reason, one.interval, one.message) for one in answer.skipped])
        self._record, self._skipped = answer.reservation, answer.skipped
        self._left = LeaseClock(sent, _remaining(self._record))
        # The answer may have waited in line; how long ago it was granted, only a renewal tells.
        now = self._clock.now()
        if now >= self._left.renew_at:
            self._record = self._client.renew(self._record)
            self._left.renewed(now, _remaining(self._record))

    def _give_back(self) -> Optional[errors.ReservationLost]:
        """Gives the loss that nobody had noticed yet, if the server knows of one."""
        try:
            self._record = self._client.release(self.record)
        except errors.InterlockError as error:
            if _means_lost(error):
                return self._noted(error)
            # The work is done and was protected; the lease ends by itself.
            _log.warning("reservation %s could not be released, it ends at %s: %s",
                         self.reservation_id, self.record.expire_time, error)
        return None

    def _kept_to_the_end(self) -> Optional[errors.ReservationLost]:
        end = self._end_by_the_server(LOOK_EVERY_SECONDS)
        return None if end is None else self._noted(end)

    def _noted(self, cause: errors.InterlockError) -> errors.ReservationLost:
        with self._lock:
            self._loss = self._loss or self._describe(cause)
            return self._loss

    # The renewing thread.

    def _renew_until_over(self) -> None:
        left = self._left
        assert left is not None, "__enter__ reserves before it starts this thread"
        look_at = self._clock.now() + LOOK_EVERY_SECONDS
        while not self._stop.is_set():
            now = self._clock.now()
            if left.over(now) or self._loss is not None:  # `check` may have found it first
                return self._lose(None)
            if now >= look_at and left.sleep(now) > 0:
                look_at = now + LOOK_EVERY_SECONDS
                end = self._end_by_the_server(min(LOOK_EVERY_SECONDS, left.attempt(now)))
                if end is not None and not self._stop.is_set():
                    return self._lose(end)
                continue
            sleep = min(left.sleep(now), max(look_at - now, 0.0))
            if left.sleep(now) > 0:
                self._clock.wait(self._stop, sleep)
            elif not self._renew(left, now):
                return

    def _renew(self, left: LeaseClock, now: float) -> bool:
        """One renewal. False when there is nothing left to renew."""
        if left.late_by(now) > LATE * (left.deadline - left.renew_at):
            _log.warning("reservation %s is renewed %.1f s late, %.1f s before it would be lost",
                         self.reservation_id, left.late_by(now), left.deadline - now)
        try:
            record = self._client.renew(
                self.record, timeout=datetime.timedelta(seconds=left.attempt(now)))
        except Exception as error:  # pylint: disable=broad-except
            return self._unanswered(left, error)
        with self._lock:
            self._record = record
            self._unreached = None
            left.renewed(now, _remaining(record))
        return True

    def _end_by_the_server(self, seconds: float) -> Optional[errors.InterlockError]:
        """How the lease ended, if the server says that it did; who can't be asked says nothing."""
        try:
            record = self._client.get_reservation(
                self.reservation_id, timeout=datetime.timedelta(seconds=seconds))
        except Exception as error:  # pylint: disable=broad-except
            known = isinstance(error, errors.InterlockError) and _means_lost(error)
            return cast(errors.InterlockError, error) if known else None
        if record.state not in _OVER:
            return None
        taken = f": {record.forced_by} ended it ({record.force_reason})" if record.forced_by else ""
        return errors.Lost(f"it is {record.state}{taken}", code="FAILED_PRECONDITION",
                           reason="FORCED" if record.forced_by else record.state)

    def _unanswered(self, left: LeaseClock, error: Exception) -> bool:
        """A renewal failed. Whatever does not say that the lease is gone says nothing of it."""
        if self._stop.is_set():
            return False
        if isinstance(error, errors.InterlockError) and _means_lost(error):
            self._lose(error)
            return False
        _log.warning("reservation %s could not be renewed: %s", self.reservation_id, error)
        with self._lock:
            self._unreached = error
            left.unanswered(self._clock.now())
        return True

    # Losing it.

    def _loss_now(self) -> Optional[errors.ReservationLost]:
        """The loss if there is one; finds a passed deadline by itself, thread or no thread."""
        with self._lock:
            over = (self._loss is None and self._renewer is not None and self._left is not None
                    and self._left.over(self._clock.now()))
            if over:
                self._loss = self._describe(None)
            return self._loss

    def _lose(self, cause: Optional[errors.InterlockError]) -> None:
        with self._lock:
            if self._loss is None:
                self._loss = self._describe(cause)
            loss = self._loss
        _log.error("%s", loss)
        if self._interruption is not None:
            self._interruption.interrupt(_ready_made(loss))
        if self._on_lost is not None:
            self._on_lost(loss)

    def _describe(self, cause: Optional[errors.InterlockError]) -> errors.ReservationLost:
        record = self.record
        what = (f"reservation {record.reservation_id} of {record.datasource} "
                f"({', '.join(record.intervals)})")
        if cause is None:
            return errors.ReservationLost(
                f"{what} could not be renewed in time; whether it is still held is not known",
                reason="NOT_RENEWED", reservation=record)
        return errors.ReservationLost(f"{what} is lost: {cause.message}", cause=cause,
                                      reservation=record)


def _means_lost(error: errors.InterlockError) -> bool:
    return isinstance(error, errors.Lost) or error.reason in _GONE


def _remaining(record: messages.Reservation) -> datetime.timedelta:
    if record.remaining is None:
        raise errors.InterlockError("the server did not say how long the lease lasts")
    return record.remaining


def _ready_made(loss: errors.ReservationLost) -> Type[errors.ReservationLost]:
    """`loss` as a class: only a class can be raised in another thread."""

    class Ready(errors.ReservationLost):
        def __init__(self) -> None:
            super().__init__(loss.message, reservation=loss.reservation, cause=loss.cause,
                             reason=loss.reason)

    Ready.__name__ = Ready.__qualname__ = "ReservationLost"
    return Ready
