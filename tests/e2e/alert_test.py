#!/usr/bin/env python3
"""The real Prometheus scrapes a run in which two versions are live and are mended: the
alert goes pending, firing, resolved. Its rules are the ones that are shipped, with a shorter
`for`."""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import ROOT, EndToEnd, hours, wait_for  # noqa: E402
from verdicts_test import NOWHERE, VerdictSite  # noqa: E402

CONFIG = """
global: {{scrape_interval: 500ms, evaluation_interval: 500ms}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: interlockd
    static_configs: [{{targets: ["127.0.0.1:{admin}"]}}]
"""
SWEEPS = ('grace {{ nanos: 1000000 }} sweep_interval {{ seconds: 1 }} '
          'sweep_datasources: "{datasource}" sweep_requests_per_second: 50')


class Prometheus:
    """The packaged one, in a folder."""

    def __init__(self, folder, admin):
        # Their conditions as shipped; only how long they must hold is shorter.
        rules = (ROOT / "deploy/prometheus/interlock.rules.yml").read_text()
        (folder / "rules.yml").write_text(re.sub(r"for: \d+m", "for: 3s", rules))
        (folder / "prometheus.yml").write_text(
            CONFIG.format(rules=folder / "rules.yml", admin=admin))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        with open(folder / "prometheus.log", "w") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml",
                 f"--storage.tsdb.path={folder}/tsdb", f"--web.listen-address=127.0.0.1:{port}"],
                stdout=log, stderr=log)

    def alerts(self, name, datasource):
        """States of the alert's instances that are about the datasource."""
        try:
            with urllib.request.urlopen(f"{self.address}/api/v1/alerts", timeout=10) as reply:
                alerts = json.load(reply)["data"]["alerts"]
        except (urllib.error.URLError, ConnectionError):
            return None
        return [a["state"] for a in alerts if a["labels"]["alertname"] == name
                and a["labels"].get("datasource") == datasource]

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


class OnDruidAlert(VerdictSite, EndToEnd):
    def setUp(self):
        super().setUp()
        if shutil.which("prometheus") is None:
            raise AssertionError("no prometheus: deploy/packages/install prometheus")

    def scrape(self):
        prometheus = Prometheus(self.folder, self.server.admin)
        self._running.append(prometheus)
        return prometheus

    def goes(self, prometheus, alert, state):
        wait_for(f"{alert} to be {state or 'resolved'}",
                 lambda: prometheus.alerts(alert, self.datasource) == ([state] if state else []))

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
