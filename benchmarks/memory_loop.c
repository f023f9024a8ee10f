// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The lower bound for memory, events and streams: driver calls in C loops. Each function returns the
// total nanoseconds of all calls, or minus the code of the first call that failed.
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

typedef unsigned long long Pointer;

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

EXPORT int64_t time_allocations(int (*allocate)(Pointer*, size_t, void*, void*), int (*release)(Pointer, void*),
                                void* pool, void* stream, size_t size, int count) {
    const int64_t start = now();
    for (int i = 0; i < count; i++) {
        Pointer pointer;
        TRY(allocate(&pointer, size, pool, stream));
        TRY(release(pointer, stream));
    }
    return now() - start;
}

EXPORT int64_t time_copies(int (*copy)(Pointer, Pointer, size_t, void*), Pointer target, Pointer source, size_t size,
                           void* stream, int count) {
    const int64_t start = now();
    for (int i = 0; i < count; i++) TRY(copy(target, source, size, stream));
    return now() - start;
}

EXPORT int64_t time_fills(int (*fill)(Pointer, unsigned char, size_t, void*), Pointer target, size_t size,
                          void* stream, int count) {
    const int64_t start = now();
    for (int i = 0; i < count; i++) TRY(fill(target, 7, size, stream));
    return now() - start;
}

// Without an event, creates and destroys one per record.
EXPORT int64_t time_records(int (*create)(void**, unsigned), int (*record)(void*, void*), int (*destroy)(void*),
                            void* event, void* stream, int count) {
    const int64_t start = now();
    for (int i = 0; i < count; i++) {
        void* own = event;
        if (!event) TRY(create(&own, 2));
        TRY(record(own, stream));
        if (!event) TRY(destroy(own));
    }
    return now() - start;
}

EXPORT int64_t time_streams(int (*create)(void**, unsigned, int), int (*destroy)(void*), int count) {
    const int64_t start = now();
    for (int i = 0; i < count; i++) {
        void* stream;
        TRY(create(&stream, 1, 0));
        TRY(destroy(stream));
    }
    return now() - start;
}

// Makes batched copies and waits for them. `attributes` is one CUmemcpyAttributes for all copies.
EXPORT int64_t time_batches(int (*copy)(Pointer*, Pointer*, size_t*, size_t, void*, size_t*, size_t, void*),
                            Pointer* targets, Pointer* sources, size_t* sizes, size_t copies, void* attributes,
                            void* stream, int (*synchronize)(void*), int count) {
    size_t index = 0;
    const int64_t start = now();
    for (int i = 0; i < count; i++) {
        TRY(copy(targets, sources, sizes, copies, attributes, &index, 1, stream));
        TRY(synchronize(stream));
    }
    return now() - start;
}
