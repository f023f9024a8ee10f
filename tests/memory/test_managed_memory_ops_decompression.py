# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Decompression with the engine of a device: what it accepts, and its results on a device that has one."""

import numpy as np
import pytest

from cuda.core import LegacyPinnedMemoryResource, NotSupportedError
from cuda.core.utils import decompress_batch
from support.interpreter import run

# Blocks of "abcabcabcabcabcabc!": three letters, a repetition of 15 bytes, and a letter.
LZ4 = b"\x3babc\x03\x00\x10!"
SNAPPY = b"\x13\x08abc\x3a\x03\x00\x00!"

PROGRAM = """
import numpy as np
from cuda.core import *
from cuda.core.utils import decompress_batch
device = Device()
device.set_current()
stream = device.create_stream()
print(device.properties.mem_decompress_algorithm_mask, device.properties.mem_decompress_maximum_length)
memory = LegacyPinnedMemoryResource()
for algorithm, block in {blocks}.items():
    sources, targets, sizes = memory.allocate(len(block)), memory.allocate(32), memory.allocate(8)
    np.asarray(sources)[:] = np.frombuffer(block, np.uint8)
    decompress_batch(stream, [sources] * 2, [targets, memory.allocate(32)], sizes, algorithm=algorithm)
    stream.sync()
    count, _ = np.asarray(sizes).view(np.uint32)
    print(bytes(np.asarray(targets)[:count]))
decompress_batch(stream, [sources], [memory.allocate(4)], sizes, algorithm="snappy")
try:
    stream.sync()
except CUDAError as error:
    print(error.name)
try:
    decompress_batch(stream, [sources], [targets], sizes, algorithm="deflate")
except CUDAError as error:
    print("deflate")
"""


@pytest.mark.requires(software=True, cuda=(12, 6))
def test_blocks_are_decompressed():
    program = PROGRAM.format(blocks={"lz4": LZ4, "snappy": SNAPPY})
    lines = run(program, CUDA_EMULATOR_COMPUTE_CAPABILITY="10.0").splitlines()
    text = repr(b"abc" * 6 + b"!")
    assert lines == ["6 4194304", text, text, "CUDA_ERROR_ILLEGAL_ADDRESS", "deflate"]


@pytest.fixture
def buffer(device):
    return LegacyPinnedMemoryResource().allocate(8)


@pytest.mark.requires(software=True)
def test_device_without_an_engine(stream, buffer):
    with pytest.raises(NotSupportedError, match="cuMemBatchDecompressAsync"):
        decompress_batch(stream, [buffer], [buffer], buffer)


def test_arguments_are_checked(stream, buffer):
    with pytest.raises(TypeError, match="stream must be a Stream"):
        decompress_batch(None, [buffer], [buffer], buffer)
    with pytest.raises(TypeError, match="sizes must be a Buffer"):
        decompress_batch(stream, [buffer], [buffer], np.zeros(8, np.uint8))
    with pytest.raises(ValueError, match="is not a valid algorithm"):
        decompress_batch(stream, [buffer], [buffer], buffer, algorithm="zip")
    for sources, targets in (([buffer], [buffer] * 2), ([buffer] * 3, [buffer] * 3)):
        with pytest.raises(ValueError, match="same number of buffers, and sizes 4 bytes for each"):
            decompress_batch(stream, sources, targets, buffer)
