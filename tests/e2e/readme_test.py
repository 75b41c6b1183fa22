#!/usr/bin/env python3
"""The README's first hour, command by command as it stands there."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import BIN, ROOT, EndToEnd  # noqa: E402

EXITS = re.compile(r"\s+# exits (\d)$")


def script():
    """The console blocks as one script, which stops at the first surprise."""
    text = (ROOT / "README.md").read_text()
    lines = ["set -u", "fail() { echo \"README: '$1' exited $2, not $3\" >&2; kill %1; exit 1; }"]
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for line in block.splitlines():
            if not line.startswith("$ "):
                continue
            command = line[2:]
            if command.startswith("export PATH"):
                continue
            wanted = EXITS.search(command)
            command = EXITS.sub("", command)
            lines.append(command)
            if not command.endswith("&") and not command.startswith("kill"):
                shown = command.replace("'", "")
                lines.append(f"code=$?; [ $code = {wanted.group(1) if wanted else 0} ] || "
                             f"fail '{shown}' $code {wanted.group(1) if wanted else 0}")
    return "\n".join(lines) + "\n"


class Readme(EndToEnd):
    def test_the_first_hour_goes_as_it_is_written(self):
        shutil.copytree(ROOT / "deploy" / "quickstart", self.folder / "deploy" / "quickstart")
        result = subprocess.run(["bash", "-c", script()], capture_output=True, text=True, cwd=self.folder,
                                timeout=280, check=False,
                                env=dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}"))
        self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr[-3000:])
        self.assertIn("reservation r", result.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
