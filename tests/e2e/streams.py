"""A Kafka stream of a test's own, and what all of its tests do: for the tests that need a
Druid with Kafka (tests/lib/guard/druid/run brings one)."""
import json
import os
import subprocess
import threading
import urllib.error
import urllib.request

from harness import ROOT, EndToEnd, RealDruid, events_schema, hours, wait_for

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
                "dataSchema": events_schema(self.datasource),
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

    def stop_producing(self):
        self._stop.set()
        if self._thread:
            self._thread.join()

    def keep_producing(self, counts):
        def run():
            while not self._stop.is_set():
                self.produce(counts)
                self._stop.wait(0.3)
        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def stop(self):
        self.stop_producing()
        try:
            self.rest()
            self.call("POST", f"supervisor/{self.datasource}/terminate")
        except urllib.error.HTTPError:
            pass  # it was never posted


class OnKafka(EndToEnd):
    """Has a datasource with a stream; the stream is posted by the test."""

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

    def indexer(self, command):
        subprocess.run([str(ROOT / "deploy" / "druid" / "run"), command, "indexer", "--dir",
                        os.environ["DRUID_DIR"]], check=True, timeout=120,
                       stdout=subprocess.DEVNULL)
