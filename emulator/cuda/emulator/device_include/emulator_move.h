// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// std::move and std::forward, which NVRTC declares without a header unless --builtin-move-forward=false.
#pragma once

namespace std {
template <class T> struct emu_remove_reference {
    typedef T type;
};
template <class T> struct emu_remove_reference<T&> {
    typedef T type;
};
template <class T> struct emu_remove_reference<T&&> {
    typedef T type;
};
template <class T> constexpr typename emu_remove_reference<T>::type&& move(T&& value) noexcept
{
    return static_cast<typename emu_remove_reference<T>::type&&>(value);
}
template <class T> constexpr T&& forward(typename emu_remove_reference<T>::type& value) noexcept
{
    return static_cast<T&&>(value);
}
template <class T> constexpr T&& forward(typename emu_remove_reference<T>::type&& value) noexcept
{
    return static_cast<T&&>(value);
}
} // namespace std
