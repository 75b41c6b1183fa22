"""The client: the four verbs, what they made, and every other method by its name."""
from __future__ import annotations

import datetime
import json
import os
import time
import uuid
from types import TracebackType
from typing import Any, Iterator, List, Mapping, Optional, Protocol, Tuple, Type, Union, cast

import grpc

from interlock import channel, errors, lease_events, messages, methods, replies, requests
from interlock.durations import DurationLike, to_timedelta
from interlock.patience import Patience
from interlock.requests import IntervalsLike

# Longest time of a call, its repetitions included, unless the client is told another.
DEFAULT_TIMEOUT = "60s"


class Lease(Protocol):
    """What a call acts under: a `Reservation`, or a lease as a reply gave it."""

    @property
    def reservation_id(self) -> str: ...  # noqa: E704

    @property
    def fencing_token(self) -> int: ...  # noqa: E704


class Client:
    """A connection to Interlock. Safe to use from many threads; make it after a fork.

    Every method blocks, gives plain Python (see `interlock.messages`), and raises
    `InterlockError` or one of its kin. Calls are safe to repeat: each that changes
    something carries a `request_id`, a random one where none is given, and where the
    server can't be reached it is sent again for some seconds before NotReachable is raised.

    address: `HOST:PORT`. Default: INTERLOCK_ADDRESS, else `127.0.0.1:7430`.
    ca, cert, key: PEM files, for TLS and mutual TLS. Default: INTERLOCK_CA, INTERLOCK_CERT,
        INTERLOCK_KEY, else none: in the clear.
    token: sent as a bearer token. Default: INTERLOCK_TOKEN, else none.
    caller: the name to state where the server knows callers by nothing else (on loopback).
    timeout: longest time of a call, repetitions included; `60s` or a timedelta.
    """

    def __init__(self, address: Optional[str] = None, *, ca: Optional[channel.PathLike] = None,
                 cert: Optional[channel.PathLike] = None, key: Optional[channel.PathLike] = None,
                 token: Optional[str] = None, caller: Optional[str] = None,
                 timeout: DurationLike = DEFAULT_TIMEOUT) -> None:
        env = os.environ.get
        self.address = address or env("INTERLOCK_ADDRESS") or channel.DEFAULT_ADDRESS
        token = token or env("INTERLOCK_TOKEN")
        self._timeout = to_timedelta(timeout)
        self._metadata: List[Tuple[str, str]] = []
        if caller:
            self._metadata.append(("interlock-caller", caller))
        if token:
            self._metadata.append(("authorization", f"Bearer {token}"))
        self._channel = channel.connect(self.address, ca=ca or env("INTERLOCK_CA"),
                                        cert=cert or env("INTERLOCK_CERT"),
                                        key=key or env("INTERLOCK_KEY"), token=token)

    def close(self) -> None:
        """Ends the connection. Leases stay: they are the server's."""
        self._channel.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    # The four verbs.

    def reserve(self, datasource: str, intervals: IntervalsLike, *, mode: str = "REPLACE",
                ttl: Optional[DurationLike] = None, purpose: Optional[str] = None,
                holder: Optional[str] = None, skip_held: bool = False,
                wait: Optional[DurationLike] = None, request_id: Optional[str] = None,
                reason: Optional[str] = None, labels: Optional[Mapping[str, str]] = None,
                segment_granularity: Union[str, Mapping[str, str], None] = None,
                accept_widening: bool = False,
                validate_only: bool = False) -> messages.ReserveIntervalResponse:
        """Leases intervals: all of them, or with `skip_held` what others do not hold.

        Gives the bare lease, which ends at its deadline unless `renew` moves it. Work that
        takes time belongs into `interlock.Reservation`, which renews and tells of a loss.

        Raises Held (by whom, until when), InvalidArgument, Refused.
        """
        return cast(messages.ReserveIntervalResponse, self._wait_too(
            "IngestionCoordinator.ReserveInterval", wait=wait,
            datasource=datasource, intervals=intervals, mode=mode, ttl=ttl, purpose=purpose,
            holder=holder, skip_held=skip_held, request_id=request_id, reason=reason,
            labels=labels, segment_granularity=segment_granularity,
            accept_widening=accept_widening, validate_only=validate_only))

    def submit(self, *, spec: Union[str, Mapping[str, Any], None] = None,
               sql: Union[str, Mapping[str, str], None] = None, job: Optional[str] = None,
               intervals: Optional[IntervalsLike] = None, reservation: Optional[Lease] = None,
               expect_rows: Optional[int] = None, min_rows: Optional[int] = None,
               max_unparseable: Optional[int] = None, count_metric: Optional[str] = None,
               expect: Optional[Mapping[str, Any]] = None, request_id: Optional[str] = None,
               validate_only: bool = False, **fields: Any) -> messages.SubmitBackfillResponse:
        """Recomputes an interval with a spec (JSON text or a mapping), a query, or a job.

        Answers as soon as it is stored; `wait_for_backfill` follows it to its end. Without
        `reservation` the backfill takes and renews a lease of its own. The same
        `request_id` attaches to the same backfill, so a scheduler gives one that names its
        run. `expect_rows` and its kin are what the proof holds the result against.

        fields: any other field of `SubmitBackfillRequest`: `max_parallel`, `newest_first`,
            `reprocess`, `skip_held`, `accept_widening`, `max_attempts`, `reason`, ….

        Raises InvalidArgument with every fault of the spec, Held, Lost, Refused.
        """
        wanted = {"rows": expect_rows, "min_rows": min_rows, "max_unparseable": max_unparseable,
                  "count_metric": count_metric}
        return cast(messages.SubmitBackfillResponse, self.call(
            "IngestionCoordinator.SubmitBackfill",
            spec=json.dumps(spec) if isinstance(spec, Mapping) else spec, sql=sql, job=job,
            intervals=intervals, expect=_expectation(wanted, expect), request_id=request_id,
            validate_only=validate_only, **_under(reservation), **fields))

    def verify(self, datasource: str, intervals: IntervalsLike, *, level: Optional[str] = None,
               expect_rows: Optional[int] = None, count_metric: Optional[str] = None,
               expect: Optional[Mapping[str, Any]] = None, wait: Optional[DurationLike] = None,
               reservation: Optional[Lease] = None,
               **fields: Any) -> messages.VerifySingleVersionResponse:
        """What is true of each partition: versions, rows, loading, neighbours.

        A verdict that is not good is an answer and not an error: see `good`, `verdict` and
        `partitions`. UNDETERMINED is neither good nor bad; it can't be known now.

        fields: any other field of `VerifySingleVersionRequest`: `only_faults`,
            `include_unused`, `include_segment_ids`, `backfill_id`, `newer_than_time`.
        """
        wanted = {"rows": expect_rows, "count_metric": count_metric}
        return cast(messages.VerifySingleVersionResponse, self._wait_too(
            "IngestionCoordinator.VerifySingleVersion", wait=wait,
            datasource=datasource, intervals=intervals, level=level,
            expect=_expectation(wanted, expect), **_under(reservation), **fields))

    def drop(self, datasource: str, intervals: IntervalsLike, *, reason: str,
             window: Optional[DurationLike] = None, floor: Optional[DurationLike] = None,
             approval: bool = False, request_id: Optional[str] = None,
             reservation: Optional[Lease] = None, validate_only: bool = False,
             **fields: Any) -> messages.DropAndKillResponse:
        """Takes data away: marked unused now, killed when `window` has passed.

        Until then `restore_drop` brings it back, unless newer data is written over it.

        fields: any other field of `DropAndKillRequest`: `accept_partial_cover`,
            `accept_kill_duty`, `include_segments`, `plan_revision`, `labels`, `holder`.
        """
        return cast(messages.DropAndKillResponse, self.call(
            "IngestionCoordinator.DropAndKill", datasource=datasource, intervals=intervals,
            reason=reason, window=window, floor=floor, approval=approval, request_id=request_id,
            validate_only=validate_only, **_under(reservation), **fields))

    # Leases.

    def renew(self, lease: Lease, *, ttl: Optional[DurationLike] = None,
              timeout: Optional[DurationLike] = None) -> messages.Reservation:
        """Moves the deadline to now plus `ttl`. Raises Lost where the lease is over."""
        return cast(messages.Reservation, self.call(
            "Reservations.RenewReservation", timeout=timeout, ttl=ttl, **_under(lease)).reservation)

    def release(self, lease: Lease, *,
                intervals: Optional[IntervalsLike] = None) -> messages.Reservation:
        """Gives the lease back, all of it or a part. Released twice is released."""
        return cast(messages.Reservation, self.call(
            "Reservations.ReleaseReservation", intervals=intervals, **_under(lease)).reservation)

    def get_reservation(self, reservation_id: str, *,
                        timeout: Optional[DurationLike] = None) -> messages.Reservation:
        """One lease, living or over. Raises NotFound."""
        return cast(messages.Reservation, self.call(
            "Reservations.GetReservation", timeout=timeout,
            reservation_id=reservation_id).reservation)

    def list_reservations(self, datasource: Optional[str] = None,
                          **fields: Any) -> Iterator[messages.Reservation]:
        """Leases, page after page; by default those that live or wait.

        fields: `interval`, `holder`, `states`, `page_size`.
        """
        for page in self._pages("Reservations.ListReservations", datasource=datasource, **fields):
            yield from page.reservations

    def watch_reservations(
            self, datasource: Optional[str] = None, *, interval: Optional[IntervalsLike] = None,
            from_revision: int = 0, timeout: Optional[DurationLike] = None
    ) -> Iterator[messages.WatchReservationsResponse]:
        """Grants, renewals, releases and expiries as they happen, first what is live now.

        Goes on by itself where the server restarts; of one datasource without a gap. Ends
        after `timeout`, or with the loop.
        """
        return lease_events.watch(self.stream, datasource, from_revision, timeout,
                                  interval=interval)

    def force_release(self, reservation_id: str, *, reason: str,
                      request_id: Optional[str] = None) -> messages.Reservation:
        """Takes a lease from its holder, for admins. ORPHANED until its tasks are proven over."""
        return cast(messages.Reservation, self.call(
            "Reservations.ForceReleaseReservation", reservation_id=reservation_id, reason=reason,
            request_id=request_id).reservation)

    # Backfills.

    def get_backfill(self, backfill_id: str, **fields: Any) -> messages.GetBackfillResponse:
        """A backfill, with the first page of its partitions.

        fields: `states`, `interval`, `include_attempts`, `include_spec`, `page_size`,
            `page_token`.
        """
        return cast(messages.GetBackfillResponse, self.call(
            "Backfills.GetBackfill", backfill_id=backfill_id, **fields))

    def list_partitions(self, backfill_id: str, **fields: Any) -> Iterator[messages.Partition]:
        """All partitions of a backfill, page after page; `fields` as in `get_backfill`."""
        for page in self._pages("Backfills.GetBackfill", backfill_id=backfill_id, **fields):
            yield from page.partitions

    def watch_backfill(
            self, backfill_id: str, *, from_revision: int = 0, until_over: bool = False,
            timeout: Optional[DurationLike] = None) -> Iterator[messages.WatchBackfillResponse]:
        """The changes of a backfill as they happen, first what is so now.

        Goes on by itself, without a gap, where the server restarts. Ends when the backfill
        is over or, unless `until_over`, needs a person. Raises TimeoutError after `timeout`.
        """
        revision = from_revision
        patience = Patience(timeout)
        while True:
            left = patience.left()
            try:
                for event in self.stream(
                        "Backfills.WatchBackfill",
                        timeout=None if left is None else datetime.timedelta(seconds=left),
                        backfill_id=backfill_id, from_revision=revision, until_over=until_over):
                    revision = max(revision, event.revision)
                    patience.answered()
                    yield event
                return
            except errors.InterlockError as error:
                if error.reason == "REVISION_TOO_OLD":
                    revision = 0
                elif left is not None and error.code == "DEADLINE_EXCEEDED":
                    raise TimeoutError(f"{backfill_id} is not over after {timeout}") from error
                else:
                    patience.pause_or_raise(error)

    def wait_for_backfill(self, backfill_id: str, *, until_over: bool = False,
                          timeout: Optional[DurationLike] = None) -> messages.Backfill:
        """Waits until the backfill is over or needs a person; gives it as it is then.

        `state` says how it ended: DONE, FAILED, CANCELLED, NEEDS_ATTENTION, …. Raises
        TimeoutError after `timeout`; the backfill goes on all the same.
        """
        for _ in self.watch_backfill(backfill_id, until_over=until_over, timeout=timeout):
            pass
        found = self.get_backfill(backfill_id, page_size=1).backfill
        assert found is not None, "GetBackfill gives the backfill"
        return found

    # Drops, and the server.

    def get_drop(self, drop_id: str) -> messages.Drop:
        """One drop. Raises NotFound."""
        return cast(messages.Drop, self.call("Drops.GetDrop", drop_id=drop_id).drop)

    def restore_drop(self, drop_id: str, **fields: Any) -> messages.Drop:
        """Brings dropped data back; works until the kill starts. fields: `reason`, `request_id`."""
        return cast(messages.Drop, self.call("Drops.RestoreDrop", drop_id=drop_id, **fields).drop)

    def status(self) -> messages.GetStatusResponse:
        """How the server does, what it found of Druid, and whom it takes the caller for."""
        return cast(messages.GetStatusResponse, self.call("Server.GetStatus"))

    # Everything else of the API.

    def call(self, method: str, *, timeout: Optional[DurationLike] = None, **fields: Any) -> Any:
        """Any method of the API that has one answer, by name: `Backfills.PauseBackfill`.

        fields: those of its request, in plain Python. Gives the reply of `messages`.
        """
        found = methods.find(method)
        if found.streams:
            raise TypeError(f"{method} answers with a stream: use stream()")
        request = requests.fill(found.request(), fields)
        # Of a list it is a filter: by a call's id, or by none.
        makes = "request_id" in request.DESCRIPTOR.fields_by_name and ".List" not in method
        if makes and not request.request_id:
            request.request_id = str(uuid.uuid4())
        invoke = self._channel.unary_unary(found.path,
                                           request_serializer=found.request.SerializeToString,
                                           response_deserializer=found.reply.FromString)
        patience = Patience(self._timeout if timeout is None else to_timedelta(timeout))
        waits = _Waiting(request)
        while True:
            waits.shorten()
            try:
                return replies.to_python(invoke(request, timeout=patience.left(),
                                                metadata=self._metadata))
            except grpc.RpcError as rpc_error:
                error = errors.from_rpc(rpc_error)
            patience.pause_or_raise(error)

    def stream(self, method: str, *, timeout: Optional[DurationLike] = None,
               **fields: Any) -> Iterator[Any]:
        """Any method that answers with a stream, by name: `Drops.GetManifest`.

        Leaving the loop early ends the call.
        """
        found = methods.find(method)
        request = requests.fill(found.request(), fields)
        invoke = self._channel.unary_stream(found.path,
                                            request_serializer=found.request.SerializeToString,
                                            response_deserializer=found.reply.FromString)
        running = invoke(request, timeout=Patience(timeout).left(), metadata=self._metadata)
        try:
            for reply in running:
                yield replies.to_python(reply)
        except grpc.RpcError as error:
            raise errors.from_rpc(error) from None
        finally:
            running.cancel()

    def _wait_too(self, method: str, *, wait: Optional[DurationLike], **fields: Any) -> Any:
        """A call that may wait at the server for `wait` before it answers."""
        waits = to_timedelta(wait) if wait else datetime.timedelta()
        return self.call(method, timeout=self._timeout + waits, wait=wait, **fields)

    def _pages(self, method: str, **fields: Any) -> Iterator[Any]:
        token: Optional[str] = None
        while token != "":
            page = self.call(method, **{**fields, "page_token": token})
            yield page
            token = page.next_page_token


class _Waiting:
    """What is left of a request's `wait`, however often it is sent."""

    def __init__(self, request: Any) -> None:
        self._request = request
        self._waits = "wait" in request.DESCRIPTOR.fields_by_name and request.HasField("wait")
        self._end = time.monotonic() + (request.wait.ToNanoseconds() / 1e9 if self._waits else 0)
        self._sent = False

    def shorten(self) -> None:
        if self._waits and self._sent:
            left = max(0.0, self._end - time.monotonic())
            self._request.wait.FromNanoseconds(int(left * 1e9))
        self._sent = True


def _under(lease: Optional[Lease]) -> Mapping[str, Any]:
    if lease is None:
        return {}
    return {"reservation_id": lease.reservation_id, "fencing_token": lease.fencing_token}


def _expectation(wanted: Mapping[str, Any],
                 more: Optional[Mapping[str, Any]]) -> Optional[Mapping[str, Any]]:
    given = {name: value for name, value in wanted.items() if value is not None}
    return {**given, **more} if more else given or None
