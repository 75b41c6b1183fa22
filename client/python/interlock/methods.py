"""The methods of the API by name, with the classes of what they take and give."""
from __future__ import annotations

import dataclasses
import functools
from typing import Any

from google.protobuf import descriptor_pool, message_factory

# Importing them makes their services known to the descriptor pool.
from interlock.v1 import (  # noqa: F401
    audit_pb2,
    backfills_pb2,
    drops_pb2,
    findings_pb2,
    ingestion_coordinator_pb2,
    jobs_pb2,
    reservations_pb2,
    seals_pb2,
    server_pb2,
    streams_pb2,
)

PACKAGE = "interlock.v1"


@dataclasses.dataclass(frozen=True)
class Method:
    """One method, as a channel needs it."""

    path: str
    request: Any
    reply: Any
    streams: bool
    """True if it answers with a stream."""


@functools.lru_cache(maxsize=None)
def find(name: str) -> Method:
    """`Backfills.PauseBackfill`. Raises AttributeError for one that there is not."""
    service_name, _, method_name = name.partition(".")
    try:
        service = descriptor_pool.Default().FindServiceByName(f"{PACKAGE}.{service_name}")
        method = service.methods_by_name[method_name]
    except KeyError:
        raise AttributeError(f"the API has no method '{name}'; they are named like "
                             "'Backfills.PauseBackfill'") from None
    return Method(f"/{PACKAGE}.{service_name}/{method_name}",
                  message_factory.GetMessageClass(method.input_type),
                  message_factory.GetMessageClass(method.output_type),
                  bool(method.server_streaming))
