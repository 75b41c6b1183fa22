"""The sweep that is measured, small: what it finds is what was made wrong."""
import os
import pathlib
import unittest

import servers
import verify

servers.BIN = pathlib.Path(os.environ.get("INTERLOCK_BIN", servers.BIN))


class Sweep(unittest.TestCase):
    def test_it_finds_every_interval_with_two_versions_over_several_pages(self):
        folder = servers.Folder("verify")
        self.addCleanup(folder.remove)
        segments = verify.Segments(folder.path, 100_100)
        self.assertEqual(segments.doubled, 3)
        seconds, _, peak = verify.sweep(segments)
        self.assertGreater(seconds, 0)
        self.assertGreater(peak, 1)


if __name__ == "__main__":
    unittest.main()
