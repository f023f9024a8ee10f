// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The functions of the CUDA runtime for arrays, textures, surfaces, and boxes of memory.
#include <algorithm>

#include "../state/textures/array.hpp"
#include "runtime.hpp"

namespace emu::abi {

using cudaResourceViewDesc = CUDA_RESOURCE_VIEW_DESC;

struct cudaResourceDesc {
    int resType; // as in the driver: array, mipmapped array, linear memory, rows
    union {
        CUarray array;
        CUmipmappedArray mipmap;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};
struct cudaTextureDesc {
    int addressMode[3], filterMode, readMode, sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};

namespace {

constexpr int signed_kind = 0, unsigned_kind = 1, float_kind = 2; // cudaChannelFormatKind
constexpr int reads_elements = 0; // cudaReadModeElementType

struct Channels {
    CUarray_format format;
    unsigned count;
};

int channels_of(const cudaChannelFormatDesc& desc, Channels* out)
{
    const int bits[] = {desc.x, desc.y, desc.z, desc.w};
    out->count = 0;
    while (out->count < 4 && bits[out->count])
        ++out->count;
    for (unsigned i = 0; i < 4; ++i)
        if (bits[i] != (i < out->count ? desc.x : 0))
            return CUDA_ERROR_INVALID_VALUE;
    static const CUarray_format formats[3][3] = {
        {CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32},
        {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32},
        {CU_AD_FORMAT_HALF, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT}};
    int size = desc.x == 8 ? 0 : desc.x == 16 ? 1 : desc.x == 32 ? 2 : -1;
    if (size < 0 || desc.f < signed_kind || desc.f > float_kind || (desc.f == float_kind && size == 0))
        return CUDA_ERROR_INVALID_VALUE;
    out->format = formats[desc.f][size];
    return CUDA_SUCCESS;
}

cudaChannelFormatDesc desc_of(const CUDA_ARRAY3D_DESCRIPTOR& d)
{
    int bits = int(state::element_size(d) / d.NumChannels) * 8;
    auto channel = [&](unsigned i) { return i < d.NumChannels ? bits : 0; };
    bool is_float = d.Format == CU_AD_FORMAT_HALF || d.Format == CU_AD_FORMAT_FLOAT;
    int kind = is_float ? float_kind : d.Format >= CU_AD_FORMAT_SIGNED_INT8 ? signed_kind : unsigned_kind;
    return {channel(0), channel(1), channel(2), channel(3), kind};
}

int descriptor(const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags, CUDA_ARRAY3D_DESCRIPTOR* out)
{
    Channels channels{};
    if (!desc)
        return CUDA_ERROR_INVALID_VALUE;
    if (int failed = channels_of(*desc, &channels))
        return failed;
    *out = {extent.width, extent.height, extent.depth, channels.format, channels.count, flags};
    return CUDA_SUCCESS;
}

int make_array(CUarray* array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d{};
    int failed = descriptor(desc, extent, flags, &d);
    return failed ? failed : int(cuArray3DCreate_v2(array, &d));
}

int make_mipmapped(CUmipmappedArray* array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned levels,
                   unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d{};
    int failed = descriptor(desc, extent, flags, &d);
    return failed ? failed : int(cuMipmappedArrayCreate(array, &d, levels));
}

int describe_array(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR d{};
    if (int failed = cuArray3DGetDescriptor_v2(&d, array))
        return failed;
    if (desc)
        *desc = desc_of(d);
    if (extent)
        *extent = {d.Width, d.Height, d.Depth};
    if (flags)
        *flags = d.Flags;
    return CUDA_SUCCESS;
}

int describe_resource(const cudaResourceDesc* in, CUDA_RESOURCE_DESC* out)
{
    if (!in)
        return CUDA_ERROR_INVALID_VALUE;
    out->resType = CUresourcetype(in->resType);
    Channels channels{};
    switch (out->resType) {
    case CU_RESOURCE_TYPE_ARRAY: out->res.array.hArray = in->res.array; return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: out->res.mipmap.hMipmappedArray = in->res.mipmap; return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR:
        if (int failed = channels_of(in->res.linear.desc, &channels))
            return failed;
        out->res.linear.devPtr = number(in->res.linear.devPtr);
        out->res.linear.format = channels.format;
        out->res.linear.numChannels = channels.count;
        out->res.linear.sizeInBytes = in->res.linear.sizeInBytes;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_PITCH2D:
        if (int failed = channels_of(in->res.pitch2D.desc, &channels))
            return failed;
        out->res.pitch2D.devPtr = number(in->res.pitch2D.devPtr);
        out->res.pitch2D.format = channels.format;
        out->res.pitch2D.numChannels = channels.count;
        out->res.pitch2D.width = in->res.pitch2D.width;
        out->res.pitch2D.height = in->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = in->res.pitch2D.pitchInBytes;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUDA_TEXTURE_DESC describe_sampling(const cudaTextureDesc& in)
{
    CUDA_TEXTURE_DESC out{};
    for (int i = 0; i < 3; ++i)
        out.addressMode[i] = CUaddress_mode(in.addressMode[i]);
    out.filterMode = CUfilter_mode(in.filterMode);
    out.flags = (in.readMode == reads_elements ? CU_TRSF_READ_AS_INTEGER : 0) |
                (in.normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) | (in.sRGB ? CU_TRSF_SRGB : 0) |
                (in.disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
                (in.seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    out.maxAnisotropy = in.maxAnisotropy;
    out.mipmapFilterMode = CUfilter_mode(in.mipmapFilterMode);
    out.mipmapLevelBias = in.mipmapLevelBias;
    out.minMipmapLevelClamp = in.minMipmapLevelClamp;
    out.maxMipmapLevelClamp = in.maxMipmapLevelClamp;
    for (int i = 0; i < 4; ++i)
        out.borderColor[i] = in.borderColor[i];
    return out;
}

int make_texture(CUtexObject* object, const cudaResourceDesc* resource, const cudaTextureDesc* sampling,
                 const CUDA_RESOURCE_VIEW_DESC* view)
{
    CUDA_RESOURCE_DESC described{};
    if (!sampling)
        return CUDA_ERROR_INVALID_VALUE;
    if (int failed = describe_resource(resource, &described))
        return failed;
    CUDA_TEXTURE_DESC how = describe_sampling(*sampling);
    return cuTexObjectCreate(object, &described, &how, view);
}

cudaChannelFormatDesc desc_of(CUarray_format format, unsigned channels)
{
    return desc_of(CUDA_ARRAY3D_DESCRIPTOR{1, 0, 0, format, channels, 0});
}

int recall_resource(cudaResourceDesc* out, CUtexObject object)
{
    CUDA_RESOURCE_DESC d{};
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (int failed = cuTexObjectGetResourceDesc(&d, object))
        return failed;
    *out = {};
    out->resType = d.resType;
    auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
    if (d.resType == CU_RESOURCE_TYPE_LINEAR) {
        const auto& linear = d.res.linear;
        out->res.linear = {pointer(linear.devPtr), desc_of(linear.format, linear.numChannels), linear.sizeInBytes};
    } else if (d.resType == CU_RESOURCE_TYPE_PITCH2D) {
        const auto& rows = d.res.pitch2D;
        out->res.pitch2D = {pointer(rows.devPtr), desc_of(rows.format, rows.numChannels), rows.width, rows.height,
                            rows.pitchInBytes};
    } else // an array or a mipmapped array
        out->res.array = d.res.array.hArray;
    return CUDA_SUCCESS;
}

int recall_sampling(cudaTextureDesc* out, CUtexObject object)
{
    CUDA_TEXTURE_DESC d{};
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (int failed = cuTexObjectGetTextureDesc(&d, object))
        return failed;
    *out = {};
    std::copy_n(d.addressMode, 3, out->addressMode);
    std::copy_n(d.borderColor, 4, out->borderColor);
    out->filterMode = d.filterMode;
    out->readMode = d.flags & CU_TRSF_READ_AS_INTEGER ? reads_elements : 1;
    out->sRGB = bool(d.flags & CU_TRSF_SRGB);
    out->normalizedCoords = bool(d.flags & CU_TRSF_NORMALIZED_COORDINATES);
    out->maxAnisotropy = d.maxAnisotropy;
    out->mipmapFilterMode = d.mipmapFilterMode;
    out->mipmapLevelBias = d.mipmapLevelBias;
    out->minMipmapLevelClamp = d.minMipmapLevelClamp;
    out->maxMipmapLevelClamp = d.maxMipmapLevelClamp;
    out->disableTrilinearOptimization = bool(d.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
    out->seamlessCubemap = bool(d.flags & CU_TRSF_SEAMLESS_CUBEMAP);
    return CUDA_SUCCESS;
}

int make_surface(CUsurfObject* object, const cudaResourceDesc* resource)
{
    CUDA_RESOURCE_DESC described{};
    int failed = describe_resource(resource, &described);
    return failed ? failed : int(cuSurfObjectCreate(object, &described));
}

// Returns the size of the elements that positions count: those of an array, or bytes.
int size_of_elements(CUarray array, size_t* size)
{
    CUDA_ARRAY3D_DESCRIPTOR d{};
    *size = 1;
    if (!array)
        return CUDA_SUCCESS;
    int failed = cuArray3DGetDescriptor_v2(&d, array);
    *size = failed ? 1 : state::element_size(d);
    return failed;
}

int copy_box(const cudaMemcpy3DParms* p, CUstream* stream)
{
    CUDA_MEMCPY3D box{};
    if (int failed = describe_copy(p, &box))
        return failed;
    return stream ? cuMemcpy3DAsync_v2(&box, *stream) : cuMemcpy3D_v2(&box);
}

int allocate_box(cudaPitchedPtr* out, cudaExtent extent)
{
    CUdeviceptr address = 0;
    size_t pitch = 0;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (int failed = cuMemAllocPitch_v2(&address, &pitch, extent.width, extent.height * extent.depth, 4))
        return failed;
    *out = {reinterpret_cast<void*>(address), pitch, extent.width, extent.height};
    return CUDA_SUCCESS;
}

int fill_box(cudaPitchedPtr to, int value, cudaExtent extent, CUstream* stream)
{
    auto byte = static_cast<unsigned char>(value);
    for (size_t z = 0; z < extent.depth; ++z) {
        CUdeviceptr slice = number(to.ptr) + z * to.pitch * to.ysize;
        int failed = stream ? cuMemsetD2D8Async(slice, to.pitch, byte, extent.width, extent.height, *stream)
                            : cuMemsetD2D8_v2(slice, to.pitch, byte, extent.width, extent.height);
        if (failed)
            return failed;
    }
    return CUDA_SUCCESS;
}

// One side of a copy of rows: an array, or memory.
struct Side {
    CUarray array;
    const void* memory;
    size_t pitch, x, y; // x in bytes
};

int copy_array_rows(Side to, Side from, size_t width, size_t height, int kind, CUstream* stream)
{
    if (!is_direction(kind))
        return invalid_direction;
    CUDA_MEMCPY2D box{};
    box.srcMemoryType = from.array ? CU_MEMORYTYPE_ARRAY : source_type(kind);
    box.srcArray = from.array;
    box.srcHost = const_cast<void*>(from.memory);
    box.srcDevice = number(from.memory);
    box.srcPitch = from.pitch;
    box.srcXInBytes = from.x;
    box.srcY = from.y;
    box.dstMemoryType = to.array ? CU_MEMORYTYPE_ARRAY : target_type(kind);
    box.dstArray = to.array;
    box.dstHost = const_cast<void*>(to.memory);
    box.dstDevice = number(to.memory);
    box.dstPitch = to.pitch;
    box.dstXInBytes = to.x;
    box.dstY = to.y;
    box.WidthInBytes = width;
    box.Height = height;
    return stream ? cuMemcpy2DAsync_v2(&box, *stream) : cuMemcpy2DUnaligned_v2(&box);
}

// Copies to or from the elements of an array that follow a place, which may be in several of its rows.
int copy_elements(CUarray array, size_t x, size_t y, const void* memory, size_t count, int kind, bool is_target)
{
    CUDA_ARRAY3D_DESCRIPTOR d{};
    if (int failed = cuArray3DGetDescriptor_v2(&d, array))
        return failed;
    const size_t row = d.Width * state::element_size(d);
    for (const char* at = static_cast<const char*>(memory); count;) {
        if (x >= row)
            return CUDA_ERROR_INVALID_VALUE;
        size_t bytes = count < row - x ? count : row - x;
        Side inside{array, nullptr, 0, x, y}, outside{nullptr, at, 0, 0, 0};
        int failed = is_target ? copy_array_rows(inside, outside, bytes, 1, kind, nullptr)
                               : copy_array_rows(outside, inside, bytes, 1, kind, nullptr);
        if (failed)
            return failed;
        at += bytes;
        count -= bytes;
        x = 0;
        ++y;
    }
    return CUDA_SUCCESS;
}

} // namespace

int describe_copy(const cudaMemcpy3DParms* p, CUDA_MEMCPY3D* out)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_direction(p->kind))
        return invalid_direction;
    if (!p->srcArray == !p->srcPtr.ptr || !p->dstArray == !p->dstPtr.ptr)
        return CUDA_ERROR_INVALID_VALUE;
    size_t from_size = 1, to_size = 1;
    if (int failed = size_of_elements(p->srcArray, &from_size))
        return failed;
    if (int failed = size_of_elements(p->dstArray, &to_size))
        return failed;
    if (p->srcArray && p->dstArray && from_size != to_size)
        return CUDA_ERROR_INVALID_VALUE;
    *out = {};
    out->srcXInBytes = p->srcPos.x * from_size;
    out->srcY = p->srcPos.y;
    out->srcZ = p->srcPos.z;
    out->srcMemoryType = p->srcArray ? CU_MEMORYTYPE_ARRAY : source_type(p->kind);
    out->srcArray = p->srcArray;
    out->srcHost = p->srcPtr.ptr;
    out->srcDevice = number(p->srcPtr.ptr);
    out->srcPitch = p->srcPtr.pitch;
    out->srcHeight = p->srcPtr.ysize;
    out->dstXInBytes = p->dstPos.x * to_size;
    out->dstY = p->dstPos.y;
    out->dstZ = p->dstPos.z;
    out->dstMemoryType = p->dstArray ? CU_MEMORYTYPE_ARRAY : target_type(p->kind);
    out->dstArray = p->dstArray;
    out->dstHost = p->dstPtr.ptr;
    out->dstDevice = number(p->dstPtr.ptr);
    out->dstPitch = p->dstPtr.pitch;
    out->dstHeight = p->dstPtr.ysize;
    out->WidthInBytes = p->extent.width * (p->srcArray ? from_size : to_size);
    out->Height = p->extent.height;
    out->Depth = p->extent.depth;
    return CUDA_SUCCESS;
}

// clang-format off
SERVE(cudaMallocArray, (cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height, unsigned int flags), make_array(array, desc, {width, height, 0}, flags))
SERVE(cudaMalloc3DArray, (cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned int flags), make_array(array, desc, extent, flags))
SERVE(cudaFreeArray, (cudaArray_t array), array ? cuArrayDestroy(array) : CUDA_SUCCESS)
SERVE(cudaArrayGetInfo, (cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned int* flags, cudaArray_t array), describe_array(desc, extent, flags, array))
SERVE(cudaGetChannelDesc, (cudaChannelFormatDesc* desc, cudaArray_const_t array), desc ? describe_array(desc, nullptr, nullptr, array) : CUDA_ERROR_INVALID_VALUE)
SERVE(cudaMallocMipmappedArray, (cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned int levels, unsigned int flags), make_mipmapped(array, desc, extent, levels, flags))
SERVE(cudaGetMipmappedArrayLevel, (cudaArray_t* level, cudaMipmappedArray_const_t array, unsigned int number), cuMipmappedArrayGetLevel(level, array, number))
SERVE(cudaFreeMipmappedArray, (cudaMipmappedArray_t array), array ? cuMipmappedArrayDestroy(array) : CUDA_SUCCESS)
SERVE(cudaMalloc3D, (cudaPitchedPtr* pointer, cudaExtent extent), allocate_box(pointer, extent))
SERVE(cudaMemset3D, (cudaPitchedPtr pointer, int value, cudaExtent extent), fill_box(pointer, value, extent, nullptr))
SERVE(cudaMemset3DAsync, (cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream), fill_box(pointer, value, extent, &stream))
SERVE(cudaMemcpy3D, (const cudaMemcpy3DParms* box), copy_box(box, nullptr))
SERVE(cudaMemcpy3DAsync, (const cudaMemcpy3DParms* box, cudaStream_t stream), copy_box(box, &stream))
SERVE(cudaMemcpy2DToArray, (cudaArray_t dst, size_t x, size_t y, const void* src, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind), copy_array_rows({dst, nullptr, 0, x, y}, {nullptr, src, pitch, 0, 0}, width, height, kind, nullptr))
SERVE(cudaMemcpy2DToArrayAsync, (cudaArray_t dst, size_t x, size_t y, const void* src, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream), copy_array_rows({dst, nullptr, 0, x, y}, {nullptr, src, pitch, 0, 0}, width, height, kind, &stream))
SERVE(cudaMemcpy2DFromArray, (void* dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind), copy_array_rows({nullptr, dst, pitch, 0, 0}, {src, nullptr, 0, x, y}, width, height, kind, nullptr))
SERVE(cudaMemcpy2DFromArrayAsync, (void* dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream), copy_array_rows({nullptr, dst, pitch, 0, 0}, {src, nullptr, 0, x, y}, width, height, kind, &stream))
SERVE(cudaMemcpy2DArrayToArray, (cudaArray_t dst, size_t to_x, size_t to_y, cudaArray_const_t src, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind), copy_array_rows({dst, nullptr, 0, to_x, to_y}, {src, nullptr, 0, x, y}, width, height, kind, nullptr))
SERVE(cudaMemcpyToArray, (cudaArray_t dst, size_t x, size_t y, const void* src, size_t count, cudaMemcpyKind kind), copy_elements(dst, x, y, src, count, kind, true))
SERVE(cudaMemcpyFromArray, (void* dst, cudaArray_const_t src, size_t x, size_t y, size_t count, cudaMemcpyKind kind), copy_elements(src, x, y, dst, count, kind, false))
SERVE(cudaCreateTextureObject, (cudaTextureObject_t* object, const cudaResourceDesc* resource, const cudaTextureDesc* sampling, const cudaResourceViewDesc* view), make_texture(object, resource, sampling, view))
SERVE(cudaGetTextureObjectResourceDesc, (cudaResourceDesc* resource, cudaTextureObject_t object), recall_resource(resource, object))
SERVE(cudaGetTextureObjectTextureDesc, (cudaTextureDesc* sampling, cudaTextureObject_t object), recall_sampling(sampling, object))
SERVE(cudaDestroyTextureObject, (cudaTextureObject_t object), object ? cuTexObjectDestroy(object) : CUDA_SUCCESS)
SERVE(cudaCreateSurfaceObject, (cudaSurfaceObject_t* object, const cudaResourceDesc* resource), make_surface(object, resource))
SERVE(cudaDestroySurfaceObject, (cudaSurfaceObject_t object), object ? cuSurfObjectDestroy(object) : CUDA_SUCCESS)
// clang-format on

} // namespace emu::abi
