# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tensor maps of NumPy arrays on the device."""

import numpy as np


class MappedArray:
    """A copy of an array on the device; ``tile(shape)`` returns a tensor map for tiles of that shape."""

    def __init__(self, driver, array):
        self.driver = driver
        self.shape, self.dtype, self.strides = array.shape, array.dtype, array.strides
        self.pointer = driver.cuMemAlloc(array.nbytes)
        driver.cuMemcpyHtoD(self.pointer, array, array.nbytes)

    def _words(self, values):
        """Return numbers of the axes in the driver's order, the contiguous axis first."""
        return [self.driver.cuuint64_t(int(value)) for value in reversed(values)]

    def tile(self, shape):
        return self.driver.cuTensorMapEncodeTiled(
            self._type(), len(shape), self.pointer, self._words(self.shape), self._words(self.strides[:-1]),
            self._counts(shape), self._counts([1] * len(shape)), *self._modes(),
        )  # fmt: skip

    def wide_columns(self, channels, pixels):
        """Return a map for the im2col::w mode of an image in the NHWC layout."""
        driver = self.driver
        mode = driver.CUtensorMapIm2ColWideMode.CU_TENSOR_MAP_IM2COL_WIDE_MODE_W
        interleave, swizzle, *others = self._modes()
        swizzle = driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B
        return driver.cuTensorMapEncodeIm2colWide(
            self._type(), 4, self.pointer, self._words(self.shape), self._words(self.strides[:-1]),
            0, 0, channels, pixels, self._counts([1] * 4), interleave, mode, swizzle, *others,
        )  # fmt: skip

    def _type(self):
        name = {"float32": "FLOAT32", "int32": "INT32"}[self.dtype.name]
        return getattr(self.driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{name}")

    def _counts(self, values):
        return [self.driver.cuuint32_t(int(value)) for value in reversed(values)]

    def _modes(self):
        kinds = ("Interleave", "Swizzle", "L2promotion", "FloatOOBfill")
        return [getattr(self.driver, f"CUtensorMap{kind}")(0) for kind in kinds]

    def read(self):
        """Return the contents, and free the memory."""
        array = np.empty(self.shape, self.dtype)
        self.driver.cuMemcpyDtoH(array, self.pointer, array.nbytes)
        self.driver.cuMemFree(self.pointer)
        return array
