"""CheckAppend: may a stream write these instants? Asked for each micro-batch, so what counts
is how many answers a second a server gives, and how late the slowest come."""
import statistics

import servers
from rows import at_most, beside, benchmark
from servers import Interlock

CLIENTS = 64
P99_MS = 15
BATCH = 1_000  # instants in a call
LEASES = 10_000
LEASES_AIM = 0.7


def ask(server, datasource, **more):
    return servers.load(server, CLIENTS, what="interlock-append", datasource=datasource, **more)


def median(runs, what="rate"):
    return statistics.median(run[what] for run in runs)


@benchmark("append_64_vs_reserve", "append_64_p99", "append_64_by_1000", "append_64_with_10k_leases")
def append(wanted):
    """One instant and a thousand a call, over an empty table and beside live leases."""
    with servers.serving(Interlock) as (server,):
        servers.load(server, CLIENTS, datasource="leased", calls=LEASES)
        single, many, leased, grants = [], [], [], []
        for number in range(servers.ROUNDS):
            single.append(ask(server, "free"))
            if "append_64_by_1000" in wanted:
                many.append(ask(server, "free", intervals=BATCH))
            if "append_64_with_10k_leases" in wanted:
                leased.append(ask(server, "leased", first=2 * LEASES))
            if "append_64_vs_reserve" in wanted:
                grants.append(servers.load(server, CLIENTS, datasource=f"granted_{number}"))
    if "append_64_vs_reserve" in wanted:
        yield beside("append_64_vs_reserve", median(single), "checks/s", "ReserveInterval", median(grants), 1.0)
    if "append_64_p99" in wanted:
        yield at_most("append_64_p99", median(single, "p99_ms"), "ms", P99_MS)
    if many:
        yield beside("append_64_by_1000", median(many) * BATCH, "instants/s", "one instant a call", median(single), None)
    if leased:
        yield beside("append_64_with_10k_leases", median(leased), "checks/s", "an empty table", median(single),
                     LEASES_AIM)


BENCHMARKS = [append]
