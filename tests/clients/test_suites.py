# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Suites of libraries run module by module: a process that dies or hangs ends only its module, and is named."""

import json
import os
import sys

import pytest

from clients import __main__ as clients
from clients import suites

MODULES = {
    "room/test_good.py": (
        "def test_a(): assert __name__ == 'library_tests.room.test_good'\ndef test_b(): pass\ndef test_c(): pass\n"
    ),
    "room/test_bad.py": (
        "import unittest, pytest\n"
        "class TestCase(unittest.TestCase):\n"
        "    def test_wrong(self): self.assertEqual(1, 2)\n"
        "    @unittest.expectedFailure\n"
        "    def test_expected(self): self.fail()\n"
        "    @unittest.skip('not here')\n"
        "    def test_skipped(self): pass\n"
        "def test_setup(no_such_fixture): pass\n"
    ),
    "room/test_dies.py": "import os\ndef test_a(): pass\ndef test_ends_the_process(): os._exit(9)\n",
    "room/test_broken.py": "import no_such_module_anywhere\n",
    "slow/test_left_out.py": "",
}


@pytest.fixture
def suite(tmp_path, monkeypatch):
    for name, text in MODULES.items():
        path = tmp_path / "library_tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in (path.parent, path.parent.parent):
            (folder / "__init__.py").touch()
        path.write_text(text)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    return suites.Suite("library_tests", parts={"room.test_good": 2}, alone=("room.test_bad",), left_out=("slow",))


def test_each_module_runs_in_its_own_process(suite, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(suites.SUITES, "sample", suite)
    file = tmp_path / "results.json"
    assert clients.main(["--suite", "sample", "--json", str(file)]) == 1
    (report,) = [suites.Report(row["interpreter"], row["modules"]) for row in json.loads(file.read_text())]
    report.modules = [suites.Module(**module) for module in report.modules]
    assert report.outcomes == {
        "room.test_good::test_a": "passed",
        "room.test_good::test_b": "passed",
        "room.test_good::test_c": "passed",
        "room.test_bad::TestCase::test_wrong": "failed",
        "room.test_bad::TestCase::test_expected": "xfailed",
        "room.test_bad::TestCase::test_skipped": "skipped",
        "room.test_bad::test_setup": "error",
        "room.test_dies::test_a": "passed",
        "room.test_dies::test_ends_the_process": "cut",
        "room.test_broken::(import)": "error",
    }
    assert report.not_ended == ["room.test_dies (died)"]
    assert report.counts["passed"] == 4
    shown = capsys.readouterr().out
    assert "10 tests" in shown and "cut room.test_dies::test_ends_the_process" in shown and "status 9" in shown


def test_modules_are_chosen_and_a_good_one_passes(suite, monkeypatch):
    monkeypatch.setitem(suites.SUITES, "sample", suite)
    assert clients.main(["room.test_good", "--suite", "sample"]) == 0


def test_slow_modules_begin_first_then_the_largest(suite):
    listed = suites.modules_of(sys.executable, suite)
    assert listed == ["room.test_good", "room.test_bad", "room.test_dies", "room.test_broken"]


def test_module_that_hangs_is_stopped(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 1000\n")
    python.chmod(0o755)
    (report,) = suites.run_suite([str(python)], suites.Suite("library_tests"), ["room.test_endless"], limit=0.2)
    assert report.not_ended == ["room.test_endless (cut)"]
    (report,) = suites.run_suite([str(python)], suites.Suite("library_tests"), ["room.test_endless"], seconds=0)
    assert report.not_ended == ["room.test_endless (not begun)"]


def test_unfinished_test_is_named_and_the_worst_outcome_counts():
    module = suites.Module("room.test_it")
    records = [
        {"begun": "file.py::test_a"},
        {"test": "file.py::test_a", "outcome": "failed", "text": "of a subtest"},
        {"test": "file.py::test_a", "outcome": "passed"},
        {"begun": "::test_b"},
    ]
    suites.read_outcomes(module, "\n".join(json.dumps(record) for record in records) + '\n{"te')
    assert module.outcomes == {"::test_a": "failed", "::test_b": "cut"}
    assert module.texts == {"::test_a": "of a subtest"}


def test_outcomes_of_interpreters_are_compared(capsys):
    ours = suites.Report("ours", [suites.Module("m", outcomes={"::a": "passed", "::b": "failed", "::c": "passed"})])
    peer = suites.Report("peer", [suites.Module("m", outcomes={"::a": "passed", "::b": "passed"})])
    expected = {"m::b": ["failed", "passed"], "m::c": ["passed", "missing"]}
    assert suites.differences([ours, peer]) == expected
    suites.show("sample", [ours, peer])
    assert "differs: m::b: failed, passed" in capsys.readouterr().out


def test_uninstalled_suite_is_an_error():
    with pytest.raises(LookupError, match="no_such_package was not found"):
        suites.modules_of(sys.executable, suites.Suite("no_such_package"))
