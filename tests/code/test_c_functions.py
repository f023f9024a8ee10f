# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Addresses of C functions from any package, and Python functions as such."""

import ctypes

import pytest
from cuda.bindings import driver

from cuda.core._code._c_functions import PythonFunction, function_address

SIZE_OF = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)


def test_pointer_of_ctypes_has_its_address():
    function = SIZE_OF(lambda block: block)
    assert function_address("f", function) == ctypes.cast(function, ctypes.c_void_p).value


def test_null_pointer_is_rejected():
    with pytest.raises(ValueError, match="f must be a function, but is a null pointer"):
        function_address("f", SIZE_OF())


def test_python_function_is_not_a_c_function():
    assert function_address("f", lambda block: block) is None


def test_compiled_callback_has_its_address_as_attribute():
    class Compiled:
        address = 4096

        def __call__(self, block):
            return block

    assert function_address("f", Compiled()) == 4096


def test_python_function_is_called_from_c():
    function = PythonFunction(lambda block: block * 2, int)
    assert SIZE_OF(function.address)(21) == 42
    function.check()


def test_first_error_is_kept_and_raised_after_the_call():
    calls = []

    def fail(block):
        calls.append(block)
        raise KeyError(block)

    function = PythonFunction(fail, int)
    assert [SIZE_OF(function.address)(block) for block in (1, 2)] == [0, 0]
    with pytest.raises(KeyError, match="1"):
        function.check()
    assert calls == [1]
    function.check()


def test_address_is_read_from_a_bindings_function_object():
    function = SIZE_OF(lambda block: block)
    address = ctypes.cast(function, ctypes.c_void_p).value
    for made in (
        driver.CUoccupancyB2DSize(address),
        driver.CUoccupancyB2DSize(_ptr=address),
        driver.CUoccupancyB2DSize(_ptr=ctypes.addressof(function)),
    ):
        assert function_address("f", made) == address
    assert function_address("f", driver.CUoccupancyB2DSize()) == 0


@pytest.mark.parametrize("keyword", ["init_value", "_ptr"])
def test_address_without_code_is_rejected(keyword):
    data = ctypes.c_void_p(16)
    for address in (16, ctypes.addressof(data)):
        with pytest.raises(ValueError, match="f must be a function, but there is no code at 0x"):
            function_address("f", driver.CUoccupancyB2DSize(**{keyword: address}))
