#!/usr/bin/env python3
"""The story of the problem, and of what Interlock does about it.

Every statement that is printed has been read back from Druid in this run; the first one
that does not hold ends it with exit code 1.
"""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from druid import Druid  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# Tests that share a Druid have datasources of their own.
DATASOURCE = os.environ.get("QUICKSTART_DATASOURCE", "page_views")
DAY = "2026-07-16"
EVENTS = {12: 24, 13: 30, 14: 18}  # lines in events/2026-07-16T12.json, …


def hour(h):
    return f"{DAY}T{h:02d}:00:00.000Z/{DAY}T{h + 1:02d}:00:00.000Z"


class Broken(Exception):
    """A statement of the story does not hold."""


def told(statement, holds, seen=""):
    """Prints a statement that was just read back, or ends the story."""
    if not holds:
        raise Broken(f"{statement}\n    but: {seen}")
    print(f"  ✓ {statement}")


def chapter(title):
    print(f"\n{title}")


def interlock(*words, caller="nightly-batch"):
    """Runs interlockctl; gives its exit code, its JSON reply, and its error line."""
    result = subprocess.run(["interlockctl", "-o", "json", "--caller", caller, *words],
                            capture_output=True, text=True, timeout=180, check=False)
    reply = json.loads(result.stdout) if result.stdout.strip() else {}
    return result.returncode, reply, result.stderr.strip()


def spec(**io_config):
    """The job of page_views, one hour of events to a file."""
    job = json.loads((HERE / "page_views.json").read_text().replace("@EVENTS@", str(HERE / "events")))
    job["spec"]["dataSchema"]["dataSource"] = DATASOURCE
    job["spec"]["ioConfig"].update(io_config)
    return job


def plain_task(hours, **io_config):
    """What a scheduler without Interlock posts: the same job, its files spelt out."""
    job = spec(**io_config)
    job["spec"]["dataSchema"]["granularitySpec"]["intervals"] = [hour(h) for h in hours]
    job["spec"]["ioConfig"]["inputSource"] = {
        "type": "local", "files": [str(HERE / "events" / f"{DAY}T{h}.json") for h in hours]}
    return job


