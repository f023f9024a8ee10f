// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The lower bound for graphs: driver calls in C loops. Each function returns the total nanoseconds of
// all calls, or minus the code of the first call that failed.
#include <stdint.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

// As declared in cuda.h.
struct LaunchConfig {
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

struct Calls {
    int (*begin)(void*, int);
    int (*launch)(const struct LaunchConfig*, void*, void**, void**);
    int (*end)(void*, void**);
    int (*instantiate)(void**, void*, unsigned long long);
    int (*update)(void*, void*, void*);
    int (*run)(void*, void*);
    int (*set)(void*, void*, const struct KernelNode*);
    int (*destroy)(void*);
    int (*destroy_executable)(void*);
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#define TRY(call)                            \
    do {                                     \
        const int64_t error = (call);        \
        if (error) return -error;            \
    } while (0)

EXPORT int64_t time_replays(const struct Calls* calls, void* executable, void* stream, int count) {
    const int64_t start = now();
    for (int i = 0; i < count; i++) TRY(calls->run(executable, stream));
    return now() - start;
}

EXPORT int64_t time_updates(const struct Calls* calls, void* executable, void* node, void* kernel, void* argument,
                            int count) {
    void* parameters[] = {&argument};
    const struct KernelNode values = {0, {1, 1, 1}, {1, 1, 1}, 0, parameters, 0, kernel, 0};
    const int64_t start = now();
    for (int i = 0; i < count; i++) TRY(calls->set(executable, node, &values));
    return now() - start;
}

static int64_t capture(const struct Calls* calls, void* stream, void* kernel, void* argument, int nodes, void** graph) {
    const struct LaunchConfig config = {{1, 1, 1}, {1, 1, 1}, 0, stream, 0, 0};
    void* parameters[] = {&argument};
    TRY(calls->begin(stream, 2));
    for (int i = 0; i < nodes; i++) TRY(calls->launch(&config, kernel, parameters, 0));
    TRY(calls->end(stream, graph));
    return 0;
}

EXPORT int64_t time_captures(const struct Calls* calls, void* stream, void* kernel, void* argument, int nodes,
                             int count) {
    const int64_t start = now();
    for (int i = 0; i < count; i++) {
        void* graph;
        void* executable;
        const int64_t error = capture(calls, stream, kernel, argument, nodes, &graph);
        if (error) return error;
        TRY(calls->instantiate(&executable, graph, 0));
        TRY(calls->destroy_executable(executable));
        TRY(calls->destroy(graph));
    }
    return now() - start;
}

// Updates nodes of an executable and launches it.
EXPORT int64_t time_patches(const struct Calls* calls, void* executable, void** changed, void* stream, void* kernel,
                            void* argument, int nodes, int count) {
    void* parameters[] = {&argument};
    const struct KernelNode values = {0, {1, 1, 1}, {1, 1, 1}, 0, parameters, 0, kernel, 0};
    const int64_t start = now();
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < nodes; k++) TRY(calls->set(executable, changed[k], &values));
        TRY(calls->run(executable, stream));
    }
    return now() - start;
}

// Captures the work again, updates an executable with it and launches the executable.
EXPORT int64_t time_changes(const struct Calls* calls, void* executable, void* capturing, void* stream, void* kernel,
                            void* argument, int nodes, int count) {
    unsigned long long result[8]; // room for CUgraphExecUpdateResultInfo
    const int64_t start = now();
    for (int i = 0; i < count; i++) {
        void* graph;
        const int64_t error = capture(calls, capturing, kernel, argument, nodes, &graph);
        if (error) return error;
        TRY(calls->update(executable, graph, result));
        TRY(calls->destroy(graph));
        TRY(calls->run(executable, stream));
    }
    return now() - start;
}
