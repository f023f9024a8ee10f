# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The runner of programs of other libraries counts their outcomes, and fails if one fails."""

import ast
import json
import sys
import zipfile

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
    with pytest.raises(SystemExit, match="there is no program no_such; there are absent, bad, good"):
        clients.main(["no_such", "good"], programs)


def test_program_that_never_ends_is_stopped(tmp_path):
    program = tmp_path / "endless.py"
    program.write_text("print('checks: 1', flush=True)\nwhile True: pass")
    outcome = clients.run("endless", [sys.executable, str(program)], [], 0.5)
    assert (outcome.result, outcome.status) == ("timed out", None)


def test_program_declares_its_time_limit(tmp_path):
    program = tmp_path / "long.py"
    program.write_text("# needs: json\n# limit: 600\n")
    assert clients.limit_of(program) == 600
    program.write_text("# needs: json\n")
    assert clients.limit_of(program) == clients.SECONDS


def test_programs_run_in_an_environment_of_wheels(programs, tmp_path, capsys):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "cuda_core-1.2.2-py3-none-any.whl").write_text("the official package, which is left out")
    with zipfile.ZipFile(wheels / "sample-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("only_in_the_wheel.py", "")
        info = "sample-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    (programs / "absent.py").write_text("# needs: only_in_the_wheel\nprint('checks: 3')")
    assert clients.main(["absent", "--wheels", str(wheels)], programs) == 0
    assert "{'checks': 3}" in capsys.readouterr().out


@pytest.mark.parametrize("program", sorted(clients.PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_programs_declare_what_they_need_and_print_their_checks(program):
    text = program.read_text()
    assert clients.needs_of(program)
    assert 'print(f"checks: {checks}")' in text
    assert ast.get_docstring(ast.parse(text))
