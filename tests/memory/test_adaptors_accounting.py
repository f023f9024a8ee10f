# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Adaptors that count, limit, log or track allocations, over host memory, so that most tests need no driver."""

import gc
import logging
import subprocess
import sys
import threading
import time
import warnings

import pytest

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    CachingMemoryResource,
    DeviceMemoryResource,
    LimitingMemoryResource,
    LoggingMemoryResource,
    MemoryStatistics,
    OutOfMemoryError,
    StatisticsMemoryResource,
    TrackingMemoryResource,
    VirtualMemoryResource,
)
from support.memory import HostMemoryResource


def allocate(mr, size):
    return mr.allocate(size, stream=LEGACY_DEFAULT_STREAM)


def test_statistics_are_a_plain_tuple_with_names():
    counts = MemoryStatistics(1, 2, 3, 4, 5, 6, 7)
    assert counts == (1, 2, 3, 4, 5, 6, 7)
    assert counts.current_bytes == 1 and counts.failed_count == 7
    with pytest.raises(AttributeError):
        counts.current_bytes = 0


def test_adaptors_that_count_share_one_base():
    assert issubclass(StatisticsMemoryResource, LimitingMemoryResource.__base__)


def test_freed_memory_is_not_in_use_in_nested_adaptors():
    upstream = HostMemoryResource()
    outer = StatisticsMemoryResource(StatisticsMemoryResource(upstream))
    buffer = outer.allocate(64, stream=LEGACY_DEFAULT_STREAM)
    assert outer.statistics.current_bytes == 64
    buffer.close()
    assert outer.statistics[:4] == (0, 0, 64, 1)


def test_failing_upstream_counts_as_a_failure_and_nothing_else():
    class Full(HostMemoryResource):
        def allocate(self, size, *, stream):
            raise MemoryError("full")

    mr = StatisticsMemoryResource(Full())
    with pytest.raises(MemoryError, match="full"):
        mr.allocate(8, stream=LEGACY_DEFAULT_STREAM)
    assert mr.statistics == (0, 0, 0, 0, 0, 0, 1)


@pytest.fixture
def counted():
    return StatisticsMemoryResource(HostMemoryResource())


def test_counts_begin_with_0(counted):
    assert counted.statistics == MemoryStatistics(0, 0, 0, 0, 0, 0, 0)


def test_each_allocation_and_each_free_counts(counted):
    first, second = allocate(counted, 100), allocate(counted, 50)
    first.close()
    third = allocate(counted, 10)
    assert counted.statistics == MemoryStatistics(
        current_bytes=60,
        current_count=2,
        peak_bytes=150,
        peak_count=2,
        total_bytes=160,
        total_count=3,
        failed_count=0,
    )
    del second, third
    gc.collect()
    assert (counted.statistics.current_bytes, counted.statistics.current_count) == (0, 0)


def test_allocations_of_0_bytes_are_counted(counted):
    allocate(counted, 0).close()
    assert (counted.statistics.total_count, counted.statistics.total_bytes) == (1, 0)


def test_peaks_can_be_reset(counted):
    held = allocate(counted, 10)
    allocate(counted, 100).close()
    assert (counted.statistics.peak_bytes, counted.statistics.peak_count) == (110, 2)
    counted.reset_peaks()
    assert (counted.statistics.peak_bytes, counted.statistics.peak_count) == (10, 1)
    assert counted.statistics.total_bytes == 110
    held.close()


def test_failures_are_counted_only_as_failures(counted):
    counted.upstream.error = MemoryError
    for _ in range(2):
        with pytest.raises(MemoryError):
            allocate(counted, 100)
    assert counted.statistics == MemoryStatistics(0, 0, 0, 0, 0, 0, failed_count=2)


def test_read_statistics_do_not_change(counted):
    before = counted.statistics
    held = allocate(counted, 10)
    assert before.current_bytes == 0
    held.close()


def test_threads_lose_no_count(counted):
    def work():
        for _ in range(500):
            allocate(counted, 8).close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = counted.statistics
    assert (counts.current_bytes, counts.current_count, counts.total_bytes, counts.total_count) == (0, 0, 16000, 2000)
    assert 1 <= counts.peak_count <= 4


@pytest.fixture
def limited():
    """A resource with a limit of 1000 bytes."""
    return LimitingMemoryResource(HostMemoryResource(), 1000)


@pytest.mark.parametrize(
    ("limit", "error"), [(-1, ValueError), (2**64, ValueError), (None, TypeError), (1.5, TypeError)]
)
def test_bad_limits_are_rejected(limit, error):
    with pytest.raises(error, match="limit"):
        LimitingMemoryResource(HostMemoryResource(), limit)


