"""How soon interlockd serves, and what it takes while it is asked nothing."""
import statistics
import time

import servers
from rows import at_most, benchmark

RUNS = 7


@benchmark("start_empty_store")
def start_empty_store(_):
    """From exec to a /readyz that says ready, over a store that is made on the way."""
    def once():
        with servers.serving(servers.Interlock) as (server,):
            return server.seconds * 1000
    once()
    yield at_most("start_empty_store", statistics.median(once() for _ in range(RUNS)), "ms", 100)


@benchmark("start_idle_resident", "start_idle_cpu")
def start_idle(wanted):
    """Resident memory, and share of one core, of a server that serves and is asked nothing."""
    with servers.serving(servers.Interlock) as (server,):
        time.sleep(2)
        before = server.cpu_seconds()
        time.sleep(10)
        share = (server.cpu_seconds() - before) / 10 * 100
        resident = server.resident_mb()
    if "start_idle_resident" in wanted:
        yield at_most("start_idle_resident", resident, "MB", 40)
    if "start_idle_cpu" in wanted:
        yield at_most("start_idle_cpu", share, "% of a core", 0.5)


BENCHMARKS = [start_empty_store, start_idle]
