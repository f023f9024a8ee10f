# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Await the streams of several asyncio tasks."""

import asyncio

import numpy as np

from cuda.core import Device, utils

square = utils.kernel("__global__ void square(int* x) { x[threadIdx.x] *= x[threadIdx.x]; }", "square")


async def work(number):
    stream = Device().create_stream()
    x = Device().to_device(np.full(32, number, np.int32), stream=stream)
    square(x, grid=1, block=32, stream=stream)
    await stream
    return x.to_host(stream=stream)[0]


async def main():
    with Device():
        assert await asyncio.gather(*map(work, range(8))) == [number**2 for number in range(8)]


asyncio.run(main())
print("await streams: verified")
