// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The contents of a CUtensorMap on this device. The layout is our own, because the type is opaque to programs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu::exec {

enum class TensorMapKind : uint8_t { tiled = 1, im2col, im2col_wide };

struct TensorMap {
    static constexpr uint32_t right_mark = 0x50414d54;

    uint32_t mark;
    TensorMapKind kind;
    uint8_t rank, data_type, interleave, swizzle, fill, mode;
    uint8_t steps[5]; // element strides; axis 0 is the contiguous one
    uint64_t address;
    uint64_t pitches[4]; // in bytes, for all axes except axis 0
    uint32_t last[5];    // the largest index along each axis
    uint16_t tile[5];
    int16_t lower[3], upper[3]; // im2col: corners of the pixel box, for the axes between the first and the last
    uint16_t channels, pixels;
};
static_assert(sizeof(TensorMap) <= 128, "a CUtensorMap has 128 bytes");

// Returns the item size of a CUtensorMapDataType, or 0 if it is unknown.
inline uint32_t item_size(uint32_t data_type)
{
    constexpr uint8_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return data_type < sizeof sizes ? sizes[data_type] : 0;
}

} // namespace emu::exec
