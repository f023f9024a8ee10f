// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Messages about headers that programs cannot include here.
#include <regex>

#include "compiler.hpp"

namespace emu::front {
namespace {

const char* const own_headers =
    "you can include <cooperative_groups.h>, <cooperative_groups/{reduce,scan,memcpy_async}.h>, "
    "<cuda_runtime.h>, <cuda.h>, <cuda_{fp16,bf16,fp8,fp6,fp4}.h>, <mma.h>, <cuComplex.h>, <math_constants.h>, "
    "<vector_types.h> and other headers whose contents are declared anyway, <cuda/{barrier,ptx}>, "
    "<cuda/std/{cstddef,cstdint,limits,type_traits,utility}>, and with include_path also the headers of CCCL "
    "(<cub/...>, <cuda/...>, <cuda/std/...>; pip install nvidia-cuda-cccl) and cuRAND (<curand_kernel.h>; "
    "pip install nvidia-curand nvidia-cuda-cccl)";

// CUDA toolkit headers, by the start of their names, without the installation directory.
const std::regex& toolkit()
{
    static const std::regex names(
        "(.*/)?((cuda|cub|thrust|nv|crt|cooperative_groups|cutlass|cute)/.*"
        "|(cuda_|curand|cuComplex|cooperative_groups|mma|math_constants|math_functions|nvfunctional|device_"
        "|vector_|driver_|surface_|texture_|sm_[0-9]|host_|builtin_types|library_types)[^/]*|cuda\\.h)");
    return names;
}

// CCCL and cuRAND headers, which can be compiled here, by directory and name.
const std::regex& compiled_unchanged()
{
    static const std::regex names(".*/((cuda/(std|__[a-z_]+)|cub|thrust|nv)/.*|curand[^/]*)");
    return names;
}

// C and C++ headers, by name.
const std::regex& standard()
{
    static const std::regex names(
        "(std[a-z]*|math|assert|limits|float|string|time|errno|inttypes|ctype|complex)\\.h|[a-z_0-9]+");
    return names;
}

} // namespace

bool is_ours(const std::string& file)
{
    return file.compare(0, device_headers().size(), device_headers()) == 0;
}

bool is_foreign_header(const std::string& file)
{
    return !is_ours(file) && !std::regex_match(file, compiled_unchanged()) &&
           (file.compare(0, 13, "/usr/include/") == 0 || std::regex_match(file, toolkit()));
}

std::string missing_header_hint(const std::string& name)
{
    for (const char* known : {"math.h", "cmath", "stdio.h", "cstdio", "assert.h", "cassert"})
        if (name == known)
            return "remove the #include: the software device already declares the parts of <" + name +
                   "> that kernels can use";
    if (!std::regex_match(name, toolkit()) && !std::regex_match(name, standard()))
        return "";
    return "<" + name + "> is not available on the software device; " + own_headers;
}

std::string foreign_header_error(const std::string& file)
{
    return std::string("a header of ") + (std::regex_match(file, toolkit()) ? "the CUDA toolkit, " : "this system, ") +
           file.substr(file.rfind('/') + 1) + ", cannot be compiled for the software device; " + own_headers;
}

} // namespace emu::front
