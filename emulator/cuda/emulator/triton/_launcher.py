# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Launches of Triton's kernels."""

import ctypes
import struct

from triton.backends.driver import expand_signature, wrap_handle_tensordesc_impl
from triton.runtime import _allocation

import cuda.emulator
from cuda.emulator.triton._device import (
    Allocation,
    TensorMap,
    describe_error,
    library,
    log_position,
    log_since,
)
from cuda.emulator.triton._memory import address_of
from cuda.emulator.triton._torch import Fresh

_TYPES = {
    "i1": ctypes.c_int8, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u1": ctypes.c_uint8, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64, "fp16": ctypes.c_uint16, "bf16": ctypes.c_uint16, "fp32": ctypes.c_float,
    "f32": ctypes.c_float, "fp64": ctypes.c_double, "nvTmaDesc": TensorMap,
}  # fmt: skip


def _half_bits(value):
    return struct.unpack("<H", struct.pack("<e", value))[0]


def _bfloat_bits(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


_CONVERSIONS = {"fp16": _half_bits, "bf16": _bfloat_bits}
_CLUSTER, _COOPERATIVE, _PROGRAMMATIC = 4, 2, 6  # CUlaunchAttributeID


class _Attribute(ctypes.Structure):
    _fields_ = (("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16))


class _Config(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint),
    )  # fmt: skip


def _flatten(signature, arguments, types, values):
    """Append the types and values of a kernel's parameters, without constants and with those in tuples."""
    for kind, value in zip(signature, arguments, strict=True):
        if isinstance(kind, tuple):
            _flatten(kind, value, types, values)
        elif kind != "constexpr":
            types.append(kind)
            values.append(value)


class Launcher:
    """Launches one kernel, and waits for it."""

    def __init__(self, source, metadata):
        from triton.backends.nvidia.driver import make_tensordesc_arg

        self.metadata = metadata
        signature = dict(source.signature)
        described = getattr(metadata, "tensordesc_meta", None)
        self.signature = expand_signature(signature.values(), described, "nvTmaDesc")
        self.launch = wrap_handle_tensordesc_impl(self._launch, signature, described, make_tensordesc_arg)
        self.attributes = self._make_attributes()

    def __call__(self, x, y, z, stream, function, packed, launch_metadata, enter, leave, *arguments):
        if enter is not None:
            enter(launch_metadata)
        if x * y * z > 0:
            self.launch(x, y, z, stream, function, arguments)
        if leave is not None:
            leave(launch_metadata)

    def _make_attributes(self):
        metadata, rows = self.metadata, []
        if metadata.num_ctas > 1:
            rows.append((_CLUSTER, (metadata.num_ctas, 1, 1)))
        if metadata.launch_cooperative_grid:
            rows.append((_COOPERATIVE, (1,)))
        if metadata.launch_pdl:
            rows.append((_PROGRAMMATIC, (1,)))
        attributes = (_Attribute * max(len(rows), 1))()
        for attribute, (number, values) in zip(attributes, rows):  # noqa: B905 (there is one at least)
            attribute.id = number
            attribute.value[: len(values)] = values
        self.attribute_count = len(rows)
        return attributes

    def _scratch(self, blocks, stream):
        """Return the memory that a kernel asks for, and the one for profiles; None for none."""
        metadata = self.metadata
        memory = profile = None
        if metadata.global_scratch_size:
            size = blocks * metadata.num_ctas * metadata.global_scratch_size
            memory = _allocation._allocator.get()(size, metadata.global_scratch_align, stream)
        if metadata.profile_scratch_size:
            profile = Allocation(blocks * metadata.num_ctas * metadata.profile_scratch_size).clear()
        return memory, profile

    def _launch(self, x, y, z, stream, function, arguments):
        metadata = self.metadata
        types, values = [], []
        _flatten(self.signature, arguments, types, values)
        scratch = self._scratch(x * y * z, stream)
        fresh = {memory for value in values if (memory := Fresh.of(value)) is not None}
        if fresh:
            values = [Fresh.pointer_to(value) or value for value in values]
        slots = [_value(kind, value) for kind, value in zip(types, values, strict=True)]
        slots += [ctypes.c_uint64(address_of(memory)) for memory in scratch]
        parameters = (ctypes.c_void_p * len(slots))(*map(ctypes.addressof, slots))
        config = _Config(
            (x * metadata.num_ctas, y, z), (32 * metadata.num_warps, 1, 1), metadata.shared, stream or None,
            ctypes.addressof(self.attributes), self.attribute_count,
        )  # fmt: skip
        log = log_position()
        code = library().cuLaunchKernelEx(ctypes.byref(config), function, parameters, None)
        code = code or library().cuCtxSynchronize()
        if code:
            report = log_since(log)
            cuda.emulator.reset()
            raise RuntimeError(describe_error(code, f"the launch of {metadata.name} failed") + report)
        for memory in fresh:
            memory.update()


def _value(kind, value):
    """Return a parameter in the form that the kernel reads."""
    if kind[0] == "*":
        return ctypes.c_uint64(address_of(value))
    if kind == "nvTmaDesc":
        return value
    form = _TYPES[kind]
    if kind in _CONVERSIONS:
        return form(_CONVERSIONS[kind](float(value)))
    return form(float(value) if form in (ctypes.c_float, ctypes.c_double) else int(value))
