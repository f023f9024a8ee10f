// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "module.hpp"

#include <algorithm>
#include <cstring>

#include "../../config.hpp"
#include "../device.hpp"
#include "../memory/arena.hpp"

namespace emu::state {
namespace {

HandleTable<Module, CUmodule>& modules()
{
    static auto* rows = new HandleTable<Module, CUmodule>;
    return *rows;
}

HandleTable<Library, CUlibrary>& libraries()
{
    static auto* rows = new HandleTable<Library, CUlibrary>;
    return *rows;
}

// Functions and kernels share a table, because drivers accept either in place of the other.
HandleTable<Function, CUfunction>& functions()
{
    static auto* rows = new HandleTable<Function, CUfunction>;
    return *rows;
}

void forget(const std::map<std::string, std::shared_ptr<Function>>& rows)
{
    for (const auto& row : rows)
        functions().remove(row.second->handle());
}

CUresult report(const Error& error, const std::string& info, const std::string& log, std::string* info_log,
                std::string* error_log)
{
    if (info_log)
        *info_log = info;
    if (error_log)
        *error_log = log.empty() ? error.text : log;
    return error.code;
}

void unload_modules_of(const Context& context)
{
    for (const auto& row : modules().all())
        if (row.first->context().get() == &context)
            Module::unload(row.first->handle());
}

const AtContextEnd unload_modules_with_context(&unload_modules_of);

} // namespace

// ------------------------------------------------------------------------------ modules

CUresult Module::load(Context& context, const front::LoadRequest& request, std::string* info_log,
                      std::string* error_log, CUmodule* out)
{
    front::LoadRequest wanted = request;
    wanted.device = context.device().ordinal();
    front::LoadResult loaded = front::load_image(wanted);
    if (CUresult failed = report(loaded.error, loaded.info_log, loaded.error_log, info_log, error_log))
        return failed;
    auto module = std::make_shared<Module>();
    module->context_ = context.weak_from_this();
    module->code_ = std::move(loaded.module);
    for (const auto& global : module->code_->globals())
        if (global.address && global.size)
            AddressSpace::get().add_variable(global.address, global.size, global.kind == EMU_VARIABLE_MANAGED,
                                             context.device().ordinal(), context.handle());
    module->handle_ = modules().add(module);
    *out = module->handle_;
    return CUDA_SUCCESS;
}

CUresult Module::unload(CUmodule handle)
{
    auto module = modules().find(handle);
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    auto context = module->context();
    if (context)
        context->wait_idle();
    modules().remove(handle);
    std::map<std::string, std::shared_ptr<Function>> gone;
    {
        std::lock_guard lock(module->mutex_);
        gone.swap(module->functions_);
    }
    forget(gone);
    return CUDA_SUCCESS;
}

Module::~Module()
{
    for (const auto& global : code_ ? code_->globals() : std::vector<front::GlobalInfo>())
        if (global.address && global.size)
            AddressSpace::get().remove_variable(global.address);
}

std::shared_ptr<Module> Module::find(CUmodule handle)
{
    return modules().find(handle);
}

std::vector<std::pair<std::shared_ptr<Module>, Origin>> Module::all()
{
    return modules().all();
}

CUresult Module::function(const std::string& name, std::shared_ptr<Function>* out, const Function* kernel)
{
    std::lock_guard lock(mutex_);
    auto& function = functions_[name];
    if (!function) {
        const front::KernelInfo* info = code_->find_kernel(name);
        if (!info) {
            functions_.erase(name);
            return CUDA_ERROR_NOT_FOUND;
        }
        function = std::make_shared<Function>(*info, shared_from_this(), nullptr);
        function->handle_ = functions().add(function);
    }
    if (kernel)
        function->share_settings(*kernel);
    *out = function;
    return CUDA_SUCCESS;
}

CUresult Module::global(const std::string& name, CUdeviceptr* address, size_t* size) const
{
    const front::GlobalInfo* global = code_->find_global(name);
    if (!global)
        return CUDA_ERROR_NOT_FOUND;
    if (address)
        *address = reinterpret_cast<CUdeviceptr>(global->address);
    if (size)
        *size = global->size;
    return CUDA_SUCCESS;
}

// ---------------------------------------------------------------------------- libraries

CUresult Library::load(const front::LoadRequest& request, std::string* info_log, std::string* error_log, CUlibrary* out)
{
    auto library = std::make_shared<Library>();
    library->contents_ = front::read_image(request);
    const auto& contents = library->contents_;
    if (CUresult failed = report(contents.error, contents.info_log, contents.error_log, info_log, error_log))
        return failed;
    library->handle_ = libraries().add(library);
    *out = library->handle_;
    return CUDA_SUCCESS;
}

CUresult Library::unload(CUlibrary handle)
{
    auto library = libraries().remove(handle);
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    std::map<std::string, std::shared_ptr<Function>> kernels;
    std::map<uint64_t, std::weak_ptr<Module>> loaded;
    {
        std::lock_guard lock(library->mutex_);
        kernels.swap(library->kernels_);
        loaded.swap(library->modules_);
    }
    forget(kernels);
    for (auto& row : loaded)
        if (auto module = row.second.lock())
            Module::unload(module->handle());
    return CUDA_SUCCESS;
}

Library::~Library() = default;

std::shared_ptr<Library> Library::find(CUlibrary handle)
{
    return libraries().find(handle);
}

std::vector<std::pair<std::shared_ptr<Library>, Origin>> Library::all()
{
    return libraries().all();
}

CUresult Library::kernel(const std::string& name, CUkernel* out)
{
    const auto& known = contents_.kernels;
    auto info = std::find_if(known.begin(), known.end(), [&](const front::KernelInfo& k) { return k.name == name; });
    if (info == known.end())
        return CUDA_ERROR_NOT_FOUND;
    std::lock_guard lock(mutex_);
    auto& kernel = kernels_[name];
    if (!kernel) {
        kernel = std::make_shared<Function>(*info, nullptr, shared_from_this());
        kernel->handle_ = functions().add(kernel);
    }
    *out = reinterpret_cast<CUkernel>(kernel->handle());
    return CUDA_SUCCESS;
}

std::vector<CUkernel> Library::kernels()
{
    std::vector<CUkernel> out(contents_.kernels.size());
    for (size_t i = 0; i < out.size(); ++i)
        kernel(contents_.kernels[i].name, &out[i]);
    return out;
}

CUresult Library::module_in(Context& context, std::shared_ptr<Module>* out)
{
    std::lock_guard lock(mutex_); // two threads must not load the library twice
    auto& loaded = modules_[context.id()];
    if (auto module = loaded.lock()) {
        *out = std::move(module);
        return CUDA_SUCCESS;
    }
    front::LoadRequest request;
    request.image = contents_.module.data();
    request.size = contents_.module.size();
    CUmodule handle = nullptr;
    if (CUresult failed = Module::load(context, request, nullptr, nullptr, &handle))
        return failed;
    *out = Module::find(handle);
    (*out)->of_library_ = true;
    loaded = *out;
    return CUDA_SUCCESS;
}

// ---------------------------------------------------------------------------- functions

Function::Function(const front::KernelInfo& info, const std::shared_ptr<Module>& module,
                   const std::shared_ptr<Library>& library)
    : info_(&info), module_(module), library_(library), of_library_(library != nullptr)
{
}

std::shared_ptr<Function> Function::find(CUfunction handle)
{
    return functions().find(handle);
}

std::shared_ptr<Function> Function::find(CUkernel handle)
{
    auto function = functions().find(reinterpret_cast<CUfunction>(handle));
    return function && function->is_kernel() ? function : nullptr;
}

CUresult Function::in(Context& context, std::shared_ptr<Function>* out)
{
    if (!of_library_) {
        auto module = module_.lock();
        *out = find(handle_);
        return *out && module && module->context().get() == &context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    {
        std::lock_guard lock(mutex_);
        if (last_context_ == context.id() && (*out = last_.lock()))
            return CUDA_SUCCESS;
    }
    auto library = library_.lock();
    std::shared_ptr<Module> module;
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult failed = library->module_in(context, &module))
        return failed;
    if (CUresult failed = module->function(info_->name, out, this))
        return failed;
    std::lock_guard lock(mutex_);
    last_context_ = context.id();
    last_ = *out;
    return CUDA_SUCCESS;
}

FunctionSettings Function::settings(int device) const
{
    std::lock_guard lock(settings_->mutex);
    auto row = settings_->rows.find(device);
    return row == settings_->rows.end() ? FunctionSettings() : row->second;
}

int Function::max_dynamic_shared(int device) const
{
    int set = settings(device).max_dynamic_shared;
    const Device* d = device_at(device);
    int usual = d ? d->number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) : 0;
    return set >= 0 ? set : std::max(0, usual - int(info_->static_shared));
}

