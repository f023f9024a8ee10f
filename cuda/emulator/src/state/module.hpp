// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Modules, libraries, functions and kernels. A library is loaded into each context when it
// is first used there; a module belongs to one context.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../common.hpp"
#include "../front/front.hpp"
#include "context.hpp"

namespace emu::state {

// A loaded copy of an image in one context; its variables are registered as memory.
class Module : public std::enable_shared_from_this<Module> {
public:
    static CUresult load(Context& context, const front::LoadRequest& request,
                         std::string* info_log, std::string* error_log, CUmodule* out);
    static CUresult unload(CUmodule handle);             // waits for its launches
    static std::shared_ptr<Module> find(CUmodule handle);

    CUmodule handle() const;
    std::shared_ptr<Context> context() const;
    const front::LoadedModule& code() const;
    CUresult function(const std::string& name, CUfunction* out);
    CUresult global(const std::string& name, CUdeviceptr* address, size_t* size) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

class Library : public std::enable_shared_from_this<Library> {
public:
    static CUresult load(const front::LoadRequest& request, std::string* info_log,
                         std::string* error_log, CUlibrary* out);
    static CUresult unload(CUlibrary handle);
    static std::shared_ptr<Library> find(CUlibrary handle);

    CUlibrary handle() const;
    const front::ImageContents& contents() const;
    CUresult kernel(const std::string& name, CUkernel* out);
    CUresult module_in(Context& context, CUmodule* out); // loads it there when needed
    std::vector<CUkernel> kernels();

private:
    struct State;
    std::unique_ptr<State> state_;
};

// What can be launched: a CUfunction (of one context), or a CUkernel (of a library), which
// drivers accept in place of a CUfunction.
class Function {
public:
    static std::shared_ptr<Function> find(CUfunction handle);
    static std::shared_ptr<Function> find(CUkernel handle);
    // The function for launching in `context`; a kernel is loaded there when needed.
    CUresult in(Context& context, std::shared_ptr<Function>* out);

    const front::KernelInfo& info() const;
    std::shared_ptr<Module> module() const;              // null for a CUkernel
    std::shared_ptr<Library> library() const;            // null for a module's function
    // One table for cuFuncGetAttribute and cuKernelGetAttribute.
    CUresult attribute(CUfunction_attribute attribute, int device, int* value) const;
    CUresult set_attribute(CUfunction_attribute attribute, int device, int value);

private:
    struct State;
    std::shared_ptr<State> state_;
};

struct LaunchParameters {
    Dim3 grid, block, cluster;
    uint32_t dynamic_shared = 0;
    bool cooperative = false;
    void** values = nullptr;                             // kernelParams
    void** extra = nullptr;                              // CU_LAUNCH_PARAM_BUFFER_*
    std::vector<CUlaunchAttribute> attributes;
};

// Validates everything that the driver validates, copies the parameters, and enqueues.
CUresult launch(Function& function, const LaunchParameters& parameters, Stream& stream);

} // namespace emu::state
