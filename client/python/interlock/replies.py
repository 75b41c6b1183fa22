"""From what travels to plain Python: messages become the dataclasses of `messages`."""
from __future__ import annotations

import datetime
import functools
from typing import Any, Callable, List, Tuple

from interlock import messages

Convert = Callable[[Any], Any]


def to_python(message: Any) -> Any:
    """A message of `interlock.v1` as the dataclass of the same name.

    A field that the server sent and this client does not know is left out, as protobuf
    does; a value of an enum that it does not know becomes its number as text.
    """
    cls, fields = _plan(message.DESCRIPTOR)
    return cls(**{name: convert(message) for name, convert in fields})


def is_repeated(field: Any) -> bool:
    """True for lists and maps; newer protobufs have a property for it."""
    found = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if found is None else found)


def is_map(field: Any) -> bool:
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)


@functools.lru_cache(maxsize=None)
def _plan(descriptor: Any) -> Tuple[type, List[Tuple[str, Convert]]]:
    """How to make one kind of message: worked out once, used for each of 10,000 partitions."""
    name = descriptor.full_name[len(descriptor.file.package) + 1:].replace(".", "_")
    return getattr(messages, name), [(field.name, _reader(field)) for field in descriptor.fields]


def _reader(field: Any) -> Convert:
    name = field.name
    one = _single(field)
    if is_map(field):
        return lambda message: dict(getattr(message, name))
    if is_repeated(field):
        return lambda message: tuple(one(value) for value in getattr(message, name))
    if field.has_presence:
        return lambda message: one(getattr(message, name)) if message.HasField(name) else None
    return lambda message: one(getattr(message, name))


def _single(field: Any) -> Convert:
    if field.enum_type is not None:
        names = {value.number: value.name for value in field.enum_type.values}
        return lambda number: names.get(number, str(number))
    if field.message_type is None:
        return lambda value: value
    if field.message_type.full_name == "google.protobuf.Timestamp":
        return lambda stamp: stamp.ToDatetime(datetime.timezone.utc)
    if field.message_type.full_name == "google.protobuf.Duration":
        return lambda length: length.ToTimedelta()
    return to_python
