// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Texture reads as described in the Programming Guide: addressing modes, filters with 8-bit fractional weights, mipmap
// levels, layers and cubes.
#pragma once

#include "device_include/emulator_abi.h"
#include "textures.hpp"

namespace emu::exec {

// Checks program memory that may have been freed; null: no check.
using IsReadable = bool (*)(int device, uintptr_t address, size_t size);

class Sampler {
public:
    Sampler(const Texture& texture, EmuTextureCall& call, IsReadable is_readable);
    void read();                                   // fills call.words
    uintptr_t unreadable() const { return unreadable_; } // an address that could not be read; 0 if all could

private:
    union Word {
        uint32_t bits;
        int32_t integer;
        float number;
    };
    struct Texel {
        Word words[4];
    };
    struct Place {
        int64_t x = 0, y = 0, z = 0; // z: slice, layer or face
    };
    struct Axis {
        int64_t first = 0;
        float weight = 0; // weight of the second element
    };

    void fetch();
    void gather();
    Texel at_levels();
    float level_of_detail() const;
    float level_of_gradients() const;
    uint32_t most_samples() const;
    int anisotropic_samples(float* step) const;
    Texel in_level(const Texels& level);
    Texel in_face(const Texels& level);
    Texel filter(const Texels& level, const Axis (&axes)[3], int dimensions, int64_t slice);
    Axis axis(float coordinate, uint32_t extent, int number) const;
    int64_t resolve(int64_t index, uint32_t extent, int number) const; // -1: the border
    Texel element(const Texels& level, Place place, int dimensions);
    Texel beside_row(const Texel& row) const;
    Texel across_edges(const Texels& level, int face, int64_t x, int64_t y, int64_t first_face);
    Texel load(const Texels& level, int64_t x, int64_t y, int64_t z);
    Texel border() const;
    Word decode(const std::byte* at, uint32_t channel) const;
    bool gives_integers() const;
    bool is_normalized() const;
    CUaddress_mode address_mode(int axis) const;
    bool is_linear() const { return texture_.sampling.filterMode == CU_TR_FILTER_MODE_LINEAR; }
    static void add(Texel* sum, const Texel& texel, float weight);

    const Texture& texture_;
    EmuTextureCall& call_;
    IsReadable is_readable_;
    uintptr_t unreadable_ = 0;
    float shift_[3] = {0, 0, 0}; // of the current sample along the axis of anisotropy
};

} // namespace emu::exec
