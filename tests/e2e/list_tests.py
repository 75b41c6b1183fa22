#!/usr/bin/env python3
"""Prints the tests of a unittest file, `Class.method` a line, without importing it."""
import ast
import pathlib
import sys


def main():
    path = pathlib.Path(__file__).parent / sys.argv[1]
    classes = {node.name: node for node in ast.parse(path.read_text()).body
               if isinstance(node, ast.ClassDef)}

    def methods(node):
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in classes:
                yield from methods(classes[base.id])
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and item.name.startswith("test_"):
                yield item.name

    for name, node in classes.items():
        # A class of tests says so by its bases; what only lends methods has none.
        if any(isinstance(base, ast.Name) and base.id.endswith(("TestCase", "EndToEnd"))
               or isinstance(base, ast.Attribute) for base in node.bases):
            for method in methods(node):
                print(f"{name}.{method}")


main()
