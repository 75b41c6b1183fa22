"""Lengths of time as people write them: `10m`, `1h30m`, `72h`, `14d`, or a timedelta."""
from __future__ import annotations

import datetime
import re
from typing import Union

DurationLike = Union[str, datetime.timedelta]

_UNITS = {"w": 604_800.0, "d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_NUMBER = r"(\d+(?:\.\d+)?)"
_WORDS = re.compile("".join(rf"(?:{_NUMBER}{unit})?" for unit in _UNITS))
_ISO = re.compile(rf"P(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
                  rf"(?:T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?")


def to_timedelta(length: DurationLike) -> datetime.timedelta:
    """`length` as a timedelta.

    Units are w, d (24 hours), h, m, s, ms, from large to small, each once; an ISO-8601
    period of fixed length (`PT10M`, `P2D`) will do too, and a lone `0`.

    Raises ValueError: also for a bare number, whose unit nobody knows, and for months and
    years, which have no fixed length.
    """
    if isinstance(length, datetime.timedelta):
        return length
    if not isinstance(length, str):
        raise ValueError(f"{length!r} is no length of time: write '10m', or pass a timedelta")
    text = length.strip()
    if text == "0":
        return datetime.timedelta()
    found = _WORDS.fullmatch(text) or _ISO.fullmatch(text)
    if not found or not any(found.groups()):
        raise ValueError(f"'{length}' is no length of time: write '10m', '1h30m', '72h' or 'PT10M'")
    seconds = sum(float(number) * unit
                  for number, unit in zip(found.groups(), _UNITS.values()) if number)
    return datetime.timedelta(seconds=seconds)
