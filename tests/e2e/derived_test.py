#!/usr/bin/env python3
"""Tables that come from others: recomputed when those change, never added to."""
import json
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, RealDruid, wait_for  # noqa: E402
from replicas import Replicas  # noqa: E402

MONTH = "2026-07"
GATHER = "2s"


def day(number):
    return f"{MONTH}-{number:02d}T00:00:00.000Z"


def days(first, last):
    """From the first to before the last."""
    return f"{day(first)}/{day(last)}"


class Derived:
    """What must hold whatever stands behind the adapter."""

    def begin(self, count):
        self.druid, cluster = self.cluster()
        self.server = self.run_interlockd(cluster, backfills="max_parallel: 3")
        self.orders = {n: [100 * n + i for i in range(3)] for n in range(1, count + 1)}
        self.folder.joinpath("orders").mkdir()
        for number in self.orders:
            self.write(number)

    def write(self, number):
        path = self.folder / "orders" / f"{MONTH}-{number:02d}.json"
        with open(path, "w") as lines:
            for i, amount in enumerate(self.orders[number]):
                lines.write(json.dumps({"ts": f"{MONTH}-{number:02d}T10:{i % 60:02d}:00Z",
                                        "country": ("NO", "SE")[i % 2], "amount": amount}) + "\n")

    def name(self, what):
        return f"{self.datasource}_{what}"

    def spec(self, target, time, source, amount, count):
        return {"type": "index_parallel", "spec": {
            "dataSchema": {
                "dataSource": target, "timestampSpec": time,
                "dimensionsSpec": {"dimensions": ["country"]},
                "metricsSpec": [count, {"type": "longSum", "name": "amount", "fieldName": amount}],
                "granularitySpec": {"type": "uniform", "segmentGranularity": "DAY",
                                    "queryGranularity": "DAY", "rollup": True,
                                    "intervals": ["{start}/{end}"]}},
            "ioConfig": dict({"type": "index_parallel", "inputSource": source,
                              "appendToExisting": False, "dropExisting": True},
                             **({} if source["type"] == "druid"
                                else {"inputFormat": {"type": "json"}})),
            "tuningConfig": {"type": "index_parallel"}}}

    def put(self, name, spec, sources=(), code=0):
        path = self.folder / f"{name}.json"
        job = {"name": name, "spec": json.dumps(spec), "sources": list(sources)}
        if sources:
            job["gather"] = GATHER
        path.write_text(json.dumps(job))
        found, reply, error = self.server.ctl("jobs", "put", path)
        self.assertEqual(found, code, error)
        return reply

    def put_orders(self):
        self.put("orders", self.spec(
            self.name("orders"), {"column": "ts", "format": "iso"},
            {"type": "local", "baseDir": str(self.folder / "orders"),
             "filter": "{start:%Y-%m-%d}.json"},
            "amount", {"type": "count", "name": "events"}))

    def put_totals(self, name, **source):
        """A running total, by the re-index of everything up to each day."""
        self.put(name, self.spec(
            self.name(name), {"column": "at", "format": "iso", "missingValue": "{start}"},
            {"type": "druid", "dataSource": source.get("datasource", self.name("orders")),
             "interval": "{start}/{end}"},
            "amount", {"type": "longSum", "name": "events", "fieldName": "events"}),
            [dict({"datasource": self.name("orders"), "mapping": "FROM_START", "origin": day(1)},
                  **source)])

    def run_orders(self, first, last, *flags):
        code, reply, error = self.server.ctl(
            "submit", "--job", "orders", "--interval", days(first, last), "--reprocess", "all",
            "--reason", "a late voucher", "--wait", *flags)
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)

    def amounts(self, what, first, last):
        """The sum of each day, as queries see it."""
        sql = (f'SELECT FLOOR(__time TO DAY) AS d, SUM("amount") AS a FROM "{self.name(what)}"'
               f" WHERE __time >= TIMESTAMP '{MONTH}-{first:02d}' AND"
               f" __time < TIMESTAMP '{MONTH}-{last:02d}' GROUP BY 1 ORDER BY 1")
        rows = self.druid._call(f"{self.druid.broker}/druid/v2/sql", {"query": sql})
        return {int(row["d"][8:10]): int(row["a"]) for row in rows}

    def truth(self, first, last):
        total, totals = 0, {}
        for number in sorted(self.orders):
            total += sum(self.orders[number])
            if first <= number < last:
                totals[number] = total
        return totals

    def runs(self, what):
        """The derived job's own backfills: their states and intervals, oldest first."""
        code, reply, error = self.server.ctl("backfills", "list", self.name(what), "--by", "interlock")
        self.assertEqual(code, 0, error)
        return [(b["state"], tuple(b["intervals"])) for b in reversed(reply.get("backfills", []))]

    def wait_for_runs(self, what, count):
        def all_done():
            runs = self.runs(what)
            self.assertNotIn("FAILED", [state for state, _ in runs])
            return len(runs) >= count and all(state == "DONE" for state, _ in runs) and runs
        return wait_for(f"run {count} of {what}", all_done, 150)


