// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Links objects, texts and modules into one module.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "archive.hpp"
#include "compiler.hpp"
#include "contents.hpp"
#include "elf.hpp"
#include "process.hpp"

namespace emu::front {
namespace {

// Recognizes NVIDIA's library for kernels that launch kernels, which kernels cannot do on the software device.
bool is_device_runtime(const std::string& name)
{
    const std::string file = "libcudadevrt.a";
    return name.size() >= file.size() && name.compare(name.size() - file.size(), file.size(), file) == 0;
}

// Returns the architecture of the option -arch=sm_90, or 0.
int target_of(const std::vector<std::string>& options)
{
    const std::string sign = "-arch=sm_";
    int target = 0;
    for (const std::string& option : options)
        if (option.compare(0, sign.size(), sign) == 0)
            target = std::atoi(option.c_str() + sign.size());
    return target;
}

// Code in text form can be older than the target, an object only by its minor number.
Error check_architecture(int made, int target, bool is_object, const std::string& name)
{
    if (!target || !made || (made <= target && (!is_object || made / 10 == target / 10)))
        return {};
    return {CUDA_ERROR_NO_BINARY_FOR_GPU, name + " is for sm_" + std::to_string(made) + ", and cannot be linked for sm_" +
                                              std::to_string(target)};
}

int architecture_of(const Bytes& object)
{
    ElfFile elf(object);
    uint64_t size = 0;
    ElfFile::Place place = elf.section_named(".emu_unit", &size);
    const std::byte* text = elf.data(place, size_t(size));
    std::vector<Unit> units;
    bool good = text && units_of(std::string(reinterpret_cast<const char*>(text), size_t(size)), &units);
    return good && !units.empty() ? units[0].architecture : 0;
}

// Adds an input as object files, or as the members of a library.
Error add_objects(const LinkInput& input, int target, std::vector<LinkInput>* objects, std::vector<LinkInput>* members,
                  std::string* log)
{
    size_t size = 0;
    ImageKind kind = inspect_image(input.bytes.data(), input.bytes.size(), &size);
    std::string name = input.name.empty() ? "the input" : "'" + input.name + "'";
    bool is_elf = kind == ImageKind::host_object || kind == ImageKind::host_module;
    if (is_elf && !is_whole_elf(input.bytes))
        return {CUDA_ERROR_INVALID_IMAGE, name + " is corrupt"};
    auto add = [&](Built built) -> Error {
        if (!built.done) {
            *log += built.diagnostics;
            return {built.no_toolchain ? CUDA_ERROR_JIT_COMPILER_NOT_FOUND : CUDA_ERROR_INVALID_PTX, built.diagnostics};
        }
        objects->push_back({std::move(built.bytes), input.name});
        return {};
    };
    if (kind == ImageKind::host_object) {
        if (Error error = check_architecture(architecture_of(input.bytes), target, true, name))
            return error;
        return add(with_active_checks(input.bytes, Shape::object));
    }
    if (kind == ImageKind::library && is_device_runtime(input.name))
        return {};
    if (kind == ImageKind::library) {
        std::vector<LinkInput> content;
        if (!read_archive(input, &content))
            return {CUDA_ERROR_INVALID_IMAGE, name + " is corrupt"};
        for (const LinkInput& member : content)
            if (Error error = add_objects(member, target, members, members, log))
                return error;
        return {};
    }
    if (kind == ImageKind::text || kind == ImageKind::ptx) {
        std::vector<Unit> units;
        std::string text = text_of(input.bytes);
        if (kind == ImageKind::ptx)
            if (Error error = compile_ptx(std::string(text), &text)) {
                *log += error.text;
                return error;
            }
        if (!units_of(text, &units))
            return {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, name + " is corrupt or from another version"};
        for (const Unit& unit : units) {
            if (Error error = check_architecture(unit.architecture, target, false, name))
                return error;
            if (Error error = add(build_unit(unit, Shape::object)))
                return error;
        }
        return {};
    }
    if (kind == ImageKind::host_module)
        return {CUDA_ERROR_INVALID_IMAGE, name + " was not compiled as relocatable device code (-rdc=true)"};
    if (kind == ImageKind::unknown)
        return {CUDA_ERROR_INVALID_IMAGE, name + " is corrupt or of an unknown kind"};
    return {CUDA_ERROR_NO_BINARY_FOR_GPU,
            name + " contains code made for NVIDIA GPUs; the software device links only its own output"};
}

// Concatenates the texts, for -ptx.
Error join_texts(const LinkRequest& request, Bytes* out)
{
    std::vector<Unit> units;
    for (const LinkInput& input : request.inputs)
        if (!units_of(text_of(input.bytes), &units))
            return {CUDA_ERROR_INVALID_VALUE, "'" + input.name + "' is not a text module of the software device"};
    std::string container = container_of(units);
    container.push_back('\0');
    *out = bytes_of(container);
    return {};
}

// Rewords messages of the system's linker in nvlink style, with the input names: "input0.o: in function ...",
// "undefined reference to `f'", "multiple definition of `f'".
std::string reword_linker_output(const std::string& output, const std::vector<std::string>& names)
{
    static const struct {
        const char* sign;
        const char* text;
    } rows[] = {{"undefined reference to `", "Undefined reference to '"},
                {"multiple definition of `", "Multiple definition of '"}};
    std::string out, place;
    for (size_t at = 0; at < output.size();) {
        size_t end = std::min(output.find('\n', at), output.size());
        std::string line = output.substr(at, end - at);
        at = end + 1;
        size_t input = line.find("/input");
        if (input != std::string::npos) {
            size_t number = std::strtoul(line.c_str() + input + 6, nullptr, 10);
            place = number < names.size() && !names[number].empty() ? " in '" + names[number] + "'" : "";
        }
        for (const auto& row : rows) {
            size_t begin = line.find(row.sign);
            if (begin == std::string::npos)
                continue;
            begin += std::strlen(row.sign);
            std::string message = std::string("error   : ") + row.text +
                                  line.substr(begin, line.find('\'', begin) - begin) + "'" + place + "\n";
            if (out.find(message) == std::string::npos)
                out += message;
        }
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
            std::vector<LinkInput> objects, members;
            bool alone = request.inputs.size() == 1;
            size_t size = 0;
            const Bytes& only = request.inputs[0].bytes;
            if (alone && inspect_image(only.data(), only.size(), &size) == ImageKind::host_module) {
                result.image = only;
                return result;
            }
            for (size_t i = 0; i < request.inputs.size() && !result.error; ++i)
                result.error = add_objects(request.inputs[i], target_of(request.options), &objects, &members, &result.error_log);
            if (!result.error) {
                take_needed(&members, &objects);
                std::vector<Bytes> files;
                std::vector<std::string> names;
                for (LinkInput& object : objects) {
                    files.push_back(std::move(object.bytes));
                    names.push_back(std::move(object.name));
                }
                Built built = link_objects(files);
                result.image = std::move(built.bytes);
                if (built.done)
                    result.error = check_parameters(read_contents(result.image));
                else
                    result.error = {CUDA_ERROR_INVALID_SOURCE, reword_linker_output(built.diagnostics, names)};
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
