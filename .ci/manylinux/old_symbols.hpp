// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Included first in every source of a portable wheel, so that it needs no newer libraries than glibc 2.28 and
// the libstdc++ of GCC 8 (GLIBCXX_3.4.25), although the headers are newer. `.ci/wheel` finds what is missing here.
#pragma once
#if defined(__cplusplus) && !defined(__ASSEMBLER__)
#include <bits/c++config.h>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>

// Functions of glibc 2.30, which libstdc++ uses if the glibc that it was built for has them.
#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT
#undef _GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK
#undef _GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK

// A function of glibc 2.30.
extern "C" inline pid_t gettid() noexcept { return pid_t(syscall(SYS_gettid)); }

namespace std {
// Exported by GLIBCXX_3.4.29 and newer.
[[noreturn]] inline void __throw_bad_array_new_length() { throw bad_array_new_length(); }
}  // namespace std

// condition_variable::wait(), whose default version is newer.
#define CUDA_CORE_WAIT "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"
__asm__(".symver " CUDA_CORE_WAIT "," CUDA_CORE_WAIT "@GLIBCXX_3.4.11");
#undef CUDA_CORE_WAIT
#endif
