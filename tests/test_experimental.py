# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The deprecated name of the package."""

import importlib
import subprocess
import sys

import pytest

import cuda.core
import cuda.core.graph
import cuda.core.utils

PROGRAM = """
from cuda.core.experimental import Device, Graph, LaunchConfig, Program, launch
from cuda.core.experimental.utils import StridedMemoryView
import cuda.core.experimental as cc
import cuda.core.experimental.system.typing as typing
import cuda.core, cuda.core.graph, cuda.core.utils, cuda.core.system.typing

assert Device is cuda.core.Device and launch is cuda.core.launch and Graph is cuda.core.graph.Graph
assert StridedMemoryView is cuda.core.utils.StridedMemoryView
assert cc.utils is cuda.core.utils and cc.system is cuda.core.system
assert typing is cuda.core.system.typing
assert cc.utils.__spec__.name == cc.utils.__name__ == "cuda.core.utils"
print("done")
"""


@pytest.fixture
def alias():
    with pytest.warns(DeprecationWarning, match="import the same names from cuda.core"):
        module = importlib.import_module("cuda.core.experimental")
    yield module
    for name in [name for name in sys.modules if name.startswith("cuda.core.experimental")]:
        del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "_Aliases"]
    vars(cuda.core).pop("experimental", None)


def test_programs_of_the_old_name_run():
    result = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:cuda.core.experimental:DeprecationWarning", "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.stdout, result.returncode) == ("done\n", 0), result.stderr


def test_warning_names_the_line_of_the_import(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys\nimport cuda.core.experimental\n")
    result = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60)
    assert f"{program}:2: DeprecationWarning: cuda.core.experimental is deprecated" in result.stderr


def test_star_import_provides_all_names(alias):
    namespace = {}
    exec("from cuda.core.experimental import *", namespace)
    assert set(cuda.core.__all__) <= set(namespace)
    assert namespace["GraphBuilder"] is cuda.core.graph.GraphBuilder
    assert set(alias.__all__) <= set(dir(alias))


def test_unknown_names_are_rejected(alias):
    with pytest.raises(AttributeError, match="module 'cuda.core.experimental' has no attribute 'NoSuchName'"):
        alias.NoSuchName  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        importlib.import_module("cuda.core.experimental.no_such_module")
    assert sys.meta_path[-1].find_spec("another.package") is None
