// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Shuffles, votes, matches and reductions within a warp.
#pragma once

namespace emu {

EMU_NO_CHECK EMU_INLINE EmuWarpCall warp_call(emu_u32 op, emu_u32 mask, emu_u32 size, const void* in, void* out)
{
    EmuWarpCall call = {op, mask, 0, 32, size, 1, in, out};
    return call;
}

template <class T> EMU_NO_CHECK EMU_INLINE T shuffle(emu_u32 op, emu_u32 mask, T value, emu_u32 argument, int width)
{
    T result = value;
    EmuWarpCall call = warp_call(op, mask, sizeof(T), &value, &result);
    call.argument = argument;
    call.width = emu_u32(width);
    emu_warp(&call);
    return result;
}

EMU_NO_CHECK EMU_INLINE emu_u32 vote(emu_u32 op, emu_u32 mask, int predicate)
{
    emu_u32 in = predicate != 0, out = 0;
    EmuWarpCall call = warp_call(op, mask, 4, &in, &out);
    emu_warp(&call);
    return out;
}

template <class T> EMU_NO_CHECK EMU_INLINE T reduce(emu_u32 op, emu_u32 mask, T value)
{
    T result = value;
    EmuWarpCall call = warp_call(op, mask, sizeof(T), &value, &result);
    emu_warp(&call);
    return result;
}

} // namespace emu

#define EMU_SHUFFLES(T)                                                                           \
    EMU_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32)                    \
    {                                                                                             \
        return ::emu::shuffle(EMU_WARP_SHUFFLE_INDEX, mask, value, emu_u32(lane), width);         \
    }                                                                                             \
    EMU_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)           \
    {                                                                                             \
        return ::emu::shuffle(EMU_WARP_SHUFFLE_UP, mask, value, delta, width);                    \
    }                                                                                             \
    EMU_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)         \
    {                                                                                             \
        return ::emu::shuffle(EMU_WARP_SHUFFLE_DOWN, mask, value, delta, width);                  \
    }                                                                                             \
    EMU_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)               \
    {                                                                                             \
        return ::emu::shuffle(EMU_WARP_SHUFFLE_XOR, mask, value, emu_u32(lanes), width);          \
    }
EMU_SHUFFLES(int)
EMU_SHUFFLES(unsigned int)
EMU_SHUFFLES(long)
EMU_SHUFFLES(unsigned long)
EMU_SHUFFLES(long long)
EMU_SHUFFLES(unsigned long long)
EMU_SHUFFLES(float)
EMU_SHUFFLES(double)
#undef EMU_SHUFFLES

EMU_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { ::emu::vote(EMU_WARP_SYNC, mask, 0); }
EMU_INLINE int __all_sync(unsigned mask, int predicate) { return int(::emu::vote(EMU_WARP_ALL, mask, predicate)); }
EMU_INLINE int __any_sync(unsigned mask, int predicate) { return int(::emu::vote(EMU_WARP_ANY, mask, predicate)); }
EMU_INLINE int __uni_sync(unsigned mask, int predicate) { return int(::emu::vote(EMU_WARP_UNIFORM, mask, predicate)); }
EMU_INLINE unsigned __ballot_sync(unsigned mask, int predicate) { return ::emu::vote(EMU_WARP_BALLOT, mask, predicate); }
extern "C" __attribute__((visibility("hidden"))) emu_u32 emu_meet(EMU_LOCATION); // in emulator_runtime.h
EMU_INLINE unsigned __activemask(EMU_LOCATION) { return emu_meet(file, line); }

template <class T> EMU_NO_CHECK EMU_INLINE unsigned __match_any_sync(unsigned mask, T value)
{
    emu_u32 out = 0;
    EmuWarpCall call = ::emu::warp_call(EMU_WARP_MATCH_ANY, mask, sizeof(T), &value, &out);
    emu_warp(&call);
    return out;
}

template <class T> EMU_NO_CHECK EMU_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate)
{
    emu_u32 out[2] = {0, 0};
    EmuWarpCall call = ::emu::warp_call(EMU_WARP_MATCH_ALL, mask, sizeof(T), &value, out);
    emu_warp(&call);
    *predicate = int(out[1]);
    return out[0];
}

EMU_INLINE unsigned __reduce_add_sync(unsigned mask, unsigned v) { return ::emu::reduce(EMU_WARP_ADD_U32, mask, v); }
EMU_INLINE int __reduce_add_sync(unsigned mask, int v) { return ::emu::reduce(EMU_WARP_ADD_U32, mask, v); }
EMU_INLINE unsigned __reduce_min_sync(unsigned mask, unsigned v) { return ::emu::reduce(EMU_WARP_MIN_U32, mask, v); }
EMU_INLINE unsigned __reduce_max_sync(unsigned mask, unsigned v) { return ::emu::reduce(EMU_WARP_MAX_U32, mask, v); }
EMU_INLINE int __reduce_min_sync(unsigned mask, int v) { return ::emu::reduce(EMU_WARP_MIN_I32, mask, v); }
EMU_INLINE int __reduce_max_sync(unsigned mask, int v) { return ::emu::reduce(EMU_WARP_MAX_I32, mask, v); }
EMU_INLINE unsigned __reduce_and_sync(unsigned mask, unsigned v) { return ::emu::reduce(EMU_WARP_AND, mask, v); }
EMU_INLINE unsigned __reduce_or_sync(unsigned mask, unsigned v) { return ::emu::reduce(EMU_WARP_OR, mask, v); }
EMU_INLINE unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return ::emu::reduce(EMU_WARP_XOR, mask, v); }
