# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What runs programs of other libraries counts what came of each, and fails when one does."""

import ast
import json
import sys

import pytest

from clients import __main__ as clients

PROGRAMS = {
    "good": "# needs: json\nprint('checks: 7')",
    "bad": "# needs: json, re\nprint('checks: 2')\nraise SystemExit(3)",
    "absent": "# needs: no_such_module_anywhere\n",
}


@pytest.fixture
def programs(tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in PROGRAMS.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_outcomes_are_counted(programs, tmp_path, capsys):
    file = tmp_path / "results.json"
    assert clients.main(["--json", str(file)], programs) == 1
    found = {row["program"]: (row["result"], row["status"], row["counts"]) for row in json.loads(file.read_text())}
    assert found == {
        "absent": ("not installed", None, {}),
        "bad": ("failed", 3, {"checks": 2}),
        "good": ("passed", 0, {"checks": 7}),
    }
    assert "not installed" in capsys.readouterr().out


def test_programs_are_chosen_by_name_and_compared(programs):
    assert clients.main(["good", "--peer", sys.executable], programs) == 0
    assert clients.main(["absent"], programs) == 0
    assert clients.main(["no_such_program"], programs) == 1


def test_a_program_that_never_ends_is_stopped(tmp_path):
    program = tmp_path / "endless.py"
    program.write_text("print('checks: 1', flush=True)\nwhile True: pass")
    outcome = clients.run("endless", [sys.executable, str(program)], [], 0.5)
    assert (outcome.result, outcome.status) == ("timed out", None)


def test_counts_of_suites_are_read():
    text = "Ran 2011 tests in 9.1s\n\nFAILED (failures=1, errors=2, skipped=30)\n"
    counts = {name: int(match[1]) for name, pattern in clients.COUNTS.items() if (match := pattern.search(text))}
    assert counts == {"ran": 2011, "failures": 1, "errors": 2, "skipped": 30}


@pytest.mark.parametrize("program", sorted(clients.PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_programs_say_what_they_need_and_count(program):
    text = program.read_text()
    assert clients.needs_of(program)
    assert 'print(f"checks: {checks}")' in text
    assert ast.get_docstring(ast.parse(text))
