"""What a backfill of 10,000 partitions costs, on the simulator: memory, requests, a restart."""
import json
import pathlib
import re
import subprocess
import time
import urllib.request

import servers
from rows import at_most, benchmark

PARTITIONS = 10_000
PARALLEL = 200
WATCHED_SECONDS = 10
NAMES = ("backfill_10000_restart", "backfill_10000_memory", "backfill_200_status_requests")


class Simulator:
    """Tasks that take their time, and slots for all that may run."""

    def __init__(self, folder):
        command = [str(servers.BIN / "interlock-simulator"), "--port", "0", "--deep-storage", str(folder),
                   "--task-seconds", "5", "--slots", str(2 * PARALLEL)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = re.search(r"http://[0-9.:]+", self.process.stdout.readline()).group(0)

    def status_requests(self):
        """Since it was asked last."""
        url = f"{self.address}/simulator/requests"
        with urllib.request.urlopen(f"{url}?path=/druid/indexer/v1/taskStatus", timeout=60) as reply:
            asked = json.loads(reply.read())
        urllib.request.urlopen(urllib.request.Request(url, method="DELETE"), timeout=60).close()
        return len(asked if isinstance(asked, list) else asked["requests"])

    def stop(self):
        servers.terminate(self.process)
        self.process.stdout.close()


class OnSimulator(servers.Interlock):
    """interlockd in front of it."""

    def __init__(self, address):
        urls = " ".join(f'{role}_urls: "{address}"' for role in ("coordinator", "overlord", "broker"))
        self.CONFIG = f"""
listen {{{{ address: "127.0.0.1:0" admin_address: "127.0.0.1:0" }}}}
store {{{{ sqlite {{{{ path: "{{folder}}/interlock.db" }}}} }}}}
druid {{{{ {urls} }}}}
backfills {{{{ max_parallel_per_datasource: {PARALLEL} max_parallel_total: {PARALLEL} }}}}
verification {{{{ sweep_interval {{{{ seconds: -1 }}}} }}}}
"""
        super().__init__()


def spec(folder):
    """A file for each hour of the day; a partition reads that of its own hour."""
    for hour in range(24):
        event = {"ts": f"2026-07-16T{hour:02d}:00:00Z", "site": "s", "bytes": 1}
        (folder / f"{hour:02d}.json").write_text(json.dumps(event), encoding="utf-8")
    job = {"type": "index_parallel", "spec": {
        "dataSchema": {
            "dataSource": "bench", "timestampSpec": {"column": "ts", "format": "iso"},
            "dimensionsSpec": {"dimensions": ["site"]},
            "metricsSpec": [{"type": "count", "name": "events"}],
            "granularitySpec": {"segmentGranularity": "HOUR", "queryGranularity": "HOUR",
                                "intervals": [f"2026-07-16T00:00:00Z/PT{PARTITIONS}H"]}},
        "ioConfig": {"type": "index_parallel", "inputFormat": {"type": "json"}, "dropExisting": True,
                     "inputSource": {"type": "local", "baseDir": str(folder), "filter": "{start:%H}.json"}},
        "tuningConfig": {"type": "index_parallel"}}}
    path = folder / "job.json"
    path.write_text(json.dumps(job), encoding="utf-8")
    return path


def submit(server, path):
    command = [str(servers.BIN / "interlockctl"), "--address", server.target, "submit", "--spec", str(path),
               "--max-parallel", str(PARALLEL), "--timeout", "120s", "-o", "json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise servers.Failed(result.stderr)


@benchmark(*NAMES)
def backfill_of_ten_thousand(wanted):
    """Submitted at once; looked at while as many of it run as may."""
    folder = servers.Folder("backfill")
    simulator = Simulator(folder.path)
    try:
        server = OnSimulator(simulator.address)
        try:
            before = server.resident_mb()
            submit(server, spec(pathlib.Path(folder.path)))
            time.sleep(WATCHED_SECONDS)
            simulator.status_requests()
            time.sleep(WATCHED_SECONDS)
            asked = simulator.status_requests() / WATCHED_SECONDS
            grown = (server.resident_mb() - before) * 1024 / PARTITIONS
            server.process.kill()
            server.process.wait()
            server.again()
            if NAMES[0] in wanted:
                yield at_most(NAMES[0], server.seconds * 1000, "ms", 1000)
            if NAMES[1] in wanted:
                yield at_most(NAMES[1], grown, "KB/partition", 4)
            if NAMES[2] in wanted:
                yield at_most(NAMES[2], asked, "requests/s", 1.1)
        finally:
            server.stop()
    finally:
        simulator.stop()
        folder.remove()


BENCHMARKS = [backfill_of_ten_thousand]
