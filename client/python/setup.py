"""Makes the stubs while the package is built, and says what they need to run.

Generated code runs only with the protobuf of its own major version or the next, and a
grpcio not older than the tool that made it. So the requirements are read from that tool
and not guessed. To build for an older protobuf, pin the tool: PIP_CONSTRAINT=FILE with a
line such as `grpcio-tools==1.62.3`.
"""
import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
COMMON_PROTOS = "googleapis-common-protos>=1.63"


def version() -> str:
    """The project's; a source archive has it in PKG-INFO."""
    cmake = HERE.parents[1] / "CMakeLists.txt"
    if (HERE / "PKG-INFO").exists():
        return re.search(r"^Version: (\S+)", (HERE / "PKG-INFO").read_text(), re.M).group(1)
    return re.search(r"project\(interlock VERSION ([0-9.]+)", cmake.read_text()).group(1)


def protobuf_of_the_stubs() -> str:
    """`>=X,<Y` for the protobuf that the tool at hand generates for."""
    probe = subprocess.run(
        [sys.executable, str(HERE / "generate"), "--protobuf-version"],
        check=True, capture_output=True, text=True)
    major, minor, patch = (int(part) for part in probe.stdout.split("."))
    return f"protobuf>={major}.{minor}.{patch},<{major + 2}"


class BuildWithStubs(build_py):
    """build_py, and the stubs beside what it copied."""

    def run(self) -> None:
        super().run()
        out = HERE if self.editable_mode else pathlib.Path(self.build_lib)
        subprocess.run([sys.executable, str(HERE / "generate"), "--out", str(out)], check=True)


class ArchiveWithProtos(sdist):
    """sdist, with the API's definition, which stands outside of this folder."""

    def make_release_tree(self, base_dir: str, files: list) -> None:
        super().make_release_tree(base_dir, files)
        target = pathlib.Path(base_dir) / "proto" / "interlock" / "v1"
        source = HERE / "proto" if (HERE / "proto").exists() else HERE.parents[1] / "proto"
        shutil.copytree(source / "interlock" / "v1", target, dirs_exist_ok=True)


setup(
    version=version(),
    install_requires=[
        "grpcio>=" + importlib.metadata.version("grpcio-tools"),
        protobuf_of_the_stubs(),
        COMMON_PROTOS,
    ],
    cmdclass={"build_py": BuildWithStubs, "sdist": ArchiveWithProtos},
)
