"""The Kubernetes manifest: it parses, its parts name each other rightly, it runs with least
rights, and interlockd takes the configuration inside."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml
from google.protobuf import text_format
from grpc_tools import protoc

ROOT = pathlib.Path(__file__).resolve().parents[2]
MANIFEST = ROOT / "deploy" / "kubernetes" / "interlock.yaml"
INTERLOCKD = os.environ.get("INTERLOCKD")


def of_kind(kind, name="interlock"):
    return next(part for part in PARTS if part["kind"] == kind and part["metadata"]["name"] == name)


PARTS = [part for part in yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8")) if part]
CONFIG = of_kind("ConfigMap")["data"]["interlockd.textproto"]
POD = of_kind("StatefulSet")["spec"]["template"]
CONTAINER = POD["spec"]["containers"][0]
LABELS = POD["metadata"]["labels"]


def parsed(text):
    """The configuration as interlockd reads it, checked against its .proto."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["protoc", f"-I{ROOT / 'proto'}", f"-I{well_known()}", f"--python_out={folder}",
                 "interlock/config/v1/config.proto"]
        if protoc.main(words) != 0:
            raise AssertionError("config.proto does not compile")
        made = pathlib.Path(folder) / "interlock" / "config" / "v1" / "config_pb2.py"
        spec = importlib.util.spec_from_file_location("interlock_config_pb2", made)
        module = sys.modules.setdefault(spec.name, importlib.util.module_from_spec(spec))
        if not hasattr(module, "ServerConfig"):
            spec.loader.exec_module(module)
        return text_format.Parse(text, module.ServerConfig())


def well_known():
    return pathlib.Path(protoc.__file__).parent / "_proto"


