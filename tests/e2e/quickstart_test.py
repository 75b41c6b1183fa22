#!/usr/bin/env python3
"""The quickstart's story holds: with the simulator by its own command, and on the real
Druid that the tests have at hand."""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import BIN, ROOT, EndToEnd, RealDruid  # noqa: E402


class Simulated(EndToEnd):
    def test_the_story_of_the_quickstart_holds(self):
        result = subprocess.run([str(ROOT / "deploy/quickstart/run"), "--simulated"],
                                capture_output=True, text=True, timeout=280, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("read back from Druid", result.stdout)


class OnDruid(EndToEnd):
    def test_the_story_of_the_quickstart_holds(self):
        server = self.run_interlockd(RealDruid())
        env = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}",
                   INTERLOCK_ADDRESS=f"127.0.0.1:{server.port}",
                   QUICKSTART_DATASOURCE=self.datasource, QUICKSTART_STATE=str(self.folder))
        result = subprocess.run([sys.executable, str(ROOT / "deploy/quickstart/story.py")], env=env,
                                capture_output=True, text=True, timeout=280, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
