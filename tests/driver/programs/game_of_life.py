# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Conway's game of life on a torus, with a separate context in a worker thread."""

import threading

import numpy as np

import cuda.core.driver as drv
from cuda.core.driver.compiler import SourceModule

SOURCE = """
__global__ void generation(unsigned char *next, const unsigned char *now, int w, int h)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= w || y >= h) return;
    int count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) count += now[(y + dy + h) % h * w + (x + dx + w) % w];
    next[y * w + x] = count == 3 || (count == 2 && now[y * w + x]);
}
"""


class Worker(threading.Thread):
    def __init__(self, board, generations):
        threading.Thread.__init__(self)
        self.board, self.generations = board, generations

    def run(self):
        self.dev = drv.Device(0)
        self.ctx = self.dev.make_context()
        try:
            function = SourceModule(SOURCE).get_function("generation")
            h, w = self.board.shape
            now, other = drv.to_device(self.board), drv.mem_alloc(self.board.nbytes)
            for _ in range(self.generations):
                function(other, now, np.int32(w), np.int32(h), block=(16, 16, 1), grid=((w + 15) // 16, (h + 15) // 16))
                now, other = other, now
            self.result = drv.from_device_like(now, self.board)
            del now, other
        finally:
            self.ctx.pop()
            self.ctx.detach()


drv.init()
assert drv.Device.count() > 0
glider = np.zeros((20, 24), np.uint8)
glider[1, 2] = glider[2, 3] = glider[3, 1] = glider[3, 2] = glider[3, 3] = 1
workers = [Worker(glider, n) for n in (4, 8)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
assert (workers[0].result == np.roll(glider, (1, 1), (0, 1))).all()
assert (workers[1].result == np.roll(glider, (2, 2), (0, 1))).all()
print("game of life OK")
