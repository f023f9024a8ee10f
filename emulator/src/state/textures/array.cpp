// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include <algorithm>
#include <sys/mman.h>

#include "../origin.hpp"

namespace emu::state {
namespace {

HandleTable<Array, CUarray>& arrays()
{
    static auto* rows = new HandleTable<Array, CUarray>;
    return *rows;
}

HandleTable<MipmappedArray, CUmipmappedArray>& mipmaps()
{
    static auto* rows = new HandleTable<MipmappedArray, CUmipmappedArray>;
    return *rows;
}

using Description = CUDA_ARRAY3D_DESCRIPTOR;

constexpr unsigned known_flags =
    CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
// Flags for other APIs, and for sparse memory.
constexpr unsigned foreign_flags = CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT | CUDA_ARRAY3D_SPARSE |
                                   CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;

// Checks the maximum dimensions against the device attributes.
bool fits_limits(const Description& d)
{
    auto within = [&](size_t width, size_t height, size_t depth) {
        return d.Width <= width && d.Height <= height && d.Depth <= depth;
    };
    if (d.Flags & CUDA_ARRAY3D_CUBEMAP)
        return within(32768, 32768, 2046);
    if (d.Flags & CUDA_ARRAY3D_LAYERED)
        return within(32768, 32768, 2048);
    if (d.Flags & CUDA_ARRAY3D_TEXTURE_GATHER)
        return within(32768, 32768, 0);
    return d.Depth ? within(16384, 16384, 16384) : within(131072, 65536, 0);
}

CUresult check_description(const Description& d)
{
    bool layered = d.Flags & CUDA_ARRAY3D_LAYERED, cube = d.Flags & CUDA_ARRAY3D_CUBEMAP;
    if (d.Flags & ~(known_flags | foreign_flags) || !d.Width ||
        (d.NumChannels != 1 && d.NumChannels != 2 && d.NumChannels != 4))
        return CUDA_ERROR_INVALID_VALUE;
    if (d.Flags & foreign_flags || !format_size(d.Format)) {
        explain("the software device does not support arrays with this format or these flags");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (cube && (d.Width != d.Height || !d.Depth || (layered ? d.Depth % 6 : d.Depth != 6)))
        return CUDA_ERROR_INVALID_VALUE;
    if ((layered && !d.Depth) || (!layered && d.Depth && !d.Height))
        return CUDA_ERROR_INVALID_VALUE;
    if (d.Flags & CUDA_ARRAY3D_TEXTURE_GATHER && (!d.Height || d.Depth))
        return CUDA_ERROR_INVALID_VALUE;
    return fits_limits(d) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

exec::Texels lay_out(const Description& d)
{
    exec::Texels texels;
    texels.width = uint32_t(d.Width);
    texels.height = uint32_t(std::max<size_t>(d.Height, 1));
    texels.depth = uint32_t(std::max<size_t>(d.Depth, 1));
    texels.pitch = d.Width * element_size(d);
    texels.slice = texels.pitch * texels.height;
    return texels;
}

// Counts as device memory while it lives.
class ArrayMemory {
public:
    ArrayMemory(Arena& arena, size_t size) : arena_(arena), size_(size) {}
    ~ArrayMemory()
    {
        if (at_)
            munmap(at_, size_);
        if (charged_)
            arena_.discharge(size_);
    }
    ArrayMemory(const ArrayMemory&) = delete;
    CUresult map()
    {
        if (!(charged_ = arena_.charge(size_)))
            return CUDA_ERROR_OUT_OF_MEMORY;
        void* at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            return CUDA_ERROR_OUT_OF_MEMORY;
        at_ = static_cast<std::byte*>(at);
        return CUDA_SUCCESS;
    }
    std::byte* at() const { return at_; }

private:
    Arena& arena_;
    size_t size_;
    bool charged_ = false;
    std::byte* at_ = nullptr;
};

CUresult find_memory(Arena& arena, size_t size, std::shared_ptr<const void>* memory, std::byte** at)
{
    auto made = std::make_shared<ArrayMemory>(arena, size);
    if (CUresult failed = made->map())
        return failed;
    *at = made->at();
    *memory = made;
    return CUDA_SUCCESS;
}

Description level_of(Description d, unsigned level)
{
    auto halve = [&](size_t extent) { return extent ? std::max<size_t>(extent >> level, 1) : 0; };
    d.Width = halve(d.Width);
    d.Height = halve(d.Height);
    if (!(d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        d.Depth = halve(d.Depth);
    return d;
}

unsigned most_levels(const Description& d)
{
    bool counts_depth = !(d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP));
    size_t largest = std::max({d.Width, d.Height, counts_depth ? d.Depth : 0});
    unsigned levels = 1;
    while (largest >>= 1)
        ++levels;
    return levels;
}

} // namespace

size_t format_size(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

exec::TexelShape shape_of(const Description& d)
{
    bool layered = d.Flags & CUDA_ARRAY3D_LAYERED;
    if (d.Flags & CUDA_ARRAY3D_CUBEMAP)
        return layered ? exec::TexelShape::layered_cube : exec::TexelShape::cube;
    if (layered)
        return d.Height ? exec::TexelShape::layered_plane : exec::TexelShape::layered_line;
    return d.Depth ? exec::TexelShape::volume : d.Height ? exec::TexelShape::plane : exec::TexelShape::line;
}

CUresult Array::create(const Description& description, const ArrayPlace& place, CUarray* out)
{
    if (CUresult failed = check_description(description))
        return failed;
    auto array = std::make_shared<Array>();
    array->context_ = place.context;
    array->device_ = place.device;
    array->description_ = description;
    array->texels_ = lay_out(description);
    if (CUresult failed = find_memory(place.memory, array->size(), &array->memory_, &array->texels_.at))
        return failed;
    *out = array->handle_ = arrays().add(array);
    return CUDA_SUCCESS;
}

CUresult Array::destroy(CUarray handle)
{
    auto array = arrays().find(handle);
    if (!array || array->is_level_)
        return CUDA_ERROR_INVALID_HANDLE;
    arrays().remove(handle);
    return CUDA_SUCCESS;
}

std::shared_ptr<Array> Array::find(CUarray handle)
{
    return arrays().find(handle);
}

void Array::forget_context(CUcontext context)
{
    for (const auto& row : arrays().all())
        if (row.first->context_ == context)
            arrays().remove(row.first->handle_);
}

std::vector<std::pair<std::shared_ptr<Array>, Origin>> Array::all()
{
    auto rows = arrays().all();
    rows.erase(std::remove_if(rows.begin(), rows.end(), [](const auto& row) { return row.first->is_level_; }),
               rows.end());
    return rows;
}

CUresult MipmappedArray::create(const Description& description, unsigned levels, const ArrayPlace& place,
                                CUmipmappedArray* out)
{
    if (CUresult failed = check_description(description))
        return failed;
    levels = std::min(std::max(levels, 1u), most_levels(description)); // clamped, as documented and as on a GPU
    auto mipmap = std::make_shared<MipmappedArray>();
    mipmap->context_ = place.context;
    size_t size = 0;
    for (unsigned level = 0; level < levels; ++level) {
        auto array = std::make_shared<Array>();
        array->context_ = place.context;
        array->device_ = place.device;
        array->is_level_ = true;
        array->description_ = level_of(description, level);
        array->texels_ = lay_out(array->description_);
        mipmap->levels_.push_back(array);
        size += array->size();
    }
    std::shared_ptr<const void> memory;
    std::byte* at = nullptr;
    if (CUresult failed = place.find ? place.find(size, &memory, &at) : find_memory(place.memory, size, &memory, &at))
        return failed;
    for (const auto& array : mipmap->levels_) {
        array->texels_.at = at;
        array->memory_ = memory;
        at += array->size();
        array->handle_ = arrays().add(array);
    }
    *out = mipmap->handle_ = mipmaps().add(mipmap);
    return CUDA_SUCCESS;
}

CUresult MipmappedArray::destroy(CUmipmappedArray handle)
{
    auto mipmap = mipmaps().remove(handle);
    if (!mipmap)
        return CUDA_ERROR_INVALID_HANDLE;
    for (const auto& level : mipmap->levels_)
        arrays().remove(level->handle_);
    return CUDA_SUCCESS;
}

std::shared_ptr<MipmappedArray> MipmappedArray::find(CUmipmappedArray handle)
{
    return mipmaps().find(handle);
}

void MipmappedArray::forget_context(CUcontext context)
{
    for (const auto& row : mipmaps().all())
        if (row.first->context_ == context)
            destroy(row.first->handle_);
}

std::vector<std::pair<std::shared_ptr<MipmappedArray>, Origin>> MipmappedArray::all()
{
    return mipmaps().all();
}

size_t MipmappedArray::size() const
{
    size_t size = 0;
    for (const auto& level : levels_)
        size += level->size();
    return size;
}

} // namespace emu::state
