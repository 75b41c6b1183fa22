"""The packaged Prometheus over one interlockd: scrapes it twice a second and knows the rules
that are shipped. Only how long a condition must hold is shorter."""
import json
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request

from harness import ROOT, wait_for

CONFIG = """
global: {{scrape_interval: 500ms, evaluation_interval: 500ms}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: interlock
    static_configs: [{{targets: ["127.0.0.1:{admin}"]}}]
"""


class Prometheus:
    def __init__(self, folder, admin):
        assert shutil.which("prometheus"), "no prometheus: deploy/packages/install prometheus"
        rules = (ROOT / "deploy/prometheus/interlock.rules.yml").read_text()
        (folder / "rules.yml").write_text(re.sub(r"for: \d+[mh]", "for: 3s", rules))
        config = folder / "prometheus.yml"
        config.write_text(CONFIG.format(rules=folder / "rules.yml", admin=admin))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        with open(folder / "prometheus.log", "w") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb",
                 f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
        wait_for("a first scrape", lambda: self.samples("interlock_store_up"), 60)

    def ask(self, path):
        try:
            with urllib.request.urlopen(f"{self.address}/api/v1/{path}", timeout=10) as reply:
                return json.load(reply)["data"]
        except OSError:
            return None  # it starts

    def alerts(self, name):
        """Those of this name: {"state": …, "labels": …}."""
        return [a for a in (self.ask("alerts") or {"alerts": []})["alerts"]
                if a["labels"]["alertname"] == name]

    def samples(self, query):
        return (self.ask("query?query=" + urllib.parse.quote(query)) or {"result": []})["result"]

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
