// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <sys/mman.h>

#include "config.hpp"

thread_local Options options;

namespace {

constexpr size_t window_bytes = size_t(1) << 33;
void* module_handle;
uint64_t module_image;
uintptr_t window_base, window_next;
std::mutex window_mutex;

int find_ranges(struct dl_phdr_info* info, size_t, void* data)
{
    auto* image = static_cast<emu::exec::Image*>(data);
    if (!info->dlpi_name || image->path != info->dlpi_name)
        return 0;
    image->load_bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        uintptr_t low = info->dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_LOAD && (header.p_flags & PF_X))
            image->code_low = low, image->code_high = low + header.p_memsz;
        else if (header.p_type == PT_LOAD)
            image->data.push_back({low, low + header.p_memsz});
    }
    return 1;
}

// Uses addr2line of binutils, which is slow, for reports only.
emu::exec::CodePlace symbolize(const emu::exec::Image& image, uintptr_t pc)
{
    char command[512], function[256] = "", place[512] = "";
    std::snprintf(command, sizeof command, "addr2line -Csfe %s 0x%zx", image.path.c_str(),
                  size_t(pc - image.load_bias));
    FILE* pipe = popen(command, "r");
    bool read = pipe && fscanf(pipe, "%255[^\n] %511s", function, place) == 2;
    if (pipe)
        pclose(pipe);
    const char* colon = std::strrchr(place, ':');
    if (!read || !colon || colon[1] == '?')
        return {};
    return {std::string(place, size_t(colon - place)), function, std::atoi(colon + 1)};
}

} // namespace

void load(const char* path)
{
    void* base = mmap(nullptr, window_bytes + (1 << 20), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    window_base = (reinterpret_cast<uintptr_t>(base) + (1 << 20) - 1) >> 20 << 20;
    window_next = window_base + 4096;
    emu::exec::reserve_shadow(window_base, window_bytes);
    module_handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module_handle) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(2);
    }
    emu::exec::Image image;
    image.path = path;
    dl_iterate_phdr(find_ranges, &image);
    for (const char* name : {"tile_a", "tile_b", "small_shared", "small_constant"}) {
        std::string symbol = std::string(name) + "_emu_variable_record";
        image.variables.push_back(static_cast<EmuVariable*>(dlsym(module_handle, symbol.c_str())));
    }
    static_cast<EmuModule*>(dlsym(module_handle, "emu_module"))->space = emu::exec::shadow_space(0);
    module_image = emu::exec::register_image(image);
    emu::exec::set_symbolizer(symbolize);
}

void* allocate(size_t bytes, int device)
{
    std::lock_guard<std::mutex> lock(window_mutex);
    uintptr_t base = (window_next + 255) / 256 * 256;
    emu::exec::Region region;
    region.base = base;
    region.size = bytes;
    region.room = (bytes + 511) / 256 * 256;
    region.device = device;
    region.made_by = "the test";
    window_next = base + region.room;
    uintptr_t page = base & ~uintptr_t(4095);
    mprotect(reinterpret_cast<void*>(page), window_next - page, PROT_READ | PROT_WRITE);
    emu::exec::open_region(region);
    return reinterpret_cast<void*>(base);
}

void release(void* memory)
{
    emu::exec::close_region(reinterpret_cast<uintptr_t>(memory));
}

void give_heap()
{
    auto base = reinterpret_cast<uintptr_t>(allocate(1 << 16));
    emu::exec::set_heap(0, base, 1 << 16);
}

emu::exec::Fault launch_packed(const char* kernel, Dim3 grid, Dim3 block, emu::Bytes parameters,
                               std::vector<EmuParameter> layout)
{
    static std::atomic<uint64_t> last_id{1000};
    emu::exec::LaunchRequest request;
    request.entry = reinterpret_cast<EmuEntry>(dlsym(module_handle, kernel));
    if (!request.entry) {
        std::fprintf(stderr, "no kernel %s\n", kernel);
        std::exit(2);
    }
    request.name = kernel;
    request.grid = grid;
    request.block = block;
    request.parameters = std::move(parameters);
    request.layout = std::move(layout);
    request.image = module_image;
    request.checks = emu::config().checks;
    request.id = options.id ? options.id : ++last_id;
    request.dynamic_shared = options.dynamic_shared;
    request.cooperative = options.cooperative;
    request.seed = options.seed;
    request.time_limit = options.time_limit;
    request.limits.stack_bytes = options.stack_bytes;
    options = Options{};
    return emu::exec::run(request);
}

void show(const emu::exec::Fault& fault)
{
    std::printf("code=%d\nblock=%u,%u,%u\nthread=%u,%u,%u\nline=%d\nsize=%u\nstore=%d\n", int(fault.code),
                fault.block.x, fault.block.y, fault.block.z, fault.thread.x, fault.thread.y,
                fault.thread.z, fault.line, fault.size, fault.store);
    std::string text = fault.text;
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at)
        text[at] = '|';
    std::printf("text=%s\n", text.c_str());
    std::fflush(stdout);
}
