// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Images: their kind, their contents, and loaded copies of them.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unordered_map>

#include "../exec/checks/regions.hpp"
#include "../exec/checks/shadow.hpp"
#include "archive.hpp"
#include "compiler.hpp"
#include "contents.hpp"
#include "process.hpp"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace emu::front {
namespace {

constexpr uint32_t fatbin_magic = 0xba55ed50, wrapper_magic = 0x466243b1, nvvm_magic = 0xdec04342,
                   lto_magic = 0x7f4e43ed;
constexpr uint16_t cuda_machine = 190;

ImageKind inspect_elf(const void* image, size_t known_size, size_t* size)
{
    uint16_t type = 0;
    *size = elf_size(image, known_size);
    if (is_our_elf(image, known_size, &type))
        return type == ET_REL ? ImageKind::host_object : ImageKind::host_module;
    if (known_size && known_size < 20)
        return ImageKind::unknown;
    uint16_t machine = 0;
    std::memcpy(&machine, static_cast<const char*>(image) + offsetof(Elf64_Ehdr, e_machine), 2);
    return machine == cuda_machine ? ImageKind::foreign_cubin : ImageKind::unknown;
}

// PTX has a .version directive at its start, possibly after comments.
bool looks_like_ptx(const char* text, size_t size)
{
    for (size_t i = 0; i < 4096 && (size == 0 || i < size) && text[i]; ++i) {
        auto c = static_cast<unsigned char>(text[i]);
        if (c < 9 || (c > 13 && c < 32))
            return false;
        if (std::strncmp(text + i, ".version", size ? std::min<size_t>(8, size - i) : 8) == 0)
            return true;
    }
    return false;
}

const char* const foreign_code =
    " contains machine code or intermediate code made for NVIDIA GPUs; the software device runs "
    "kernels only from CUDA C++ source";

Error reject_image(ImageKind kind)
{
    switch (kind) {
    case ImageKind::foreign_cubin: return {CUDA_ERROR_NO_BINARY_FOR_GPU, std::string("this cubin") + foreign_code};
    case ImageKind::fatbin: return {CUDA_ERROR_NO_BINARY_FOR_GPU, std::string("this fatbin") + foreign_code};
    case ImageKind::nvvm: return {CUDA_ERROR_NO_BINARY_FOR_GPU, std::string("this IR") + foreign_code};
    default: return {CUDA_ERROR_INVALID_IMAGE, "the image is corrupt or of an unknown kind"};
    }
}

Error no_binary(const std::string& what, int architecture)
{
    return {CUDA_ERROR_NO_BINARY_FOR_GPU,
            what + " for compute capability " + std::to_string(architecture / 10) + "." +
                std::to_string(architecture % 10) + " does not run on this device, which has " +
                std::to_string(config().compute_major) + "." + std::to_string(config().compute_minor)};
}

// Copies data whose size is only known from its own header, which may be corrupt: process_vm_readv() determines what is
// readable.
bool copy_safely(const void* from, size_t size, Bytes* to)
{
    char last;
    iovec one{&last, 1}, end{static_cast<char*>(const_cast<void*>(from)) + size - 1, 1};
    if (process_vm_readv(getpid(), &one, 1, &end, 1, 0) < 0 && errno == EFAULT)
        return false; // before memory is allocated
    to->resize(size);
    iovec local{to->data(), size}, remote{const_cast<void*>(from), size};
    ssize_t done = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (done < 0 && (errno == ENOSYS || errno == EPERM)) {
        std::memcpy(to->data(), from, size);
        return true;
    }
    return done >= 0 && size_t(done) == size;
}

// Returns the machine code of an image of any kind.
Error machine_code(const LoadRequest& request, Bytes* code, std::string* log)
{
    if (!request.image)
        return {CUDA_ERROR_INVALID_VALUE, "the image is a null pointer"};
    size_t size = 0;
    ImageKind kind = inspect_image(request.image, request.size, &size);
    Bytes image;
    bool ours = kind == ImageKind::host_module || kind == ImageKind::host_object;
    if (ours && ((request.size && size > request.size) || !size || !copy_safely(request.image, size, &image)))
        return {CUDA_ERROR_INVALID_IMAGE, "the image is shorter than its headers say"};
    int device = config().compute_major * 10 + config().compute_minor;
    Built built;
    if (ours) {
        bool is_object = kind == ImageKind::host_object;
        if (!is_whole_elf(image))
            return {CUDA_ERROR_INVALID_IMAGE, is_object ? "the object is corrupt" : "the module is corrupt"};
        built = with_active_checks(std::move(image), is_object ? Shape::object : Shape::module);
        if (built.done && is_object)
            built = link_objects({built.bytes});
    } else if (kind == ImageKind::text || kind == ImageKind::ptx) {
        std::vector<Unit> units;
        std::string text(static_cast<const char*>(request.image), size);
        if (kind == ImageKind::ptx)
            if (Error error = compile_ptx(std::string(text), &text))
                return error;
        if (!units_of(text, &units))
            return {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the text module is corrupt or from another version"};
        for (Unit& unit : units) {
            if (unit.architecture > device)
                return no_binary("a text module", unit.architecture);
            unit.architecture = device;
        }
        built = build_module(units);
    } else
        return reject_image(kind);
    *log += built.done ? "" : built.diagnostics;
    if (built.no_toolchain)
        return {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, built.diagnostics};
    if (!built.done)
        return {ours ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_INVALID_PTX, built.diagnostics};
    *code = std::move(built.bytes);
    return {};
}

Error check_contents(const Contents& contents)
{
    if (contents.error)
        return contents.error;
    if (Error error = check_parameters(contents))
        return error;
    auto architecture = int(contents.architecture);
    bool fits = architecture / 10 == config().compute_major && architecture % 10 <= config().compute_minor;
    return fits ? Error{} : no_binary("a module", architecture);
}

class Loaded final : public LoadedModule {
public:
    ~Loaded() override
    {
        if (image_)
            exec::unregister_image(image_);
        if (library_)
            dlclose(library_);
        if (!path_.empty())
            forget_lines(path_);
        if (fd_ >= 0)
            close(fd_);
    }
    const std::vector<KernelInfo>& kernels() const override { return contents_.kernels; }
    const std::vector<GlobalInfo>& globals() const override { return contents_.globals; }
    const KernelInfo* find_kernel(const std::string& name) const override
    {
        auto found = kernel_index_.find(name);
        return found == kernel_index_.end() ? nullptr : &contents_.kernels[found->second];
    }
    const GlobalInfo* find_global(const std::string& name) const override
    {
        auto found = global_index_.find(name);
        return found == global_index_.end() ? nullptr : &contents_.globals[found->second];
    }
    uint64_t image() const override { return image_; }
    size_t memory_bytes() const override { return memory_; }

    Error open(Bytes code, Contents contents, int device);

private:
    Error map(Bytes code);
    bool place(int device);

    Contents contents_;
    std::unordered_map<std::string, size_t> kernel_index_, global_index_;
    void* library_ = nullptr;
    int fd_ = -1;
    std::string path_;
    uint64_t image_ = 0;
    size_t memory_ = 0;
};

// Each loaded copy has its own file, because the dynamic linker would otherwise return the loaded one.
Error Loaded::map(Bytes code)
{
    unstamp_elf(&code);
    fd_ = memfd_create("cuda-emulator-module", MFD_CLOEXEC | MFD_EXEC);
    if (fd_ < 0 && errno == EINVAL)
        fd_ = memfd_create("cuda-emulator-module", MFD_CLOEXEC);
    if (fd_ < 0)
        return {CUDA_ERROR_OPERATING_SYSTEM, std::string("cannot create a memory file: ") + std::strerror(errno)};
    path_ = "/proc/" + (config().checks.debug ? std::to_string(getpid()) : "self") + "/fd/" + std::to_string(fd_);
    if (!write_file(path_, code.data(), code.size()))
        return {CUDA_ERROR_OUT_OF_MEMORY, "the module does not fit into memory, or is longer than the file size limit (ulimit -f)"};
    library_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) {
        const char* why = dlerror();
        std::string first = why ? why : "";
        // If memory files must not be executed, uses a temporary file, which is removed immediately.
        TemporaryFolder folder;
        std::string file = folder.path() + "/module.so";
        if (!folder.path().empty() && write_file(file, code.data(), code.size()))
            library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library_)
            return {CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "the module cannot be loaded: " + first};
    }
    return {};
}

