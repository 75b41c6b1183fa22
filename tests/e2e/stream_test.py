#!/usr/bin/env python3
"""Streams and batch under one authority, with a real Kafka and real supervisors.

Started by tests/lib/guard/druid/run, which brings a Druid with Kafka; DRUID_DIR names its
folder, for the tests that kill its indexer.
"""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import ROOT, EndToEnd, RealDruid, hours, wait_for  # noqa: E402

HOUR = hours(13, 14)
# The longest call must fit into a short pause.
CALLS = "call_timeout { seconds: 5 }"


def row(hour, n):
    return json.dumps({"ts": f"2026-07-16T{hour:02d}:{n % 60:02d}:00Z", "site": f"s{n % 3}",
                       "bytes": 1})


class Stream:
    """A supervisor of a datasource, its topic, and who produces to it."""

    def __init__(self, druid, datasource):
        self.druid, self.datasource, self.topic = druid, datasource, f"t_{datasource}"
        self.overlord = os.environ["DRUID_OVERLORD"]
        self.produced = {}
        self._stop = threading.Event()
        self._thread = None

    def spec(self, io=None, tuning=None, context=None, topic=None):
        spec = {
            "type": "kafka",
            "spec": {
                "dataSchema": {
                    "dataSource": self.datasource,
                    "timestampSpec": {"column": "ts", "format": "iso"},
                    "dimensionsSpec": {"dimensions": ["site"]},
                    "metricsSpec": [{"type": "count", "name": "events"},
                                    {"type": "longSum", "name": "sent", "fieldName": "bytes"}],
                    "granularitySpec": {"type": "uniform", "segmentGranularity": "HOUR",
                                        "queryGranularity": "MINUTE", "rollup": True}},
                "ioConfig": {"type": "kafka", "topic": topic or self.topic,
                             "inputFormat": {"type": "json"},
                             "consumerProperties": {"bootstrap.servers": os.environ["KAFKA"]},
                             "taskCount": 1, "replicas": 1, "taskDuration": "PT10M",
                             "period": "PT1S", "startDelay": "PT1S", "useEarliestOffset": True,
                             **(io or {})},
                "tuningConfig": {"type": "kafka", **(tuning or {})}}}
        if context:
            spec["context"] = context
        return spec

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"{self.overlord}/druid/indexer/v1/{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.loads(reply.read() or b"null")

    def post(self, **parts):
        self.call("POST", "supervisor", self.spec(**parts))
        return self

    def payloads(self):
        """Of its tasks that run."""
        running = self.call("GET", f"tasks?datasource={self.datasource}&state=running")
        return [self.call("GET", f"task/{task['id']}")["payload"] for task in running
                if task["type"] == "index_kafka"]

    def await_task(self):
        """… that reads, and that its supervisor knows the start of: one that is suspended
        before that kills its task."""
        def reads():
            status = self.call("GET", f"supervisor/{self.datasource}/status")["payload"]
            return any(task.get("startTime") for task in status["activeTasks"]) and self.payloads()
        return wait_for("a task of the stream", reads)

    def await_locks(self, there=True):
        wait_for("the stream's locks", lambda: bool(self.call(
            "POST", "activeLocks", [{"datasource": self.datasource}])["datasourceToLocks"]) == there)

    def suspended(self):
        return self.call("GET", f"supervisor/{self.datasource}")["suspended"]

    def suspend(self):
        self.call("POST", f"supervisor/{self.datasource}/suspend")

    def resume(self):
        self.call("POST", f"supervisor/{self.datasource}/resume")

    def rest(self):
        """All that it has read is published, and it reads no more."""
        if not self.suspended():
            self.suspend()
        wait_for("the stream's tasks to be gone", lambda: not self.payloads())

    def produce(self, counts):
        lines = []
        for hour, count in counts.items():
            before = self.produced.get(hour, 0)
            lines += [row(hour, before + n) for n in range(count)]
            self.produced[hour] = before + count
        subprocess.run([*os.environ["INTERLOCK_PRODUCE"].split(), os.environ["KAFKA"], self.topic],
                       input="\n".join(lines), text=True, check=True, timeout=60)

    def keep_producing(self, counts):
        def run():
            while not self._stop.is_set():
                self.produce(counts)
                self._stop.wait(0.3)
        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def stop(self):
        self._stop.set()
        if self._thread:
            self._thread.join()
        try:
            self.rest()
            self.call("POST", f"supervisor/{self.datasource}/terminate")
        except urllib.error.HTTPError:
            pass  # it was never posted


