#!/usr/bin/env python3
"""The judge of histories finds what it is there for."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from history import Grant, History, Refusal  # noqa: E402


def grant(token, begin, end, first=10, last=12, deadline=1000, created=None, released=None):
    made = Grant(f"r1-{token}", token, first, last, begin, end, end if created is None else created,
                 deadline)
    if released is not None:
        made.release_begin, made.release_end = released
    return made


def faults(*entries):
    history = History()
    for entry in entries:
        (history.refused if isinstance(entry, Refusal) else history.granted)(entry)
    return [fault.split(":")[0] for fault in history.faults()]


class HistoryJudge(unittest.TestCase):

    def test_what_follows_or_lies_apart_is_in_order(self):
        self.assertEqual(faults(grant(1, 0, 1, released=(2, 3)), grant(2, 1, 4),
                                grant(3, 5, 6, 12, 14)), [])

    def test_two_holders_of_one_time_are_found(self):
        self.assertEqual(faults(grant(1, 0, 1), grant(2, 2, 3, 11, 13)), ["both held one time"])

    def test_a_release_that_may_have_come_first_explains_it(self):
        self.assertEqual(faults(grant(1, 0, 1, released=(2.5, 4)), grant(2, 2, 3)), [])
        self.assertEqual(faults(grant(1, 0, 1, released=(3.5, 4)), grant(2, 2, 3)),
                         ["both held one time"])

    def test_so_does_a_deadline_that_has_passed(self):
        self.assertEqual(faults(grant(1, 0, 1, deadline=2), grant(2, 2, 3)), [])

    def test_tokens_that_repeat_or_run_backwards_are_found(self):
        self.assertEqual(faults(grant(1, 0, 1), grant(1, 2, 3, 20, 21)), ["one token twice"])
        self.assertEqual(faults(grant(2, 0, 1), grant(1, 2, 3, 20, 21)),
                         ["a later token was asked for after this was answered"])

    def test_a_refusal_for_what_was_given_back_is_found(self):
        over = grant(1, 0, 1, released=(2, 3))
        self.assertEqual(faults(over, Refusal(4, 5, ("r1-1",))),
                         ["refused for what had been released before"])
        self.assertEqual(faults(over, Refusal(2.5, 5, ("r1-1",))), [])


if __name__ == "__main__":
    unittest.main()
