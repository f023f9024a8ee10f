// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Launches: the checks, in a driver's order, and the run.
#include <cstring>

#include "../../config.hpp"
#include "../device.hpp"
#include "../interruption.hpp"
#include "../memory/arena.hpp"
#include "../memory/pool.hpp"
#include "../memory/virtual_space.hpp"
#include "../origin.hpp"
#include "../telemetry.hpp"
#include "module.hpp"

namespace emu::state {
namespace {

std::atomic<uint64_t> next_launch{1};

bool has_valid_dimensions(const Device& device, const Dim3& grid, const Dim3& block)
{
    auto within = [&](uint32_t value, CUdevice_attribute most) {
        return value >= 1 && value <= uint32_t(device.number(most));
    };
    return within(grid.x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) && within(grid.y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
           within(grid.z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) && within(block.x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
           within(block.y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) && within(block.z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
}

CUresult check_size(const Device& device, Function& function, const LaunchParameters& p, int most_shared)
{
    auto text = [](const Dim3& d) {
        return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
    };
    int most = function.max_threads(device.ordinal());
    if (!has_valid_dimensions(device, p.grid, p.block) || p.block.count() > uint64_t(most))
        explain("a launch of " + text(p.grid) + " blocks of " + text(p.block) + " threads is outside the limits of the " +
                "device, or of the kernel, whose blocks have at most " + std::to_string(most) + " threads");
    else if (p.dynamic_shared > uint32_t(most_shared))
        explain("the kernel may have " + std::to_string(most_shared) + " bytes of dynamic shared memory, not " +
                std::to_string(p.dynamic_shared));
    else
        return CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_VALUE;
}

// Finds the cluster size, from the source (__cluster_dims__), the function's attributes, or the launch.
CUresult find_cluster(const Function& function, const Device& device, const LaunchParameters& p, Dim3* cluster)
{
    *cluster = Dim3{};
    const FunctionSettings settings = function.settings(device.ordinal());
    Dim3 required = function.info().cluster;
    if (!required.x && settings.cluster[0])
        required = {uint32_t(settings.cluster[0]), uint32_t(std::max(1, settings.cluster[1])),
                    uint32_t(std::max(1, settings.cluster[2]))};
    if (!p.cluster.x && !required.x)
        return CUDA_SUCCESS;
    Dim3 wanted = p.cluster.x ? p.cluster : required;
    if (required.x && !(wanted == required))
        return CUDA_ERROR_INVALID_VALUE;
    if (wanted.count() == 0 || p.grid.x % wanted.x || p.grid.y % wanted.y || p.grid.z % wanted.z)
        return CUDA_ERROR_INVALID_VALUE;
    if (wanted.count() > (settings.non_portable_cluster ? 16u : 8u))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (wanted.count() > 1 && !device.number(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH))
        return CUDA_ERROR_NOT_SUPPORTED;
    *cluster = wanted;
    return CUDA_SUCCESS;
}

// Reads the parameters from a packed buffer, which `extra` (a list of keys and values) passes instead of separate
// values.
CUresult copy_packed(const front::KernelInfo& info, void** extra, Bytes* out)
{
    const void* buffer = nullptr;
    size_t size = 0;
    for (void** item = extra;; item += 2) {
        auto key = reinterpret_cast<uintptr_t>(*item);
        if (key == CU_LAUNCH_PARAM_END_AS_INT)
            break;
        if (key == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)
            buffer = item[1];
        else if (key == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)
            size = item[1] ? *static_cast<size_t*>(item[1]) : 0;
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (size < info.parameter_bytes)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES; // like hardware drivers
    if (!buffer && info.parameter_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    out->resize(info.parameter_bytes);
    if (info.parameter_bytes)
        std::memcpy(out->data(), buffer, info.parameter_bytes);
    return CUDA_SUCCESS;
}

CUresult copy_parameters(const front::KernelInfo& info, const LaunchParameters& p, Bytes* out)
{
    if (p.values && p.extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (p.extra)
        return copy_packed(info, p.extra, out);
    if (!p.values && !info.parameters.empty())
        return CUDA_ERROR_INVALID_VALUE;
    out->resize(info.parameter_bytes);
    for (size_t i = 0; i < info.parameters.size(); ++i) {
        if (!p.values[i]) {
            explain("the kernel has " + std::to_string(info.parameters.size()) + " parameters, and the pointer to number " +
                    std::to_string(i + 1) + " is null");
            return CUDA_ERROR_INVALID_VALUE;
        }
        std::memcpy(out->data() + info.parameters[i].offset, p.values[i], info.parameters[i].size);
    }
    return CUDA_SUCCESS;
}

CUresult check_resident(const Function& function, const Device& device, const exec::LaunchRequest& request)
{
    OccupancyQuery query;
    query.threads = uint32_t(request.block.count());
    query.registers = function.info().registers;
    query.shared = size_t(request.static_shared) + request.dynamic_shared;
    uint64_t multiprocessors = request.partition ? request.partition->size() : request.multiprocessors;
    uint64_t most = uint64_t(blocks_per_multiprocessor(device, query)) * multiprocessors;
    most = std::min(most, exec::resident_blocks_limit(request));
    return request.grid.count() > most ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_SUCCESS;
}

// Reports how much of an SM the kernel can use. The host compiler's register counts do not apply to a GPU.
void advise(const Device& device, const exec::LaunchRequest& request)
{
    OccupancyQuery query;
    query.threads = uint32_t(request.block.count());
    query.registers = 1;
    int by_threads = blocks_per_multiprocessor(device, query);
    query.shared = size_t(request.static_shared) + request.dynamic_shared;
    exec::advise_launch(request.name, query.threads, query.shared, blocks_per_multiprocessor(device, query), by_threads,
                        device.number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / 32);
}

} // namespace

CUresult prepare_launch(Function& given, const LaunchParameters& p, Context& context, PreparedLaunch* out)
{
    const Device& device = context.device();
    std::shared_ptr<Function> function;
    if (CUresult failed = given.in(context, &function))
        return failed;
    const front::KernelInfo& info = function->info();
    if (CUresult failed = check_size(device, *function, p, given.max_dynamic_shared(device.ordinal())))
        return failed;
    auto request = std::make_shared<exec::LaunchRequest>();
    if (CUresult failed = find_cluster(given, device, p, &request->cluster))
        return failed;
    if (CUresult failed = copy_parameters(info, p, &request->parameters))
        return failed;
    auto module = function->module();
    request->entry = info.entry;
    request->name = info.shown;
    request->grid = p.grid;
    request->block = p.block;
    request->dynamic_shared = p.dynamic_shared;
    request->static_shared = info.static_shared;
    request->layout = info.parameters;
    request->cooperative = p.cooperative;
    request->device = device.ordinal();
    request->multiprocessors = uint32_t(device.number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    request->partition = p.partition;
    request->image = module->code().image();
    request->checks = config().checks;
    request->limits = context.limits();
    request->time_limit = config().time_limit;
    if (request->checks.advice)
        advise(device, *request);
    if (p.cooperative)
        if (CUresult failed = check_resident(*function, device, *request))
            return failed;
    context.prepare_heap();
    *out = {std::move(request), std::move(module)};
    return CUDA_SUCCESS;
}

void run_launch(exec::LaunchRequest& request, Context& context)
{
    request.id = next_launch++;
    request.seed = is_shuffled() ? next_choice() | 1 : 0;
    uint32_t devices = 1u << request.device | Pool::sharing_with(request.device);
    for (int peer : context.peer_devices())
        devices |= 1u << peer;
    auto for_each = [&](void (Arena::*action)()) {
        for (int device = 0; device < device_count(); ++device)
            if (devices >> device & 1)
                (AddressSpace::get().device(device).*action)();
    };
    if (!context.begin_launch(request.id))
        return;
    watch_interrupts();
    for_each(&Arena::begin_kernels);
    VirtualSpace::get().begin_kernels();
    kernel_begins(request.device);
    exec::Fault fault = exec::run(request);
    kernel_ends(request.device);
    context.end_launch(request.id);
    for_each(&Arena::end_kernels);
    VirtualSpace::get().end_kernels();
    if (fault.kind == exec::FaultKind::canceled && context.sticky() == CUDA_SUCCESS) {
        say(fault.text); // interrupted, so the context stays usable
    } else if (fault) {
        context.fail(fault);
        if (fault.kind != exec::FaultKind::canceled)
            report_fault(request.device, fault);
    }
}

} // namespace emu::state
