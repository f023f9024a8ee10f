// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Joins objects, texts and modules into one module.
#include "compiler.hpp"
#include "elf.hpp"
#include "process.hpp"

namespace emu::front {
namespace {

// An input as an object file.
Error object_of(const LinkInput& input, Bytes* object, std::string* log)
{
    size_t size = 0;
    ImageKind kind = inspect_image(input.bytes.data(), input.bytes.size(), &size);
    std::string name = input.name.empty() ? "the input" : "'" + input.name + "'";
    if (kind == ImageKind::host_object) {
        *object = input.bytes;
        return {};
    }
    if (kind == ImageKind::text) {
        Unit unit;
        if (!unit_of(text_of(input.bytes), &unit))
            return {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, name + " is damaged or of another version"};
        Built built = build_unit(unit, Shape::object, config().checks);
        if (built.done) {
            *object = std::move(built.bytes);
            return {};
        }
        *log += built.diagnostics;
        return {built.no_toolchain ? CUDA_ERROR_JIT_COMPILER_NOT_FOUND : CUDA_ERROR_INVALID_PTX, built.diagnostics};
    }
    if (kind == ImageKind::host_module)
        return {CUDA_ERROR_INVALID_IMAGE, name + " was not compiled as relocatable device code (-rdc=true)"};
    if (kind == ImageKind::unknown)
        return {CUDA_ERROR_INVALID_IMAGE, name + " is of no known kind, or damaged"};
    return {CUDA_ERROR_NO_BINARY_FOR_GPU,
            name + " holds code made for NVIDIA GPUs; the software device links what it compiled itself"};
}

// -ptx: the texts one after another, as one unit.
Error join_texts(const LinkRequest& request, Bytes* out)
{
    Unit whole;
    bool first = true;
    for (const LinkInput& input : request.inputs) {
        Unit unit;
        if (!unit_of(text_of(input.bytes), &unit))
            return {CUDA_ERROR_INVALID_VALUE, "'" + input.name + "' is no text module of the software device"};
        std::string text = std::move(whole.text) + unit.text + "\n";
        if (first)
            whole = unit;
        whole.architecture = std::max(whole.architecture, unit.architecture);
        whole.text = std::move(text);
        first = false;
    }
    std::string container = container_of(whole);
    container.push_back('\0');
    *out = bytes_of(container);
    return {};
}

// "multiple definition of `f'; ..." in the words of nvlink.
std::string reword(const std::string& output)
{
    const char* const sign = "multiple definition of `";
    std::string out;
    for (size_t at = output.find(sign); at != std::string::npos; at = output.find(sign, at + 1)) {
        size_t begin = at + 24, end = output.find('\'', begin);
        out += "error   : Multiple definition of '" + output.substr(begin, end - begin) + "'\n";
    }
    if (!out.empty())
        return out;
    const char* const unresolved = "ptxas fatal   : Unresolved extern function '";
    for (size_t at = output.find(unresolved); at != std::string::npos; at = output.find(unresolved, at + 1)) {
        size_t begin = at + 44, end = output.find('\'', begin);
        out += "error   : Undefined reference to '" + output.substr(begin, end - begin) + "'\n";
    }
    return out.empty() ? output : out;
}

} // namespace

LinkResult link(const LinkRequest& request)
{
    LinkResult result;
    try {
        if (request.inputs.empty()) {
            result.error = {CUDA_ERROR_INVALID_VALUE, "there is nothing to link"};
        } else if (request.text_output) {
            result.error = join_texts(request, &result.image);
        } else {
            std::vector<Bytes> objects(request.inputs.size());
            bool alone = request.inputs.size() == 1;
            size_t size = 0;
            const Bytes& only = request.inputs[0].bytes;
            if (alone && inspect_image(only.data(), only.size(), &size) == ImageKind::host_module) {
                result.image = only;
                return result;
            }
            for (size_t i = 0; i < objects.size() && !result.error; ++i)
                result.error = object_of(request.inputs[i], &objects[i], &result.error_log);
            if (!result.error) {
                Built built = link_objects(objects);
                result.image = std::move(built.bytes);
                if (!built.done)
                    result.error = {CUDA_ERROR_INVALID_SOURCE, reword(built.diagnostics)};
            }
        }
    } catch (const std::bad_alloc&) {
        result.error = {CUDA_ERROR_OUT_OF_MEMORY, "no memory to link"};
    }
    if (result.error && result.error_log.empty())
        result.error_log = result.error.text;
    if (!result.error_log.empty() && result.error_log.back() != '\n')
        result.error_log += '\n';
    return result;
}

} // namespace emu::front
