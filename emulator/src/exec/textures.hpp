// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The objects behind cudaTextureObject_t and cudaSurfaceObject_t, found by the number passed to kernels.
#pragma once

#include <memory>

#include "../common.hpp"

namespace emu::exec {

// The elements of one level, as laid out in memory.
struct Texels {
    std::byte* at = nullptr;
    size_t pitch = 0, slice = 0; // bytes from row to row, and from slice (layer, face) to slice
    uint32_t width = 1, height = 1, depth = 1;
};

// Dimensions of a texture.
enum class TexelShape { line, plane, volume, layered_line, layered_plane, cube, layered_cube, linear };

struct Texture {
    bool is_surface = false;
    TexelShape shape = TexelShape::line;
    std::vector<Texels> levels; // one for a surface
    CUarray_format format = CU_AD_FORMAT_FLOAT;
    uint32_t channels = 1;
    uint32_t element_bytes = 4;
    bool has_gather = false;
    bool is_mipmapped = false;
    CUDA_TEXTURE_DESC sampling{}; // of textures
    int device = 0;
    bool is_checked = false;          // linear program memory, which may have been freed
    std::weak_ptr<const void> memory; // of an array, which may have been destroyed
};

// Adds an object and returns its number, which is nonzero and unique in the process.
uint64_t add_texture(std::shared_ptr<const Texture> texture);
void remove_texture(uint64_t number);
std::shared_ptr<const Texture> find_texture(uint64_t number); // null if there is none
uint64_t texture_version();                                   // changes on every removal

} // namespace emu::exec