bool Loaded::place(int device)
{
    link_map* map = nullptr;
    if (dlinfo(library_, RTLD_DI_LINKMAP, &map) || !map)
        return false;
    uintptr_t base = map->l_addr;
    for (size_t i = 0; i < contents_.kernels.size(); ++i)
        contents_.kernels[i].entry = reinterpret_cast<EmuEntry>(base + contents_.entries[i]);
    for (size_t i = 0; i < contents_.globals.size(); ++i)
        contents_.globals[i].address = reinterpret_cast<void*>(base + contents_.addresses[i]);
    exec::Image image;
    for (const ElfFile::Segment& segment : contents_.segments) {
        memory_ += size_t(segment.high - segment.low);
        if (segment.executable) {
            image.code_low = image.code_low ? std::min(image.code_low, base + segment.low) : base + segment.low;
            image.code_high = std::max<uintptr_t>(image.code_high, base + segment.high);
        } else
            image.data.push_back({base + segment.low, base + segment.high});
    }
    for (uint64_t record : contents_.variable_records)
        image.variables.push_back(reinterpret_cast<const EmuVariable*>(base + record));
    image.path = path_;
    image.load_bias = base;
    image.device = device;
    exec::begin_code_on(device);
    reinterpret_cast<EmuModule*>(base + contents_.module)->space = exec::shadow_space(device);
    image_ = exec::register_image(std::move(image));
    return true;
}

