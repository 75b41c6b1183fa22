"""Durable reservations: each grant is on disk before it is acknowledged, for all of them."""
import statistics

import servers
from rows import at_most, beside, benchmark
from servers import Etcd, Interlock, Postgres, Redis

# What the peers do, as the table says it.
PEERS = {Etcd: "etcd, lease grant, then create", Postgres: "PostgreSQL, exclusion constraint",
         Redis: "Redis, overlap check in Lua"}
# Of the ratio, by peer and number of clients.
AIMS = {Etcd: {16: 4.0, 64: 5.0, 256: 6.0}, Postgres: {16: 1.4, 64: 3.5},
        Redis: {1: 0.7, 16: 0.7, 64: 0.7, 256: 0.7}}
CLIENTS = (1, 16, 64, 256)
P99_MS = 15
MANY = 16  # intervals in one call
MANY_AIM = 2.0
LIVE = 1_000_000
LIVE_AIM = 0.7


def row_name(clients, peer):
    return f"reserve_{clients}_vs_{peer.name}"


def rates(kinds, loads):
    """The median of each load over interleaved rounds, each round on new and empty servers.

    loads: {key: (kind, arguments of servers.load)}. Gives {key: [what was measured]}.
    """
    measured = {key: [] for key in loads}
    for round_number in range(servers.ROUNDS):
        with servers.serving(*kinds) as made:
            running = dict(zip(kinds, made))
            for number, (key, (kind, arguments)) in enumerate(loads.items()):
                measured[key].append(servers.load(
                    running[kind], datasource=f"bench_{round_number}_{number}", **arguments))
    return measured


def median(runs, what="rate"):
    return statistics.median(run[what] for run in runs)


@benchmark(*[row_name(clients, peer) for clients in CLIENTS for peer in PEERS], "reserve_64_p99")
def single(wanted):
    """One interval a call, beside each peer, at each number of clients."""
    chosen = [(clients, peer) for clients in CLIENTS for peer in PEERS if row_name(clients, peer) in wanted]
    counts = [c for c in CLIENTS if any(c == clients for clients, _ in chosen) or
              (c == 64 and "reserve_64_p99" in wanted)]
    loads = {}
    for clients in counts:
        loads[clients, Interlock] = (Interlock, {"clients": clients})
        for peer in (peer for count, peer in chosen if count == clients):
            loads[clients, peer] = (peer, {"clients": clients})
    kinds = list(dict.fromkeys(kind for kind, _ in loads.values()))
    measured = rates(kinds, loads)
    for clients, peer in chosen:
        yield beside(row_name(clients, peer), median(measured[clients, Interlock]), "reservations/s", PEERS[peer],
                     median(measured[clients, peer]), AIMS[peer].get(clients))
    if "reserve_64_p99" in wanted:
        yield at_most("reserve_64_p99", median(measured[64, Interlock], "p99_ms"), "ms", P99_MS)


@benchmark("reserve_64_by_16_vs_redis", "reserve_64_by_16_vs_redis_singly")
def many_intervals(wanted):
    """Sixteen intervals a call, all or none, in intervals: Redis in one script, and one by one."""
    by_many = {"clients": 64, "intervals": MANY}
    measured = rates([Interlock, Redis], {"ours": (Interlock, by_many), "redis": (Redis, by_many),
                                          "singly": (Redis, {"clients": 64})})
    ours = median(measured["ours"]) * MANY
    if "reserve_64_by_16_vs_redis" in wanted:
        yield beside("reserve_64_by_16_vs_redis", ours, "intervals/s", "Redis, 16 in one script",
                     median(measured["redis"]) * MANY, None)
    if "reserve_64_by_16_vs_redis_singly" in wanted:
        yield beside("reserve_64_by_16_vs_redis_singly", ours, "intervals/s", PEERS[Redis],
                     median(measured["singly"]), MANY_AIM)


@benchmark("reserve_with_1m_live", "reserve_list_with_1m_live", "reserve_start_with_1m_live")
def million(wanted):
    """One datasource with 1,000,000 live reservations, beside an empty table."""
    del wanted  # filling it is what takes the time
    with servers.serving(Interlock, Interlock) as (full, empty):
        filled = servers.load(full, 256, datasource="big", calls=LIVE)
        print(f"  filled with {LIVE:,} reservations in {filled['seconds']:.0f} s", flush=True)
        few = servers.load(empty, 1, datasource="few", calls=MANY)
        used, grants, lists = filled["used"], {"full": [], "empty": []}, {"full": [], "empty": []}
        for round_number in range(servers.ROUNDS):
            grants["empty"].append(servers.load(empty, 64, datasource=f"small_{round_number}"))
            grants["full"].append(servers.load(full, 64, datasource="big", first=used))
            used = grants["full"][-1]["used"]
            lists["empty"].append(servers.load(empty, 1, what="interlock-list", datasource="few",
                                               calls=min(few["used"], MANY)))
            lists["full"].append(servers.load(full, 1, what="interlock-list", datasource="big", calls=500))
        full.halt()
        full.again()
        start_full = full.seconds * 1000
    with servers.serving(Interlock) as (empty,):
        empty.halt()
        empty.again()
        start_empty = empty.seconds * 1000
    yield beside("reserve_with_1m_live", median(grants["full"]), "reservations/s", "an empty table",
                 median(grants["empty"]), LIVE_AIM)
    yield beside("reserve_list_with_1m_live", median(lists["full"], "p50_ms"), "ms a list", "an empty table",
                 median(lists["empty"], "p50_ms"), None)
    yield beside("reserve_start_with_1m_live", start_full, "ms to ready", "an empty table", start_empty, None)


BENCHMARKS = [single, many_intervals, million]
