"""What the client sends, how long it tries, and what it gives back."""
import inspect
import os
import unittest
from unittest import mock

import grpc
from google.protobuf import descriptor_pool

import interlock
from fake_interlock import Error, FakeInterlock
from interlock import channel, methods, patience
from interlock.v1 import (
    audit_pb2,
    backfills_pb2,
    drops_pb2,
    ingestion_coordinator_pb2,
    reservations_pb2,
    verdict_pb2,
)

CODES = grpc.StatusCode
LEASE = interlock.messages.Reservation(reservation_id="r-1", fencing_token=7)


class Case(unittest.TestCase):
    def setUp(self):
        self.server = FakeInterlock()
        self.server.start()
        self.addCleanup(self.server.stop)
        self.client = interlock.Client(self.server.address, caller="nightly", timeout="20s")
        self.addCleanup(self.client.close)

    def answer(self, method, *answers):
        self.server.answers[method] = list(answers)

    def sent(self, method):
        return self.server.requests(method)[-1]


class Verbs(Case):
    def test_reserve_sends_what_was_asked_and_gives_the_lease(self):
        self.answer("IngestionCoordinator.ReserveInterval",
                    ingestion_coordinator_pb2.ReserveIntervalResponse(
                        reservation={"reservation_id": "r-1", "fencing_token": 7},
                        skipped=[{"kind": "RESERVATION", "holder": "auditor"}]))
        granted = self.client.reserve("page_views", "2026-07-16T13", ttl="10m", purpose="fix")
        self.assertEqual(granted.reservation.fencing_token, 7)
        self.assertEqual((granted.skipped[0].kind, granted.skipped[0].holder),
                         ("RESERVATION", "auditor"))
        request = self.sent("IngestionCoordinator.ReserveInterval")
        self.assertEqual((request.datasource, request.ttl.seconds, request.purpose),
                         ("page_views", 600, "fix"))
        self.assertEqual(request.intervals, ["2026-07-16T13"])
        self.assertEqual(self.server.calls[-1][2]["interlock-caller"], "nightly")

    def test_submit_takes_a_spec_as_a_mapping_and_acts_under_a_lease(self):
        self.answer("IngestionCoordinator.SubmitBackfill",
                    ingestion_coordinator_pb2.SubmitBackfillResponse(
                        backfill={"backfill_id": "b-1"}))
        reply = self.client.submit(spec={"type": "index_parallel"}, intervals="2026-07-16T13",
                                   reservation=LEASE, expect_rows=30, newest_first=True,
                                   request_id="run-1")
        self.assertEqual(reply.backfill.backfill_id, "b-1")
        request = self.sent("IngestionCoordinator.SubmitBackfill")
        self.assertEqual(request.spec, '{"type": "index_parallel"}')
        self.assertEqual((request.reservation_id, request.fencing_token), ("r-1", 7))
        self.assertEqual((request.expect.rows, request.newest_first, request.request_id),
                         (30, True, "run-1"))

    def test_a_verdict_that_is_not_good_is_an_answer(self):
        self.answer("IngestionCoordinator.VerifySingleVersion",
                    ingestion_coordinator_pb2.VerifySingleVersionResponse(
                        verdict="DUPLICATE_ROWS", partitions=[verdict_pb2.PartitionVerdict(
                            partition="a/b", verdicts=[{"kind": "DUPLICATE_ROWS"}])]))
        found = self.client.verify("page_views", "2026-07-16", level="visible", wait="1s")
        self.assertFalse(found.good)
        self.assertEqual(found.verdict, "DUPLICATE_ROWS")
        self.assertEqual(found.partitions[0].verdicts[0].kind, "DUPLICATE_ROWS")
        self.assertEqual(self.sent("IngestionCoordinator.VerifySingleVersion").wait.seconds, 1)

    def test_drop_and_restore(self):
        self.answer("IngestionCoordinator.DropAndKill",
                    ingestion_coordinator_pb2.DropAndKillResponse(drop={"drop_id": "d-1"}))
        self.answer("Drops.RestoreDrop", drops_pb2.RestoreDropResponse(drop={"state": "RESTORED"}))
        drop = self.client.drop("page_views", "2026-07-16T12", reason="retention",
                                window="72h").drop
        self.assertEqual(self.client.restore_drop(drop.drop_id).state, "RESTORED")
        self.assertEqual(self.sent("IngestionCoordinator.DropAndKill").window.seconds, 72 * 3600)
        self.assertEqual(self.sent("Drops.RestoreDrop").drop_id, "d-1")

    def test_every_method_of_the_api_can_be_called_by_its_name(self):
        self.answer("Backfills.PauseBackfill",
                    backfills_pb2.PauseBackfillResponse(backfill={"state": "PAUSED"}))
        paused = self.client.call("Backfills.PauseBackfill", backfill_id="b-1", reason="deploy")
        self.assertEqual(paused.backfill.state, "PAUSED")
        with self.assertRaisesRegex(AttributeError, "no method 'Backfills.Paws'"):
            self.client.call("Backfills.Paws")

    def test_every_service_of_the_api_is_known(self):
        for name in [name for name in vars(methods) if name.endswith("_pb2")]:
            for service in getattr(methods, name).DESCRIPTOR.services_by_name.values():
                for method in service.methods:
                    self.assertTrue(methods.find(f"{service.name}.{method.name}").path)
        folder = os.path.join(os.path.dirname(inspect.getfile(interlock)), "v1")
        for file in (name for name in os.listdir(folder) if name.endswith("_pb2.py")):
            described = descriptor_pool.Default().FindFileByName(
                "interlock/v1/" + file.replace("_pb2.py", ".proto"))
            self.assertTrue(not described.services_by_name or file[:-3] in vars(methods), file)


