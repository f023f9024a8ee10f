// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The lower bound for a launch: driver calls in a C loop.
#include <stdint.h>
#include <time.h>

// The driver's CUlaunchConfig, spelled out so that no CUDA header is needed.
struct Config {
    unsigned grid[3], block[3], shared_bytes;
    void* stream;
    void* attributes;
    unsigned attribute_count;
};

typedef int (*LaunchKernelEx)(const struct Config* config, void* function, void** parameters, void** extra);

// Returns the total nanoseconds of all launches, or minus the code of the first launch that failed.
__attribute__((visibility("default"))) int64_t time_launches(LaunchKernelEx launch, void* stream, void* function,
                                                             void** parameters, int count) {
    const struct Config config = {{1, 1, 1}, {1, 1, 1}, 0, stream, 0, 0};
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < count; i++) {
        const int error = launch(&config, function, parameters, 0);
        if (error) return -error;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (int64_t)(end.tv_sec - start.tv_sec) * 1000000000 + (end.tv_nsec - start.tv_nsec);
}
