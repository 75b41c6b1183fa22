"""What the story asks Druid itself: nothing here goes through Interlock."""
import hashlib
import json
import pathlib
import time
import urllib.error
import urllib.request


class Druid:
    """One cluster, by its own HTTP APIs."""

    def __init__(self, coordinator, overlord, broker, deep_storage):
        self.coordinator = coordinator
        self.overlord = overlord
        self.broker = broker
        self.deep_storage = pathlib.Path(deep_storage)

    def _call(self, url, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            url, data, {"Content-Type": "application/json", "Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.loads(reply.read() or b"null")

    def run_task(self, spec):
        """Posts a task as any scheduler would, and waits until it has ended."""
        task = self._call(f"{self.overlord}/druid/indexer/v1/task", spec)["task"]
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            status = self._call(f"{self.overlord}/druid/indexer/v1/task/{task}/status")["status"]
            if status["statusCode"] != "RUNNING":
                return status["statusCode"]
            time.sleep(0.2)
        raise TimeoutError(f"task {task} still runs")

    def count(self, datasource, interval):
        """The sum of the count metric: events, not stored rows."""
        start, end = interval.split("/")
        sql = (f'SELECT SUM("events") AS n FROM "{datasource}" WHERE __time >= '
               f"TIMESTAMP '{_sql_time(start)}' AND __time < TIMESTAMP '{_sql_time(end)}'")
        try:
            rows = self._call(f"{self.broker}/druid/v2/sql", {"query": sql})
        except urllib.error.HTTPError as error:
            if "not found" in error.read().decode(errors="replace"):
                return 0  # a datasource of which nothing is served has no table
            raise
        return int(rows[0]["n"] or 0) if rows else 0

    def wait_for_count(self, datasource, interval, expected, seconds=60):
        """Loading takes a moment after a task's end; gives the last count seen."""
        deadline = time.monotonic() + seconds
        seen = self.count(datasource, interval)
        while seen != expected and time.monotonic() < deadline:
            time.sleep(0.2)
            seen = self.count(datasource, interval)
        return seen

    def segments(self, datasource, interval):
        """Used segments as the metadata store has them now."""
        return self._call(f"{self.coordinator}/druid/coordinator/v1/metadata/datasources/"
                          f"{datasource}/segments?full", [interval])

    def unused(self, datasource, interval):
        return [row["dataSegment"] for row in self._call(
            f"{self.coordinator}/druid/coordinator/v1/metadata/datasources/{datasource}/"
            f"unusedSegments?interval={interval.replace('/', '_')}")]

    def fingerprint(self, datasource, interval):
        """Of an interval's metadata and its files' bytes."""
        digest = hashlib.sha256()
        for segment in sorted(self.segments(datasource, interval), key=lambda s: s["identifier"]):
            digest.update(json.dumps(segment, sort_keys=True).encode())
            for path in self.files(segment):
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def files(self, segment):
        path = segment["loadSpec"].get("path")
        root = pathlib.Path(path) if path else None
        if root is None or not root.exists():
            return []
        return [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())

    def tasks(self, datasource):
        """Ids of top-level tasks of the datasource, finished ones too."""
        rows = self._call(f"{self.overlord}/druid/indexer/v1/tasks?datasource={datasource}")
        return sorted(row["id"] for row in rows if row.get("groupId", row["id"]) == row["id"])


def _sql_time(instant):
    return instant.replace("T", " ").replace(".000Z", "").replace("Z", "")