class Lists(Case):
    def test_pages_are_followed_to_the_last(self):
        self.answer("Reservations.ListReservations",
                    reservations_pb2.ListReservationsResponse(
                        reservations=[{"reservation_id": "r-1"}], next_page_token="more"),
                    reservations_pb2.ListReservationsResponse(
                        reservations=[{"reservation_id": "r-2"}]))
        found = [one.reservation_id for one in self.client.list_reservations("page_views")]
        self.assertEqual(found, ["r-1", "r-2"])
        self.assertEqual([request.page_token for request in
                          self.server.requests("Reservations.ListReservations")], ["", "more"])

    def test_of_the_audit_no_request_id_is_asked_for_that_nobody_gave(self):
        self.answer("Audit.ListAuditEvents", audit_pb2.ListAuditEventsResponse())
        self.client.call("Audit.ListAuditEvents")
        self.client.call("Audit.ListAuditEvents", request_id="run-1")
        self.assertEqual([request.request_id for request in
                          self.server.requests("Audit.ListAuditEvents")], ["", "run-1"])

    def test_a_reply_of_many_megabytes_is_taken(self):
        self.answer("Reservations.GetReservation", reservations_pb2.GetReservationResponse(
            reservation={"purpose": "x" * (60 << 20)}))
        self.assertEqual(len(self.client.get_reservation("r-1").purpose), 60 << 20)


class Repeating(Case):
    def test_a_server_that_restarts_is_asked_again_with_the_same_request_id(self):
        self.answer("IngestionCoordinator.ReserveInterval",
                    Error(CODES.UNAVAILABLE, "STORE_CLOSED"), Error(CODES.CANCELLED),
                    Error(CODES.UNAVAILABLE),
                    ingestion_coordinator_pb2.ReserveIntervalResponse(
                        reservation={"fencing_token": 7}))
        granted = self.client.reserve("page_views", "2026-07-16")
        self.assertEqual(granted.reservation.fencing_token, 7)
        ids = {request.request_id for request in
               self.server.requests("IngestionCoordinator.ReserveInterval")}
        self.assertEqual(len(ids), 1)
        self.assertNotIn("", ids)

    def test_two_calls_without_a_request_id_are_two_requests(self):
        self.answer("IngestionCoordinator.ReserveInterval",
                    ingestion_coordinator_pb2.ReserveIntervalResponse())
        for _ in range(2):
            self.client.reserve("page_views", "2026-07-16")
        self.assertEqual(len({request.request_id for request in
                              self.server.requests("IngestionCoordinator.ReserveInterval")}), 2)

    def test_a_refusal_is_not_repeated_nor_is_a_druid_that_is_down(self):
        for error, wanted in [
                (Error(CODES.FAILED_PRECONDITION, "HELD"), interlock.Held),
                (Error(CODES.UNAVAILABLE, "DRUID_UNAVAILABLE"), interlock.NotReachable)]:
            self.answer("IngestionCoordinator.SubmitBackfill", error)
            before = len(self.server.calls)
            with self.assertRaises(wanted):
                self.client.submit(spec="{}")
            self.assertEqual(len(self.server.calls), before + 1)

    def test_patience_ends(self):
        self.answer("Reservations.GetReservation", Error(CODES.UNAVAILABLE))
        with mock.patch.object(patience, "RETRY_FOR_SECONDS", 0.4):
            with self.assertRaises(interlock.NotReachable):
                self.client.get_reservation("r-1")
        self.assertGreater(len(self.server.calls), 1)


