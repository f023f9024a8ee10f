// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Predeclared types.
#pragma once
#include "emulator_errors.h"
#include "emulator_vectors.h"

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;
typedef __builtin_va_list va_list;

namespace std {
typedef ::size_t size_t_;
template <class T> class initializer_list {
    const T* begin_;
    ::size_t size_;
    constexpr initializer_list(const T* begin, ::size_t size) : begin_(begin), size_(size) {}

public:
    typedef T value_type;
    constexpr initializer_list() noexcept : begin_(nullptr), size_(0) {}
    constexpr ::size_t size() const noexcept { return size_; }
    constexpr const T* begin() const noexcept { return begin_; }
    constexpr const T* end() const noexcept { return begin_ + size_; }
};
} // namespace std

// For compilers without __is_convertible_to and __is_nothrow_destructible, which CCCL expects.
namespace emu {
template <class T> T&& some() noexcept;
template <class To> void take(To) noexcept;
template <class From, class To, class = decltype(take<To>(some<From>()))> char converts(int);
template <class From, class To> long converts(...);
template <class From, class To> struct is_convertible {
    static constexpr bool value = sizeof(converts<From, To>(0)) == 1;
};
template <> struct is_convertible<void, void> {
    static constexpr bool value = true;
};
template <class T, bool = noexcept(some<T&>().~T())> constexpr bool is_destroyed_silently(int) { return noexcept(some<T&>().~T()); }
template <class T> constexpr bool is_destroyed_silently(...) { return false; }
template <class T> struct is_nothrow_destructible {
    static constexpr bool value = is_destroyed_silently<T>(0);
};
template <class T> struct is_nothrow_destructible<T&> {
    static constexpr bool value = true;
};
template <class T> struct is_nothrow_destructible<T&&> : is_nothrow_destructible<T&> {};
template <class T, ::size_t N> struct is_nothrow_destructible<T[N]> : is_nothrow_destructible<T> {};
template <class T> struct is_trivially_destructible {
    static constexpr bool value = is_destroyed_silently<T>(0) && __has_trivial_destructor(T);
};
template <class T> struct is_trivially_destructible<T&> {
    static constexpr bool value = true;
};
template <class T> struct is_trivially_destructible<T&&> : is_trivially_destructible<T&> {};
} // namespace emu