class Story:
    def __init__(self, druid, state):
        self.druid = druid
        self.state = state
        self.job = state / "page_views.json"
        self.job.write_text(json.dumps(spec(), indent=2))

    def count(self, h, expected):
        return self.druid.wait_for_count(DATASOURCE, hour(h), expected)

    def neighbours(self):
        return [self.druid.fingerprint(DATASOURCE, hour(h)) for h in (12, 14)]

    def submit(self, request_id, interval, *words, caller="nightly-batch"):
        return interlock("submit", "--spec", str(self.job), "--interval", interval, "--request-id",
                         request_id, "--wait", *words, caller=caller)

    def load(self):
        chapter("Three hours of page views are loaded, as any scheduler does it.")
        state = self.druid.run_task(plain_task([12, 13, 14]))
        told("Druid's task says SUCCESS", state == "SUCCESS", state)
        for h, events in EVENTS.items():
            seen = self.count(h, events)
            told(f"hour {h} holds {events} events", seen == events, seen)

    def double(self):
        chapter("The scheduler runs hour 13 again; its spec appends.")
        state = self.druid.run_task(plain_task([13], appendToExisting=True, dropExisting=False))
        told("Druid's task says SUCCESS again, and warns of nothing", state == "SUCCESS", state)
        seen = self.count(13, 2 * EVENTS[13])
        told(f"hour 13 now counts {2 * EVENTS[13]} events: everything twice",
             seen == 2 * EVENTS[13], seen)
        versions = {s["version"] for s in self.druid.segments(DATASOURCE, hour(13))}
        told("and it has one version: who only looks at versions sees nothing wrong",
             len(versions) == 1, versions)
        code, reply, error = interlock("verify", DATASOURCE, f"{DAY}T13", "--expect-rows",
                                       str(EVENTS[13]), "--count-metric", "events")
        kinds = [v["kind"] for p in reply.get("partitions", []) for v in p["verdicts"]]
        told(f"interlockctl verify says {', '.join(kinds)} and exits {code}",
             code == 1 and "DUPLICATE_ROWS" in kinds, error or reply)

    def correct(self):
        chapter("Hour 13 is corrected through Interlock.")
        before = self.neighbours()
        code, reply, error = self.submit("fix-13", f"{DAY}T13", "--expect-rows", str(EVENTS[13]))
        told("the backfill ends DONE, with proof", code == 0 and reply.get("state") == "DONE",
             error or reply)
        seen = self.count(13, EVENTS[13])
        told(f"hour 13 counts {EVENTS[13]} events again", seen == EVENTS[13], seen)
        told("hours 12 and 14 are byte for byte what they were: metadata and files",
             self.neighbours() == before, "their fingerprints differ")
        code, reply, error = interlock("verify", DATASOURCE, f"{DAY}T13", "--expect-rows",
                                       str(EVENTS[13]), "--count-metric", "events", "--level", "served")
        kinds = [v["kind"] for p in reply.get("partitions", []) for v in p["verdicts"]]
        told("verify says SINGLE_VERSION, all of it served", code == 0 and "SINGLE_VERSION" in kinds,
             error or reply)

    def again(self):
        chapter("The same request comes again: a retry of the scheduler's.")
        before = self.druid.tasks(DATASOURCE)
        code, reply, error = self.submit("fix-13", f"{DAY}T13", "--expect-rows", str(EVENTS[13]))
        told("it is answered with the same backfill, DONE", code == 0 and reply.get("state") == "DONE",
             error or reply)
        after = self.druid.tasks(DATASOURCE)
        told(f"and no task was started: Druid still lists {len(after)}", before == after, after)

    def held(self):
        chapter("Somebody else holds hour 13 while the nightly batch wants it.")
        code, reply, error = interlock("reserve", DATASOURCE, f"{DAY}T13", "--ttl", "2m", "--purpose",
                                       "quarterly audit", caller="auditor")
        told("the auditor reserves it", code == 0, error)
        lease = reply["reservation"]
        before = self.druid.tasks(DATASOURCE)
        code, reply, error = self.submit("nightly-13", f"{DAY}T13")
        told("the nightly batch is refused, and told who holds it", code == 1 and "auditor" in error
             and "quarterly audit" in error, f"exit {code}: {error or reply}")
        told("no task was sent to Druid", before == self.druid.tasks(DATASOURCE), "there is a new one")
        code, _, error = interlock("reservations", "release", lease["reservation_id"],
                                   "--fencing-token", str(lease["fencing_token"]), caller="auditor")
        told("the auditor gives it back", code == 0, error)

    def wide(self):
        chapter("A spec asks for half an hour; Druid would replace the whole one.")
        before = self.druid.tasks(DATASOURCE)
        code, reply, error = self.submit("half-13", f"{DAY}T13:30:00Z/{DAY}T14:00:00Z")
        told("Interlock refuses, and names the interval that would do",
             code == 2 and hour(13) in error, f"exit {code}: {error or reply}")
        told("no task was sent to Druid", before == self.druid.tasks(DATASOURCE), "there is a new one")

    def drop_and_restore(self):
        chapter("Hour 12 is dropped by mistake, and comes back.")
        code, reply, error = interlock("drop", DATASOURCE, f"{DAY}T12", "--reason", "wrong hour",
                                       "--window", "10m", "--request-id", "drop-12")
        told("the drop is accepted", code == 0, error)
        drop = reply["drop"]["drop_id"]
        seen = self.count(12, 0)
        told("hour 12 answers no events", seen == 0, seen)
        code, reply, error = interlock("drops", "restore", drop)
        told("the drop is restored within its window", code == 0, error or reply)
        seen = self.count(12, EVENTS[12])
        told(f"hour 12 counts {EVENTS[12]} events again", seen == EVENTS[12], seen)

    def drop_and_kill(self):
        chapter("Hour 12 is dropped on purpose, and killed when its window has passed.")
        segments = self.druid.segments(DATASOURCE, hour(12))
        files = [f for s in segments for f in self.druid.files(s)]
        told(f"before: {len(segments)} segment, {len(files)} file(s) in deep storage",
             bool(segments) and bool(files), (segments, files))
        ids = {s["identifier"] for s in segments}
        code, reply, error = interlock("drop", DATASOURCE, f"{DAY}T12", "--reason", "retention",
                                       "--window", "2s", "--request-id", "drop-12-for-good", "--wait")
        told("the drop ends KILLED, with proof", code == 0 and reply["drop"]["state"] == "KILLED",
             error or reply)
        left = {s["identifier"] for s in self.druid.segments(DATASOURCE, hour(12))
                + self.druid.unused(DATASOURCE, hour(12))}
        told("its segments are gone from Druid's metadata, used and unused", not ids & left, left)
        told("its files are gone from deep storage", not any(f.exists() for f in files), files)
        seen = [self.count(h, n) for h, n in ((12, 0), (13, EVENTS[13]), (14, EVENTS[14]))]
        told("hour 12 is empty; hours 13 and 14 are as they were",
             seen == [0, EVENTS[13], EVENTS[14]], seen)

    def tell(self):
        for part in (self.load, self.double, self.correct, self.again, self.held, self.wide,
                     self.drop_and_restore, self.drop_and_kill):
            part()


def main():
    env = os.environ
    druid = Druid(env["DRUID_COORDINATOR"], env["DRUID_OVERLORD"], env["DRUID_BROKER"],
                  env.get("DRUID_DEEP_STORAGE", ""))
    state = pathlib.Path(env.get("QUICKSTART_STATE", HERE.parents[1] / ".run" / "quickstart"))
    state.mkdir(parents=True, exist_ok=True)
    try:
        Story(druid, state).tell()
    except Broken as broken:
        print(f"  ✗ {broken}")
        return 1
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
