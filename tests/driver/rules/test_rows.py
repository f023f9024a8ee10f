# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tests cover everything that classic programs use: the rows of ``rows.txt``."""

import ast
import functools
import re
from pathlib import Path

from driver.rules.test_names import public_names

HERE = Path(__file__).resolve().parent
DRIVER = HERE.parent


def rows():
    """Yield mark, names and tests of each row."""
    entries = []
    for line in (HERE / "rows.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("     + "):
            entries[-1][1].extend(line[7:].split())
        elif line.startswith(" "):
            entries[-1][2].append(line.strip())
        else:
            mark, *names = line.split()
            entries.append((mark, names, []))
    return entries


@functools.cache
def texts_of(file):
    """Return the texts of the tests in a file, each with the definitions of the file that it uses."""
    path = DRIVER / f"{file}.py" if "/" in file else DRIVER / f"test_{file}.py"
    source = path.read_text()
    texts = {}
    for node in ast.parse(source).body:
        text = ast.get_source_segment(source, node)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            decorators = [ast.get_source_segment(source, item) for item in node.decorator_list]
            texts[node.name] = "\n".join([*decorators, text])
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                texts |= {name.id: text for name in ast.walk(target) if isinstance(name, ast.Name)}
    return {name: with_definitions(name, texts) for name in texts if name.startswith("test_")}


def with_definitions(name, texts):
    found, left = {name}, [name]
    while left:
        words = set(re.findall(r"\w+", texts[left.pop()])) & set(texts)
        left += [word for word in words - found if not word.startswith("test_")]
        found |= words
    return "\n".join(texts[word] for word in found)


@functools.cache
def known_names() -> set[str]:
    return {name for _, _, name in public_names()}


def identifiers(names):
    """Return the names of a row that are Python identifiers. Other names are descriptions."""
    return [name for name in names if name in known_names()]


def test_rows_have_tests_that_use_their_names(device):
    assert len(rows()) > 200
    for mark, names, tests in rows():
        assert mark in ("must", "should", "rare", "ours") and tests, names
        text = ""
        for test in tests:
            file, _, function = test.rpartition(".")
            known = texts_of(file)
            assert f"test_{function}" in known, test
            text += known[f"test_{function}"]
        words = set(re.findall(r"\w+", text))
        assert [name for name in identifiers(names) if name not in words] == [], tests


def test_every_public_name_is_in_a_row(device):
    listed = {name for _, names, _ in rows() for name in names}
    modules = {path.rpartition(".")[2] for path, _, _ in public_names()}
    members = {full for _, full, _ in public_names() if "." in full}
    names = {name for _, _, name in public_names()} - {full.rpartition(".")[2] for full in members}
    assert sorted(names - modules - listed) == []
