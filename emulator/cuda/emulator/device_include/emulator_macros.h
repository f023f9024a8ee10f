// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Macros defined in every program. Read before the program is preprocessed, so only #define may be used here.
#pragma once
#include "emulator_features.h"

#define NULL 0
#define assert(expression)                                                                       \
    ((expression) ? static_cast<void>(0)                                                         \
                  : emu_assert_fail(#expression, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_copy(to, from) __builtin_va_copy(to, from)
#define __CUDA_API_VER_MAJOR__ __CUDACC_VER_MAJOR__
#define __CUDACC_DEVICE_ATOMIC_BUILTINS__ 1
#define __NV_BUILTIN_INITIALIZER_LIST 1
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END
#define __is_convertible_to(...) ::emu::is_convertible<__VA_ARGS__>::value
#define __is_trivially_destructible(...) ::emu::is_trivially_destructible<__VA_ARGS__>::value
#define __is_nothrow_destructible(...) ::emu::is_nothrow_destructible<__VA_ARGS__>::value
// CCCL treats the compiler as NVRTC. g++ 13 and later have its built-in type transformations, but reject them in
// function types.
#define _LIBCUDACXX_USE_ADD_LVALUE_REFERENCE_FALLBACK
#define _LIBCUDACXX_USE_ADD_POINTER_FALLBACK
#define _LIBCUDACXX_USE_ADD_RVALUE_REFERENCE_FALLBACK
#define _LIBCUDACXX_USE_DECAY_FALLBACK
#define _LIBCUDACXX_USE_REMOVE_CV_FALLBACK
#define _LIBCUDACXX_USE_REMOVE_CVREF_FALLBACK
#define _LIBCUDACXX_USE_REMOVE_EXTENT_FALLBACK
#define _LIBCUDACXX_USE_REMOVE_POINTER_FALLBACK
#define _LIBCUDACXX_USE_REMOVE_REFERENCE_T_FALLBACK
#ifdef NDEBUG
#undef assert
#define assert(expression) static_cast<void>(0)
#endif
