// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The driver's linker.
#include <cstdio>
#include <cstring>
#include <mutex>

#include "../front/front.hpp"
#include "../state/handles.hpp"
#include "calls.hpp"
#include "jit_options.hpp"

using namespace emu;
using namespace emu::abi;

namespace {

struct Link {
    std::mutex mutex;
    front::LinkRequest request;
    front::LinkResult result;
    JitOptions logs;
};

state::HandleTable<Link, CUlinkState>& links()
{
    static auto* rows = new state::HandleTable<Link, CUlinkState>;
    return *rows;
}

CUresult need_link(CUlinkState handle, std::shared_ptr<Link>* out)
{
    *out = links().find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult add_image(CUlinkState handle, const void* data, size_t size, const std::string& name)
{
    std::shared_ptr<Link> link;
    TRY(need_link(handle, &link));
    auto begin = static_cast<const std::byte*>(data);
    size_t known = 0;
    switch (front::inspect_image(data, size, &known)) {
    case front::ImageKind::host_module:
    case front::ImageKind::host_object:
    case front::ImageKind::text:
    case front::ImageKind::ptx:
    case front::ImageKind::library: break;
    case front::ImageKind::unknown: return CUDA_ERROR_INVALID_IMAGE;
    default: return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    std::lock_guard lock(link->mutex);
    link->request.inputs.push_back({Bytes(begin, begin + size), name});
    return CUDA_SUCCESS;
}

} // namespace

ENTRY(cuLinkCreate, 6050)(unsigned int numOptions, CUjit_option* options, void** optionValues, CUlinkState* stateOut)
{
    std::shared_ptr<state::Context> context;
    REQUIRE(stateOut, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    auto link = std::make_shared<Link>();
    TRY(link->logs.read(numOptions, options, optionValues));
    int arch = context->device().major() * 10 + context->device().minor();
    link->request.options = {"-arch=sm_" + std::to_string(arch)};
    *stateOut = links().add(link);
    return CUDA_SUCCESS;
}

ENTRY(cuLinkAddData, 6050)(CUlinkState state, CUjitInputType, void* data, size_t size, const char* name, unsigned int,
                           CUjit_option*, void**)
{
    REQUIRE(data && size, CUDA_ERROR_INVALID_VALUE);
    return add_image(state, data, size, name ? name : "input");
}

ENTRY(cuLinkAddFile, 6050)(CUlinkState state, CUjitInputType, const char* path, unsigned int, CUjit_option*, void**)
{
    REQUIRE(path, CUDA_ERROR_INVALID_VALUE);
    FILE* file = std::fopen(path, "rbe");
    REQUIRE(file, CUDA_ERROR_FILE_NOT_FOUND);
    Bytes bytes;
    std::byte part[65536];
    while (size_t count = std::fread(part, 1, sizeof part, file))
        bytes.insert(bytes.end(), part, part + count);
    std::fclose(file);
    REQUIRE(!bytes.empty(), CUDA_ERROR_INVALID_IMAGE);
    return add_image(state, bytes.data(), bytes.size(), path);
}

// The image belongs to the link state until the state is destroyed.
ENTRY(cuLinkComplete, 5050)(CUlinkState state, void** cubinOut, size_t* sizeOut)
{
    std::shared_ptr<Link> link;
    REQUIRE(cubinOut, CUDA_ERROR_INVALID_VALUE);
    TRY(need_link(state, &link));
    std::lock_guard lock(link->mutex);
    link->result = front::link(link->request);
    const auto& result = link->result;
    link->logs.give(result.info_log, result.error_log.empty() ? result.error.text : result.error_log);
    TRY(result.error.code);
    *cubinOut = const_cast<std::byte*>(result.image.data());
    if (sizeOut)
        *sizeOut = result.image.size();
    return CUDA_SUCCESS;
}

ENTRY(cuLinkDestroy, 5050)(CUlinkState state)
{
    return links().remove(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
