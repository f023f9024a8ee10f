// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The objects behind cudaTextureObject_t and cudaSurfaceObject_t, found by the number that kernels get.
#pragma once

#include <memory>

#include "../common.hpp"

namespace emu::exec {

// Elements of one level, as they lie in memory.
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
    std::vector<Texels> levels; // of a surface: one
    CUarray_format format = CU_AD_FORMAT_FLOAT;
    uint32_t channels = 1;
    uint32_t element_bytes = 4;
    bool has_gather = false;
    bool is_mipmapped = false;
    CUDA_TEXTURE_DESC sampling{}; // of textures
    int device = 0;
    bool is_checked = false;          // linear memory of the program, which may be freed by now
    std::weak_ptr<const void> memory; // of an array, which may be destroyed by now
};

// Adds an object; its number is unique in the process and not 0.
uint64_t add_texture(std::shared_ptr<const Texture> texture);
void remove_texture(uint64_t number);
std::shared_ptr<const Texture> find_texture(uint64_t number); // null: there is none
uint64_t texture_version();                                   // changes with each removal

} // namespace emu::exec
