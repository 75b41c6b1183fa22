"""Stands for interlock.Client where a test is about what a Reservation makes of answers."""
import dataclasses
import datetime
import threading
import time

import interlock
from interlock import errors, messages


class ScriptedClient:
    """Grants a lease of `seconds`; `renewals` are played one after the other, then good ones.

    A renewal is a length in seconds, an exception, or a function that is called first.
    """

    def __init__(self, seconds=60.0, renewals=(), grant=None, release=None):
        self._seconds = seconds
        self._grant = grant
        self._release = release
        self._renewals = list(renewals)
        self._lock = threading.Lock()
        self.renewed = 0
        self.looked = 0
        self.state = "ACTIVE"
        self.forced_by = ""
        self.released = 0
        self.asked = {}

    def lease(self, seconds):
        return messages.Reservation(
            reservation_id="r-1", datasource="page_views", intervals=("a/b",), fencing_token=7,
            state="ACTIVE", remaining=datetime.timedelta(seconds=seconds))

    def reserve(self, **asked):
        self.asked = asked
        if self._grant is not None:
            return self._grant()
        return messages.ReserveIntervalResponse(reservation=self.lease(self._seconds))

    def renew(self, lease, timeout=None):
        with self._lock:
            self.renewed += 1
            answer = self._renewals.pop(0) if self._renewals else self._seconds
        if callable(answer):
            answer = answer()
        if isinstance(answer, Exception):
            raise answer
        return self.lease(answer)

    def get_reservation(self, reservation_id, timeout=None):
        self.looked += 1
        return dataclasses.replace(self.lease(self._seconds), state=self.state,
                                   forced_by=self.forced_by, force_reason="needed")

    def release(self, lease):
        self.released += 1
        if self._release is not None:
            raise self._release
        return lease


def lost(reason="EXPIRED"):
    return errors.Lost("over", code="FAILED_PRECONDITION", reason=reason)


def unreachable():
    return errors.NotReachable("connection refused", code="UNAVAILABLE")


def hold(client, clock=None, **options):
    """A Reservation of one hour, asked of `client`."""
    return interlock.Reservation(client, "page_views", "2026-07-16T13", clock=clock, **options)


def spin():
    """A body that is busy and never looks at its lease; ends only when it is interrupted."""
    give_up = time.monotonic() + 15
    while time.monotonic() < give_up:
        pass
    raise AssertionError("the body was not interrupted")