def test_memory_up_to_the_limit_is_allocated(limited):
    buffers = [allocate(limited, 600), allocate(limited, 400), allocate(limited, 0)]
    assert (limited.limit, limited.bytes_in_use) == (1000, 1000)
    for buffer in buffers:
        buffer.close()
    assert limited.bytes_in_use == 0


def test_memory_over_the_limit_raises_with_the_free_bytes(limited):
    held = allocate(limited, 600)
    with pytest.raises(OutOfMemoryError, match="401 bytes exceeds .* 400 of its 1000 bytes are free") as caught:
        allocate(limited, 401)
    error = caught.value
    assert isinstance(error, MemoryError)
    assert (error.free, error.total, error.code, error.name) == (400, 1000, 2, "CUDA_ERROR_OUT_OF_MEMORY")
    assert limited.upstream.blocks.keys() == {held.handle}
    allocate(limited, 400).close()
    held.close()
    assert limited.bytes_in_use == 0


def test_largest_size_does_not_wrap_around(limited):
    held = allocate(limited, 1)
    with pytest.raises(OutOfMemoryError):
        allocate(limited, 2**63 - 1)
    held.close()


def test_limit_of_0_bytes_allows_only_0_bytes():
    limited = LimitingMemoryResource(HostMemoryResource(), 0)
    allocate(limited, 0).close()
    with pytest.raises(OutOfMemoryError, match="0 of its 0 bytes"):
        allocate(limited, 1)


def test_failure_of_the_upstream_counts_nothing(limited):
    limited.upstream.error = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        allocate(limited, 10)
    assert limited.bytes_in_use == 0


