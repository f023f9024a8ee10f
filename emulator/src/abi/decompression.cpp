// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The decompression engine of devices of compute capability 10.0 and later, for LZ4 blocks and Snappy.
#include <cstring>
#include <vector>

#include "../state/memory/arena.hpp"
#include "../state/streams/capture.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

// Reads compressed bytes and appends decompressed ones. After a read or a write out of range, `is_valid` is false.
struct Decoder {
    const std::byte* from;
    size_t left;
    std::byte* to;
    size_t room, written = 0;
    bool is_valid = true;

    unsigned next()
    {
        if (left == 0) {
            is_valid = false;
            return 0;
        }
        --left;
        return std::to_integer<unsigned>(*from++);
    }

    size_t next_word(int bytes)
    {
        size_t value = 0;
        for (int i = 0; i < bytes; ++i)
            value |= size_t(next()) << (8 * i);
        return value;
    }

    void literal(size_t size)
    {
        is_valid = is_valid && size <= left && size <= room - written;
        if (!is_valid)
            return;
        std::memcpy(to + written, from, size);
        from += size;
        left -= size;
        written += size;
    }

    void repeat(size_t offset, size_t size)
    {
        is_valid = is_valid && offset && offset <= written && size <= room - written;
        for (size_t i = 0; is_valid && i < size; ++i, ++written)
            to[written] = to[written - offset];
    }
};

size_t lz4_length(Decoder& decoder, size_t length)
{
    for (unsigned more = length == 15 ? 255 : 0; more == 255 && decoder.is_valid;)
        length += more = decoder.next();
    return length;
}

void decode_lz4(Decoder& decoder)
{
    while (decoder.left && decoder.is_valid) {
        unsigned token = decoder.next();
        decoder.literal(lz4_length(decoder, token >> 4));
        if (!decoder.left)
            return;
        size_t offset = decoder.next_word(2);
        decoder.repeat(offset, lz4_length(decoder, token & 15) + 4);
    }
}

void decode_snappy(Decoder& decoder)
{
    while (decoder.left && decoder.next() & 0x80) // the length, which is not needed
        ;
    while (decoder.left && decoder.is_valid) {
        unsigned tag = decoder.next();
        size_t length = (tag >> 2) + 1;
        switch (tag & 3) {
        case 0:
            if (length > 60)
                length = decoder.next_word(int(length) - 60) + 1;
            decoder.literal(length);
            break;
        case 1:
            length = ((tag >> 2) & 7) + 4;
            decoder.repeat((size_t(tag >> 5) << 8) | decoder.next(), length);
            break;
        case 2: decoder.repeat(decoder.next_word(2), length); break;
        default: decoder.repeat(decoder.next_word(4), length); break;
        }
    }
}

// One operation, with the places where the library reads and writes.
struct Job {
    CUmemDecompressAlgorithm algorithm;
    Decoder decoder;
    std::byte* written; // 4 bytes
};

CUresult make_job(const Device& device, const CUmemDecompressParams& p, Job* out)
{
    auto& space = AddressSpace::get();
    auto* from = space.reach(address_of(p.src), p.srcNumBytes);
    auto* to = space.reach(address_of(p.dst), p.dstNumBytes);
    auto* written = space.reach(address_of(p.dstActBytes), sizeof(uint32_t));
    const size_t most = size_t(device.number(CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH));
    REQUIRE(from && to && written && p.srcNumBytes <= most && p.dstNumBytes <= most, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(p.algo == CU_MEM_DECOMPRESS_ALGORITHM_LZ4 || p.algo == CU_MEM_DECOMPRESS_ALGORITHM_SNAPPY,
            CUDA_ERROR_INVALID_VALUE);
    *out = {p.algo, {from, p.srcNumBytes, to, p.dstNumBytes}, written};
    return CUDA_SUCCESS;
}

} // namespace

ENTRY(cuMemBatchDecompressAsync, 12060)(CUmemDecompressParams* paramsArray, size_t count, unsigned int flags,
                                        size_t* errorIndex, CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    std::vector<Job> jobs(count);
    if (errorIndex)
        *errorIndex = SIZE_MAX;
    REQUIRE(paramsArray && count && flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    auto context = stream->context();
    REQUIRE(context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    REQUIRE(context->device().number(CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK), CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(!stream->is_capturing(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    for (size_t i = 0; i < count; ++i) {
        CUresult failed = make_job(context->device(), paramsArray[i], &jobs[i]);
        if (failed && errorIndex)
            *errorIndex = i;
        TRY(failed);
    }
    auto work = [jobs = std::move(jobs)]() mutable {
        for (Job& job : jobs) {
            job.algorithm == CU_MEM_DECOMPRESS_ALGORITHM_LZ4 ? decode_lz4(job.decoder) : decode_snappy(job.decoder);
            const uint32_t written = uint32_t(job.decoder.written);
            std::memcpy(job.written, &written, sizeof written);
            if (!job.decoder.is_valid)
                return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
        return CUDA_SUCCESS;
    };
    return stream->enqueue({Operation::Kind::copy, "cuMemBatchDecompressAsync", std::move(work)});
}
