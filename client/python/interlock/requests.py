"""From plain Python to what travels: fills a request by the names of its fields."""
from __future__ import annotations

import datetime
from typing import Any, Mapping, Sequence, Tuple, Union

from interlock.durations import to_timedelta
from interlock.replies import is_map, is_repeated

IntervalLike = Union[str, Tuple[datetime.datetime, datetime.datetime]]
IntervalsLike = Union[IntervalLike, Sequence[IntervalLike]]


def fill(message: Any, fields: Mapping[str, Any]) -> Any:
    """`message` with `fields` set; None leaves a field as it is.

    An interval is text in any form that Druid takes, or a pair of aware datetimes. A list
    may be given as its one element. Lengths are `10m` or timedeltas, instants aware
    datetimes, enums their names in either case, messages mappings.

    Raises TypeError for a field that there is not, ValueError for a value that will not do.
    """
    known = message.DESCRIPTOR.fields_by_name
    for name, value in fields.items():
        if name not in known:
            raise TypeError(f"{message.DESCRIPTOR.name} has no field '{name}'; "
                            f"it has: {', '.join(known)}")
        if value is not None:
            _set_named(message, known[name], value)
    return message


def _set_named(message: Any, field: Any, value: Any) -> None:
    """Sets it; what protobuf says of a value that will not do does not name the field."""
    try:
        _set(message, field, value)
    except UnicodeError as error:
        raise ValueError(f"{field.name} is not UTF-8; write it in UTF-8: {error}") from error
    except TypeError as error:
        if field.name in str(error):
            raise
        raise TypeError(f"{field.name} can't be {value!r}: {error}") from error


def _set(message: Any, field: Any, value: Any) -> None:
    if is_map(field):
        getattr(message, field.name).update(value)
    elif is_repeated(field):
        many = value if isinstance(value, (list, tuple)) and not _is_pair(value) else [value]
        for one in many:
            _append(getattr(message, field.name), field, one)
    elif field.message_type is not None:
        _merge(getattr(message, field.name), field, value)
    else:
        setattr(message, field.name, _scalar(field, value))


def _append(many: Any, field: Any, one: Any) -> None:
    if field.message_type is not None:
        _merge(many.add(), field, one)
    else:
        many.append(_scalar(field, one))


def _merge(target: Any, field: Any, value: Any) -> None:
    kind = field.message_type.full_name
    if kind == "google.protobuf.Duration":
        target.FromTimedelta(to_timedelta(value))
    elif kind == "google.protobuf.Timestamp":
        target.FromDatetime(_aware(value))
    elif isinstance(value, Mapping):
        target.SetInParent()
        fill(target, value)
    elif kind == "interlock.v1.Granularity" and isinstance(value, str):
        target.period = value
    elif kind == "interlock.v1.SqlQuery" and isinstance(value, str):
        target.query = value
    elif isinstance(value, type(target)):
        target.CopyFrom(value)
    else:
        raise ValueError(f"{field.name} wants a mapping, not {value!r}")


def _scalar(field: Any, value: Any) -> Any:
    if field.enum_type is not None and isinstance(value, str):
        known = field.enum_type.values_by_name
        if value.upper() not in known:
            raise ValueError(f"{field.name} is one of {', '.join(known)}, not '{value}'")
        return known[value.upper()].number
    if _is_pair(value):
        return "/".join(_aware(instant).isoformat() for instant in value)
    return value


def _is_pair(value: Any) -> bool:
    return (isinstance(value, tuple) and len(value) == 2
            and all(isinstance(part, datetime.datetime) for part in value))


def _aware(instant: datetime.datetime) -> datetime.datetime:
    if not isinstance(instant, datetime.datetime) or instant.tzinfo is None:
        raise ValueError(f"{instant!r} is no instant: pass a datetime with a time zone")
    return instant
