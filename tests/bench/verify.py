"""A sweep of a datasource with a million segments, over HTTP from a server on loopback that
has them ready, beside jq on the same text: which intervals have more than one version?"""
import bisect
import http.server
import json
import os
import pathlib
import re
import subprocess
import threading
import time
import urllib.request

import servers
from rows import at_most, benchmark, beside

MANY, FEW = 1_000_000, 100_000
PER_HOUR = 100
# Every so manyth hour has a second, older version, long past its grace.
DOUBLE_EVERY = 500
HOUR = 3600
SWEEP_SECONDS = 300
BEGIN = 946684800  # 2000-01-01
# As the guides do it.
JQ = ("[.[] | {interval, version}] | unique | group_by(.interval) | "
      "map(select(length > 1) | .[0].interval) | length")


def instant(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))


class Segments:
    """Of one datasource, as files: their JSON in order of time, and their ids."""

    def __init__(self, folder, count):
        self.path, self.ids = folder / f"segments-{count}.json", folder / f"ids-{count}.json"
        self.starts, self.offsets, self.doubled = [], [], 0
        metrics = ",".join(f"metric_{i}" for i in range(12))
        dimensions = ",".join(f"dimension_{i}" for i in range(20))
        with open(self.path, "w", encoding="ascii") as text, \
                open(self.ids, "w", encoding="ascii") as ids:
            text.write("[")
            ids.write("[")
            made = 0
            for hour in range(count // PER_HOUR):
                start = BEGIN + hour * HOUR
                interval = (instant(start), instant(start + HOUR))
                self.starts.append(start)
                self.offsets.append(text.tell() + (1 if made else 0))
                versions = [("2025-01-01T00:00:00.000Z", PER_HOUR)]
                if hour % DOUBLE_EVERY == 0:
                    self.doubled += 1
                    versions = [("2024-01-01T00:00:00.000Z", 1), (versions[0][0], PER_HOUR - 1)]
                for version, core in versions:
                    for number in range(core):
                        name = f"big_{interval[0]}_{interval[1]}_{version}" + (f"_{number}" if number else "")
                        text.write(("," if made else "") + json.dumps({
                            "dataSource": "big", "interval": "/".join(interval), "version": version,
                            "loadSpec": {"type": "s3_zip", "bucket": "segments", "S3Schema": "s3n",
                                         "key": f"big/{interval[0]}/{version}/{number}/index.zip"},
                            "dimensions": dimensions, "metrics": metrics,
                            "shardSpec": {"type": "numbered", "partitionNum": number, "partitions": core},
                            "binaryVersion": 9, "size": 400_000_000 + made, "identifier": name},
                            separators=(",", ":")))
                        ids.write(("," if made else "") + f'"{name}"')
                        made += 1
            self.offsets.append(text.tell() + 1)
            text.write("]")
            ids.write("]")

    def range_of(self, interval):
        """Bytes of the segments that overlap; they are cut by hours."""
        start, end = (time.mktime(time.strptime(i[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
                      for i in interval.split("/"))
        first, last = bisect.bisect_left(self.starts, start), bisect.bisect_left(self.starts, end)
        return self.offsets[first], self.offsets[last] - 1


class Handler(http.server.BaseHTTPRequestHandler):
    """A coordinator, overlord and broker that knows one datasource."""

    protocol_version = "HTTP/1.1"
    # As Jetty does: with Nagle's algorithm a reply in two writes waits 40 ms for the client's
    # delayed ACK, which measured the generator and not the sweep.
    disable_nagle_algorithm = True

    def text(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def file(self, path, begin, end, before=b"", after=b""):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(before) + end - begin + len(after)))
        self.end_headers()
        self.wfile.write(before)
        self.wfile.flush()
        with open(path, "rb") as source:
            while begin < end:
                begin += os.sendfile(self.connection.fileno(), source.fileno(), begin, end - begin)
        self.wfile.write(after)

    def do_GET(self):
        segments = self.server.segments
        if self.path.endswith("/metadata/datasources"):
            self.text('["big"]')
        elif self.path.endswith("/datasources/big/segments"):
            self.server.begun = self.server.begun or time.monotonic()
            self.file(segments.ids, 0, segments.ids.stat().st_size)
        elif "/loadstatus" in self.path:
            self.text('{"big":0}')
        elif "/rules/" in self.path:
            self.text('[{"type":"loadForever","tieredReplicants":{"_default_tier":1}}]')
        else:
            self.text("[]")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/segments?full"):
            begin, end = self.server.segments.range_of(body[0])
            self.file(self.server.segments.path, begin, end, b"[", b"]")
            self.server.ended = time.monotonic()
        else:
            self.text('{"datasourceToLocks":{}}')

    def log_message(self, *_):
        pass


class Generator(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, segments):
        super().__init__(("127.0.0.1", 0), Handler)
        self.segments, self.begun, self.ended = segments, None, None
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Sweeping(servers.Interlock):
    """interlockd that sweeps what the generator has."""

    def __init__(self, generator):
        self.CONFIG = f"""
listen {{{{ address: "127.0.0.1:0" admin_address: "127.0.0.1:0" }}}}
store {{{{ sqlite {{{{ path: "{{folder}}/interlock.db" }}}} }}}}
druid {{{{ access: OBSERVE coordinator_urls: "{generator.address}" broker_urls: "{generator.address}" }}}}
verification {{{{ sweep_interval {{{{ seconds: 3600 }}}} sweep_requests_per_second: 100000 }}}}
"""
        super().__init__()

    def peak_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024

    def doubled(self):
        with urllib.request.urlopen(f"http://{self.admin}/metrics", timeout=servers.START_SECONDS) as reply:
            text = reply.read().decode()
        # The gauge is there once a sweep was whole: its age is then small.
        swept = re.search(r'interlock_double_version_intervals\{datasource="big"\} (\d+)', text)
        return int(swept.group(1)) if swept else 0


def sweep(segments):
    """Seconds, seconds of the server's CPU, and peak of one whole sweep."""
    generator = Generator(segments)
    server = Sweeping(generator)
    try:
        # The first sweep of a datasource begins within half a minute.
        give_up = time.monotonic() + SWEEP_SECONDS
        while server.doubled() != segments.doubled:
            if server.process.poll() is not None or time.monotonic() > give_up:
                raise servers.Failed(f"no sweep found {segments.doubled} intervals in {SWEEP_SECONDS} s")
            time.sleep(0.2)
        return generator.ended - generator.begun, server.cpu_seconds(), server.peak_mb()
    finally:
        servers.terminate(server.process)
        server.folder.remove()
        generator.shutdown()
        generator.server_close()


def jq(segments):
    begun = time.monotonic()
    said = subprocess.run(["jq", JQ, str(segments.path)], check=True, capture_output=True, text=True)
    assert int(said.stdout) == segments.doubled, said.stdout
    return time.monotonic() - begun


@benchmark("verify_sweep_1m", "verify_sweep_1m_cpu", "verify_sweep_1m_peak", "verify_sweep_100k_peak", "verify_sweep_growth",
           "verify_sweep_linear", "verify_beside_jq")
def verify_sweep(wanted):
    """From the list of ids to the last page judged; the answer must be jq's."""
    folder = servers.Folder("verify")
    try:
        few_seconds, _, few_peak = sweep(Segments(folder.path, FEW))
        segments = Segments(folder.path, MANY)
        seconds, cpu, peak = sweep(segments)
        rows = [at_most("verify_sweep_1m", seconds, "s", 2),
                # Of the whole server, its start included: what a machine that is shared leaves as it is.
                at_most("verify_sweep_1m_cpu", cpu, "s of a core", None),
                at_most("verify_sweep_1m_peak", peak, "MB", 64),
                at_most("verify_sweep_100k_peak", few_peak, "MB", 64),
                at_most("verify_sweep_growth", peak / few_peak, "x 100k's peak", 1.25),
                at_most("verify_sweep_linear", seconds / few_seconds, "x 100k's time", 12)]
        yield from (row for row in rows if row["name"] in wanted)
        if "verify_beside_jq" in wanted:
            # Of what is better when it is less, the ratio is the other way round.
            yield beside("verify_beside_jq", 1 / seconds, "sweeps/s", "jq", 1 / jq(segments), 15)
    finally:
        folder.remove()


BENCHMARKS = [verify_sweep]