class OnKafkaStreams(EndToEnd):
    def setUp(self):
        super().setUp()
        self.druid = RealDruid().druid()
        self.stream = Stream(self.druid, self.datasource)
        self._running.append(self.stream)

    def serve(self, **options):
        options.setdefault("druid_settings", CALLS)
        return self.run_interlockd(RealDruid(), **options)

    def knows(self, server):
        """… the stream, by its own look."""
        def found():
            _, reply, _ = server.ctl("streams", "list", self.datasource)
            return reply.get("streams")
        return wait_for("the stream to be found", found)[0]

    def reindex(self, interval=HOUR):
        """Input that ends at the stream's committed offsets: what it has published."""
        spec = {
            "type": "index_parallel",
            "spec": {
                "dataSchema": {
                    "dataSource": self.datasource,
                    "timestampSpec": {"column": "__time", "format": "millis"},
                    "dimensionsSpec": {"dimensions": ["site"]},
                    "metricsSpec": [{"type": "longSum", "name": name, "fieldName": name}
                                    for name in ("events", "sent")],
                    "granularitySpec": {"type": "uniform", "segmentGranularity": "HOUR",
                                        "queryGranularity": "MINUTE", "rollup": True,
                                        "intervals": [interval]}},
                "ioConfig": {"type": "index_parallel", "dropExisting": True,
                             "appendToExisting": False,
                             "inputSource": {"type": "druid", "dataSource": self.datasource,
                                             "interval": interval}},
                "tuningConfig": {"type": "index_parallel"}}}
        path = self.folder / "reindex.json"
        path.write_text(json.dumps(spec))
        return path

    def hand_over(self, server, spec, *more, wait=True):
        words = ["submit", "--spec", spec, "--handover", "--request-id", "h1", *more]
        return server.ctl(*words, *(["--wait"] if wait else []), timeout=280)

    def backfill(self, server):
        """The only one of the datasource."""
        return server.ctl("backfills", "list", self.datasource)[1]["backfills"][0]

    def partitions(self, server):
        """… with its partitions, as text."""
        return json.dumps(server.ctl("backfills", "get", self.backfill(server)["backfill_id"])[1])

    def why_early(self, backfill):
        """Why its handover ended before all was done."""
        early = ("PAUSE_OVER", "RESUMED_BY_OTHERS", "SUPERVISOR_GONE", "NO_SUPERVISOR")
        return [n["reason"] for n in backfill.get("notices", []) if n["reason"] in early]

    def await_over(self, server, seconds=240):
        """The handover is, and the stream runs."""
        def back():
            now = self.backfill(server)
            return now if now.get("handover", {}).get("state") == "OVER" else None
        return wait_for("the handover to be over", back, seconds)

    def assert_once(self, hour=13):
        """Each message that was produced counts once, now that all are published."""
        self.stream.rest()
        expected = self.stream.produced[hour]
        seen = self.druid.wait_for_count(self.datasource, hours(hour, hour + 1), expected)
        self.assertEqual(seen, expected)

    def findings(self, server, reason):
        _, reply, _ = server.ctl("findings", self.datasource)
        return [f for f in reply.get("findings", []) if f.get("reason") == reason]

    # (a)
    def test_a_spec_as_the_guides_write_it_is_told_what_druid_makes_of_it(self):
        server = self.serve()
        path = self.folder / "supervisor.json"
        path.write_text(json.dumps(self.stream.spec(tuning={"skipOffsetFromLatest": "PT1H"})))
        code, reply, error = server.ctl("streams", "register", self.datasource,
                                        "--supervisor-spec", path)
        self.assertEqual(code, 0, error)
        self.assertIn("TAIL_NOT_ENFORCED", [n["reason"] for n in reply["notices"]])
        self.stream.post(tuning={"skipOffsetFromLatest": "PT1H"}).await_task()
        self.assertNotIn("skipOffsetFromLatest", json.dumps(
            self.stream.call("GET", f"supervisor/{self.datasource}")))
        stream = self.knows(server)
        self.assertEqual(stream["tail"]["source"], "SKIP_OFFSET_DECLARED")
        self.assertFalse(stream["tail"].get("enforced", False))

    # (b)
    def test_a_backfill_into_the_tail_is_refused_with_the_boundary(self):
        server = self.serve()
        self.stream.post(io={"lateMessageRejectionPeriod": "PT2H"})
        payload = self.stream.await_task()[0]
        boundary = payload["ioConfig"]["minimumMessageTime"]
        self.knows(server)
        day = boundary[:10]
        now = time.strftime("%Y-%m-%dT%H:00:00.000Z", time.gmtime())
        before = time.strftime("%Y-%m-%dT%H:00:00.000Z", time.gmtime(time.time() - 6 * 3600))
        code, _, error = server.ctl("submit", "--spec", self.reindex(f"{before}/{now}"))
        self.assertEqual(code, 1, error)
        self.assertIn("TAIL", error)
        self.assertIn(boundary, error)
        self.assertIn(f"the largest that would do is {before}/{day}", error)
        self.assertIn("--handover", error)

    def test_an_unbounded_tail_refuses_with_the_command_that_declares_one(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        code, _, error = server.ctl("submit", "--spec", self.reindex())
        self.assertEqual(code, 1, error)
        self.assertIn("UNBOUNDED_TAIL", error)
        command = f"interlockctl streams register {self.datasource} --tail P2D"
        self.assertIn(command, error)
        code, reply, error = server.ctl(*command.split()[1:])
        self.assertEqual(code, 0, error)
        self.assertEqual(reply["stream"]["tail"]["source"], "SETTING")
        self.assertEqual(server.ctl("submit", "--spec", self.reindex(), "--dry-run")[0], 0)

    # (c)
    def test_the_handover_under_a_running_producer_loses_nothing_and_counts_nothing_twice(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 500})
        self.stream.await_locks()
        self.stream.keep_producing({13: 7, 14: 3})
        code, reply, error = self.hand_over(server, self.reindex())
        self.assertEqual((code, reply.get("state")), (0, "DONE"), error)
        over = self.await_over(server)
        self.assertEqual(self.why_early(over), [])
        self.assertFalse(self.stream.suspended())
        self.stream.await_task()
        committed = sum(int(n) for n in over["handover"]["committed_offsets"].values())
        starts = [sum(p["ioConfig"]["startSequenceNumbers"]["partitionSequenceNumberMap"].values())
                  for p in self.stream.payloads()]
        self.assertIn(committed, starts, "the next task starts where the handover says")
        self.stream._stop.set()
        self.stream._thread.join()
        wait_for("the rest to be read", lambda: self.druid.count(
            self.datasource, HOUR) == self.stream.produced[13])
        self.assert_once(13)
        self.assert_once(14)
        self.assertIn(f'interlock_handover_seconds_count{{datasource="{self.datasource}"}} 1',
                      server.http("/metrics"))

    def test_killed_at_each_step_of_the_handover_the_stream_comes_back(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 200})
        self.stream.await_locks()
        self.stream.keep_producing({13: 5})
        code, _, error = self.hand_over(server, self.reindex(), wait=False)
        self.assertEqual(code, 0, error)
        seen, kills = set(), 0
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            now = server.query(
                "SELECT h.state, h.asked_ms IS NOT NULL, h.unsettled, u.state FROM backfill_handover"
                " h JOIN backfill_unit u ON u.backfill_id = h.backfill_id")[0]
            if now[0] == "OVER":
                break
            if now not in seen:
                seen.add(now)
                server.kill()
                server.start()
                kills += 1
            time.sleep(0.01)
        self.assertGreaterEqual(kills, 5, seen)
        self.assertEqual({s[0] for s in seen} & {"DRAINING", "SUSPENDED", "RESUMING"},
                         {"DRAINING", "SUSPENDED", "RESUMING"}, seen)
        self.await_over(server)
        self.assertEqual(self.backfill(server)["state"], "DONE")
        self.assertFalse(self.stream.suspended())
        self.stream.await_task()
        self.stream._stop.set()
        self.stream._thread.join()
        self.assert_once()

    def test_when_the_pause_runs_out_in_the_middle_the_stream_resumes_and_the_rest_waits(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 100})
        self.stream.await_locks()
        # All of the indexer's slots are taken once the stream has left its own.
        for n in range(3):
            self.stream.call("POST", "task", {"type": "noop", "id": f"full-{self.datasource}-{n}",
                                              "runTime": 60_000})
        code, _, error = self.hand_over(server, self.reindex(), "--max-pause", "25s", wait=False)
        self.assertEqual(code, 0, error)
        over = self.await_over(server)
        self.assertEqual(self.why_early(over), ["PAUSE_OVER"])
        self.assertFalse(self.stream.suspended())
        self.assertIn(over["state"], ("PENDING", "RUNNING"))
        self.assertIn("PAUSE_OVER", self.partitions(server))
        self.stream.await_task()
        self.stream.produce({13: 20})
        wait_for("the stream to go on", lambda: self.druid.count(self.datasource, HOUR) == 120)
        self.assert_once()

    def test_with_other_input_late_rows_are_possible_and_are_found(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 6})
        self.stream.await_locks()
        spec = self.job(self.events({13: 8}))  # has two rows that the stream reads later
        code, reply, error = self.hand_over(server, spec, "--interval", HOUR, wait=False)
        self.assertEqual(code, 0, error)
        self.assertIn("LATE_ROWS_POSSIBLE", json.dumps(self.backfill(server)["notices"]))
        self.await_over(server)
        self.stream.await_task()
        self.stream.produce({13: 2})
        self.stream.await_locks()
        self.stream.rest()
        found = wait_for("the rows to be found", lambda: self.findings(server, "FOREIGN_WRITE"))
        self.assertIn(self.datasource, found[0]["message"])
        self.assertEqual(self.druid.wait_for_count(self.datasource, HOUR, 10), 10)

    # (f) in the middle of a handover
    def test_a_person_who_resumes_the_stream_meanwhile_is_noticed_and_said(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 50})
        self.stream.await_locks()
        code, _, error = self.hand_over(server, self.reindex(), wait=False)
        self.assertEqual(code, 0, error)
        wait_for("the stream to be suspended", self.stream.suspended)
        wait_for("Interlock to have seen that", lambda: server.query(
            "SELECT seen_suspended FROM backfill_handover")[0][0])
        self.stream.resume()
        over = self.await_over(server)
        self.assertEqual(self.why_early(over), ["RESUMED_BY_OTHERS"])
        self.assertFalse(self.stream.suspended())
        self.assert_once()

    # (g)
    def indexer(self, command):
        subprocess.run([str(ROOT / "deploy" / "druid" / "run"), command, "indexer", "--dir",
                        os.environ["DRUID_DIR"]], check=True, timeout=120,
                       stdout=subprocess.DEVNULL)

    def test_the_indexer_killed_in_the_middle_of_a_handover_counts_nothing_twice(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 100})
        self.stream.await_locks()
        code, _, error = self.hand_over(server, self.reindex(), wait=False)
        self.assertEqual(code, 0, error)
        wait_for("the stream to be suspended", self.stream.suspended)
        self.indexer("kill-role")
        self.indexer("start-role")
        over = self.await_over(server)
        self.assertFalse(self.stream.suspended())
        self.stream.await_task()
        wait_for("all to be there", lambda: self.druid.count(self.datasource, HOUR) >= 100)
        self.assertIn(over["state"], ("DONE", "RUNNING", "FAILED"))
        self.assert_once()

    def test_rows_that_a_lost_stream_task_reads_again_beside_a_plain_backfill_are_found(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.produce({13: 6})
        self.stream.await_locks()
        spec = self.job(self.events({13: 6}))  # the very rows that the stream has read
        code, _, error = server.ctl("submit", "--spec", spec, "--interval", HOUR,
                                    "--accept-unbounded-tail", "--request-id", "p1")
        self.assertEqual(code, 0, error)
        wait_for("it to wait for the stream's lock",
                 lambda: "STREAM_HOLDS_LOCK" in self.partitions(server))
        self.indexer("kill-role")
        self.indexer("start-role")
        # Druid frees the stream's lock: the backfill gets in, and the stream reads its rows
        # again; or the next task has the lock first, and the backfill still waits.
        self.stream.await_task()
        self.stream.await_locks()
        self.stream.rest()
        wait_for("the backfill to be over", lambda: self.backfill(server)["state"] in (
            "DONE", "NEEDS_ATTENTION"), 240)
        if self.druid.wait_for_count(self.datasource, HOUR, 6, 20) == 6:
            return  # prevented
        found = wait_for("the rows to be found", lambda: self.findings(server, "DUPLICATE_ROWS"))
        self.assertIn("lost", found[0]["message"])

    # (e)
    def test_concurrent_locks_are_refused_and_where_insisted_upon_the_double_count_is_found(self):
        server = self.serve()
        self.stream.post(context={"useConcurrentLocks": True}).await_task()
        self.knows(server)
        self.stream.produce({13: 3})
        self.stream.await_locks()
        spec = json.loads(self.job(self.events({13: 2})).read_text())
        spec["context"] = {"useConcurrentLocks": True}
        path = self.folder / "concurrent.json"
        path.write_text(json.dumps(spec))
        words = ["submit", "--spec", path, "--interval", HOUR]
        code, _, error = server.ctl(*words)
        self.assertEqual(code, 2, error)
        self.assertIn("useConcurrentLocks", error)
        code, _, error = server.ctl(*words, "--accept-concurrent-append", "--wait")
        self.assertIn(code, (0, 1, 6), error)
        self.assertIn("CONCURRENT_APPEND", json.dumps(self.backfill(server)["notices"]))
        self.stream.rest()
        if code != 0:  # the stream's rows stood beside its own while it was proven
            self.assertEqual(self.backfill(server)["state"], "NEEDS_ATTENTION")
            return
        found = wait_for("the double count to be found",
                         lambda: self.findings(server, "DUPLICATE_ROWS"))
        self.assertIn("upgraded", found[0]["message"])
        self.assertIn(self.datasource, found[0]["message"])

    # (f)
    def test_a_second_supervisor_of_the_datasource_is_noticed_and_said(self):
        server = self.serve()
        self.stream.post().await_task()
        self.knows(server)
        self.stream.post(topic=self.stream.topic + "_b")
        found = wait_for("it to be noticed", lambda: self.findings(server, "SUPERVISOR_REPLACED"))
        self.assertIn(self.stream.topic + "_b", found[0]["message"])


if __name__ == "__main__":
    unittest.main()
