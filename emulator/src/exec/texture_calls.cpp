// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Texture and surface functions, as called by kernels.
#include "checks/regions.hpp"
#include "sampling.hpp"
#include "checks/shadow.hpp"
#include "surfaces.hpp"
#include "worker.hpp"

namespace emu::exec {
namespace {

// The thread's most recently used objects, so a kernel looks up each only once.
struct Known {
    uint64_t number = 0, launch = 0, version = 0;
    const Texture* texture = nullptr;
};
constexpr size_t known_objects = 8;
thread_local Known known[known_objects];

struct Asked {
    uint64_t number;
    bool is_surface;
    const char* file;
    uint32_t line;
    uintptr_t pc;
};

[[noreturn]] void fail(const Asked& asked, FaultKind kind, std::string text)
{
    Trouble trouble;
    trouble.kind = kind;
    trouble.pc = asked.pc;
    trouble.file = asked.file ? asked.file : "";
    trouble.line = int(asked.line);
    trouble.text = std::move(text);
    raise_fault(std::move(trouble));
}

std::string name_of(const Asked& asked)
{
    char text[64];
    std::snprintf(text, sizeof text, "%s object 0x%llx", asked.is_surface ? "surface" : "texture",
                  static_cast<unsigned long long>(asked.number));
    return text;
}

const Texture* look_up(const Asked& asked, Launch& launch, std::string* why)
{
    Locked locked;
    auto texture = find_texture(asked.number);
    if (!texture || texture->is_surface != asked.is_surface) {
        const char* other_kind = asked.is_surface ? ": it is a texture object" : ": it is a surface object";
        *why = "there is no " + name_of(asked) + (texture ? other_kind : ", or it was destroyed");
        return nullptr;
    }
    auto memory = texture->memory.lock();
    if (!memory && !texture->is_checked) {
        *why = "the array of " + name_of(asked) + " was destroyed";
        return nullptr;
    }
    if (texture->device != launch.request.device) {
        *why = name_of(asked) + " belongs to device " + std::to_string(texture->device);
        return nullptr;
    }
    launch.keep(texture);
    launch.keep(memory);
    return texture.get();
}

const Texture& find(const Asked& asked)
{
    Launch& launch = *this_worker()->launch;
    Known& place = known[asked.number % known_objects];
    uint64_t version = texture_version();
    if (place.number == asked.number && place.launch == launch.serial && place.version == version &&
        place.texture->is_surface == asked.is_surface)
        return *place.texture;
    std::string why;
    const Texture* texture = look_up(asked, launch, &why);
    if (!texture)
        fail(asked, FaultKind::trap, why);
    place = {asked.number, launch.serial, version, texture};
    return *texture;
}

bool fits(uint32_t kind, TexelShape shape)
{
    switch (kind) {
    case EMU_TEXTURE_FETCH: return shape == TexelShape::linear || shape == TexelShape::line;
    case EMU_TEXTURE_1D: return shape == TexelShape::line;
    case EMU_TEXTURE_2D:
    case EMU_TEXTURE_GATHER: return shape == TexelShape::plane;
    case EMU_TEXTURE_3D: return shape == TexelShape::volume;
    case EMU_TEXTURE_1D_LAYERED: return shape == TexelShape::layered_line;
    case EMU_TEXTURE_2D_LAYERED: return shape == TexelShape::layered_plane;
    case EMU_TEXTURE_CUBE: return shape == TexelShape::cube;
    case EMU_TEXTURE_CUBE_LAYERED: return shape == TexelShape::layered_cube;
    default: return false;
    }
}

const char* shape_name(TexelShape shape)
{
    switch (shape) {
    case TexelShape::line: return "one dimension";
    case TexelShape::plane: return "two dimensions";
    case TexelShape::volume: return "three dimensions";
    case TexelShape::layered_line: return "one-dimensional layers";
    case TexelShape::layered_plane: return "two-dimensional layers";
    case TexelShape::cube: return "a cube map";
    case TexelShape::layered_cube: return "layers of cube maps";
    default: return "linear memory, which tex1Dfetch reads";
    }
}

bool is_readable(int device, uintptr_t address, size_t size)
{
    EmuRange range;
    Locked locked;
    if (in_window(address, size))
        return shadow_allows(device, address, size);
    return regions_allow(device, address, size, &range);
}

void require_shape(const Asked& asked, const Texture& texture, uint32_t kind)
{
    if (!fits(kind, texture.shape))
        fail(asked, FaultKind::trap,
             "the function does not fit the " + name_of(asked) + ", which is of " + shape_name(texture.shape));
    if (kind == EMU_TEXTURE_GATHER && !texture.has_gather)
        fail(asked, FaultKind::trap,
             "the array of " + name_of(asked) + " was not created with CUDA_ARRAY3D_TEXTURE_GATHER");
}

} // namespace
} // namespace emu::exec

