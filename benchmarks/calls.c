// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The lower bound for calls.py: driver calls in C. calls.py appends a function for every statement.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

typedef unsigned long long Pointer;

// As declared in cuda.h.
struct Config {
    unsigned grid[3], block[3], shared;
    void* stream;
    void* attributes;
    unsigned attribute_count;
};

struct KernelNode {
    void* function;
    unsigned grid[3], block[3], shared;
    void** parameters;
    void** extra;
    void* kernel;
    void* context;
};

// Every driver function: its name, the version of its interface, and its parameters.
#define FUNCTIONS(F)                                                                              \
    F(cuLaunchKernelEx, 11060, const struct Config*, void*, void**, void**)                       \
    F(cuStreamCreateWithPriority, 5050, void**, unsigned, int)                                    \
    F(cuStreamDestroy, 4000, void*)                                                               \
    F(cuStreamSynchronize, 2000, void*)                                                           \
    F(cuStreamWaitEvent, 3020, void*, void*, unsigned)                                            \
    F(cuCtxGetCurrent, 4000, void**)                                                              \
    F(cuCtxSetCurrent, 4000, void*)                                                               \
    F(cuCtxSynchronize, 2000, void)                                                               \
    F(cuEventCreate, 2000, void**, unsigned)                                                      \
    F(cuEventDestroy, 4000, void*)                                                                \
    F(cuEventQuery, 2000, void*)                                                                  \
    F(cuEventRecord, 2000, void*, void*)                                                          \
    F(cuEventSynchronize, 2000, void*)                                                            \
    F(cuMemAllocFromPoolAsync, 11020, Pointer*, size_t, void*, void*)                             \
    F(cuMemFreeAsync, 11020, Pointer, void*)                                                      \
    F(cuMemcpyAsync, 4000, Pointer, Pointer, size_t, void*)                                       \
    F(cuMemsetD8Async, 3020, Pointer, unsigned char, size_t, void*)                               \
    F(cuStreamBeginCapture, 10010, void*, int)                                                    \
    F(cuStreamEndCapture, 10000, void*, void**)                                                   \
    F(cuGraphInstantiateWithFlags, 11040, void**, void*, uint64_t)                                \
    F(cuGraphDestroy, 10000, void*)                                                               \
    F(cuGraphExecDestroy, 10000, void*)                                                           \
    F(cuGraphLaunch, 10000, void*, void*)                                                         \
    F(cuGraphExecKernelNodeSetParams, 12000, void*, void*, const struct KernelNode*)

#define DECLARE(name, version, ...) static int (*name)(__VA_ARGS__);
FUNCTIONS(DECLARE)

static struct {
    void *stream, *other, *event, *pool, *none, *one, *saxpy, *many, *graph, *node;
    Pointer x, y, out;
} h;
static struct Config config = {{1, 1, 1}, {1, 1, 1}, 0, 0, 0, 0};
static struct KernelNode node_values = {0, {1, 1, 1}, {1, 1, 1}, 0, 0, 0, 0, 0};
static float a = 2;
static size_t n = 256;
static void *one_values[1], *saxpy_values[5], *many_values[16];

EXPORT int set_up(int (*get)(const char*, void**, int, uint64_t, int*), const void* handles) {
    int error = 0;
#define FIND(name, version, ...) error |= get(#name, (void**)&name, version, 0, NULL);
    FUNCTIONS(FIND)
    __builtin_memcpy(&h, handles, sizeof h);
    config.stream = h.stream;
    one_values[0] = &h.x;
    void* values[] = {&a, &h.x, &h.y, &h.out, &n};
    for (int i = 0; i < 5; i++) saxpy_values[i] = values[i];
    for (int i = 0; i < 16; i++) many_values[i] = &h.x;
    node_values.kernel = h.one;
    node_values.parameters = one_values;
    return error;
}

EXPORT int synchronize(void) { return cuCtxSynchronize(); }

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

struct Launcher {
    pthread_t thread;
    void *context, *stream;
    int count, error;
    pthread_barrier_t* start;
};

static void* launch_many(void* argument) {
    struct Launcher* self = argument;
    struct Config own = config;
    own.stream = self->stream;
    self->error = cuCtxSetCurrent(self->context);
    pthread_barrier_wait(self->start);
    for (int i = 0; i < self->count && !self->error; i++) self->error = cuLaunchKernelEx(&own, h.one, one_values, 0);
    return NULL;
}

// Launches `count` kernels on each of several threads, one per stream, and returns the nanoseconds until the last ends.
EXPORT int64_t launch_on_threads(int threads, void** streams, int count) {
    struct Launcher launchers[64];
    pthread_barrier_t start;
    void* context;
    int error = cuCtxGetCurrent(&context);
    pthread_barrier_init(&start, NULL, threads + 1);
    for (int i = 0; i < threads; i++) {
        launchers[i] = (struct Launcher){0, context, streams[i], count, 0, &start};
        pthread_create(&launchers[i].thread, NULL, launch_many, &launchers[i]);
    }
    pthread_barrier_wait(&start);
    const int64_t begin = now();
    for (int i = 0; i < threads; i++) {
        pthread_join(launchers[i].thread, NULL);
        error |= launchers[i].error;
    }
    pthread_barrier_destroy(&start);
    return error ? -error : now() - begin;
}
