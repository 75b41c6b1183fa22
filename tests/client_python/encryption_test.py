"""Mutual TLS, with certificates made by the commands that deploy/kubernetes/README.md gives."""
import concurrent.futures
import pathlib
import re
import subprocess
import tempfile
import unittest

import grpc
import interlock
from fake_interlock import FakeInterlock
from interlock.v1 import server_pb2

README = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "kubernetes" / "README.md"


def commands():
    """The indented block that begins with the authority's own certificate."""
    text = README.read_text(encoding="utf-8")
    return re.search(r"(?:^    .*\n)*^    openssl req -x509.*\n(?:^    .*\n)*", text, re.M).group(0)


class Encryption(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        made = subprocess.run(["bash", "-euc", commands()], cwd=cls.folder, check=False,
                              capture_output=True, text=True, timeout=60)
        if made.returncode != 0:
            raise AssertionError(made.stderr)
        cls.server = FakeInterlock()
        cls.server.answers["Server.GetStatus"] = server_pb2.GetStatusResponse(version="0.1.0")
        grpc_server = grpc.server(concurrent.futures.ThreadPoolExecutor(2), handlers=(cls.server,))
        credentials = grpc.ssl_server_credentials(
            [(cls.read("interlock.key"), cls.read("interlock.crt"))],
            root_certificates=cls.read("ca.crt"), require_client_auth=True)
        cls.address = f"localhost:{grpc_server.add_secure_port('127.0.0.1:0', credentials)}"
        grpc_server.start()
        cls.addClassCleanup(lambda: grpc_server.stop(0).wait())

    @classmethod
    def read(cls, name):
        return (cls.folder / name).read_bytes()

    def client(self, **files):
        client = interlock.Client(self.address, timeout="1s", **{
            name: self.folder / file for name, file in files.items()})
        self.addCleanup(client.close)
        return client

    def test_a_caller_with_a_certificate_of_the_authority_comes_in(self):
        client = self.client(ca="ca.crt", cert="nightly.crt", key="nightly.key")
        self.assertEqual(client.status().version, "0.1.0")

    def test_a_token_goes_along_where_nobody_reads_it(self):
        client = interlock.Client(self.address, token="secret", ca=self.folder / "ca.crt",
                                  cert=self.folder / "nightly.crt", key=self.folder / "nightly.key")
        self.addCleanup(client.close)
        client.status()
        self.assertEqual(self.server.calls[-1][2]["authorization"], "Bearer secret")

    def test_without_one_or_in_the_clear_nobody_does(self):
        for files in [{"ca": "ca.crt"}, {}]:
            with self.subTest(files), self.assertRaises(interlock.NotReachable):
                self.client(**files).status()

    def test_a_server_of_another_authority_is_not_believed(self):
        with self.assertRaises(interlock.NotReachable):
            self.client(ca="nightly.crt", cert="nightly.crt", key="nightly.key").status()


if __name__ == "__main__":
    unittest.main()