using namespace emu::exec;

extern "C" {

void emu_texture_read(EmuTextureCall* call)
{
    Asked asked{call->texture, false, call->file, call->line, EMU_CALLER};
    const Texture& texture = find(asked);
    require_shape(asked, texture, call->kind);
    emu_u32 checks = this_worker()->state->checks;
    // A GPU returns 0 there.
    if (checks & EMU_CHECK_INITIALIZED && call->kind == EMU_TEXTURE_FETCH && texture.shape == TexelShape::linear &&
        emu_u32(call->index) >= texture.levels[0].width)
        fail(asked, FaultKind::bad_index,
             "element " + std::to_string(call->index) + " of " + name_of(asked) + ", which has " +
                 std::to_string(texture.levels[0].width) + " elements");
    bool checked = checks & EMU_CHECK_MEMORY;
    Sampler sampler(texture, *call, checked ? is_readable : nullptr);
    sampler.read();
    if (!sampler.unreadable())
        return;
    Trouble trouble;
    trouble.kind = FaultKind::illegal_address;
    trouble.pc = asked.pc;
    trouble.address = sampler.unreadable();
    trouble.size = texture.element_bytes;
    trouble.file = asked.file;
    trouble.line = int(asked.line);
    raise_fault(std::move(trouble));
}

emu_u32 emu_image_query(emu_u64 object, int is_surface, emu_u32 property, emu_u32 level, const char* file, emu_u32 line)
{
    Asked asked{object, is_surface != 0, file, line, EMU_CALLER};
    const Texture& image = find(asked);
    if (level >= image.levels.size())
        fail(asked, FaultKind::trap,
             name_of(asked) + " has " + std::to_string(image.levels.size()) + " levels, and no level " +
                 std::to_string(level));
    const Texels& texels = image.levels[level];
    bool is_volume = image.shape == TexelShape::volume;
    switch (property) {
    case EMU_IMAGE_WIDTH: return texels.width;
    case EMU_IMAGE_HEIGHT: return texels.height;
    case EMU_IMAGE_DEPTH: return is_volume ? texels.depth : 1;
    case EMU_IMAGE_ARRAY_SIZE: return is_volume ? 1 : texels.depth;
    default: return emu_u32(image.levels.size());
    }
}

void emu_surface_access(EmuSurfaceCall* call)
{
    Asked asked{call->surface, true, call->file, call->line, EMU_CALLER};
    const Texture& surface = find(asked);
    require_shape(asked, surface, call->kind);
    SurfaceAnswer answer = access_surface(surface, *call);
    if (answer == SurfaceAnswer::done)
        return;
    std::string place =
        "(" + std::to_string(call->x) + " bytes, " + std::to_string(call->y) + ", " + std::to_string(call->z) + ")";
    std::string what = std::string(call->store ? "store" : "load") + " of " + std::to_string(call->size) +
                       " bytes at " + place + " of " + name_of(asked);
    const Texels& texels = surface.levels[0];
    if (answer == SurfaceAnswer::misaligned)
        fail(asked, FaultKind::trap, "misaligned " + what);
    fail(asked, FaultKind::trap,
         what + ", which has " + std::to_string(texels.pitch) + " bytes in " + std::to_string(texels.height) +
             " rows of " + std::to_string(texels.depth) + " slices");
}

} // extern "C"
