# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Writes the software bill of materials of a wheel: CycloneDX 1.6, in ``sboms`` of its metadata (PEP 770)."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import re
import tomllib
import uuid
from pathlib import Path
from urllib.parse import quote

__all__ = ["write_sbom"]

# Build requirements whose text is in the extensions: generated C++, declarations, and headers.
COMPILED_IN = ("Cython", "cuda-bindings", "nvidia-cuda-runtime")


def write_sbom(folder: Path, version: str) -> None:
    """Write ``cuda-core.cdx.json``: the package, what was compiled into it, and what it requires.

    Equal inputs give equal bytes. The time is that of ``SOURCE_DATE_EPOCH``, and left out without it.
    """
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    # Not pkg:pypi: the package of that name is another one.
    whole = component(project["name"], version, "generic") | {"bom-ref": "cuda-core"}
    whole |= {"description": project["description"], "authors": project["authors"]}
    whole["licenses"] = [{"license": {"id": project["license"]}}]
    parts = [component(name, importlib.metadata.version(name)) | {"scope": "excluded"} for name in COMPILED_IN]
    required = [requirement(line) for line in project["dependencies"]]
    optional = [requirement(line) | {"scope": "optional"} for line in project["optional-dependencies"]["cu13"]]
    names = {part["bom-ref"] for part in parts}
    components = parts + [one for one in required + optional if one["bom-ref"] not in names]
    metadata: dict[str, object] = {"component": whole}
    if "SOURCE_DATE_EPOCH" in os.environ:
        time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.UTC)
        metadata["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ")
    depends = [{"ref": "cuda-core", "dependsOn": [one["bom-ref"] for one in components]}]
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": metadata}
    bill |= {"components": components, "dependencies": depends}
    bill["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill)).urn
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cuda-core.cdx.json").write_text(json.dumps(bill, indent=2) + "\n")


def component(name: str, version: str | None = None, kind: str = "pypi") -> dict:
    purl = f"pkg:{kind}/{name.lower()}" + (f"@{quote(version)}" if version else "")
    found = {"type": "library", "bom-ref": name.lower(), "name": name, "purl": purl}
    return found | ({"version": version} if version else {})


def requirement(line: str) -> dict:
    """Return the component of a requirement, whose version is known only where it is installed."""
    name, versions = re.fullmatch(r"([\w-]+)(.*)", line).groups()
    properties = [{"name": "python:requires", "value": versions}] if versions else []
    return component(name) | {"scope": "required"} | ({"properties": properties} if properties else {})
