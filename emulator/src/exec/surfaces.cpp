// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "surfaces.hpp"

#include <algorithm>
#include <cstring>

namespace emu::exec {
namespace {

bool bring_inside(int64_t* place, int64_t room, bool clamps)
{
    if (*place >= 0 && *place < room)
        return true;
    if (clamps)
        *place = std::min(std::max<int64_t>(*place, 0), room - 1);
    return clamps;
}

} // namespace

SurfaceAnswer access_surface(const Texture& surface, const EmuSurfaceCall& call)
{
    const Texels& texels = surface.levels[0];
    if (call.x % int32_t(call.size))
        return SurfaceAnswer::misaligned;
    // In units of the access size, so clamped coordinates stay within the row.
    int64_t x = call.x / int32_t(call.size), y = call.y, z = call.z;
    int64_t columns = int64_t(texels.width) * surface.element_bytes / call.size;
    bool clamps = call.boundary == EMU_BOUNDARY_CLAMP;
    bool inside = bring_inside(&x, columns, clamps) && bring_inside(&y, texels.height, clamps) &&
                  bring_inside(&z, texels.depth, clamps);
    if (!inside) {
        if (call.boundary != EMU_BOUNDARY_ZERO)
            return SurfaceAnswer::outside;
        if (!call.store)
            std::memset(call.data, 0, call.size);
        return SurfaceAnswer::done;
    }
    std::byte* at = texels.at + size_t(z) * texels.slice + size_t(y) * texels.pitch + size_t(x) * call.size;
    if (call.store)
        std::memcpy(at, call.data, call.size);
    else
        std::memcpy(call.data, at, call.size);
    return SurfaceAnswer::done;
}

} // namespace emu::exec
