// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps: encoding, with the driver's documented checks. exec/bulk_copies.cpp uses them.
#include <cstring>

#include "../exec/tensor_map.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::abi;
using exec::TensorMap;
using exec::TensorMapKind;

namespace {

// The arguments common to all kinds of maps.
struct Tensor {
    CUtensorMapDataType data_type;
    cuuint32_t rank;
    void* address;
    const cuuint64_t* extents;
    const cuuint64_t* pitches;
    const cuuint32_t* steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

bool has_engine()
{
    const state::Device* device = state::device_at(0);
    return device && device->major() >= 9;
}

bool are_choices(const Tensor& t)
{
    return exec::item_size(t.data_type) && unsigned(t.interleave) <= CU_TENSOR_MAP_INTERLEAVE_32B &&
           unsigned(t.swizzle) <= CU_TENSOR_MAP_SWIZZLE_128B &&
           unsigned(t.promotion) <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
           unsigned(t.fill) <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
}

// Fills in the fields common to all kinds. The current context's device needs the copy engine (compute capability 9.0).
CUresult describe(CUtensorMap* out, const Tensor& t, TensorMapKind kind, unsigned least_rank, TensorMap* map)
{
    std::shared_ptr<state::Context> context;
    TRY(need_context(&context));
    REQUIRE(has_engine(), CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(are_choices(t) && t.rank >= least_rank && t.rank <= 5, CUDA_ERROR_INVALID_VALUE);
    // Checked even with one axis, where the strides are not read.
    REQUIRE(t.extents && t.steps && t.pitches, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!t.interleave || t.rank >= 3, CUDA_ERROR_INVALID_VALUE);
    bool is_wide = t.interleave == CU_TENSOR_MAP_INTERLEAVE_32B;
    unsigned unit = is_wide ? 32 : 16;
    REQUIRE(!is_wide || t.swizzle == CU_TENSOR_MAP_SWIZZLE_32B, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(t.address && address_of(t.address) % unit == 0, CUDA_ERROR_INVALID_VALUE);
    bool is_integer = t.data_type < CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    REQUIRE(!t.fill || !is_integer, CUDA_ERROR_INVALID_VALUE);
    *map = {};
    map->mark = TensorMap::right_mark;
    map->kind = kind;
    map->rank = uint8_t(t.rank);
    map->data_type = uint8_t(t.data_type);
    map->interleave = uint8_t(t.interleave);
    map->swizzle = uint8_t(t.swizzle);
    map->fill = uint8_t(t.fill);
    map->address = address_of(t.address);
    for (unsigned i = 0; i < t.rank; ++i) {
        REQUIRE(t.extents[i] >= 1 && t.extents[i] <= 1ull << 32, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(t.steps[i] >= 1 && t.steps[i] <= 8, CUDA_ERROR_INVALID_VALUE);
        map->last[i] = uint32_t(t.extents[i] - 1);
        map->steps[i] = uint8_t(t.steps[i]);
        if (i + 1 == t.rank)
            break;
        REQUIRE(t.pitches[i] % unit == 0 && t.pitches[i] < 1ull << 40, CUDA_ERROR_INVALID_VALUE);
        map->pitches[i] = t.pitches[i];
    }
    return CUDA_SUCCESS;
}

// Returns true if a row consists of whole 16-byte units, and the tile fits into shared memory.
bool tile_fits(const Tensor& t, size_t row, size_t count)
{
    constexpr size_t most = 232448;
    return row * exec::item_size(t.data_type) % 16 == 0 && count * exec::item_size(t.data_type) <= most;
}

// Returns true if a row fits into the span of the swizzle pattern.
bool is_covered(const Tensor& t, size_t count)
{
    return t.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || t.interleave ||
           count * exec::item_size(t.data_type) <= 16u << t.swizzle;
}

void write(CUtensorMap* out, const TensorMap& map)
{
    std::memset(out, 0, sizeof *out);
    std::memcpy(out, &map, sizeof map);
}

} // namespace

ENTRY(cuTensorMapEncodeTiled, 12000)(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
                                     void* globalAddress, const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
                                     const cuuint32_t* boxDim, const cuuint32_t* elementStrides,
                                     CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    Tensor t{tensorDataType, tensorRank, globalAddress, globalDim,   globalStrides,
             elementStrides, interleave, swizzle,       l2Promotion, oobFill};
    TensorMap map;
    TRY(describe(tensorMap, t, TensorMapKind::tiled, 1, &map));
    REQUIRE(boxDim, CUDA_ERROR_INVALID_VALUE);
    size_t count = 1;
    for (unsigned i = 0; i < t.rank; ++i) {
        REQUIRE(boxDim[i] >= 1 && boxDim[i] <= 256, CUDA_ERROR_INVALID_VALUE);
        map.tile[i] = uint16_t(boxDim[i]);
        count *= boxDim[i] / t.steps[i]; // rounded down, like an H200's driver
    }
    REQUIRE(tile_fits(t, boxDim[0], count), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(is_covered(t, boxDim[0]), CUDA_ERROR_INVALID_VALUE);
    write(tensorMap, map);
    return CUDA_SUCCESS;
}

ENTRY(cuTensorMapEncodeIm2col,
      12000)(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void* globalAddress,
             const cuuint64_t* globalDim, const cuuint64_t* globalStrides, const int* pixelBoxLowerCorner,
             const int* pixelBoxUpperCorner, cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
             const cuuint32_t* elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
             CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    Tensor t{tensorDataType, tensorRank, globalAddress, globalDim,   globalStrides,
             elementStrides, interleave, swizzle,       l2Promotion, oobFill};
    TensorMap map;
    TRY(describe(tensorMap, t, TensorMapKind::im2col, 3, &map));
    REQUIRE(pixelBoxLowerCorner && pixelBoxUpperCorner, CUDA_ERROR_INVALID_VALUE);
    const int reach = t.rank == 3 ? 32768 : t.rank == 4 ? 128 : 16;
    for (unsigned i = 0; i + 2 < t.rank; ++i) {
        int lower = pixelBoxLowerCorner[i], upper = pixelBoxUpperCorner[i];
        REQUIRE(lower >= -reach && lower < reach && upper >= -reach && upper < reach, CUDA_ERROR_INVALID_VALUE);
        // In interleaved maps the channels are the last axis but one instead of the first.
        REQUIRE(int64_t(t.extents[i + (t.interleave ? 0 : 1)]) + upper - lower > 0, CUDA_ERROR_INVALID_VALUE);
        map.lower[i] = int16_t(lower);
        map.upper[i] = int16_t(upper);
    }
    REQUIRE(channelsPerPixel >= 1 && channelsPerPixel <= 256, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(pixelsPerColumn >= 1 && pixelsPerColumn <= 1024, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(is_covered(t, channelsPerPixel), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(tile_fits(t, channelsPerPixel, size_t(channelsPerPixel) * pixelsPerColumn), CUDA_ERROR_INVALID_VALUE);
    map.channels = uint16_t(channelsPerPixel);
    map.pixels = uint16_t(pixelsPerColumn);
    write(tensorMap, map);
    return CUDA_SUCCESS;
}

// An H200's driver encodes this kind, although kernels can only use it on compute capability 10.0 and later.
ENTRY(cuTensorMapEncodeIm2colWide,
      12080)(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void* globalAddress,
             const cuuint64_t* globalDim, const cuuint64_t* globalStrides, int pixelBoxLowerCornerWidth,
             int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
             const cuuint32_t* elementStrides, CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
             CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    Tensor t{tensorDataType, tensorRank, globalAddress, globalDim,   globalStrides,
             elementStrides, interleave, swizzle,       l2Promotion, oobFill};
    TensorMap map;
    TRY(describe(tensorMap, t, TensorMapKind::im2col_wide, 3, &map));
    int lower = pixelBoxLowerCornerWidth, upper = pixelBoxUpperCornerWidth;
    REQUIRE(lower >= -32768 && lower < 32768 && upper >= -32768 && upper < 32768, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(int64_t(t.extents[1]) + upper - lower > 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(unsigned(mode) <= CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(swizzle == CU_TENSOR_MAP_SWIZZLE_64B || swizzle == CU_TENSOR_MAP_SWIZZLE_128B, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(channelsPerPixel >= 1 && channelsPerPixel <= 256, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(pixelsPerColumn >= 1 && pixelsPerColumn <= 1024, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(is_covered(t, channelsPerPixel), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(tile_fits(t, channelsPerPixel, size_t(channelsPerPixel) * pixelsPerColumn), CUDA_ERROR_INVALID_VALUE);
    map.lower[0] = int16_t(lower);
    map.upper[0] = int16_t(upper);
    map.mode = uint8_t(mode);
    map.channels = uint16_t(channelsPerPixel);
    map.pixels = uint16_t(pixelsPerColumn);
    write(tensorMap, map);
    return CUDA_SUCCESS;
}

ENTRY(cuTensorMapReplaceAddress, 12000)(CUtensorMap* tensorMap, void* globalAddress)
{
    TensorMap map;
    std::shared_ptr<state::Context> context;
    TRY(need_context(&context));
    REQUIRE(has_engine(), CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(tensorMap, CUDA_ERROR_INVALID_VALUE);
    std::memcpy(&map, tensorMap, sizeof map);
    REQUIRE(map.mark == TensorMap::right_mark, CUDA_ERROR_INVALID_VALUE);
    unsigned unit = map.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
    REQUIRE(globalAddress && address_of(globalAddress) % unit == 0, CUDA_ERROR_INVALID_VALUE);
    map.address = address_of(globalAddress);
    write(tensorMap, map);
    return CUDA_SUCCESS;
}

// The class has no effect, as on most GPUs.
ENTRY(cuTensorMapSetAllocationClass, 13050)(CUtensorMap* tensorMap, CUtensorMapAllocClass allocClass,
                                            CUtensorMapAllocClass* outAllocClass)
{
    TensorMap map;
    std::shared_ptr<state::Context> context;
    if (outAllocClass)
        *outAllocClass = CU_TENSOR_MAP_ALLOC_CLASS_SMALL;
    TRY(need_context(&context));
    REQUIRE(has_engine(), CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(tensorMap && allocClass >= CU_TENSOR_MAP_ALLOC_CLASS_AUTO && allocClass <= CU_TENSOR_MAP_ALLOC_CLASS_LARGE,
            CUDA_ERROR_INVALID_VALUE);
    std::memcpy(&map, tensorMap, sizeof map);
    return map.mark == TensorMap::right_mark ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
