# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs compiled through NVRTC and run through the driver API, for tests of both interfaces."""

import ctypes

import numpy as np

C_TYPES = {bool: ctypes.c_bool, int: ctypes.c_int, float: ctypes.c_float}


class Program:
    """A program after ``nvrtcCompileProgram``: its result, its log, and its outputs."""

    def __init__(self, source, *options, names=(), headers=None, name=""):
        from cuda.bindings import nvrtc

        headers = headers or {}
        self.nvrtc = nvrtc
        texts, titles = [text.encode() for text in headers.values()], [title.encode() for title in headers]
        error, self.handle = nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), len(texts), texts, titles)
        assert error == 0
        for expression in names:
            assert nvrtc.nvrtcAddNameExpression(self.handle, expression.encode())[0] == 0
        words = [option.encode() for option in options]
        result = nvrtc.nvrtcCompileProgram(self.handle, len(words), words)[0]
        self.result = result.name.removeprefix("NVRTC_").removeprefix("ERROR_")
        self.log = self.output("ProgramLog").rstrip(b"\0").decode()

    def output(self, kind):
        size = getattr(self.nvrtc, f"nvrtcGet{kind}Size")(self.handle)[1]
        # At least two bytes, because NVRTC writes into the object and Python shares equal bytes objects of length 1.
        data = b" " * (size + 1)
        assert getattr(self.nvrtc, f"nvrtcGet{kind}")(self.handle, data)[0] == 0
        return data[:size]

    def lowered(self, expression):
        error, name = self.nvrtc.nvrtcGetLoweredName(self.handle, expression.encode())
        assert error == 0
        return name.decode()

    @property
    def image(self):
        assert self.result == "SUCCESS", self.log
        return self.output("CUBIN") or self.output("PTX")


class Code:
    """A loaded image whose kernels accept NumPy arrays, which are copied to the device and back."""

    def __init__(self, driver, image):
        self.driver = driver
        self.library = driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)

    def __call__(self, name, grid, block, *arguments, shared=0, cooperative=False):
        driver = self.driver
        kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(self.library, name.encode())))
        grid, block = ((*np.atleast_1d(size).tolist(), 1, 1)[:3] for size in (grid, block))
        values, types, arrays = [], [], []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                pointer = driver.cuMemAlloc(argument.nbytes)
                driver.cuMemcpyHtoD(pointer, argument.ctypes.data, argument.nbytes)
                arrays.append((pointer, argument))
                argument, kind = int(pointer), ctypes.c_void_p
            elif isinstance(argument, driver.CUtensorMap):
                kind = None
            else:
                kind = C_TYPES.get(type(argument)) or np.ctypeslib.as_ctypes_type(argument.dtype)
                argument = argument.item() if isinstance(argument, np.generic) else argument
            values.append(argument)
            types.append(kind)
        parameters = (tuple(values), tuple(types))
        try:
            if cooperative:
                driver.cuLaunchCooperativeKernel(kernel, *grid, *block, shared, driver.CUstream(0), parameters)
            else:
                driver.cuLaunchKernel(kernel, *grid, *block, shared, driver.CUstream(0), parameters, 0)
            driver.cuCtxSynchronize()
            for pointer, array in arrays:
                driver.cuMemcpyDtoH(array.ctypes.data, pointer, array.nbytes)
        finally:
            for pointer, _ in arrays:
                driver.raw.cuMemFree(pointer)

    def close(self):
        self.driver.raw.cuLibraryUnload(self.library)
