"""The package as its users get it: from the repository, and from a source archive."""
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = "import sys, setuptools.build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"


def build(what, folder, out):
    """What pip does in a folder: a wheel, or a source archive. Gives its path."""
    done = subprocess.run([sys.executable, "-c", BUILD, what, str(out)], cwd=folder, check=False,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return out / done.stdout.splitlines()[-1]


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_installed_one_has_stubs_types_and_what_they_need(self):
        files = {str(file) for file in importlib.metadata.files("interlock-druid")}
        for wanted in ["interlock/py.typed", "interlock/messages.py", "interlock/v1/__init__.py",
                       "interlock/v1/reservations_pb2.py", "interlock/v1/reservations_pb2.pyi",
                       "interlock/v1/reservations_pb2_grpc.py"]:
            self.assertIn(wanted, files)
        self.assertFalse([file for file in files if file.startswith("google/")],
                         "google.rpc is googleapis-common-protos' to bring")
        needs = importlib.metadata.requires("interlock-druid")
        tool = importlib.metadata.version("grpcio-tools")
        self.assertIn(f"grpcio>={tool}", needs)
        self.assertTrue([need for need in needs if need.startswith("protobuf<") or ",<" in need])

    def test_a_source_archive_builds_the_same_wheel_far_from_the_repository(self):
        repository = self.folder / "repository"
        ignored = shutil.ignore_patterns("build", "*.egg-info", "*_pb2*", "messages.py", "dist")
        shutil.copytree(ROOT / "client/python", repository / "client/python", ignore=ignored)
        shutil.copytree(ROOT / "proto", repository / "proto")
        shutil.copy(ROOT / "CMakeLists.txt", repository)
        archive = build("build_sdist", repository / "client" / "python", self.folder)
        alone = self.folder / "alone"
        with tarfile.open(archive) as opened:
            opened.extractall(alone)
        wheel = build("build_wheel", next(alone.iterdir()), self.folder)
        with zipfile.ZipFile(wheel) as opened:
            names = set(opened.namelist())
        installed = {str(file) for file in importlib.metadata.files("interlock-druid")
                     if str(file).startswith("interlock/") and "__pycache__" not in str(file)}
        self.assertEqual({name for name in names if name.startswith("interlock/")}, installed)
        version = importlib.metadata.version("interlock-druid")
        self.assertIn(f"interlock_druid-{version}-", os.path.basename(wheel))

    def test_every_message_of_a_reply_has_words(self):
        text = pathlib.Path(next(
            file for file in importlib.metadata.files("interlock-druid")
            if str(file) == "interlock/messages.py").locate()).read_text(encoding="utf-8")
        self.assertNotIn('""""""', text)
        self.assertIn('"""Its deadline, exact: at this instant the lease is over."""', text)


if __name__ == "__main__":
    unittest.main()