Error Loaded::open(Bytes code, Contents contents, int device)
{
    contents_ = std::move(contents);
    if (Error error = map(std::move(code)))
        return error;
    if (!place(device))
        return {CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "the module cannot be found in memory"};
    for (size_t i = 0; i < contents_.kernels.size(); ++i)
        kernel_index_.emplace(contents_.kernels[i].name, i);
    for (size_t i = 0; i < contents_.globals.size(); ++i)
        global_index_.emplace(contents_.globals[i].name, i);
    return {};
}

std::string log_of(const Error& error, const std::string& log)
{
    std::string text = log.empty() ? error.text : log;
    return text.empty() || text.back() == '\n' ? text : text + "\n";
}

} // namespace

ImageKind inspect_image(const void* image, size_t known_size, size_t* size)
{
    size_t dummy = 0;
    size = size ? size : &dummy;
    *size = known_size;
    if (!image || (known_size && known_size < 4))
        return ImageKind::unknown;
    uint32_t magic = 0;
    std::memcpy(&magic, image, sizeof magic);
    if (std::memcmp(image, ELFMAG, SELFMAG) == 0)
        return inspect_elf(image, known_size, size);
    if (is_archive(image, known_size))
        return ImageKind::library;
    if (magic == fatbin_magic || magic == wrapper_magic)
        return ImageKind::fatbin;
    if (magic == nvvm_magic || magic == lto_magic)
        return ImageKind::nvvm;
    auto* text = static_cast<const char*>(image);
    bool ours = is_container(text, known_size);
    if (!ours && !looks_like_ptx(text, known_size))
        return ImageKind::unknown;
    *size = known_size ? strnlen(text, known_size) : std::strlen(text);
    return ours ? ImageKind::text : ImageKind::ptx;
}

LoadResult load_image(const LoadRequest& request)
{
    LoadResult result;
    try {
        Bytes code;
        std::string log;
        result.error = machine_code(request, &code, &log);
        Contents contents;
        if (!result.error) {
            contents = read_contents(code);
            result.error = check_contents(contents);
        }
        if (!result.error) {
            auto module = std::make_shared<Loaded>();
            result.error = module->open(std::move(code), std::move(contents), request.device);
            if (!result.error)
                result.module = module;
        }
        result.error_log = log_of(result.error, log);
    } catch (const std::bad_alloc&) {
        result.error = {CUDA_ERROR_OUT_OF_MEMORY, "no memory for the module"};
    }
    return result;
}

ImageContents read_image(const LoadRequest& request)
{
    ImageContents out;
    try {
        std::string log;
        out.error = machine_code(request, &out.module, &log);
        if (!out.error) {
            Contents contents = read_contents(out.module);
            out.error = check_contents(contents);
            if (!out.error) {
                out.kernels = std::move(contents.kernels);
                out.globals = std::move(contents.globals);
            }
        }
        out.error_log = log_of(out.error, log);
    } catch (const std::bad_alloc&) {
        out.error = {CUDA_ERROR_OUT_OF_MEMORY, "no memory for the module"};
    }
    return out;
}

} // namespace emu::front
