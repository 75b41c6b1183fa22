#!/usr/bin/env python3
"""A whole drop on a real Druid whose deep storage is an S3-compatible server, seen through the
storage probe of S3 (tests/lib/drop/s3/druid/run starts both)."""
import contextlib
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from drops import SHORT, DropSteps, OnDruid, undeletable  # noqa: E402
from harness import EndToEnd, hours, wait_for  # noqa: E402


class DropsOnS3(DropSteps, OnDruid, EndToEnd):
    def server(self, counts):
        probe = (f'storage_probes {{ s3 {{ bucket: "deep-storage" endpoint: '
                 f'"{os.environ["S3_ENDPOINT"]}" credentials_file: "{os.environ["S3_KEYS"]}" }} }}')
        return self.loaded(counts, drops=f"{SHORT} {probe}")

    def objects(self):
        """What lies in the bucket of this test's datasource."""
        folder = pathlib.Path(os.environ["S3_FOLDER"], "deep-storage", "druid", "segments",
                              self.datasource)
        return sorted(path for path in folder.rglob("index.zip"))

    def test_is_marked_restored_killed_and_proven_gone_by_listing_both(self):
        druid, server = self.server({10: 5, 11: 7, 12: 9})
        before = self.objects()
        self.assertEqual(len(before), 3, "Druid wrote its segments there")
        self.assertEqual(json.loads(self.specs(druid, 11)[0])["type"], "s3_zip")
        neighbours = [druid.fingerprint(self.datasource, hours(h, h + 1)) for h in (10, 12)]

        drop = self.drop(server, 11, 12, window="1h")
        now = self.await_state(server, drop, "MARKED")
        self.assertEqual(now["storage_probe"], "STORAGE_PROBE_UNSPECIFIED", "not come to that yet")
        self.assertEqual(self.rows(druid, 11, 0), 0)
        self.assertEqual(self.objects(), before, "a mark deletes nothing")
        code, _, error = server.ctl("drops", "restore", drop)
        self.assertEqual(code, 0, error)
        self.assertEqual(self.rows(druid, 11, 7), 7)

        drop = self.drop(server, 11, 12, window="2s")
        last = {}

        def killed():
            last.update(self.get(server, drop))
            return last["state"] == "KILLED"
        try:
            wait_for("the kill", killed, 90)
        except AssertionError:
            self.fail(f"it is not killed: {json.dumps(last)}")
        self.assertEqual((last["reason"], last["storage_probe"], int(last["orphan_count"])),
                         ("", "GONE", 0))
        entry, = self.entries(server, drop)
        self.assertEqual(entry["state"], "KILLED")
        key = json.loads(entry["segment"]["load_spec"])["key"]
        gone = [path for path in before if str(path).endswith(key)]
        self.assertEqual(len(gone), 1, key)
        self.assertEqual(self.objects(), [path for path in before if path not in gone])
        self.assertEqual(druid.segments(self.datasource, hours(11, 12)), [])
        self.assertEqual(druid.unused(self.datasource, hours(11, 12)), [])
        self.assertEqual([druid.fingerprint(self.datasource, hours(h, h + 1)) for h in (10, 12)],
                         neighbours)

    def specs(self, druid, hour):
        return [json.dumps(s["loadSpec"])
                for s in druid.segments(self.datasource, hours(hour, hour + 1))]

    def test_an_object_that_cannot_be_deleted_is_an_orphan_that_is_named(self):
        druid, server = self.server({10: 5})
        item, = self.objects()
        try:
            with undeletable(item):
                drop = self.drop(server, 10, 11)
                now = self.await_state(server, drop, "KILLED")
                self.assertEqual(druid.unused(self.datasource, hours(10, 11)), [])
                self.assertEqual((now["reason"], now["storage_probe"], int(now["orphan_count"])),
                                 ("FILES_LEFT", "LEFT_BEHIND", 1))
                self.assertIn(f"segments/{self.datasource}", now["message"])
                self.assertEqual(now["kill_tasks"][0]["druid_status"], "FAILED")
        except PermissionError as error:
            self.skipTest(f"no file can be made undeletable here: {error}")
        finally:
            with contextlib.suppress(OSError):
                item.unlink()
        wait_for("nothing", lambda: not item.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
