# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The software bill of materials of a wheel (``tools/sbom.py``)."""

from __future__ import annotations

import importlib.metadata
import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.requires(source=True, modules=("Cython", "cuda.bindings"))


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A function that writes the bill and returns its text."""
    monkeypatch.chdir(ROOT)
    write_sbom = runpy.run_path("tools/sbom.py")["write_sbom"]

    def write():
        write_sbom(tmp_path / "sboms", "1.2.3+g12ab34cd")
        return (tmp_path / "sboms" / "cuda-core.cdx.json").read_text()

    return write


def test_equal_inputs_produce_equal_bytes(write, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert write() == write()
    assert json.loads(write())["metadata"]["timestamp"] == "1970-01-02T00:00:00Z"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert "timestamp" not in json.loads(write())["metadata"]


def test_package_is_not_mistaken_for_the_one_of_the_index(write):
    described = json.loads(write())["metadata"]["component"]
    assert described["purl"] == "pkg:generic/cuda-core@1.2.3%2Bg12ab34cd"
    assert described["authors"] == [{"name": "The cuda.core developers"}]


def test_every_component_is_listed_once_and_is_a_dependency(write):
    bill = json.loads(write())
    names = [component["bom-ref"] for component in bill["components"]]
    assert len(names) == len(set(names))
    assert bill["dependencies"] == [{"ref": "cuda-core", "dependsOn": names}]
    rows = {component["name"]: component for component in bill["components"]}
    assert rows["Cython"]["version"] == importlib.metadata.version("Cython")
    assert rows["numpy"]["scope"] == "required"
    assert rows["nvidia-nvvm"]["scope"] == "optional"
