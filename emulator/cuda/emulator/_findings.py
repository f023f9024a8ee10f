# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Write what processes on the software device found in kernels as SARIF 2.1.0 or JSON."""

import json
import os
from pathlib import Path
from urllib.parse import quote

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def read_findings(folder):
    """Return the findings of all processes as a list of dicts, the same one once with its ``count``."""
    found = {}
    for path in sorted(Path(folder).glob("*.findings")):
        for text in path.read_text(errors="replace").splitlines():
            row = json.loads(text)
            key = row["kind"], row["kernel"], row["file"], row["line"]
            found.setdefault(key, {**row, "count": 0})["count"] += 1
    return [found[key] for key in sorted(found)]


def write_findings(findings, file):
    """Write the findings to a file: as JSON if its name ends with .json, otherwise as SARIF."""
    data = findings if str(file).endswith(".json") else _sarif(findings)
    with open(file, "w") as out:
        json.dump(data, out, indent=2)
        out.write("\n")


def _sarif(findings):
    kinds = sorted({row["kind"] for row in findings})
    rules = [{"id": kind, "shortDescription": {"text": kind.replace("-", " ")}} for kind in kinds]
    driver = {"name": "cuda.emulator", "rules": rules}
    results = [_result(row, kinds.index(row["kind"])) for row in findings]
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _uri(file):
    """Return a file's relative URI, which code hosts look for in the repository, or a file outside as file://."""
    path = Path(os.path.relpath(file))
    return path.resolve().as_uri() if ".." in path.parts else quote(path.as_posix())


def _result(row, rule):
    result = {
        "ruleId": row["kind"],
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": row["text"]},
        "occurrenceCount": row["count"],
        "properties": {name: row[name] for name in ("kernel", "block", "thread")},
    }
    if row["file"]:
        place = {"artifactLocation": {"uri": _uri(row["file"])}}
        place |= {"region": {"startLine": row["line"]}} if row["line"] > 0 else {}
        result["locations"] = [{"physicalLocation": place}]
    if row["reason"]:
        result["suppressions"] = [{"kind": "external", "justification": row["reason"]}]
    return result
