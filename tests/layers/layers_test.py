#!/usr/bin/env python3
"""Holds the layer table: which folder may include which.

A layer that nothing holds rots. The table is written out here, and not read from the
CMake files, so that a change to it is a change that someone sees.
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

LAYERS = {
    "lib/time": [],
    "lib/store": ["lib/time"],
    "lib/druid": ["lib/time"],
    "lib/audit": ["lib/store", "lib/time"],
    "lib/work": ["lib/store", "lib/time"],
    "lib/lease": ["lib/audit", "lib/store", "lib/time"],
    "lib/verify": ["lib/druid", "lib/time"],
    "lib/guard": ["lib/lease", "lib/work", "lib/druid", "lib/store", "lib/time"],
    "lib/seal": ["lib/verify", "lib/audit", "lib/druid", "lib/store", "lib/time"],
    "lib/sweep": ["lib/verify", "lib/guard", "lib/lease", "lib/work", "lib/druid", "lib/store",
                  "lib/time"],
    "lib/backfill": ["lib/lease", "lib/seal", "lib/guard", "lib/verify", "lib/work", "lib/audit",
                     "lib/druid", "lib/store", "lib/time"],
    "lib/drop": ["lib/lease", "lib/seal", "lib/verify", "lib/work", "lib/audit", "lib/druid",
                 "lib/store", "lib/time"],
    "lib/simulator": ["lib/time"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
WIRE = re.compile(r"(\.pb\.h$|^grpc|^google/protobuf)")


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1)


def sources(folder):
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cc"))


def layer_of(path):
    return "/".join(path.relative_to(ROOT).parts[:2])


def faults():
    for path in sources("lib"):
        layer = layer_of(path)
        for number, name in includes(path):
            where = f"{path.relative_to(ROOT)}:{number}"
            if WIRE.search(name):
                yield f"{where}: lib/ sees no wire type, but includes {name}"
            if not name.startswith(("lib/", "server/", "client/")):
                continue
            target = "/".join(name.split("/")[:2])
            if target != layer and target not in LAYERS.get(layer, []):
                yield f"{where}: {layer} may not include {name}"
    for path in sources("client"):
        for number, name in includes(path):
            if name.startswith("server/") or (name.startswith("lib/")
                                              and not name.startswith("lib/time/")):
                yield f"{path.relative_to(ROOT)}:{number}: client may not include {name}"


class Layers(unittest.TestCase):
    def test_every_folder_of_lib_is_in_the_table(self):
        folders = {f"lib/{p.name}" for p in (ROOT / "lib").iterdir() if p.is_dir()}
        self.assertLessEqual(folders, set(LAYERS))

    def test_includes_follow_the_table(self):
        self.assertEqual([], list(faults()))

    def test_the_table_has_no_cycle(self):
        done = []
        rest = dict(LAYERS)
        while rest:
            free = [layer for layer, uses in rest.items() if all(u in done for u in uses)]
            self.assertTrue(free, f"a cycle among {sorted(rest)}")
            for layer in free:
                done.append(layer)
                del rest[layer]


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
