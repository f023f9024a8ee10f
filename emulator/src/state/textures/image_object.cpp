// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "image_object.hpp"

#include <algorithm>

#include "../origin.hpp"

namespace emu::state {
namespace {

// Texture and surface objects by number, which is unique across both kinds.
struct Objects {
    std::mutex mutex;
    std::map<uint64_t, std::pair<std::shared_ptr<ImageObject>, Origin>> rows;
};

Objects& objects()
{
    static auto* value = new Objects;
    return *value;
}

constexpr size_t linear_alignment = 512, pitch_alignment = 32; // the values of the device attributes
constexpr size_t most_linear_elements = 268435456, most_pitch_width = 131072, most_pitch_height = 65000,
                 most_pitch = 2097120;

bool is_channels(unsigned channels)
{
    return channels == 1 || channels == 2 || channels == 4;
}

bool is_integer(CUarray_format format)
{
    return format != CU_AD_FORMAT_HALF && format != CU_AD_FORMAT_FLOAT;
}

CUresult of_linear(const CUDA_RESOURCE_DESC& resource, exec::Texture* out)
{
    const auto& linear = resource.res.linear;
    size_t element = format_size(linear.format) * linear.numChannels;
    if (!element || !is_channels(linear.numChannels) || linear.devPtr % linear_alignment ||
        linear.sizeInBytes < element || linear.sizeInBytes / element > most_linear_elements ||
        !AddressSpace::get().find_range(linear.devPtr, linear.sizeInBytes))
        return CUDA_ERROR_INVALID_VALUE;
    exec::Texels texels;
    texels.at = reinterpret_cast<std::byte*>(linear.devPtr);
    texels.width = uint32_t(linear.sizeInBytes / element);
    texels.pitch = texels.slice = linear.sizeInBytes;
    out->shape = exec::TexelShape::linear;
    out->levels = {texels};
    out->format = linear.format;
    out->channels = linear.numChannels;
    out->is_checked = true;
    return CUDA_SUCCESS;
}

CUresult of_rows(const CUDA_RESOURCE_DESC& resource, exec::Texture* out)
{
    const auto& rows = resource.res.pitch2D;
    size_t element = format_size(rows.format) * rows.numChannels;
    if (!element || !is_channels(rows.numChannels) || rows.devPtr % linear_alignment || !rows.width || !rows.height ||
        rows.width > most_pitch_width || rows.height > most_pitch_height || rows.pitchInBytes > most_pitch ||
        rows.pitchInBytes % pitch_alignment || rows.pitchInBytes < rows.width * element)
        return CUDA_ERROR_INVALID_VALUE;
    size_t size = rows.pitchInBytes * (rows.height - 1) + rows.width * element;
    if (!AddressSpace::get().find_range(rows.devPtr, size))
        return CUDA_ERROR_INVALID_VALUE;
    exec::Texels texels;
    texels.at = reinterpret_cast<std::byte*>(rows.devPtr);
    texels.width = uint32_t(rows.width);
    texels.height = uint32_t(rows.height);
    texels.pitch = rows.pitchInBytes;
    texels.slice = texels.pitch * texels.height;
    out->shape = exec::TexelShape::plane;
    out->levels = {texels};
    out->format = rows.format;
    out->channels = rows.numChannels;
    out->is_checked = true;
    return CUDA_SUCCESS;
}

void of_level(const Array& array, exec::Texture* out)
{
    const auto& d = array.description();
    out->shape = shape_of(d);
    out->levels.push_back(array.texels());
    out->format = d.Format;
    out->channels = d.NumChannels;
    out->has_gather = d.Flags & CUDA_ARRAY3D_TEXTURE_GATHER;
    out->memory = array.memory();
}

CUresult of_resource(const CUDA_RESOURCE_DESC& resource, CUcontext context, exec::Texture* out)
{
    if (resource.flags)
        return CUDA_ERROR_INVALID_VALUE;
    switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
        auto array = Array::find(resource.res.array.hArray);
        if (!array || array->context() != context)
            return CUDA_ERROR_INVALID_HANDLE;
        of_level(*array, out);
        return CUDA_SUCCESS;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
        auto mipmap = MipmappedArray::find(resource.res.mipmap.hMipmappedArray);
        if (!mipmap || mipmap->context() != context)
            return CUDA_ERROR_INVALID_HANDLE;
        for (const auto& level : mipmap->levels())
            of_level(*level, out);
        return CUDA_SUCCESS;
    }
    case CU_RESOURCE_TYPE_LINEAR: return of_linear(resource, out);
    case CU_RESOURCE_TYPE_PITCH2D: return of_rows(resource, out);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

// The formats of resource views come in groups of three, with 1, 2 and 4 channels; block-compressed formats follow.
CUresult view_format(CUresourceViewFormat format, exec::Texture* out)
{
    static const CUarray_format formats[] = {
        CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
        CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32, CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    if (format == CU_RES_VIEW_FORMAT_NONE)
        return CUDA_SUCCESS;
    if (format < CU_RES_VIEW_FORMAT_UINT_1X8 || format > CU_RES_VIEW_FORMAT_FLOAT_4X32)
        return CUDA_ERROR_NOT_SUPPORTED;
    unsigned index = format - CU_RES_VIEW_FORMAT_UINT_1X8;
    CUarray_format viewed = formats[index / 3];
    unsigned channels = 1u << index % 3;
    if (format_size(viewed) * channels != format_size(out->format) * out->channels)
        return CUDA_ERROR_INVALID_VALUE;
    out->format = viewed;
    out->channels = channels;
    return CUDA_SUCCESS;
}

// Applies a view: some of the levels and layers, or another format of the same size.
CUresult apply_view(const CUDA_RESOURCE_VIEW_DESC& view, const CUDA_RESOURCE_DESC& resource, exec::Texture* out)
{
    if (resource.resType != CU_RESOURCE_TYPE_ARRAY && resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    const exec::Texels& base = out->levels[0];
    bool is_plane = out->shape == exec::TexelShape::line || out->shape == exec::TexelShape::plane;
    bool has_layers = !is_plane && out->shape != exec::TexelShape::volume;
    size_t height =
        out->shape == exec::TexelShape::line || out->shape == exec::TexelShape::layered_line ? 0 : base.height;
    if (view.width != base.width || view.height != height ||
        (out->shape == exec::TexelShape::volume && view.depth != base.depth))
        return CUDA_ERROR_INVALID_VALUE;
    if (view.firstMipmapLevel > view.lastMipmapLevel || view.lastMipmapLevel >= out->levels.size() ||
        view.firstLayer > view.lastLayer || (has_layers ? view.lastLayer >= base.depth : view.lastLayer != 0))
        return CUDA_ERROR_INVALID_VALUE;
    if (CUresult failed = view_format(view.format, out))
        return failed;
    out->levels.erase(out->levels.begin() + view.lastMipmapLevel + 1, out->levels.end());
    out->levels.erase(out->levels.begin(), out->levels.begin() + view.firstMipmapLevel);
    if (has_layers)
        for (exec::Texels& level : out->levels) {
            level.at += view.firstLayer * level.slice;
            level.depth = view.lastLayer - view.firstLayer + 1;
        }
    return CUDA_SUCCESS;
}

bool is_cube(exec::TexelShape shape)
{
    return shape == exec::TexelShape::cube || shape == exec::TexelShape::layered_cube;
}

CUresult check_sampling(const CUDA_TEXTURE_DESC& sampling, const exec::Texture& texture)
{
    constexpr unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                               CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
    for (CUaddress_mode mode : sampling.addressMode)
        if (mode > CU_TR_ADDRESS_MODE_BORDER)
            return CUDA_ERROR_INVALID_VALUE;
    if (sampling.flags & ~known || sampling.filterMode > CU_TR_FILTER_MODE_LINEAR ||
        sampling.mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    bool gives_integers =
        is_integer(texture.format) && (sampling.flags & CU_TRSF_READ_AS_INTEGER || format_size(texture.format) == 4);
    bool filters = sampling.filterMode == CU_TR_FILTER_MODE_LINEAR && texture.shape != exec::TexelShape::linear;
    if (gives_integers && filters) {
        explain(
            "an integer texture cannot be filtered linearly: read it as normalized floats, or with point filtering");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (sampling.flags & CU_TRSF_SEAMLESS_CUBEMAP && !is_cube(texture.shape)) {
        explain("CU_TRSF_SEAMLESS_CUBEMAP requires an array created with CUDA_ARRAY3D_CUBEMAP");
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

std::shared_ptr<ImageObject> find_object(uint64_t number, bool is_surface)
{
    std::lock_guard lock(objects().mutex);
    auto row = objects().rows.find(number);
    return row == objects().rows.end() || row->second.first->is_surface() != is_surface ? nullptr : row->second.first;
}

CUresult destroy(uint64_t number, bool is_surface)
{
    if (!find_object(number, is_surface))
        return CUDA_ERROR_INVALID_VALUE;
    exec::remove_texture(number);
    std::lock_guard lock(objects().mutex);
    objects().rows.erase(number);
    return CUDA_SUCCESS;
}

void add_object(const std::shared_ptr<ImageObject>& object)
{
    std::lock_guard lock(objects().mutex);
    objects().rows[object->number()] = {object, origin};
}

} // namespace

CUresult ImageObject::create_texture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling,
                                     const CUDA_RESOURCE_VIEW_DESC* view, CUcontext context, int device,
                                     CUtexObject* out)
{
    auto texture = std::make_shared<exec::Texture>();
    texture->device = device;
    texture->sampling = sampling;
    if (CUresult failed = of_resource(resource, context, texture.get()))
        return failed;
    if (view)
        if (CUresult failed = apply_view(*view, resource, texture.get()))
            return failed;
    if (CUresult failed = check_sampling(sampling, *texture))
        return failed;
    texture->is_mipmapped = resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    texture->element_bytes = uint32_t(format_size(texture->format) * texture->channels);
    auto object = std::make_shared<ImageObject>();
    object->context_ = context;
    object->resource_ = resource;
    object->sampling_ = sampling;
    if ((object->has_view_ = view))
        object->view_ = *view;
    *out = object->number_ = exec::add_texture(texture);
    add_object(object);
    return CUDA_SUCCESS;
}

CUresult ImageObject::create_surface(const CUDA_RESOURCE_DESC& resource, CUcontext context, int device,
                                     CUsurfObject* out)
{
    if (resource.resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    auto surface = std::make_shared<exec::Texture>();
    surface->is_surface = true;
    surface->device = device;
    if (CUresult failed = of_resource(resource, context, surface.get()))
        return failed;
    auto array = Array::find(resource.res.array.hArray);
    if (!array || !(array->description().Flags & CUDA_ARRAY3D_SURFACE_LDST)) {
        explain("the array was not created with CUDA_ARRAY3D_SURFACE_LDST");
        return CUDA_ERROR_INVALID_VALUE;
    }
    surface->element_bytes = uint32_t(element_size(array->description()));
    auto object = std::make_shared<ImageObject>();
    object->is_surface_ = true;
    object->context_ = context;
    object->resource_ = resource;
    *out = object->number_ = exec::add_texture(surface);
    add_object(object);
    return CUDA_SUCCESS;
}

std::shared_ptr<ImageObject> ImageObject::find_texture(CUtexObject number)
{
    return find_object(number, false);
}

std::shared_ptr<ImageObject> ImageObject::find_surface(CUsurfObject number)
{
    return find_object(number, true);
}

CUresult ImageObject::destroy_texture(CUtexObject number)
{
    return destroy(number, false);
}

CUresult ImageObject::destroy_surface(CUsurfObject number)
{
    return destroy(number, true);
}

void ImageObject::forget_context(CUcontext context)
{
    for (const auto& row : all())
        if (row.first->context_ == context)
            destroy(row.first->number_, row.first->is_surface_);
}

std::vector<std::pair<std::shared_ptr<ImageObject>, Origin>> ImageObject::all()
{
    std::lock_guard lock(objects().mutex);
    std::vector<std::pair<std::shared_ptr<ImageObject>, Origin>> out;
    for (const auto& row : objects().rows)
        out.push_back(row.second);
    return out;
}

} // namespace emu::state
