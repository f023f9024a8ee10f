# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The log of allocations, over host memory, so that most tests need no driver."""

import logging
import subprocess
import sys

import pytest

from cuda.core import LoggingMemoryResource
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from support.memory import HostMemoryResource


def allocate(mr, size):
    return mr.allocate(size, stream=LEGACY_DEFAULT_STREAM)


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


def test_failure_is_a_warning(caplog, monkeypatch):
    mr = LoggingMemoryResource(HostMemoryResource())

    def fail(size, *, stream):
        raise MemoryError("none left\nand more")

    monkeypatch.setattr(mr.upstream, "allocate", fail)
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
def test_other_loggers_are_refused(logger):
    with pytest.raises(TypeError, match="logger must be a logging.Logger or a str"):
        LoggingMemoryResource(HostMemoryResource(), logger)


@pytest.mark.parametrize("level", [None, "DEBUG", True])
def test_other_levels_are_refused(level):
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


def test_error_of_a_filter_at_a_free_is_reported(monkeypatch):
    reports = []
    monkeypatch.setattr("sys.unraisablehook", lambda report: reports.append(str(report.exc_value)))
    logger = logging.getLogger("test of a filter that fails later")
    logger.setLevel(logging.DEBUG)

    def fail(record):
        if record.operation == "free":
            raise ZeroDivisionError(record.operation)
        return True

    logger.addFilter(fail)
    mr = LoggingMemoryResource(HostMemoryResource(), logger)
    allocate(mr, 8).close()
    assert reports == ["free"]
    assert mr.upstream.blocks == {}


def test_other_resources_do_not_import_logging():
    code = "import sys; before = set(sys.modules); import cuda.core; cuda.core.StatisticsMemoryResource; "
    code += "sys.exit('logging' in set(sys.modules) - before)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
