"""Plain Python goes in and comes out; what travels stays behind."""
import datetime
import unittest

from interlock import messages
from interlock.durations import to_timedelta
from interlock.replies import to_python
from interlock.requests import fill
from interlock.v1 import backfill_pb2, ingestion_coordinator_pb2, reservation_pb2, server_pb2

UTC = datetime.timezone.utc
HOUR_13 = (datetime.datetime(2026, 7, 16, 13, tzinfo=UTC),
           datetime.datetime(2026, 7, 16, 14, tzinfo=UTC))


def reserve(**fields):
    return fill(ingestion_coordinator_pb2.ReserveIntervalRequest(), fields)


class Durations(unittest.TestCase):
    def test_are_read_as_people_write_them(self):
        for text, seconds in [("10m", 600), ("72h", 259_200), ("14d", 1_209_600), ("1h30m", 5_400),
                              ("1.5h", 5_400), ("250ms", 0.25), ("1m500ms", 60.5), ("0", 0),
                              ("2w", 1_209_600), ("PT10M", 600), ("P2D", 172_800)]:
            with self.subTest(text):
                self.assertEqual(to_timedelta(text).total_seconds(), seconds)

    def test_without_a_unit_or_of_no_fixed_length_are_refused(self):
        for text in ["10", "", "P", "PT", "m", "1s1h", "P1M", "P1Y", "-1h", "10 minutes", 600]:
            with self.subTest(text), self.assertRaises(ValueError):
                to_timedelta(text)


class Requests(unittest.TestCase):
    def test_one_interval_or_many_as_text_or_instants(self):
        self.assertEqual(reserve(intervals="2026-07-16T13").intervals, ["2026-07-16T13"])
        self.assertEqual(reserve(intervals=["a/b", "c/d"]).intervals, ["a/b", "c/d"])
        self.assertEqual(reserve(intervals=("a/b", "c/d")).intervals, ["a/b", "c/d"])
        self.assertEqual(reserve(intervals=HOUR_13).intervals,
                         ["2026-07-16T13:00:00+00:00/2026-07-16T14:00:00+00:00"])
        self.assertEqual(len(reserve(intervals=[HOUR_13, "2026-07-17"]).intervals), 2)

    def test_an_instant_without_a_time_zone_is_refused_and_not_guessed(self):
        naive = tuple(instant.replace(tzinfo=None) for instant in HOUR_13)
        with self.assertRaisesRegex(ValueError, "time zone"):
            reserve(intervals=naive)

    def test_lengths_enums_maps_and_messages_are_plain(self):
        request = reserve(ttl="10m", wait=datetime.timedelta(seconds=5), mode="append",
                          labels={"team": "web"}, segment_granularity="HOUR", skip_held=True,
                          purpose=None)
        self.assertEqual(request.ttl.seconds, 600)
        self.assertEqual(request.wait.seconds, 5)
        self.assertEqual(request.mode, reservation_pb2.Reservation.APPEND)
        self.assertEqual(dict(request.labels), {"team": "web"})
        self.assertEqual(request.segment_granularity.period, "HOUR")
        self.assertTrue(request.skip_held)
        day = reserve(segment_granularity={"period": "P1D", "time_zone": "Europe/Berlin"})
        self.assertEqual(day.segment_granularity.time_zone, "Europe/Berlin")

    def test_an_expectation_of_zero_rows_is_not_none(self):
        request = fill(ingestion_coordinator_pb2.SubmitBackfillRequest(), {"expect": {"rows": 0}})
        self.assertTrue(request.expect.HasField("rows"))
        self.assertFalse(request.expect.HasField("min_rows"))

    def test_what_there_is_not_is_refused(self):
        for name, value in [("datasource", "wiki\udcff"), ("intervals", "\udc00"),
                            ("labels", {"team": "\udc00"})]:
            with self.subTest(name), self.assertRaisesRegex(ValueError, f"{name} is not UTF-8"):
                reserve(**{name: value})
        for name, value in [("datasource", 5), ("skip_held", "no"), ("labels", {"team": 5})]:
            with self.subTest(name), self.assertRaisesRegex(TypeError, f"{name} can't be "):
                reserve(**{name: value})
        with self.assertRaisesRegex(TypeError, "no field 'intervall'; it has: .*intervals"):
            reserve(intervall="2026-07-16")
        with self.assertRaisesRegex(ValueError, "one of .*REPLACE.*, not 'overwrite'"):
            reserve(mode="overwrite")


class Replies(unittest.TestCase):
    def test_a_message_becomes_the_dataclass_of_its_name(self):
        message = reservation_pb2.Reservation(
            reservation_id="r-1", intervals=["a/b"], mode="REPLACE", state="ACTIVE",
            fencing_token=7, labels={"k": "v"}, remaining={"seconds": 599, "nanos": 500_000_000})
        message.expire_time.FromDatetime(HOUR_13[0])
        lease = to_python(message)
        self.assertIsInstance(lease, messages.Reservation)
        self.assertEqual((lease.intervals, lease.mode, lease.state),
                         (("a/b",), "REPLACE", "ACTIVE"))
        self.assertEqual(lease.remaining, datetime.timedelta(seconds=599.5))
        self.assertEqual(lease.expire_time, HOUR_13[0])
        self.assertIsNone(lease.end_time)
        self.assertEqual(dict(lease.labels), {"k": "v"})

    def test_nested_messages_lists_and_maps_follow(self):
        backfill = to_python(backfill_pb2.Backfill(
            state="DONE", granularity={"period": "HOUR"}, counts=[{"state": "DONE", "count": 3}]))
        self.assertEqual(backfill.granularity.period, "HOUR")
        self.assertEqual((backfill.counts[0].state, backfill.counts[0].count), ("DONE", 3))
        status = to_python(server_pb2.GetStatusResponse(counts={"reservations.ACTIVE": 2}))
        self.assertEqual(status.counts, {"reservations.ACTIVE": 2})

    def test_a_value_that_is_not_known_yet_is_neither_lost_nor_mistaken(self):
        message = backfill_pb2.Backfill.FromString(b"\x20\x63")  # field 4, state, 99
        self.assertEqual(to_python(message).state, "99")


if __name__ == "__main__":
    unittest.main()
