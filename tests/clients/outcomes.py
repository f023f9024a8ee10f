# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Runs pytest on a module, or a part of it, and records each test when it begins and ends.

Called as ``outcomes.py FILE I:N MODULE``, for part I of N. The records of tests that ended are complete even if the
process is killed. The program imports only pytest, so that any interpreter can run it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import zlib

import pytest

TEXT = 1500


class NamedModule(pytest.Module):
    """A module imported under its full name, which some tests read; pytest would derive another one from the path."""

    def _getobj(self):
        return importlib.import_module(self.imported_as)


class Recorder:
    """A plugin that appends a line of JSON for the beginning and for each outcome of a test."""

    def __init__(self, file: str, part: str, module: str):
        self.file, self.module = open(file, "a", buffering=1), module
        self.index, self.parts = map(int, part.split(":"))

    def write(self, **record) -> None:
        self.file.write(json.dumps(record) + "\n")

    def pytest_pycollect_makemodule(self, module_path, parent):
        made = NamedModule.from_parent(parent, path=module_path)
        made.imported_as = self.module
        return made

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if zlib.crc32(item.nodeid.encode()) % self.parts == self.index]

    def pytest_collectreport(self, report):
        if report.failed:
            self.write(test="(import)", outcome="error", text=report.longreprtext[-TEXT:])

    def pytest_runtest_logstart(self, nodeid):
        self.write(begun=nodeid)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            outcome = "failed" if report.when == "call" else "error"
            self.write(test=report.nodeid, outcome=outcome, text=report.longreprtext[-TEXT:])
        elif report.when == "call" or report.skipped:
            self.write(test=report.nodeid, outcome="xfailed" if hasattr(report, "wasxfail") else report.outcome)

    # A fixture of numba-cuda's tests; its definition is in the source repository, but not in the wheel.
    @pytest.fixture(scope="class")
    def initialize_from_pytest_config(self, request):
        request.cls._dump_failed_filechecks = False


def main(file: str, part: str, module: str) -> int:
    """Run the tests of a part of a module; return pytest's exit status."""
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(__file__)]  # not for the tests
    plugins = ["-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
    return pytest.main(
        ["-q", "--import-mode=importlib", "--tb=short", *plugins, "--pyargs", module], [Recorder(file, part, module)]
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
