// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Lock-protected state that also works in the child of a fork(), where no other thread would release the lock.
#pragma once

#include <new>
#include <pthread.h>

namespace emu::exec {

// Returns the only object of a type, with its lock in `mutex`. It is never destroyed, because threads outlive main().
template <class T> T& only_object()
{
    static T* value = [] {
        static T* made = new T;
        using Mutex = decltype(made->mutex);
        pthread_atfork([] { made->mutex.lock(); }, [] { made->mutex.unlock(); }, [] { new (&made->mutex) Mutex; });
        return made;
    }();
    return *value;
}

} // namespace emu::exec
