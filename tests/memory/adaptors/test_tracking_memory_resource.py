# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The report of memory that was not freed, over host memory, so that no driver is needed."""

import subprocess
import sys
import time
import warnings

import pytest

from cuda.core import StatisticsMemoryResource, TrackingMemoryResource
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from support.memory import HostMemoryResource


@pytest.fixture
def mr():
    """A tracking resource that is closed without its warning."""
    mr = TrackingMemoryResource(HostMemoryResource(), depth=2)
    yield mr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mr.close()


def allocate(mr, size):
    return mr.allocate(size, stream=LEGACY_DEFAULT_STREAM)


# The line that reports name.
LINE = allocate.__code__.co_firstlineno + 1


def test_call_size_and_age_are_recorded(mr):
    before = time.monotonic()
    buffer = allocate(mr, 100)
    (found,) = mr.allocations
    assert (found.pointer, found.size, found.stream) == (buffer.handle, 100, 1)
    assert before <= found.time <= time.monotonic()
    assert 0 <= found.age < 60
    (file, line, function), (_, _, caller) = found.stack
    assert (file, line, function) == (__file__, LINE, "allocate")
    assert caller == "test_call_size_and_age_are_recorded"
    buffer.close()
    assert mr.allocations == ()


def test_frames_of_this_package_are_left_out(mr):
    buffer = allocate(StatisticsMemoryResource(mr), 8)
    assert mr.allocations[0].stack[0][:2] == (__file__, LINE)
    buffer.close()


@pytest.mark.parametrize("depth", [1, 3])
def test_depth_is_the_number_of_calls(depth):
    mr = TrackingMemoryResource(HostMemoryResource(), depth=depth)
    buffer = allocate(mr, 8)
    assert len(mr.allocations[0].stack) == depth
    buffer.close()
    mr.close()


@pytest.mark.parametrize(
    ("depth", "error"),
    [(0, ValueError), (-1, ValueError), (-(10**5000), ValueError), (1.5, TypeError), (True, TypeError)],
    ids=["zero", "negative", "huge", "float", "bool"],
)
def test_bad_depths_are_refused(depth, error):
    with pytest.raises(error, match="depth must be"):
        TrackingMemoryResource(HostMemoryResource(), depth=depth)


def test_report_names_the_largest_first(mr):
    assert mr.report() == "0 allocations, 0 bytes"
    buffers = [allocate(mr, size) for size in (10, 30, 20)]
    head, *lines = mr.report().splitlines()
    assert head == "3 allocations, 60 bytes"
    assert [line.split()[0] for line in lines] == ["30", "20", "10"]
    for buffer, line in zip([buffers[1], buffers[2], buffers[0]], lines, strict=True):
        assert f"bytes at {buffer.handle:#x}, 0." in line
        assert f"s old, from {__file__}:{LINE} in allocate, called from {__file__}:" in line
    for buffer in buffers:
        buffer.close()


def test_long_reports_are_shortened(mr):
    buffers = [allocate(mr, 8) for _ in range(25)]
    lines = mr.report().splitlines()
    assert lines[0] == "25 allocations, 200 bytes"
    assert lines[-1] == "  and 5 more"
    assert len(lines) == 22
    for buffer in buffers:
        buffer.close()


def test_failed_allocation_is_not_recorded(mr, monkeypatch):
    def fail(size, *, stream):
        raise MemoryError

    monkeypatch.setattr(mr.upstream, "allocate", fail)
    with pytest.raises(MemoryError):
        allocate(mr, 8)
    assert mr.allocations == ()


def test_close_warns_once_of_memory_in_use(mr):
    buffer = allocate(mr, 100)
    with pytest.warns(RuntimeWarning, match=f"100 bytes at .* {__file__}:{LINE} in allocate") as caught:
        mr.close()
    assert caught[0].filename == __file__
    mr.close()
    buffer.close()
    assert (mr.allocations, mr.upstream.blocks) == ((), {})


def test_close_does_not_warn_if_all_memory_was_freed(mr):
    allocate(mr, 100).close()
    mr.close()
    assert mr.is_closed


def run(lines):
    """Run a program and return what it wrote to stderr."""
    head = [
        "from cuda.core import TrackingMemoryResource",
        "from cuda.core._stream import LEGACY_DEFAULT_STREAM",
        "from support.memory import HostMemoryResource",
        "mr = TrackingMemoryResource(HostMemoryResource())",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(head + lines)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


ALLOCATE = "left = mr.allocate(77, stream=LEGACY_DEFAULT_STREAM)"


def test_end_of_the_program_warns_of_memory_in_use(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    messages = run([ALLOCATE])
    assert "<string>:5: RuntimeWarning: not freed when the program ended: 1 allocations, 77 bytes" in messages
    assert "from <string>:5 in <module>" in messages


@pytest.mark.parametrize(
    "end", ["left.close()", "del left", "import warnings; warnings.simplefilter('ignore'); mr.close()"]
)
def test_end_of_the_program_does_not_warn_otherwise(monkeypatch, end):
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    assert run([ALLOCATE, end]) == ""
