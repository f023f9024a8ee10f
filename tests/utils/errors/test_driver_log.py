# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The messages that an exception takes from the driver's log."""

import threading

import pytest

from cuda.core._utils.errors import last_failure

HERE = 1000  # the test replaces it by the id of its thread
NAME = "CUDA_ERROR_INVALID_VALUE"


def row(call, text, thread=HERE):
    return f"[22:21:32.099][{thread}][CUDA][E][{call}] {text}\n"


def failed(call, *texts, thread=HERE):
    return "".join(row(call, text, thread) for text in (*texts, f"Returning 1 ({NAME})"))


@pytest.mark.parametrize(
    ("log", "api", "expected"),
    [
        ("", "cuMemAlloc", None),
        (failed("cuMemAlloc_v2"), "cuMemAlloc", None),
        (failed("cuMemAlloc_v2", "too much"), "cuMemAlloc", "too much"),
        (failed("cuMemAlloc_v2", "too much", "of it"), None, "too much\nof it"),
        (failed("cuMemAlloc_v2", "too much\n  by 7\n  bytes"), None, "too much\nby 7\nbytes"),
        # failures of another thread, another call, another code
        (failed("cuMemAlloc_v2", "mine") + failed("cuMemFree_v2", "theirs", thread=1), "cuMemAlloc", "mine"),
        (failed("cuMemFree_v2", "old"), "cuMemAlloc", None),
        (failed("cuMemAlloc_v2", "old").replace(NAME, "CUDA_ERROR_INVALID_VALUE_2"), "cuMemAlloc", None),
        (failed("cuMemAlloc_v2", "old") + failed("cuMemAlloc_v2", "new"), "cuMemAlloc", "new"),
        (failed("cuMemAlloc_v2", "old") + failed("cuMemAlloc_v2"), "cuMemAlloc", None),
        # waits that can be interrupted
        (failed("cuStreamQuery", "a report"), "cuStreamSynchronize", "a report"),
        (failed("cuEventQuery", "a report"), "cuEventSynchronize", "a report"),
        (failed("cuCtxSynchronize", "a report", thread=1), "cuCtxSynchronize", "a report"),
        (failed("cuMemFree_v2", "a report", thread=1), "cuCtxSynchronize", None),
        # other formats
        ("[older messages are missing]\n" + failed("cuMemAlloc_v2", "too much"), None, "too much"),
        ("some driver's own words\n", "cuMemAlloc", None),
        (row("cuMemAlloc", "why"), None, None),
        (row("cuMemAlloc", "why"), "cuMemAlloc", "why"),
        ("[22:21:32.099][nobody][CUDA][E][cuMemAlloc] why\n", "cuMemAlloc", None),
    ],
)
def test_messages_of_the_last_failure_of_this_thread(log, api, expected):
    log = log.replace(f"[{HERE}]", f"[{threading.get_native_id()}]")
    assert last_failure(log.encode(), NAME, api) == expected


def test_missing_pool_access_names_the_property_that_grants_it():
    log = failed("cuMemcpyAsync", "grant it with cuMemPoolSetAccess", thread=threading.get_native_id())
    expected = "grant it with DeviceMemoryResource.peer_accessible_by (cuMemPoolSetAccess)"
    assert last_failure(log.encode(), NAME, "cuMemcpyAsync") == expected


def test_undecodable_bytes_are_shown():
    log = row("cuMemAlloc", "x", threading.get_native_id())
    assert last_failure(log.encode()[:-2] + b"\xff\n", NAME, "cuMemAlloc") == "\ufffd"
