"""What a server refuses becomes an exception that says what to do next."""
import datetime
import unittest

import grpc

import interlock
from fake_interlock import Error, FakeInterlock
from interlock.v1 import reservations_pb2

CODES = grpc.StatusCode


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = FakeInterlock()
        cls.server.start()
        cls.client = interlock.Client(cls.server.address, timeout="10s")

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.stop()

    def raised(self, error):
        self.server.answers["Reservations.GetReservation"] = error
        with self.assertRaises(interlock.InterlockError) as caught:
            self.client.get_reservation("r-1")
        return caught.exception

    def test_code_and_reason_choose_the_class(self):
        for code, reason, wanted in [
                (CODES.FAILED_PRECONDITION, "HELD", interlock.Held),
                (CODES.FAILED_PRECONDITION, "BEHIND_WAITER", interlock.Held),
                (CODES.FAILED_PRECONDITION, "SEALED", interlock.Refused),
                (CODES.FAILED_PRECONDITION, "EXPIRED", interlock.Lost),
                (CODES.FAILED_PRECONDITION, "STALE_TOKEN", interlock.Lost),
                (CODES.FAILED_PRECONDITION, "SUPERSEDED", interlock.Lost),
                (CODES.FAILED_PRECONDITION, "FORCED", interlock.Lost),
                (CODES.ABORTED, "PLAN_STALE", interlock.Refused),
                (CODES.INVALID_ARGUMENT, "SPEC_INVALID", interlock.InvalidArgument),
                (CODES.OUT_OF_RANGE, "TOO_MANY_PARTITIONS", interlock.InvalidArgument),
                (CODES.NOT_FOUND, "UNKNOWN_RESERVATION", interlock.NotFound),
                (CODES.PERMISSION_DENIED, "NOT_THE_HOLDER", interlock.NotAllowed),
                (CODES.UNAUTHENTICATED, "", interlock.NotAllowed),
                (CODES.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED", interlock.Exhausted),
                (CODES.UNIMPLEMENTED, "NOT_YET_BUILT", interlock.NotBuilt),
                (CODES.UNAVAILABLE, "DRUID_UNAVAILABLE", interlock.NotReachable),
                (CODES.DEADLINE_EXCEEDED, "", interlock.Undetermined),
                (CODES.DATA_LOSS, "STORE_CORRUPT", interlock.InterlockError)]:
            with self.subTest(code=code, reason=reason):
                error = self.raised(Error(code, reason))
                self.assertIs(type(error), wanted)
                self.assertEqual(error.reason, reason)
                self.assertEqual(error.code, code.name)

    def test_a_request_that_is_too_large_is_an_invalid_argument(self):
        error = self.raised(Error(CODES.RESOURCE_EXHAUSTED, message=
                                  "Received message larger than max (17000655 vs. 16777216)"))
        self.assertIs(type(error), interlock.InvalidArgument)
        self.assertEqual(error.reason, "LIMIT_EXCEEDED")
        self.assertIn("limits.max_request_bytes", error.message)
        error = self.raised(Error(CODES.RESOURCE_EXHAUSTED, message=
                                  f"Received message larger than max (70000000 vs. {64 << 20})"))
        self.assertIs(type(error), interlock.Exhausted)

    def test_blockers_metadata_and_the_time_to_come_back_are_read(self):
        error = self.raised(Error(
            CODES.FAILED_PRECONDITION, "HELD", "held by auditor", {"holder": "auditor"},
            blockers=[("HELD", "page_views/2026-07-16", "auditor, until noon"),
                      ("SEALED", "page_views/2026-07-15", "report 7")], retry_seconds=90))
        self.assertEqual(error.metadata, {"holder": "auditor"})
        self.assertEqual([one.type for one in error.blockers], ["HELD", "SEALED"])
        self.assertEqual(error.retry_after, datetime.timedelta(seconds=90))
        self.assertIn("auditor, until noon", str(error))

    def test_every_fault_of_a_spec_is_named_with_its_pointer(self):
        error = self.raised(Error(
            CODES.INVALID_ARGUMENT, "SPEC_INVALID", "2 faults",
            faults=[("/spec/ioConfig/appendToExisting", "is true"), ("", "no intervals")]))
        self.assertEqual([fault.pointer for fault in error.faults],
                         ["/spec/ioConfig/appendToExisting", ""])
        self.assertIn("  /spec/ioConfig/appendToExisting: is true\n  /: no intervals", str(error))

    def test_details_that_make_no_sense_leave_code_and_text(self):
        garbled = Error(CODES.FAILED_PRECONDITION, "HELD", "held")
        garbled.send = lambda context: (
            context.set_trailing_metadata((("grpc-status-details-bin", b"\xff\xff\xff"),)),
            context.abort(garbled.code, "held"))
        error = self.raised(garbled)
        self.assertIs(type(error), interlock.Refused)
        self.assertEqual((error.reason, error.message), ("", "held"))

    def test_case_123_lost_and_not_reachable_are_told_apart(self):
        lost = self.raised(Error(CODES.FAILED_PRECONDITION, "EXPIRED", "over since noon"))
        self.assertIsInstance(lost, interlock.Lost)
        self.assertNotIsInstance(lost, interlock.Undetermined)
        with interlock.Client("127.0.0.1:1", timeout="300ms") as nowhere:
            with self.assertRaises(interlock.NotReachable) as caught:
                nowhere.get_reservation("r-1")
        self.assertNotIsInstance(caught.exception, interlock.Lost)
        self.assertIsInstance(caught.exception, interlock.Undetermined)

    def test_a_good_answer_raises_nothing(self):
        self.server.answers["Reservations.GetReservation"] = (
            reservations_pb2.GetReservationResponse(reservation={"reservation_id": "r-1"}))
        self.assertEqual(self.client.get_reservation("r-1").reservation_id, "r-1")


if __name__ == "__main__":
    unittest.main()
