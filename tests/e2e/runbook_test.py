#!/usr/bin/env python3
"""The runbook "I dropped the wrong interval", command by command as it stands there."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import BIN, ROOT, EndToEnd, hours, wait_for  # noqa: E402

PAGE = ROOT / "deploy" / "runbooks" / "wrong-interval.md"


def commands():
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.S)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


class Runbook(EndToEnd):
    def test_a_wrong_interval_comes_back_by_the_commands_as_they_stand(self):
        simulator = self.run_simulator()
        server = self.run_interlockd(simulator)
        druid = simulator.druid()
        self.datasource = "page_views"
        spec = self.job(self.events({12: 5}))
        code, _, error = server.ctl("submit", "--spec", spec, "--interval", hours(12, 13),
                                    "--request-id", "load", "--wait")
        self.assertEqual(code, 0, error)
        self.assertEqual(druid.wait_for_count("page_views", hours(12, 13), 5), 5)
        code, reply, error = server.ctl("drop", "page_views", hours(12, 13), "--reason", "oops",
                                        "--window", "1h")
        self.assertEqual(code, 0, error)
        drop = reply["drop"]["drop_id"]
        self.assertEqual(druid.wait_for_count("page_views", hours(12, 13), 0), 0)
        wait_for("the mark", lambda: server.ctl("drops", "get", drop)[1]["drop"]["state"] == "MARKED")
        (self.folder / "policy.json").write_text(json.dumps(
            {"name": "old", "datasource_pattern": "page_*", "age": "P2Y"}))
        environment = dict(os.environ, DROP=drop, INTERLOCK_ADDRESS=f"127.0.0.1:{server.port}",
                           PATH=f"{BIN}:{os.environ['PATH']}")
        asked = commands()
        self.assertGreater(len(asked), 5, "the page has lost its commands")
        for command in asked:
            result = subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment,
                                    capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(result.returncode, 0, f"{command}: {result.stdout}{result.stderr}")
        now = server.ctl("drops", "get", drop)[1]["drop"]
        self.assertEqual(now["state"], "RESTORED", now)
        self.assertEqual({check["result"] for check in now["rows"]}, {"EQUAL"})
        self.assertEqual(druid.wait_for_count("page_views", hours(12, 13), 5), 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