int Function::max_threads(int device) const
{
    const Device* d = device_at(device);
    int by_registers = d ? max_block_threads(*d, info_->registers) : 0;
    return info_->max_threads ? std::min(by_registers, int(info_->max_threads)) : by_registers;
}

CUresult Function::attribute(CUfunction_attribute attribute, int device, int* value) const
{
    const Device* d = device_at(device);
    if (!d)
        return CUDA_ERROR_INVALID_DEVICE;
    const FunctionSettings s = settings(device);
    auto cluster = [&](int axis, uint32_t written) { return written ? int(written) : s.cluster[axis]; };
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = max_threads(device); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = int(info_->static_shared); break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = int(info_->constant_bytes); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = int(info_->local_bytes); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = int(info_->registers); break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = d->major() * 10 + d->minor(); break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = max_dynamic_shared(device); break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = s.carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = info_->cluster.x != 0; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = cluster(0, info_->cluster.x); break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = cluster(1, info_->cluster.y); break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = cluster(2, info_->cluster.z); break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = s.non_portable_cluster; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = s.cluster_policy; break;
    case CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED:
    case CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE:
        if (config().driver_version < 13020)
            return CUDA_ERROR_INVALID_VALUE;
        *value = attribute == CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE ? s.shared_memory_mode : 0;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult Function::set_attribute(CUfunction_attribute attribute, int device, int value)
{
    const Device* d = device_at(device);
    if (!d)
        return CUDA_ERROR_INVALID_DEVICE;
    int most = d->number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) - int(info_->static_shared);
    std::lock_guard lock(settings_->mutex);
    FunctionSettings& s = settings_->rows[device];
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > most)
            return CUDA_ERROR_INVALID_VALUE;
        s.max_dynamic_shared = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        s.carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (value < 0 || info_->cluster.x) // __cluster_dims__ in the source cannot be changed
            return CUDA_ERROR_INVALID_VALUE;
        s.cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: s.non_portable_cluster = value != 0; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < 0 || value > 2)
            return CUDA_ERROR_INVALID_VALUE;
        s.cluster_policy = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE:
        if (config().driver_version < 13020 || value < CU_SHARED_MEMORY_MODE_DEFAULT ||
            value > CU_SHARED_MEMORY_MODE_PREFER_OVERSIZED_SHARED_MEMORY)
            return CUDA_ERROR_INVALID_VALUE;
        s.shared_memory_mode = value;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

} // namespace emu::state
