# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings of public names run as they stand: each has its own imports, and shows its output."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from support import public

# These accept names from the calling program.
FRAGMENTS = {"cuda.core.driver.tools.context_dependent_memoize", "cuda.core.driver.tools.init_cuda_context_fixture"}


def documented() -> Iterator[tuple[str, str]]:
    """Yield the public names that have a docstring with an example, once."""
    import cuda.emulator

    emulator = [(f"cuda.emulator.{name}", getattr(cuda.emulator, name)) for name in cuda.emulator.__all__]
    seen: set[str] = set()
    for name, value in [*public.values(), *emulator]:
        members = (
            list(public.methods(value)) if isinstance(value, type) and value.__module__.startswith("cuda.") else []
        )
        members += [("__await__", value.__await__)] if hasattr(value, "__await__") else []
        for path, described in [(name, value), *((f"{name}.{member}", method) for member, method in members)]:
            doc = getattr(described, "__doc__", None) or ""
            if ">>> " in doc and doc not in seen and path not in FRAGMENTS:
                seen.add(doc)  # not again for classes that inherit the method
                yield path, doc


EXAMPLES = dict(documented())


EMULATOR = [name for name in EXAMPLES if name.startswith("cuda.emulator.")]
CLASSIC = [name for name in EXAMPLES if name.startswith("cuda.core.driver.")]
CORE = sorted(EXAMPLES.keys() - {*EMULATOR, *CLASSIC})
NEEDS = {
    "cuda.core.Device.peer_attributes": {"devices": 2},
    "cuda.core.ManagedBuffer.locations": {"cuda": (13, 4)},
    "cuda.core.graph.AllocNode.memcpy_batch": {"cuda": (13, 5)},
    "cuda.core.graph.GraphBuilder.recapture": {"cuda": (13, 3)},
}


def failures(name: str) -> str:
    """Run the examples of a docstring and return what went wrong."""
    report: list[str] = []
    test = doctest.DocTestParser().get_doctest(EXAMPLES[name], {"__name__": "__main__"}, name, name, 0)
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL).run(test, out=report.append)
    return "".join(report)


@pytest.mark.requires(device=True, nvrtc=True)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.requires(**NEEDS.get(name, {}))) for name in CORE],
)
def test_example_shows_its_output(name):
    assert failures(name) == ""


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("name", EMULATOR)
def test_example_of_the_software_device_shows_its_output(name):
    assert failures(name) == ""


@pytest.mark.requires(device=True, nvrtc=True)
@pytest.mark.parametrize("name", CLASSIC)
def test_classic_example_shows_its_output(name):
    # It makes a context current until the process ends.
    program = f"import doctest\ndoctest.run_docstring_examples({EXAMPLES[name]!r}, {{}}, name={name!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_most_used_names_have_examples():
    assert len(EXAMPLES) >= 80


def test_examples_have_prompts():
    plain = []
    for name, value in public.values():
        members = public.methods(value) if isinstance(value, type) else ()
        for path, described in [(name, value), *((f"{name}.{member}", method) for member, method in members)]:
            doc = getattr(described, "__doc__", None) or ""
            if re.search(r"^ *Examples\n *-+\n", doc, re.MULTILINE) and ">>> " not in doc:
                plain.append(path)
    assert plain == []