class Manifest(unittest.TestCase):
    def test_has_what_it_says_once_each(self):
        names = [(part["kind"], part["metadata"]["name"]) for part in PARTS]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual({kind for kind, _ in names},
                         {"ServiceAccount", "ConfigMap", "Service", "StatefulSet",
                          "PodDisruptionBudget", "NetworkPolicy"})
        self.assertFalse([part for part in PARTS if "namespace" in part["metadata"]],
                         "the namespace is kubectl's to name")

    def test_everything_that_selects_pods_selects_these(self):
        self.assertEqual(of_kind("StatefulSet")["spec"]["selector"]["matchLabels"], LABELS)
        self.assertEqual(of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"], LABELS)
        self.assertEqual(of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"], LABELS)
        for name in ["interlock", "interlock-pods"]:
            self.assertEqual(of_kind("Service", name)["spec"]["selector"], LABELS)

    def test_ports_go_by_names_that_the_container_has(self):
        named = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
        used = [port["targetPort"] for part in PARTS if part["kind"] == "Service"
                for port in part["spec"]["ports"]]
        used += [port["port"] for rule in of_kind("NetworkPolicy")["spec"]["ingress"]
                 for port in rule["ports"]]
        used += [CONTAINER[probe]["httpGet"]["port"]
                 for probe in ["startupProbe", "livenessProbe", "readinessProbe"]]
        self.assertEqual(set(used), set(named))
        config = parsed(CONFIG).listen
        self.assertEqual(config.address, f"0.0.0.0:{named['grpc']}")
        self.assertEqual(config.admin_address, f"0.0.0.0:{named['admin']}")
        self.assertEqual(POD["metadata"]["annotations"]["prometheus.io/port"], str(named["admin"]))

    def test_the_governing_service_is_there_and_has_no_address(self):
        governing = of_kind("Service", of_kind("StatefulSet")["spec"]["serviceName"])
        self.assertEqual(governing["spec"]["clusterIP"], "None")

    def test_every_mount_has_its_volume_and_every_volume_its_mount(self):
        claims = of_kind("StatefulSet")["spec"]["volumeClaimTemplates"]
        volumes = {volume["name"] for volume in POD["spec"]["volumes"]}
        volumes |= {claim["metadata"]["name"] for claim in claims}
        self.assertEqual({mount["name"] for mount in CONTAINER["volumeMounts"]}, volumes)

    def test_the_embedded_store_has_one_replica_that_may_be_moved(self):
        self.assertTrue(parsed(CONFIG).store.HasField("sqlite"))
        self.assertEqual(of_kind("StatefulSet")["spec"]["replicas"], 1)
        self.assertEqual(of_kind("PodDisruptionBudget")["spec"]["maxUnavailable"], 1)


class LeastRights(unittest.TestCase):
    def test_the_pod_has_no_rights_that_it_does_not_need(self):
        pod, container = POD["spec"]["securityContext"], CONTAINER["securityContext"]
        self.assertTrue(pod["runAsNonRoot"])
        self.assertEqual(pod["seccompProfile"], {"type": "RuntimeDefault"})
        self.assertFalse(container["allowPrivilegeEscalation"])
        self.assertTrue(container["readOnlyRootFilesystem"])
        self.assertEqual(container["capabilities"], {"drop": ["ALL"]})
        self.assertFalse(POD["spec"]["automountServiceAccountToken"])

    def test_it_runs_as_the_user_that_the_image_was_made_for(self):
        dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
        user, group = re.search(r"^USER (\d+):(\d+)$", dockerfile, re.M).groups()
        context = POD["spec"]["securityContext"]
        self.assertEqual((context["runAsUser"], context["runAsGroup"], context["fsGroup"]),
                         (int(user), int(group), int(group)))

    def test_only_what_is_named_gets_in_or_out(self):
        policy = of_kind("NetworkPolicy")["spec"]
        self.assertEqual(set(policy["policyTypes"]), {"Ingress", "Egress"})
        for rule in policy["ingress"]:
            self.assertTrue(rule["from"] and rule["ports"])
        for rule in policy["egress"]:
            self.assertTrue(rule["to"] and rule["ports"])


class Configuration(unittest.TestCase):
    def test_callers_show_a_certificate(self):
        tls = parsed(CONFIG).tls
        self.assertTrue(tls.client_ca_file and tls.require_client_certificate,
                        "the consent that the admin port needs would open gRPC as well")

    def test_its_files_stand_where_something_is_mounted(self):
        config = parsed(CONFIG)
        mounts = {mount["mountPath"]: mount["name"] for mount in CONTAINER["volumeMounts"]}

        def mount_of(path):
            return mounts[str(pathlib.PurePosixPath(path).parent)]
        for path in [config.tls.certificate_file, config.tls.key_file, config.tls.client_ca_file]:
            self.assertEqual(mount_of(path), "tls")
        self.assertEqual(mount_of(config.store.sqlite.path), "store")
        self.assertEqual(mount_of(CONTAINER["args"][-1]), "config")

    def test_a_drain_ends_before_the_pod_is_killed(self):
        drain = parsed(CONFIG).listen.drain_timeout.seconds or 20
        self.assertGreater(POD["spec"]["terminationGracePeriodSeconds"], drain)

    def test_every_druid_it_asks_is_one_that_it_may_reach(self):
        druid = parsed(CONFIG).druid
        egress = of_kind("NetworkPolicy")["spec"]["egress"][0]
        ports = {port["port"] for port in egress["ports"]}
        namespace = egress["to"][0]["namespaceSelector"]["matchLabels"]
        for url in [*druid.coordinator_urls, *druid.overlord_urls, *druid.broker_urls]:
            host, port = re.fullmatch(r"https?://([^:/]+):(\d+)", url).groups()
            self.assertIn(int(port), ports)
            self.assertEqual(host.split(".")[1], namespace["kubernetes.io/metadata.name"])

    def test_what_is_commented_out_would_be_taken_too(self):
        more = re.sub(r"^( *)#   (ca_file|basic_auth)", r"\1\2", CONFIG, flags=re.M)
        druid = parsed(more).druid
        self.assertEqual(druid.ca_file, "/etc/interlock-druid/ca.crt")
        self.assertEqual(druid.basic_auth.password_file, "/etc/interlock-druid/password")


@unittest.skipUnless(INTERLOCKD, "INTERLOCKD does not name a built interlockd")
class Checked(unittest.TestCase):
    def check(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".textproto") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([INTERLOCKD, "--config", file.name, "--check"], check=False,
                                  capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def test_interlockd_takes_it(self):
        code, said = self.check(CONFIG)
        self.assertEqual(code, 0, said)

    def test_interlockd_would_not_take_it_open_to_everybody(self):
        code, said = self.check(re.sub("allow_admin_beyond_loopback: true", "", CONFIG))
        self.assertEqual(code, 2, said)
        self.assertIn("admin_address", said)


if __name__ == "__main__":
    unittest.main()
