"""The connection to the server: encryption, who calls, and settings that leases rely on."""
from __future__ import annotations

import os
import pathlib
from typing import Any, List, Optional, Tuple, Union

import grpc

DEFAULT_ADDRESS = "127.0.0.1:7430"

PathLike = Union[str, "os.PathLike[str]"]

# A verification of 10,000 partitions is several megabytes.
MAX_MESSAGE_BYTES = 64 << 20

OPTIONS: List[Tuple[str, Any]] = [
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # gRPC waits up to two minutes before it tries a dead server again; a lease of a minute
    # would be lost to a restart of two seconds.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 3_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # A peer that vanished without a word is noticed within half a minute, in a watch too.
    # The server bears a ping every 10 s.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
]


def is_loopback(address: str) -> bool:
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0]
    # A name may begin with 127 too: only digits and dots are an address.
    numeric = not host.strip("0123456789.")
    return (numeric and host.startswith("127.")) or host in ("localhost", "[::1]")


def check_address(address: str) -> None:
    """Refuses what gRPC would mistake: a name without a port for port 443, a URL for a name."""
    url = address.startswith(("http://", "https://"))
    if not url and (address.startswith("unix") or "/" in address):
        return  # gRPC's own: dns:///, unix:
    host, _, port = address.rpartition(":")
    if url or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"the address is {address!r}; HOST:PORT would do, like "
                         "interlock.example:7430, without http://")


def connect(address: str, *, ca: Optional[PathLike], cert: Optional[PathLike],
            key: Optional[PathLike], token: Optional[str]) -> grpc.Channel:
    """A channel to `address`: TLS where `ca` or `cert` is given, else in the clear.

    Raises ValueError where what is given will not do or does not go together, OSError where a file can't
    be read. Does not connect yet: the first call does.
    """
    check_address(address)
    if bool(cert) != bool(key):
        raise ValueError("cert and key go together")
    if not ca and not cert:
        if token and not is_loopback(address):
            raise ValueError("a token would travel in the clear: give ca too")
        return grpc.insecure_channel(address, options=OPTIONS)
    credentials = grpc.ssl_channel_credentials(_read(ca), _read(key), _read(cert))
    return grpc.secure_channel(address, credentials, options=OPTIONS)


def _read(path: Optional[PathLike]) -> Optional[bytes]:
    return pathlib.Path(path).read_bytes() if path else None
