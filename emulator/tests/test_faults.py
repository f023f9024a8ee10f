# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Planned failures of driver calls, sweeps, and reports of leaks."""

import threading

import pytest

import cuda.emulator as emulator


def test_planned_fault_happens_once(driver, context):
    with emulator.fail("cuMemAlloc*", nth=2) as plan:
        results = [driver.result("cuMemAlloc", 64) for _ in range(3)]
    assert results == ["SUCCESS", "OUT_OF_MEMORY", "SUCCESS"]
    assert (plan.matched, plan.fired, plan.last) == (3, 1, "cuMemAlloc_v2")


def test_call_can_fail_before_or_after_its_effect(driver, context):
    def streams():
        return {line for line in emulator.leaks() if line.startswith("stream")}

    before = streams()
    with emulator.fail("cuStreamCreate*", "CUDA_ERROR_UNKNOWN"):
        assert driver.result("cuStreamCreate", 0) == "UNKNOWN"
    assert streams() <= before
    with emulator.fail("cuStreamCreate*", 999, when="after"):
        assert driver.result("cuStreamCreate", 0) == "UNKNOWN"
    assert len(streams() - before) == 1


def test_context_synchronization_raises_late_fault(driver, context):
    with emulator.fail("cuMemsetD8*", "CUDA_ERROR_ILLEGAL_ADDRESS", when="later"):
        pointer = driver.cuMemAlloc(64)
        assert driver.result("cuMemsetD8", pointer, 0, 64) == "SUCCESS"
    assert driver.result("cuCtxSynchronize") == "ILLEGAL_ADDRESS"


def test_hanging_call_continues_after_with_block(driver, context):
    started, results = threading.Event(), []

    def work():
        driver.raw.cuCtxSetCurrent(context)
        started.set()
        results.append(driver.result("cuEventCreate", 0))

    thread = threading.Thread(target=work)
    with emulator.fail("cuEventCreate", when="hang") as plan:
        thread.start()
        while not plan.fired:
            started.wait()
        assert results == [] and driver.result("cuCtxSynchronize") == "SUCCESS"
    thread.join(60)
    assert results == ["SUCCESS"] and plan.last == "cuEventCreate"


@pytest.mark.parametrize(
    ("calls", "code"), [("cuMemAlloc", "CUDA_ERROR_NONE_SUCH"), ("", 2), ("cuInit@x", 2), ("cuInit", "CUDA_SUCCESS")]
)
def test_invalid_plans_are_rejected(driver, calls, code):
    with pytest.raises(ValueError, match="cuMemAlloc|cuInit|before"), emulator.fail(calls, code):
        pass


def test_environment_can_set_a_plan(child):
    out = child(
        "from cuda.bindings import driver as d; print(d.cuInit(0)[0].name, d.cuInit(0)[0].name)",
        FAIL="cuInit@2=CUDA_ERROR_UNKNOWN;",
    )
    assert out == "CUDA_SUCCESS CUDA_ERROR_UNKNOWN\n"


def careful(driver):
    """Allocate memory and an event, and release them whichever call fails."""
    first = driver.cuMemAlloc(64)
    try:
        second = driver.cuEventCreate(0)
        driver.raw.cuEventDestroy(second)
    finally:
        driver.raw.cuMemFree(first)


def test_sweep_fails_each_call_in_turn(driver, context):
    assert emulator.sweep(lambda: careful(driver)) == [
        "cuMemAlloc_v2",
        "cuEventCreate",
        "cuEventDestroy_v2",
        "cuMemFree_v2",
    ]


def test_sweep_reports_leaks(driver, context):
    def careless():
        pointer = driver.cuMemAlloc(64)
        driver.cuEventDestroy(driver.cuEventCreate(0))
        driver.cuMemFree(pointer)

    with pytest.raises(AssertionError, match="cuEventCreate failed .* device memory .* of 64 bytes"):
        emulator.sweep(careless)


def test_sweep_run_can_free_memory_of_previous_run(driver, context):
    waiting = []

    def patient():
        if waiting:
            driver.cuMemFree(waiting.pop())
        waiting.append(driver.cuMemAlloc(64))

    assert emulator.sweep(patient) == ["cuMemAlloc_v2", "cuMemFree_v2"]
    driver.cuMemFree(waiting.pop())


def test_sweep_reports_an_ignored_error(driver, context):
    def silent():
        driver.raw.cuMemFree(driver.raw.cuMemAlloc(64)[1])

    with pytest.raises(AssertionError, match="no exception was raised"):
        emulator.sweep(silent)


def test_leaks_name_allocating_call(driver, context):
    pointer = driver.cuMemAlloc(123)
    assert [line for line in emulator.leaks() if f"{int(pointer):#x} of 123 bytes (cuMemAlloc_v2, driver call" in line]


def test_leaks_are_reported_at_exit(child):
    code = (
        "from cuda.bindings import driver as d; d.cuInit(0); d.cuCtxSetCurrent(d.cuDevicePrimaryCtxRetain(0)[1])\n"
        "e = d.cuEventCreate(0)[1]\n"
    )
    assert "event 0x10000 (cuEventCreate, driver call" in child(code, LEAKS=1)
    assert "nothing was left over" in child(code + "d.cuEventDestroy(e)", LEAKS=1)