class Watching(Case):
    def event(self, revision, state):
        return backfills_pb2.WatchBackfillResponse(backfill={"state": state}, revision=revision)

    def test_case_88_a_backfill_is_followed_by_one_stream_not_by_polling(self):
        self.answer("Backfills.WatchBackfill", [self.event(1, "PENDING"), self.event(2, "DONE")])
        self.answer("Backfills.GetBackfill",
                    backfills_pb2.GetBackfillResponse(backfill={"state": "DONE"}))
        self.assertEqual(self.client.wait_for_backfill("b-1").state, "DONE")
        self.assertEqual([name for name, _, _ in self.server.calls],
                         ["Backfills.WatchBackfill", "Backfills.GetBackfill"])

    def test_a_watch_goes_on_where_it_broke_off(self):
        self.answer("Backfills.WatchBackfill",
                    [self.event(1, "PENDING"), self.event(2, "RUNNING"), Error(CODES.UNAVAILABLE)],
                    [self.event(3, "DONE")])
        states = [event.backfill.state for event in self.client.watch_backfill("b-1")]
        self.assertEqual(states, ["PENDING", "RUNNING", "DONE"])
        self.assertEqual([request.from_revision for request in
                          self.server.requests("Backfills.WatchBackfill")], [0, 2])

    def test_a_revision_that_is_too_old_begins_anew(self):
        self.answer("Backfills.WatchBackfill", [Error(CODES.OUT_OF_RANGE, "REVISION_TOO_OLD")],
                    [self.event(9, "DONE")])
        events = list(self.client.watch_backfill("b-1", from_revision=4))
        self.assertEqual([event.revision for event in events], [9])
        self.assertEqual([request.from_revision for request in
                          self.server.requests("Backfills.WatchBackfill")], [4, 0])

    @staticmethod
    def lease_event(kind, reservation_id, revision):
        return reservations_pb2.WatchReservationsResponse(
            event=kind, revision=revision,
            reservation={"reservation_id": reservation_id, "revision": revision})

    def test_a_watch_of_leases_goes_on_without_a_gap_and_leaves_signs_of_life_out(self):
        self.answer("Reservations.WatchReservations",
                    [self.lease_event("GRANTED", "r-1", 4),
                     reservations_pb2.WatchReservationsResponse(),
                     Error(CODES.UNAVAILABLE, "SERVER_DRAINING")],
                    [self.lease_event("RELEASED", "r-1", 5), Error(CODES.PERMISSION_DENIED)])
        seen = []
        with self.assertRaises(interlock.NotAllowed):
            for event in self.client.watch_reservations("page_views"):
                seen.append(event.event)
        self.assertEqual(seen, ["GRANTED", "RELEASED"])
        self.assertEqual([request.from_revision for request in
                          self.server.requests("Reservations.WatchReservations")], [0, 4])

    def test_a_watch_of_all_leases_begins_anew_and_tells_nothing_twice(self):
        live = [self.lease_event("GRANTED", "r-1", 4), self.lease_event("GRANTED", "r-2", 2)]
        self.answer("Reservations.WatchReservations", [*live, Error(CODES.UNAVAILABLE)],
                    [*live, self.lease_event("RENEWED", "r-2", 3), Error(CODES.PERMISSION_DENIED)])
        seen = []
        with self.assertRaises(interlock.NotAllowed):
            for event in self.client.watch_reservations():
                seen.append((event.event, event.reservation.reservation_id))
        self.assertEqual(seen, [("GRANTED", "r-1"), ("GRANTED", "r-2"), ("RENEWED", "r-2")])
        self.assertEqual([request.from_revision for request in
                          self.server.requests("Reservations.WatchReservations")], [0, 0])

    def test_a_watch_of_leases_lasts_as_long_as_it_is_asked_to(self):
        self.answer("Reservations.WatchReservations", [Error(CODES.DEADLINE_EXCEEDED)])
        self.assertEqual(list(self.client.watch_reservations("page_views", timeout="1h")), [])

    def test_case_113_a_repeated_wait_is_what_is_left_of_it(self):
        self.answer("IngestionCoordinator.ReserveInterval", Error(CODES.UNAVAILABLE),
                    ingestion_coordinator_pb2.ReserveIntervalResponse(
                        reservation={"reservation_id": "r-1"}))
        self.client.reserve("page_views", "2026-07-16", wait="10m")
        first, second = self.server.requests("IngestionCoordinator.ReserveInterval")
        self.assertEqual(first.request_id, second.request_id)
        self.assertEqual(first.wait.ToNanoseconds(), 600 * 10**9)
        self.assertLess(second.wait.ToNanoseconds(), first.wait.ToNanoseconds())
        self.assertGreater(second.wait.ToNanoseconds(), 500 * 10**9)

    def test_a_lease_is_taken_from_its_holder_with_a_reason(self):
        self.answer("Reservations.ForceReleaseReservation",
                    reservations_pb2.ForceReleaseReservationResponse(
                        reservation={"reservation_id": "r-1", "state": "FORCED"}))
        self.assertEqual(self.client.force_release("r-1", reason="its job is gone").state, "FORCED")
        self.assertEqual(self.sent("Reservations.ForceReleaseReservation").reason,
                         "its job is gone")

    def test_waiting_ends_at_its_own_timeout_and_says_so(self):
        self.answer("Backfills.WatchBackfill", [Error(CODES.DEADLINE_EXCEEDED)])
        with self.assertRaisesRegex(TimeoutError, "b-1 is not over after 1h"):
            self.client.wait_for_backfill("b-1", timeout="1h")

    def test_an_unknown_backfill_is_not_waited_for(self):
        self.answer("Backfills.WatchBackfill", [Error(CODES.NOT_FOUND, "UNKNOWN_BACKFILL")])
        with self.assertRaises(interlock.NotFound):
            self.client.wait_for_backfill("b-9")


