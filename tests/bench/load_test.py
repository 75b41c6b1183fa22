"""The generator of load, against a real interlockd: every call that it counts was granted."""
import os
import pathlib
import unittest

import servers

servers.BIN = pathlib.Path(os.environ.get("INTERLOCK_BIN", servers.BIN))


class Load(unittest.TestCase):
    def test_it_asks_for_what_nobody_has_and_counts_what_it_got(self):
        with servers.serving(servers.Interlock) as (server,):
            first = servers.load(server, 16, datasource="a", calls=200)
            self.assertEqual((first["calls"], first["p99_ms"] >= first["p50_ms"] > 0), (200, True))
            self.assertEqual(servers.load(server, 4, datasource="a", calls=50, first=200)["calls"], 50)
            self.assertEqual(servers.load(server, 4, datasource="b", calls=20, intervals=16)["calls"], 20)
            self.assertEqual(servers.load(server, 1, what="interlock-list", datasource="a", calls=200)["calls"], 200)
            self.assertEqual(servers.load(server, 4, what="interlock-append", datasource="c", calls=50,
                                          intervals=100)["calls"], 50)

    def test_a_refusal_fails_the_run(self):
        with servers.serving(servers.Interlock) as (server,):
            with self.assertRaises(servers.Failed):
                servers.load(server, 1, what="interlock-list", datasource="empty", calls=1)


if __name__ == "__main__":
    unittest.main()
