// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays: elements without an address. They are stored row by row, outside the address window, so a wrong pointer
// in a kernel never reaches them. They count as memory of their device.
#pragma once

#include <functional>
#include <memory>

#include "../../exec/textures.hpp"
#include "../handles.hpp"
#include "../memory/arena.hpp"

namespace emu::state {

class MipmappedArray;

// Where an array is stored, and the device it belongs to.
struct ArrayPlace {
    Arena& memory;
    CUcontext context;
    int device;
    // Finds external memory for a number of bytes, and its address; null: the arena's memory.
    std::function<CUresult(size_t size, std::shared_ptr<const void>* memory, std::byte** at)> find = nullptr;
};

class Array {
public:
    static CUresult create(const CUDA_ARRAY3D_DESCRIPTOR& description, const ArrayPlace& place, CUarray* out);
    static CUresult destroy(CUarray handle); // also INVALID_HANDLE for levels of a mipmapped array
    static std::shared_ptr<Array> find(CUarray handle);
    static void forget_context(CUcontext context);
    static std::vector<std::pair<std::shared_ptr<Array>, Origin>> all();

    CUarray handle() const { return handle_; }
    CUcontext context() const { return context_; }
    int device() const { return device_; }
    bool is_level() const { return is_level_; }
    const CUDA_ARRAY3D_DESCRIPTOR& description() const { return description_; }
    const exec::Texels& texels() const { return texels_; }
    size_t size() const { return texels_.slice * texels_.depth; }
    const std::shared_ptr<const void>& memory() const { return memory_; }

private:
    friend class MipmappedArray;
    CUarray handle_ = nullptr;
    CUcontext context_ = nullptr;
    int device_ = 0;
    bool is_level_ = false;
    CUDA_ARRAY3D_DESCRIPTOR description_{};
    exec::Texels texels_;
    std::shared_ptr<const void> memory_;
};

class MipmappedArray {
public:
    static CUresult create(const CUDA_ARRAY3D_DESCRIPTOR& description, unsigned levels, const ArrayPlace& place,
                           CUmipmappedArray* out);
    static CUresult destroy(CUmipmappedArray handle);
    static std::shared_ptr<MipmappedArray> find(CUmipmappedArray handle);
    static void forget_context(CUcontext context);
    static std::vector<std::pair<std::shared_ptr<MipmappedArray>, Origin>> all();

    CUmipmappedArray handle() const { return handle_; }
    CUcontext context() const { return context_; }
    const std::vector<std::shared_ptr<Array>>& levels() const { return levels_; }
    size_t size() const;

private:
    CUmipmappedArray handle_ = nullptr;
    CUcontext context_ = nullptr;
    std::vector<std::shared_ptr<Array>> levels_;
};

// Returns the bytes of one channel, or 0 for formats that arrays cannot have.
size_t format_size(CUarray_format format);
inline size_t element_size(const CUDA_ARRAY3D_DESCRIPTOR& d)
{
    return format_size(d.Format) * d.NumChannels;
}
exec::TexelShape shape_of(const CUDA_ARRAY3D_DESCRIPTOR& description);

} // namespace emu::state
