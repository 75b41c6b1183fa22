#!/usr/bin/env python3
"""The real Prometheus scrapes a run in which two versions are live and are mended: the
alert goes pending, firing, resolved. Its rules are the ones that are shipped, with a shorter
`for`."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, hours, wait_for  # noqa: E402
from prometheus import Prometheus  # noqa: E402
from verdicts_test import NOWHERE, VerdictSite  # noqa: E402

SWEEPS = ('grace {{ nanos: 1000000 }} sweep_interval {{ seconds: 1 }} '
          'sweep_datasources: "{datasource}" sweep_requests_per_second: 50')


class OnDruidAlert(VerdictSite, EndToEnd):
    def scrape(self):
        prometheus = Prometheus(self.folder, self.server.admin)
        self._running.append(prometheus)
        return prometheus

    def goes(self, prometheus, alert, state):
        wait_for(f"{alert} to be {state or 'resolved'}",
                 lambda: [a["state"] for a in prometheus.alerts(alert)
                         if a["labels"].get("datasource") == self.datasource]
                 == ([state] if state else []))

    def open_findings(self):
        code, reply, error = self.server.ctl("findings", self.datasource)
        self.assertEqual(code, 0, error)
        return reply.get("findings", [])

    def test_two_live_versions_fire_and_resolve_when_mended(self):
        self.begin(SWEEPS.format(datasource=self.datasource))
        self.events({10: 5})
        self.write()
        self.becomes("SINGLE_VERSION", "--wait", "30s")
        prometheus = self.scrape()
        self.goes(prometheus, "InterlockDoubleVersion", None)
        self.rules(NOWHERE)
        self.write()
        self.goes(prometheus, "InterlockDoubleVersion", "pending")
        self.goes(prometheus, "InterlockDoubleVersion", "firing")
        double = [f for f in self.open_findings() if f["verdict"]["kind"] == "DOUBLE_VERSION"]
        self.assertEqual([f["interval"] for f in double], [hours(10, 11)])
        self.rules([])
        self.mark_unused(double[0]["verdict"]["segment_ids"])
        self.goes(prometheus, "InterlockDoubleVersion", None)
        wait_for("the findings to close by themselves", lambda: not self.open_findings())
        code, reply, _ = self.server.ctl("findings", self.datasource, "--state", "CLOSED")
        self.assertIn(double[0]["finding_id"], [f["finding_id"] for f in reply["findings"]])

    def test_rows_that_count_twice_fire_and_resolve_when_recomputed(self):
        self.begin(SWEEPS.format(datasource=self.datasource))
        self.events({10: 40})
        self.write()
        self.becomes("SINGLE_VERSION", "--wait", "30s")
        prometheus = self.scrape()
        self.write(append=True)
        self.goes(prometheus, "InterlockDuplicateRows", "firing")
        self.write()
        self.goes(prometheus, "InterlockDuplicateRows", None)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
