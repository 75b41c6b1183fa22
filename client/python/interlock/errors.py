"""What a call that did not do what was asked raises.

One class for each thing a caller would do next; within it the server's stable reason
(UPPER_SNAKE) says what exactly it was. Match on the class or the reason, never on the
text. `Lost` (the lease is over, for good) and `NotReachable` (nobody answered) are never
the same: after the first nothing more may be written, after the second nothing is known.
"""
from __future__ import annotations

import dataclasses
import datetime
import re
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Type

import grpc
from google.rpc import error_details_pb2, status_pb2

from interlock.channel import MAX_MESSAGE_BYTES

DETAILS_KEY = "grpc-status-details-bin"


@dataclasses.dataclass(frozen=True)
class Fault:
    """One fault of what was sent."""

    pointer: str
    """JSON pointer to what is wrong; "" is the whole."""
    message: str
    """What stands there, why it will not do, and what would."""


@dataclasses.dataclass(frozen=True)
class Blocker:
    """One thing that stands in the way."""

    type: str
    """UPPER_SNAKE: `HELD`, `ORPHANED`, `SEALED`, …."""
    subject: str
    """What is blocked: datasource and interval."""
    message: str
    """Who holds it, what for, since when and until when."""


class InterlockError(Exception):
    """A call that did not do what was asked; what else there is to know is in its fields.

    code: the canonical code, `FAILED_PRECONDITION`.
    message: one line for people.
    reason: stable UPPER_SNAKE; empty where no server spoke.
    metadata: what the reason is about, as text by name.
    faults: each fault of what was sent, all of them at once.
    blockers: each thing that stands in the way.
    retry_after: when the same call may succeed; None where waiting does not help.
    """

    def __init__(self, message: str, *, code: str = "", reason: str = "",
                 metadata: Optional[Mapping[str, str]] = None, faults: Sequence[Fault] = (),
                 blockers: Sequence[Blocker] = (),
                 retry_after: Optional[datetime.timedelta] = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.metadata = dict(metadata or {})
        self.faults = tuple(faults)
        self.blockers = tuple(blockers)
        self.retry_after = retry_after

    def __str__(self) -> str:
        lines = [f"{self.reason or self.code}: {self.message}" if self.reason or self.code
                 else self.message]
        lines += [f"  {fault.pointer or '/'}: {fault.message}" for fault in self.faults]
        lines += [f"  {one.type} {one.subject}: {one.message}" for one in self.blockers]
        return "\n".join(lines)


class InvalidArgument(InterlockError):
    """What was sent will not do; `faults` names each thing that is wrong with it."""


class Refused(InterlockError):
    """What was sent is in order, but the world does not allow it now; see `blockers`."""


class Held(Refused):
    """Somebody else has the time, or stands in line before; `blockers` says who and until when."""


class Lost(Refused):
    """The lease is over: expired, released, forced, or granted anew. It never comes back."""


class ReservationLost(Lost):
    """Raised in the body of a `Reservation` that is lost.

    reservation: the lease as last known.
    cause: what the server said; None where it could not be asked in time. Then `reason` is
        `NOT_RENEWED`, and it may still be alive there, but nobody here can know.
    """

    def __init__(self, message: str, *, reservation: Any = None,
                 cause: Optional[InterlockError] = None, reason: str = "") -> None:
        super().__init__(message, code=cause.code if cause else "",
                         reason=reason or (cause.reason if cause else ""),
                         metadata=cause.metadata if cause else None,
                         blockers=cause.blockers if cause else ())
        self.reservation = reservation
        self.cause = cause


class NotFound(InterlockError):
    """There is no such reservation, backfill, drop or job."""


class NotAllowed(InterlockError):
    """Who calls is not known, or may not do this."""


class Exhausted(InterlockError):
    """A limit, named in the message, is reached; or more calls wait than can be served."""


class NotBuilt(InterlockError):
    """A part of the API that this version of the server does not have."""


class Undetermined(InterlockError):
    """No answer came, so whether it was done is not known.

    Call again with the same `request_id` to learn it: that never does it twice.
    """


class NotReachable(Undetermined):
    """The server, or the Druid behind it, can't be reached. Nothing was acknowledged."""


_HELD = {"HELD", "BEHIND_WAITER", "LOCK_DELAY", "ORPHANED"}
_LOST = {"STALE_TOKEN", "EXPIRED", "RELEASED", "SUPERSEDED", "FORCED"}
_BY_CODE: Dict[str, Type[InterlockError]] = {
    "INVALID_ARGUMENT": InvalidArgument,
    "OUT_OF_RANGE": InvalidArgument,
    "FAILED_PRECONDITION": Refused,
    "ABORTED": Refused,
    "ALREADY_EXISTS": Refused,
    "NOT_FOUND": NotFound,
    "PERMISSION_DENIED": NotAllowed,
    "UNAUTHENTICATED": NotAllowed,
    "RESOURCE_EXHAUSTED": Exhausted,
    "UNIMPLEMENTED": NotBuilt,
    "UNAVAILABLE": NotReachable,
    "DEADLINE_EXCEEDED": Undetermined,
    "CANCELLED": Undetermined,
    "UNKNOWN": Undetermined,
}


def class_of(code: str, reason: str) -> Type[InterlockError]:
    """The class for a canonical code and a reason; a code that is not known gets the base."""
    if code == "FAILED_PRECONDITION":
        if reason in _HELD:
            return Held
        if reason in _LOST:
            return Lost
    return _BY_CODE.get(code, InterlockError)


def from_rpc(error: grpc.RpcError) -> InterlockError:
    """The exception for what gRPC raised, with the details that the server sent along.

    Details that can't be read are left out: code and text stand without them.
    """
    code = error.code().name
    if too_large := _too_large(code, error.details() or ""):
        return too_large
    status = _details(error.trailing_metadata() or ())
    fields: Dict[str, Any] = {"code": code}
    for detail in status.details:
        _read_detail(detail, fields)
    return class_of(code, fields.get("reason", ""))(error.details() or code, **fields)


_TOO_LARGE = re.compile(r"(Received|Sent) message larger than max \((\d+) vs\. (\d+)\)")


def _too_large(code: str, text: str) -> Optional[InterlockError]:
    """gRPC turns such a request away before any service sees it.

    Of a reply that is larger than we take it says the same; that is no fault of the request.
    """
    found = _TOO_LARGE.search(text) if code == "RESOURCE_EXHAUSTED" else None
    if not found:
        return None
    way, size, limit = found.groups()
    if way == "Received" and int(limit) == MAX_MESSAGE_BYTES:
        return None
    whose = ("limits.max_request_bytes of this server" if way == "Received"
             else "as much as this client sends")
    return InvalidArgument(
        f"the request has {size} bytes; at most {limit}, which is {whose}: put inline data into files",
        code="INVALID_ARGUMENT", reason="LIMIT_EXCEEDED",
        metadata={"limit": "max_request_bytes", "allowed": limit})


def _details(trailers: Sequence[Tuple[str, Any]]) -> Any:
    status = status_pb2.Status()
    for key, value in trailers:
        if key == DETAILS_KEY:
            try:
                status.MergeFromString(value)
            except Exception:  # pylint: disable=broad-except  # its class differs by protobuf's version
                return status_pb2.Status()
    return status


def _read_detail(detail: Any, fields: Dict[str, Any]) -> None:
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    failure = error_details_pb2.PreconditionFailure()
    retry = error_details_pb2.RetryInfo()
    if detail.Unpack(info):
        fields["reason"] = info.reason
        fields["metadata"] = dict(info.metadata)
    elif detail.Unpack(bad):
        fields["faults"] = [Fault(one.field, one.description) for one in bad.field_violations]
    elif detail.Unpack(failure):
        fields["blockers"] = [Blocker(one.type, one.subject, one.description)
                              for one in failure.violations]
    elif detail.Unpack(retry):
        fields["retry_after"] = retry.retry_delay.ToTimedelta()
