# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The driver API with errors as exceptions."""


class Driver:
    """``cuda.bindings.driver``, whose calls here return their value, or raise an error that names the result."""

    class Error(Exception):
        def __init__(self, call, result):
            super().__init__(f"{call}: {result.name}")
            self.result = result

    def __init__(self):
        from cuda.bindings import driver

        self.raw = driver

    def __getattr__(self, name):
        value = getattr(self.raw, name)
        if not name.startswith("cu") or name.startswith("cuuint"):
            return value

        def call(*arguments):
            result, *rest = value(*arguments)
            if result != 0:
                self.raw.cuDriverGetVersion()  # the next call prints a report that nobody has read
                raise Driver.Error(name, result)
            return rest[0] if len(rest) == 1 else tuple(rest)

        return call

    def zeros(self, size):
        """Return zeroed memory for any stream, after waiting for the asynchronous fill."""
        pointer = self.cuMemAlloc(size)
        self.cuMemsetD8(pointer, 0, size)
        self.cuCtxSynchronize()
        return pointer

    def result(self, name, *arguments):
        """Call a function and return the name of its result, without CUDA_ERROR_."""
        result = getattr(self.raw, name)(*arguments)[0]
        self.raw.cuDriverGetVersion()  # likewise
        return result.name.removeprefix("CUDA_").removeprefix("ERROR_")


def pool_properties(driver, device=0, location=1):
    """Return the properties of a pool that cannot be shared."""
    props = driver.CUmemPoolProps()
    props.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    props.handleTypes = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE
    props.location.type = driver.CUmemLocationType(location)
    props.location.id = device
    return props
