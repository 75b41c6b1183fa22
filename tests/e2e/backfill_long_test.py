#!/usr/bin/env python3
"""Long runs of backfills on the real Druid, which must come out the same whatever happens
meanwhile."""
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import ROOT, EndToEnd, RealDruid, hours, wait_for  # noqa: E402


# Of a partition that goes well, in order.
STATES = ("PENDING", "RESERVED", "SUBMITTING", "RUNNING", "PROVING", "DONE")


def states(reply):
    return [p["state"] for p in reply["partitions"]]


class LongRun:
    """What the long runs have in common."""

    def site(self, **settings):
        real = RealDruid()
        return real.druid(), self.run_interlockd(real, **settings)

    def post(self, url, body):
        request = urllib.request.Request(url, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.read()

    def chance(self):
        seed = int(os.environ.get("INTERLOCK_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}: INTERLOCK_SEED={seed} replays it", file=sys.stderr)
        return random.Random(seed)

    def sums(self, druid, datasource):
        """Rows and bytes by day and site: what queries see."""
        sql = (f'SELECT FLOOR(__time TO DAY) AS d, site, SUM("events") AS e, SUM("sent") AS s '
               f'FROM "{datasource}" GROUP BY 1, 2 ORDER BY 1, 2')
        return druid._call(f"{druid.broker}/druid/v2/sql", {"query": sql})


class LongOnDruid(LongRun, EndToEnd):
    def write_hours(self, first, count, rows):
        """Files of events, one an hour, from `first` hours after 2026-07-16 on."""
        folder = self.folder / "events"
        folder.mkdir(exist_ok=True)
        for hour in range(first, first + count):
            stamp = f"2026-07-{16 + hour // 24:02d}T{hour % 24:02d}"
            lines = [json.dumps({"ts": f"{stamp}:{i % 60:02d}:00Z", "site": f"s{i % 3}",
                                 "bytes": 100 + i}) for i in range(rows + hour % 5)]
            (folder / f"{stamp}.json").write_text("\n".join(lines))
        return folder

    def span(self, first, last):
        def at(hour):
            return f"2026-07-{16 + hour // 24:02d}T{hour % 24:02d}:00:00.000Z"
        return f"{at(first)}/{at(last)}"

    def compact(self, druid):
        """Compaction by Druid itself, up to the newest hour, of what no compaction wrote."""
        base = f"{druid.coordinator}/druid/coordinator/v1/config/compaction"
        self.post(base, {"dataSource": self.datasource, "skipOffsetFromLatest": "PT0S"})
        self.post(f"{base}/taskslots?ratio=0.5&max=1", {})

        def stop():
            request = urllib.request.Request(f"{base}/{self.datasource}", method="DELETE")
            urllib.request.urlopen(request, timeout=30).close()
        self.addCleanup(stop)

    def load(self, druid, job, first, last):
        spec = json.loads(job.read_text())
        spec["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [self.span(first, last)]
        spec["spec"]["ioConfig"]["inputSource"]["filter"] = "*.json"
        self.assertEqual(druid.run_task(spec), "SUCCESS")

    def druid_role(self, verb):
        subprocess.run([ROOT / "deploy/druid/run", verb, "coordinator", "--dir",
                        os.environ["DRUID_DIR"]], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)

    def neighbour(self, server, job, ended):
        """Somebody else who recomputes the hours on both sides, over and over."""
        run = 0
        while not ended.is_set():
            for hour in (0, 61):
                run += 1
                try:
                    server.ctl("submit", "--spec", job, "--interval", self.span(hour, hour + 1),
                               "--reprocess", "all", "--request-id", f"next-{run}", "--wait",
                               "--timeout", "60s", caller="neighbour", timeout=90)
                except (subprocess.TimeoutExpired, json.JSONDecodeError):
                    pass  # the server was killed under it
                ended.wait(0.5)

    def over(self, server, backfill, seconds):
        def ended():
            try:
                code, reply, _ = server.ctl("backfills", "get", backfill, "--limit", 100)
            except (subprocess.TimeoutExpired, json.JSONDecodeError):
                return None
            if code != 0 or reply["backfill"]["state"] in ("PENDING", "RUNNING"):
                return None
            return reply
        return wait_for("the backfill to end", ended, seconds)

    def reach(self, server, backfill, state):
        """Until its one partition is there, or further."""
        def there():
            now = states(server.ctl("backfills", "get", backfill)[1])[0]
            return STATES.index(now) >= STATES.index(state)
        wait_for(f"{backfill} to be {state}", there)

    def test_sixty_hours_through_ten_kills_and_two_restarts_of_druid(self):
        chance = self.chance()
        druid, server = self.site()
        job = self.job(self.write_hours(0, 62, 6))
        self.load(druid, job, 0, 62)
        self.compact(druid)
        self.write_hours(1, 60, 9)
        code, reply, error = server.ctl("submit", "--spec", job, "--interval", self.span(1, 61),
                                        "--max-parallel", 4, "--request-id", "sixty")
        self.assertEqual(code, 0, error)
        backfill = reply["backfill"]["backfill_id"]
        ended = threading.Event()
        next_door = threading.Thread(target=self.neighbour, args=(server, job, ended))
        next_door.start()
        self.addCleanup(next_door.join)
        self.addCleanup(ended.set)
        for kill in range(10):
            try:
                server.process.wait(timeout=chance.uniform(0.05, 4))
            except subprocess.TimeoutExpired:
                pass
            server.kill()
            if kill in (3, 7):
                self.druid_role("kill-role")
                server.start()
                self.druid_role("start-role")
            else:
                server.start()
        reply = self.over(server, backfill, 600)
        ended.set()
        next_door.join()
        self.assertEqual(reply["backfill"]["state"], "DONE", reply["backfill"])
        self.assertEqual(set(states(reply)), {"DONE"})
        for hour in range(1, 61):
            expected = 9 + hour % 5
            seen = druid.wait_for_count(self.datasource, self.span(hour, hour + 1), expected)
            self.assertEqual(seen, expected, hour)
        made = [p["task_id"] for p in reply["partitions"]]
        self.assertEqual(len(set(made)), 60, "a task of its own for each hour")
        self.assert_one_task_an_attempt(druid, server)
        self.assert_neighbours_attributed(reply)

    def assert_one_task_an_attempt(self, druid, server):
        """Of all backfills here: Druid has no top-level task of ours that is no attempt."""
        attempts = set()
        backfills = server.ctl("backfills", "list", self.datasource, "--limit", 1000)[1]["backfills"]
        for one in backfills:
            wait_for("it to end", lambda: server.ctl("backfills", "get", one["backfill_id"])[1]
                     ["backfill"]["state"] not in ("PENDING", "RUNNING"))
            reply = server.ctl("backfills", "get", one["backfill_id"], "--attempts", "--limit",
                               1000)[1]
            for partition in reply["partitions"]:
                for attempt in partition.get("attempts", []):
                    self.assertNotIn(attempt["task_id"], attempts)
                    attempts.add(attempt["task_id"])
        ours = {task for task in druid.tasks(self.datasource) if task.startswith("il-")}
        self.assertLessEqual(ours, attempts)

    def assert_neighbours_attributed(self, reply):
        for partition in reply["partitions"]:
            for notice in partition["proof"].get("notices", []):
                self.assertNotIn(notice["reason"], ("NEIGHBOUR_CHANGED", "FOREIGN_WRITE"), notice)
        explained = [n["message"] for p in reply["partitions"]
                     for n in p["proof"].get("notices", [])
                     if n["reason"] == "NEIGHBOUR_CHANGE_EXPLAINED"]
        self.assertTrue(explained, "somebody was at work next door all the time")

    def test_fourteen_days_at_once_and_day_by_day_give_the_same_sums(self):
        chance = self.chance()
        druid, server = self.site()
        folder = self.folder / "days"
        folder.mkdir()
        days = [f"2026-07-{day:02d}" for day in range(1, 15)]
        for number, day in enumerate(days):
            (folder / f"{day}.json").write_text("\n".join(
                json.dumps({"ts": f"{day}T{i % 24:02d}:{i % 60:02d}:00Z", "site": f"s{i % 3}",
                            "bytes": number * 1000 + i}) for i in range(40 + number)))

        def spec(datasource):
            job = json.loads(self.job(folder).read_text())
            schema = job["spec"]["dataSchema"]
            schema["dataSource"] = datasource
            schema["granularitySpec"]["segmentGranularity"] = "DAY"
            job["spec"]["ioConfig"]["inputSource"]["filter"] = "{start:%Y-%m-%d}.json"
            path = self.folder / f"{datasource}.json"
            path.write_text(json.dumps(job))
            return path
        at_once, one_by_one = self.datasource + "_a", self.datasource + "_b"
        code, reply, error = server.ctl("submit", "--spec", spec(at_once), "--interval",
                                        "2026-07-01/2026-07-15", "--max-parallel", 4,
                                        "--request-id", "all", "--wait", timeout=300)
        self.assertEqual((code, reply["state"]), (0, "DONE"), error)
        self.assertEqual(len(reply["partitions"]), 14)
        order = list(days)
        chance.shuffle(order)
        for day in order:
            code, reply, error = server.ctl("submit", "--spec", spec(one_by_one), "--interval", day,
                                            "--request-id", day)
            self.assertEqual(code, 0, error)
            if chance.random() < 0.4:
                self.reach(server, reply["backfill"]["backfill_id"], chance.choice(STATES))
                server.kill() if chance.random() < 0.5 else server.stop()
                server.start()
            reply = self.over(server, reply["backfill"]["backfill_id"], 120)
            self.assertEqual(reply["backfill"]["state"], "DONE", reply)

        def rows(datasource):
            return self.sums(druid, datasource) if wait_for(
                "all to be loaded", lambda: druid.count(datasource, "2026-07-01T00:00:00.000Z/"
                                                        "2026-07-15T00:00:00.000Z")
                == sum(40 + n for n in range(14))) else None
        self.assertEqual(rows(at_once), rows(one_by_one))
        self.assertEqual(len(rows(at_once)), 14 * 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
