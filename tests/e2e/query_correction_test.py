#!/usr/bin/env python3
"""A query that runs beside a seal, on a Druid that runs queries as tasks.

Started by tests/druid/versions/run: the Druid of the other tests has no such extension.
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, RealDruid, hours  # noqa: E402
from seal_test import Seals  # noqa: E402


class QueryCorrection(EndToEnd):
    dimensions = ["site"]
    loaded, sealed, totals, correct = Seals.loaded, Seals.sealed, Seals.totals, Seals.correct

    def cluster(self):
        real = RealDruid()
        return real.druid(), real

    def test_a_query_runs_as_a_correction(self):
        druid, server, _ = self.loaded({10: 5, 11: 7})
        self.sealed(server, 10, 12)
        lines = "".join(json.dumps({"ts": f"2026-07-16T11:0{n}:00Z", "site": "s1", "bytes": 10}) + "\n"
                        for n in range(8))
        source = json.dumps({"type": "inline", "data": lines})
        query = self.folder / "query.sql"
        query.write_text(f"""
            REPLACE INTO "{self.datasource}"
            OVERWRITE WHERE __time >= TIMESTAMP '{{start}}' AND __time < TIMESTAMP '{{end}}'
            SELECT TIME_PARSE("ts") AS __time, "site", 1 AS "events", "bytes" AS "sent"
            FROM TABLE(EXTERN('{source}', '{{"type":"json"}}'))
              EXTEND ("ts" VARCHAR, "site" VARCHAR, "bytes" BIGINT)
            WHERE TIME_PARSE("ts") >= TIMESTAMP '{{start}}' AND TIME_PARSE("ts") < TIMESTAMP '{{end}}'
            PARTITIONED BY HOUR""")
        before = druid.fingerprint(self.datasource, hours(10, 12))
        correction, totals = self.correct(server, "--sql", query)
        self.assertEqual(correction["interval"], hours(11, 12))
        self.assertEqual(totals["events"], (7, 8, 1))
        self.assertEqual(totals["sent"], (721, 80, -641))
        self.assertEqual(druid.fingerprint(self.datasource, hours(10, 12)), before)


if __name__ == "__main__":
    unittest.main()
