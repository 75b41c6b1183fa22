"""Client of Interlock, the one authority through which everything that writes to Apache
Druid asks for time.

    with interlock.Client() as client:
        with interlock.Reservation(client, "page_views", "2026-07-16T13") as lease:
            ...                       # renewed meanwhile; raises here when it is lost
"""
from interlock import messages
from interlock.client import Client
from interlock.errors import (
    Blocker,
    Exhausted,
    Fault,
    Held,
    InterlockError,
    InvalidArgument,
    Lost,
    NotAllowed,
    NotBuilt,
    NotFound,
    NotReachable,
    Refused,
    ReservationLost,
    Undetermined,
)
from interlock.reservation import Reservation

__all__ = [
    "Blocker",
    "Client",
    "Exhausted",
    "Fault",
    "Held",
    "InterlockError",
    "InvalidArgument",
    "Lost",
    "NotAllowed",
    "NotBuilt",
    "NotFound",
    "NotReachable",
    "Refused",
    "Reservation",
    "ReservationLost",
    "Undetermined",
    "messages",
]