class OnDruidDerived(Derived, EndToEnd):
    """On the real one: the simulator's SQL knows no GROUP BY, and its input no combining."""

    def cluster(self):
        real = RealDruid()
        return real.druid(), real

    def add_up(self, last):
        """The usual way, outside of Interlock: yesterday's total and today's orders."""
        total, rows = 0, []
        today = self.amounts("orders", 1, last)
        for number in range(1, last):
            total += today[number]
            rows.append(json.dumps({"ts": day(number), "country": "all", "amount": total}))
        spec = self.spec(self.name("added"), {"column": "ts", "format": "iso"},
                         {"type": "inline", "data": "\n".join(rows)}, "amount",
                         {"type": "count", "name": "events"})
        spec["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [days(1, last)]
        self.assertEqual(self.druid.run_task(spec), "SUCCESS")
        wait_for("what was added up", lambda: self.served("added", last) == last - 1, 60)

    def served(self, what, last):
        return self.druid.count(self.name(what), days(1, last))

    def test_fourteen_days_a_total_that_is_added_to_diverges_and_a_derived_one_does_not(self):
        self.begin(14)
        self.put_orders()
        self.put_totals("totals")
        self.run_orders(1, 15)
        self.assertEqual(self.wait_for_runs("totals", 1), [("DONE", (days(1, 15),))])
        self.assertEqual(self.amounts("totals", 1, 15), self.truth(1, 15))
        self.add_up(15)
        self.assertEqual(self.amounts("added", 1, 15), self.truth(1, 15))
        seed = random.randrange(1 << 30)
        print(f"seed {seed}", file=sys.stderr)
        shuffle = random.Random(seed)
        late = 0
        # Whatever the order: a few days, one of them twice, the last one too.
        sets = [shuffle.sample(range(7, 14), 2), [shuffle.randrange(9, 14)], [14]]
        sets.append([sets[1][0]])
        for done, rerun in enumerate(sets):
            for number in rerun:
                amount = 1000 * number + done
                self.orders[number].append(amount)
                late += amount
                self.write(number)
                self.run_orders(number, number + 1)
            runs = self.wait_for_runs("totals", done + 2)
            self.assertEqual(len(runs), done + 2, "once for each set of changes")
            self.assertEqual(runs[-1][1], (days(min(rerun), 15),))
        self.assertEqual(self.amounts("totals", 1, 15), self.truth(1, 15))
        added, truth = self.amounts("added", 1, 15), self.truth(1, 15)
        self.assertEqual(truth[14] - added[14], late, "off by exactly what came late")
        first = min(number for rerun in sets for number in rerun)
        for number in range(1, first):
            self.assertEqual(added[number], truth[number])

    def test_a_sealed_source_and_a_sealed_dependent(self):
        self.begin(4)
        self.put_orders()
        self.put_totals("sent")
        # What is right now, day by day; and its running total, from that.
        self.put("days", self.spec(
            self.name("days"), {"column": "__time", "format": "millis"},
            {"type": "druid", "dataSource": self.name("orders"), "interval": "{start}/{end}"},
            "amount", {"type": "longSum", "name": "events", "fieldName": "events"}),
            [{"datasource": self.name("orders"), "mapping": "SAME", "reads": "CORRECTED"}])
        self.put_totals("right", datasource=self.name("days"))
        self.run_orders(1, 5)
        for what in ("sent", "right"):
            self.wait_for_runs(what, 1)
            self.assertEqual(self.amounts(what, 1, 5), self.truth(1, 5))
        before = self.truth(1, 5)
        self.seal("orders", 2)
        self.seal("sent", 2)
        fingerprint = self.druid.fingerprint(self.name("orders"), days(2, 3))
        # A voucher of 5000 comes for the sealed day: what was given out stays.
        self.orders[2].append(5000)
        self.write(2)
        self.run_orders(2, 3, "--correction")
        right = self.wait_for_runs("right", 2)
        self.assertEqual(right[1][1], (days(2, 5),))
        self.assertEqual(self.amounts("right", 1, 5), self.truth(1, 5))
        self.assertEqual(self.amounts("sent", 1, 5), before)
        self.assertEqual(self.druid.fingerprint(self.name("orders"), days(2, 3)), fingerprint)
        corrections = wait_for("the correction", lambda: self.corrections("orders"), 60)
        self.assertEqual([self.delta(c, "amount") for c in corrections], [5000])
        # One of 70 for a day that is not sealed, from which the sealed total comes.
        self.orders[2].pop()
        self.orders[1].append(70)
        self.write(1)
        self.run_orders(1, 2)
        self.wait_for_runs("sent", 2)
        corrections = wait_for("the derived correction", lambda: self.corrections("sent"), 90)
        self.assertEqual([self.delta(c, "amount") for c in corrections], [70])
        self.assertEqual(corrections[0]["interval"], days(2, 3))
        expected = self.truth(1, 5)
        expected[2] = before[2]
        self.assertEqual(self.amounts("sent", 1, 5), expected)

    def seal(self, what, number):
        snapshot = self.folder / "snapshot.json"
        snapshot.write_text(json.dumps({"aggregates": [{"name": "amount",
                                                        "expression": 'SUM("amount")'}]}))

        def take():
            code, _, self.error = self.server.ctl(
                "seal", self.name(what), days(number, number + 1), "--reason", "sent",
                "--snapshot", snapshot)
            return code == 0
        wait_for(f"the seal of {what}", take, 60)

    def corrections(self, what):
        code, reply, error = self.server.ctl("seals", "corrections", self.name(what))
        self.assertEqual(code, 0, error)
        return reply.get("corrections", [])

    def delta(self, correction, metric):
        for delta in correction["deltas"]:
            if delta["delta"]["metric"] == metric:
                return int(float(delta["delta"].get("long_value", delta["delta"].get("double_value", 0))))
        return None


class SimulatedDerived(Derived, EndToEnd):
    """The programs, without a Druid."""

    def cluster(self):
        simulator = self.run_simulator()
        return simulator.druid(), simulator

    def test_a_derived_job_runs_by_itself_also_after_a_kill(self):
        self.begin(3)
        self.put_orders()
        self.put_totals("totals")
        self.run_orders(1, 4)
        self.server.kill()
        self.server.start()
        self.assertEqual(self.wait_for_runs("totals", 1), [("DONE", (days(1, 4),))])
        for number in (1, 2, 3):
            self.assertEqual(self.druid.count(self.name("totals"), days(number, number + 1)), 3 * number)
        _, reply, _ = self.server.ctl("jobs", "get", "orders")
        self.assertEqual(reply["dependent_jobs"], ["totals"])

    def test_a_job_that_would_come_from_itself_is_refused(self):
        self.begin(1)
        self.put_orders()
        self.put_totals("totals")
        spec = self.spec(self.name("orders"), {"column": "__time", "format": "millis"},
                         {"type": "druid", "dataSource": self.name("totals"),
                          "interval": "{start}/{end}"},
                         "amount", {"type": "longSum", "name": "events", "fieldName": "events"})
        self.put("circle", spec, [{"datasource": self.name("totals")}], code=2)


class SharedStoreDerived(Replicas, Derived, EndToEnd):
    """Two servers, one database: whoever does the steps, each set of changes is run once."""

    def cluster(self):
        simulator = self.run_simulator()
        return simulator.druid(), simulator

    def run_interlockd(self, druid, **options):
        _, self.servers = self.share(druid, **options)
        return self.servers[0]

    def counts(self):
        return [self.druid.count(self.name("totals"), days(n, n + 1)) for n in (1, 2, 3)]

    def test_each_set_of_changes_is_run_once_whichever_server_is_killed(self):
        self.begin(3)
        self.put_orders()
        self.put_totals("totals")
        self.run_orders(1, 4)
        self.assertEqual(self.wait_for_runs("totals", 1), [("DONE", (days(1, 4),))])
        self.assertEqual(self.counts(), [3, 6, 9])
        for number, (dying, other) in enumerate([self.servers, self.servers[::-1]], 2):
            self.server = other
            self.orders[number].append(1)
            self.write(number)
            self.run_orders(number, number + 1)
            # The change is stored; whoever was to run it may be the one that dies.
            dying.kill()
            runs = self.wait_for_runs("totals", number)
            self.assertEqual(len(runs), number, "once for each set of changes")
            self.assertEqual(runs[-1], ("DONE", (days(number, 4),)))
            dying.start()
        self.assertEqual(self.counts(), [3, 7, 11])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