class Connecting(unittest.TestCase):
    def test_the_environment_says_where_and_an_argument_wins(self):
        with mock.patch.dict(os.environ, {"INTERLOCK_ADDRESS": "127.0.0.1:9"}):
            self.assertEqual(interlock.Client().address, "127.0.0.1:9")
            self.assertEqual(interlock.Client("127.0.0.1:8").address, "127.0.0.1:8")

    def test_a_token_never_travels_in_the_clear(self):
        with self.assertRaisesRegex(ValueError, "in the clear"):
            interlock.Client("interlock.example:7430", token="secret")
        with FakeInterlock() as server, interlock.Client(server.address, token="secret") as client:
            server.answers["Server.GetStatus"] = Error(CODES.UNIMPLEMENTED)
            with self.assertRaises(interlock.NotBuilt):
                client.status()
            self.assertEqual(server.calls[-1][2]["authorization"], "Bearer secret")

    def test_a_name_that_begins_with_127_is_no_loopback(self):
        for address in ["127.example.com:7430", "localhost.example.com:7430", "10.0.0.1:7430"]:
            with self.subTest(address), self.assertRaisesRegex(ValueError, "in the clear"):
                interlock.Client(address, token="secret")

    def test_an_address_that_grpc_would_mistake_is_refused(self):
        for address in ["interlock.example", "http://interlock.example:7430", ":7430",
                        "interlock.example:99999", "interlock.example:grpc"]:
            with self.subTest(address), self.assertRaisesRegex(ValueError, "HOST:PORT"):
                interlock.Client(address)
        for address in ["dns:///interlock.example:7430", "ipv4:10.0.0.1:7430", "[::2]:1"]:
            with self.subTest(address):
                interlock.Client(address).close()

    def test_a_certificate_goes_with_its_key(self):
        with self.assertRaisesRegex(ValueError, "go together"):
            interlock.Client("interlock.example:7430", cert="client.pem")

    def test_a_dead_server_is_tried_again_within_seconds(self):
        options = dict(channel.OPTIONS)
        self.assertLessEqual(options["grpc.max_reconnect_backoff_ms"], 2_000)


if __name__ == "__main__":
    unittest.main()
