// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions that replace inline PTX for bulk copies: mbarriers, cp.async.bulk and cp.async.bulk.tensor. Included by the
// library and by kernels. An address in shared memory can be its low 32 bits, as in PTX.
#pragma once

#include "emulator_abi.h"

extern "C" {

// Initializes an mbarrier, 8 bytes in shared memory.
EMU_IMPORT void emu_mbarrier_init(emu_u64 barrier, emu_u32 count, EMU_LOCATION);
EMU_IMPORT void emu_mbarrier_end(emu_u64 barrier, EMU_LOCATION);
// Expects `bytes` more, then counts `count` arrivals (0: none). Returns a token for emu_mbarrier_test: the lowest bit
// is the phase, the bits above it the number of arrivals pending before.
EMU_IMPORT emu_u64 emu_mbarrier_arrive(emu_u64 barrier, emu_u32 count, emu_u32 bytes, EMU_LOCATION);
// Like emu_mbarrier_arrive(), without bytes; later phases expect `count` arrivals fewer.
EMU_IMPORT emu_u64 emu_mbarrier_drop(emu_u64 barrier, emu_u32 count, EMU_LOCATION);
// Returns 1 if the phase with this parity has completed. If not, other threads may run before this returns.
EMU_IMPORT int emu_mbarrier_test(emu_u64 barrier, emu_u64 parity, EMU_LOCATION);

// A copy to shared memory completes when a thread waits at `barrier`, which counts its bytes; a copy from shared memory
// when its thread waits until at most `groups` of its groups are left. Some complete at once: see is_late().
EMU_IMPORT void emu_bulk_copy(emu_u64 to, emu_u64 from, emu_u32 bytes, emu_u64 barrier, int is_to_shared, EMU_LOCATION);
// `offsets` are for an im2col copy, one for each axis between the first and the last; null for a tile.
EMU_IMPORT void emu_tensor_load(emu_u32 axes, emu_u64 to, emu_u64 map, const emu_i32* coordinates, emu_u64 barrier,
                                const emu_i32* offsets, EMU_LOCATION);
EMU_IMPORT void emu_tensor_store(emu_u32 axes, emu_u64 map, const emu_i32* coordinates, emu_u64 from, EMU_LOCATION);

EMU_IMPORT void emu_bulk_commit();
EMU_IMPORT void emu_bulk_wait(emu_u32 groups);

// Counts bytes of an asynchronous store at a barrier.
EMU_IMPORT void emu_mbarrier_complete(emu_u64 barrier, emu_u32 bytes, EMU_LOCATION);

// tensormap.replace: changes a field of a tensor map. 128 zeros are an empty map. The values are those of PTX.
enum EmuMapField { EMU_MAP_ADDRESS, EMU_MAP_RANK, EMU_MAP_TILE, EMU_MAP_EXTENT, EMU_MAP_PITCH, EMU_MAP_STEP, EMU_MAP_TYPE,
                   EMU_MAP_INTERLEAVE, EMU_MAP_SWIZZLE, EMU_MAP_FILL };
EMU_IMPORT void emu_tensor_map_replace(emu_u64 map, emu_u32 field, emu_u32 axis, emu_u64 value, EMU_LOCATION);

// Returns the address in the block's shared memory that has these low 18 bits, as in the descriptors of wgmma.
EMU_IMPORT emu_u64 emu_matrix_address(emu_u32 low);

// Updates each element of a tile in global memory; `update` is given the type of the map.
EMU_IMPORT void emu_tensor_reduce(emu_u32 axes, emu_u64 map, const emu_i32* coordinates, emu_u64 from,
                                  void (*update)(emu_u32 type, emu_u64 to, const void* from), EMU_LOCATION);

// cp.async of 4, 8 or 16 bytes, of which the last `size - bytes` become zero. It completes when the thread waits until at
// most `groups` of its groups are left, or with `all` for all of its copies.
EMU_IMPORT void emu_async_copy(emu_u64 to, emu_u64 from, emu_u32 size, emu_u32 bytes, EMU_LOCATION);
EMU_IMPORT void emu_async_commit();
EMU_IMPORT void emu_async_wait(emu_u32 groups, int all);

// Executes a multimem instruction at a multicast address on `bytes` (4 or 8) of each device's memory. `type` is u, s, b
// or f; `how` is '=' (store), '+', '<' (min), '>' (max), '&', '|' or '^'. With `loads`, writes nothing and returns the
// reduction over the devices.
EMU_IMPORT emu_u64 emu_multicast(emu_u64 address, emu_u32 bytes, int type, int how, int loads, emu_u64 bits,
                                 EMU_LOCATION);

// Returns the address in shared memory that has these low 32 bits.
EMU_IMPORT void* emu_shared_address(emu_u64 low);
}