def test_size_that_the_upstream_rounds_up_counts_in_full():
    class Rounding(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            return super().allocate(size + -size % 100, stream=stream)

    limited = LimitingMemoryResource(Rounding(), 250)
    held = allocate(limited, 110)
    assert (held.size, limited.bytes_in_use) == (200, 200)
    with pytest.raises(OutOfMemoryError, match="100 bytes exceeds .* 50 of its 250"):
        allocate(limited, 10)
    assert limited.bytes_in_use == 200
    assert len(limited.upstream.blocks) == 1
    held.close()
    assert (limited.bytes_in_use, limited.upstream.blocks) == (0, {})


def test_too_small_upstream_buffer_is_rejected_and_not_counted():
    class Short(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            return super().allocate(size // 2, stream=stream)

    limited = LimitingMemoryResource(Short(), 250)
    with pytest.raises(RuntimeError, match="Short.* returned a Buffer of 50 bytes"):
        allocate(limited, 100)
    assert limited.bytes_in_use == 0


def test_nested_limits_apply_both(limited):
    outer = LimitingMemoryResource(limited, 5000)
    with pytest.raises(OutOfMemoryError) as caught:
        allocate(outer, 2000)
    assert caught.value.total == 1000
    assert outer.bytes_in_use == 0


def test_limit_below_a_cache_counts_cached_memory():
    limited = LimitingMemoryResource(HostMemoryResource(), 4096)
    cache = CachingMemoryResource(limited)
    allocate(cache, 100).close()
    assert limited.bytes_in_use == 512
    over = LimitingMemoryResource(cache, 100)
    allocate(over, 100).close()
    assert (over.bytes_in_use, limited.bytes_in_use) == (0, 512)


def test_threads_never_exceed_the_limit_and_lose_no_byte():
    class Watching(HostMemoryResource):
        in_use = 0
        most = 0

        def __init__(self):
            super().__init__()
            self.lock = threading.Lock()

        def allocate(self, size, *, stream=None):
            with self.lock:
                self.in_use += size
                self.most = max(self.most, self.in_use)
            return super().allocate(size, stream=stream)

        def deallocate(self, ptr, size, *, stream):
            super().deallocate(ptr, size, stream=stream)
            with self.lock:
                self.in_use -= size

    limited = LimitingMemoryResource(Watching(), 1000)
    outcomes = []

    def work():
        for i in range(300):
            try:
                allocate(limited, 100 + 50 * (i % 5)).close()
                outcomes.append(True)
            except OutOfMemoryError:
                outcomes.append(False)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 2400
    assert limited.upstream.most <= 1000
    assert (limited.bytes_in_use, limited.upstream.in_use) == (0, 0)


def test_base_class_rejects_with_a_memory_error():
    limited = LimitingMemoryResource.__base__(HostMemoryResource(), 10)
    with pytest.raises(MemoryError, match="11 bytes"):
        allocate(limited, 11)


@pytest.mark.requires(vmm=True)
def test_virtual_memory_counts_with_its_granularity(device, stream):
    limited = LimitingMemoryResource(VirtualMemoryResource(device), 2**30)
    with limited.allocate(1, stream=stream) as buffer:
        assert limited.bytes_in_use == buffer.size > 1
    assert limited.bytes_in_use == 0


@pytest.mark.requires(mempool=True)
def test_memory_of_a_device_is_limited(device, stream):
    limited = LimitingMemoryResource(DeviceMemoryResource(device, {}), 1 << 20)
    first = limited.allocate(1 << 19, stream=stream)
    with pytest.raises(OutOfMemoryError):
        limited.allocate((1 << 19) + 1, stream=stream)
    first.close()
    limited.allocate(1 << 20, stream=stream).close()
    assert limited.bytes_in_use == 0


def test_each_allocation_and_each_free_is_a_record(caplog):
    caplog.set_level(logging.DEBUG, "cuda.core.memory")
    mr = LoggingMemoryResource(HostMemoryResource())
    buffer = allocate(mr, 100)
    address = buffer.handle
    buffer.close()
    assert caplog.messages == [
        f"allocated 100 bytes at {address:#x} in stream 0x1",
        f"freed 100 bytes at {address:#x} in stream 0x1",
    ]
    fields = [(r.operation, r.size, r.pointer, r.stream, r.levelname, r.name) for r in caplog.records]
    assert fields == [
        ("allocate", 100, address, 1, "DEBUG", "cuda.core.memory"),
        ("free", 100, address, 1, "DEBUG", "cuda.core.memory"),
    ]


@pytest.mark.requires(device=True)
def test_free_names_the_stream_it_is_ordered_on(device, stream, caplog):
    caplog.set_level(logging.DEBUG, "cuda.core.memory")
    other = device.create_stream()
    mr = LoggingMemoryResource(device.memory_resource)
    mr.allocate(64, stream=stream).close(other)
    assert [record.stream for record in caplog.records] == [int(stream.handle), int(other.handle)]


def test_failure_is_a_warning(caplog):
    mr = LoggingMemoryResource(HostMemoryResource())
    mr.upstream.error = MemoryError("none left\nand more")
    with pytest.raises(MemoryError, match="none left"):
        allocate(mr, 100)
    (record,) = caplog.records
    assert record.getMessage() == "failed to allocate 100 bytes in stream 0x1: MemoryError: none left"
    assert (record.levelname, record.operation, record.size, record.pointer) == ("WARNING", "fail", 100, 0)


def test_level_and_logger_are_chosen(caplog):
    logger = logging.getLogger("test of memory")
    mr = LoggingMemoryResource(HostMemoryResource(), logger, logging.ERROR)
    assert mr.logger is logger
    allocate(mr, 8).close()
    assert [(record.name, record.levelname) for record in caplog.records] == [("test of memory", "ERROR")] * 2
    assert LoggingMemoryResource(HostMemoryResource(), "test of memory").logger is logger
    adapter = logging.LoggerAdapter(logger, {})
    assert LoggingMemoryResource(HostMemoryResource(), adapter).logger is adapter


def test_records_below_the_level_of_the_logger_are_dropped(caplog):
    caplog.set_level(logging.INFO, "cuda.core.memory")
    allocate(LoggingMemoryResource(HostMemoryResource()), 8).close()
    assert caplog.records == []


@pytest.mark.parametrize("logger", [None, 1, print])
def test_other_loggers_are_rejected(logger):
    with pytest.raises(TypeError, match="logger must be a logging.Logger or a str"):
        LoggingMemoryResource(HostMemoryResource(), logger)


@pytest.mark.parametrize("level", [None, "DEBUG", True])
def test_other_levels_are_rejected(level):
    with pytest.raises(TypeError, match="level must be an int"):
        LoggingMemoryResource(HostMemoryResource(), level=level)


def test_error_of_a_filter_leaks_no_memory():
    logger = logging.getLogger("test of a failing filter")
    logger.setLevel(logging.DEBUG)

    def fail(record):
        raise ZeroDivisionError(record.operation)

    logger.addFilter(fail)
    mr = LoggingMemoryResource(HostMemoryResource(), logger)
    with pytest.raises(ZeroDivisionError, match="allocate"):
        allocate(mr, 8)
    assert mr.upstream.blocks == {}


def test_error_of_a_filter_at_a_free_is_reported(unraisable):
    logger = logging.getLogger("test of a filter that fails later")
    logger.setLevel(logging.DEBUG)

    def fail(record):
        if record.operation == "free":
            raise ZeroDivisionError(record.operation)
        return True

    logger.addFilter(fail)
    mr = LoggingMemoryResource(HostMemoryResource(), logger)
    allocate(mr, 8).close()
    assert [report.text for report in unraisable] == ["free"]
    assert mr.upstream.blocks == {}


def test_other_resources_do_not_import_logging():
    code = "import sys; before = set(sys.modules); import cuda.core; cuda.core.StatisticsMemoryResource; "
    code += "sys.exit('logging' in set(sys.modules) - before)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.fixture
def tracked():
    """A tracking resource, closed without its warning."""
    tracked = TrackingMemoryResource(HostMemoryResource(), depth=2)
    yield tracked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tracked.close()


# The line that reports name.
LINE = allocate.__code__.co_firstlineno + 1


def test_call_size_and_age_are_recorded(tracked):
    before = time.monotonic()
    buffer = allocate(tracked, 100)
    (found,) = tracked.allocations
    assert (found.pointer, found.size, found.stream) == (buffer.handle, 100, 1)
    assert before <= found.time <= time.monotonic()
    assert 0 <= found.age < 60
    (file, line, function), (_, _, caller) = found.stack
    assert (file, line, function) == (__file__, LINE, "allocate")
    assert caller == "test_call_size_and_age_are_recorded"
    buffer.close()
    assert tracked.allocations == ()


def test_frames_of_this_package_are_left_out(tracked):
    buffer = allocate(StatisticsMemoryResource(tracked), 8)
    assert tracked.allocations[0].stack[0][:2] == (__file__, LINE)
    buffer.close()


@pytest.mark.parametrize("depth", [1, 3])
def test_depth_is_the_number_of_calls(depth):
    tracked = TrackingMemoryResource(HostMemoryResource(), depth=depth)
    buffer = allocate(tracked, 8)
    assert len(tracked.allocations[0].stack) == depth
    buffer.close()
    tracked.close()


@pytest.mark.parametrize(
    ("depth", "error"),
    [(0, ValueError), (-1, ValueError), (-(10**5000), ValueError), (1.5, TypeError), (True, TypeError)],
    ids=["zero", "negative", "huge", "float", "bool"],
)
def test_bad_depths_are_rejected(depth, error):
    with pytest.raises(error, match="depth must be"):
        TrackingMemoryResource(HostMemoryResource(), depth=depth)


def test_report_names_the_largest_first(tracked):
    assert tracked.report() == "0 allocations, 0 bytes"
    buffers = [allocate(tracked, size) for size in (10, 30, 20)]
    head, *lines = tracked.report().splitlines()
    assert head == "3 allocations, 60 bytes"
    assert [line.split()[0] for line in lines] == ["30", "20", "10"]
    for buffer, line in zip([buffers[1], buffers[2], buffers[0]], lines, strict=True):
        assert f"bytes at {buffer.handle:#x}, 0." in line
        assert f"s old, from {__file__}:{LINE} in allocate, called from {__file__}:" in line
    for buffer in buffers:
        buffer.close()


def test_long_reports_are_shortened(tracked):
    buffers = [allocate(tracked, 8) for _ in range(25)]
    lines = tracked.report().splitlines()
    assert lines[0] == "25 allocations, 200 bytes"
    assert lines[-1] == "  and 5 more"
    assert len(lines) == 22
    for buffer in buffers:
        buffer.close()


def test_failed_allocation_is_not_recorded(tracked):
    tracked.upstream.error = MemoryError
    with pytest.raises(MemoryError):
        allocate(tracked, 8)
    assert tracked.allocations == ()


def test_close_warns_once_of_memory_in_use(tracked):
    buffer = allocate(tracked, 100)
    with pytest.warns(RuntimeWarning, match=f"100 bytes at .* {__file__}:{LINE} in allocate") as caught:
        tracked.close()
    assert caught[0].filename == __file__
    tracked.close()
    buffer.close()
    assert (tracked.allocations, tracked.upstream.blocks) == ((), {})


def test_close_does_not_warn_if_all_memory_was_freed(tracked):
    allocate(tracked, 100).close()
    tracked.close()
    assert tracked.is_closed


def run(lines):
    """Run a program and return its stderr."""
    head = [
        "from cuda.core import TrackingMemoryResource",
        "from cuda.core import LEGACY_DEFAULT_STREAM",
        "from support.memory import HostMemoryResource",
        "tracked = TrackingMemoryResource(HostMemoryResource())",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(head + lines)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


ALLOCATE = "left = tracked.allocate(77, stream=LEGACY_DEFAULT_STREAM)"


def test_program_exit_warns_of_memory_in_use(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    messages = run([ALLOCATE])
    assert "<string>:5: RuntimeWarning: not freed when the program ended: 1 allocations, 77 bytes" in messages
    assert "from <string>:5 in <module>" in messages


@pytest.mark.parametrize(
    "end", ["left.close()", "del left", "import warnings; warnings.simplefilter('ignore'); tracked.close()"]
)
def test_program_exit_does_not_warn_otherwise(monkeypatch, end):
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    assert run([ALLOCATE, end]) == ""
