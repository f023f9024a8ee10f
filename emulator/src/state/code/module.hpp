// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Modules, libraries, functions and kernels. A library is loaded into a context on first use there; a module belongs to
// one context.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../../common.hpp"
#include "../../front/front.hpp"
#include "../context.hpp"

namespace emu::state {

class Function;
class Library;

// A loaded copy of an image in one context. Its variables are registered as memory.
class Module : public std::enable_shared_from_this<Module> {
public:
    static CUresult load(Context& context, const front::LoadRequest& request, std::string* info_log,
                         std::string* error_log, CUmodule* out);
    static CUresult unload(CUmodule handle); // waits for its launches
    static std::shared_ptr<Module> find(CUmodule handle);
    static std::vector<std::pair<std::shared_ptr<Module>, Origin>> all();
    ~Module();

    CUmodule handle() const { return handle_; }
    std::shared_ptr<Context> context() const { return context_.lock(); }
    const front::LoadedModule& code() const { return *code_; }
    bool is_of_library() const { return of_library_; }
    // Finds a function. A function found for a library kernel gets the kernel's settings.
    CUresult function(const std::string& name, std::shared_ptr<Function>* out, const Function* kernel = nullptr);
    CUresult global(const std::string& name, CUdeviceptr* address, size_t* size) const;

private:
    friend class Library;
    std::weak_ptr<Context> context_;
    std::shared_ptr<front::LoadedModule> code_;
    CUmodule handle_ = nullptr;
    bool of_library_ = false;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Function>> functions_;
};

class Library : public std::enable_shared_from_this<Library> {
public:
    static CUresult load(const front::LoadRequest& request, std::string* info_log, std::string* error_log,
                         CUlibrary* out);
    static CUresult unload(CUlibrary handle);
    static std::shared_ptr<Library> find(CUlibrary handle);
    static std::vector<std::pair<std::shared_ptr<Library>, Origin>> all();
    ~Library();

    CUlibrary handle() const { return handle_; }
    const front::ImageContents& contents() const { return contents_; }
    CUresult kernel(const std::string& name, CUkernel* out);
    CUresult module_in(Context& context, std::shared_ptr<Module>* out); // loads it there if necessary
    std::vector<CUkernel> kernels();

private:
    front::ImageContents contents_;
    CUlibrary handle_ = nullptr;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Function>> kernels_;
    std::map<uint64_t, std::weak_ptr<Module>> modules_; // by context id
};

// The settings that cuFuncSetAttribute and cuKernelSetAttribute change, for each device.
struct FunctionSettings {
    int max_dynamic_shared = -1; // -1: unset; the default limit minus the static shared memory
    int carveout = -1;
    int cluster[3] = {0, 0, 0};
    int non_portable_cluster = 0;
    int cluster_policy = 0;
    int shared_memory_mode = CU_SHARED_MEMORY_MODE_DEFAULT;
};

// Something to launch: a CUfunction, which belongs to one context, or a CUkernel of a library. Drivers accept either
// wherever they take a CUfunction.
class Function {
public:
    static std::shared_ptr<Function> find(CUfunction handle);
    static std::shared_ptr<Function> find(CUkernel handle);
    Function(const front::KernelInfo& info, const std::shared_ptr<Module>& module,
             const std::shared_ptr<Library>& library);

    CUfunction handle() const { return handle_; }
    bool is_kernel() const { return of_library_; }
    // Finds the function to launch in `context`. A kernel is loaded there if necessary.
    CUresult in(Context& context, std::shared_ptr<Function>* out);

    const front::KernelInfo& info() const { return *info_; }
    std::shared_ptr<Module> module() const { return module_.lock(); }
    std::shared_ptr<Library> library() const { return library_.lock(); }
    CUresult attribute(CUfunction_attribute attribute, int device, int* value) const;
    CUresult set_attribute(CUfunction_attribute attribute, int device, int value);
    FunctionSettings settings(int device) const;
    int max_dynamic_shared(int device) const;
    int max_threads(int device) const;

private:
    friend class Module;
    friend class Library;
    void share_settings(const Function& other) { settings_ = other.settings_; }
    struct Settings {
        std::mutex mutex;
        std::map<int, FunctionSettings> rows;
    };
    const front::KernelInfo* info_; // owned by the module or the library
    std::weak_ptr<Module> module_;
    std::weak_ptr<Library> library_;
    std::shared_ptr<Settings> settings_ = std::make_shared<Settings>();
    CUfunction handle_ = nullptr;
    bool of_library_ = false;
    std::mutex mutex_;
    uint64_t last_context_ = 0; // for a kernel: where it was last launched
    std::weak_ptr<Function> last_;
};

struct LaunchParameters {
    Dim3 grid, block, cluster{0, 0, 0};
    uint32_t dynamic_shared = 0;
    bool cooperative = false;
    void** values = nullptr;                             // kernelParams
    void** extra = nullptr;                              // CU_LAUNCH_PARAM_BUFFER_*
    const char* name = "cuLaunchKernel";
    std::shared_ptr<const exec::Partition> partition; // null: the whole device
};

// A launch that has passed the checks. To run it more than once, run copies of the request.
struct PreparedLaunch {
    std::shared_ptr<exec::LaunchRequest> request;
    std::shared_ptr<Module> module; // keeps the code loaded
};

// Makes every check that the driver makes, and copies the parameters.
CUresult prepare_launch(Function& function, const LaunchParameters& parameters, Context& context, PreparedLaunch* out);
// Runs a launch on a worker, under a new id. A fault becomes the context's error.
void run_launch(exec::LaunchRequest& request, Context& context);

} // namespace emu::state
