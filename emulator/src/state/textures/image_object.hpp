// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Texture and surface objects: the program's descriptions, and the objects that kernels use.
#pragma once

#include <memory>

#include "array.hpp"

namespace emu::state {

class ImageObject {
public:
    static CUresult create_texture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling,
                                   const CUDA_RESOURCE_VIEW_DESC* view, CUcontext context, int device,
                                   CUtexObject* out);
    static CUresult create_surface(const CUDA_RESOURCE_DESC& resource, CUcontext context, int device,
                                   CUsurfObject* out);
    // Returns null if there is none of this kind.
    static std::shared_ptr<ImageObject> find_texture(CUtexObject number);
    static std::shared_ptr<ImageObject> find_surface(CUsurfObject number);
    static CUresult destroy_texture(CUtexObject number);
    static CUresult destroy_surface(CUsurfObject number);
    static void forget_context(CUcontext context);
    static std::vector<std::pair<std::shared_ptr<ImageObject>, Origin>> all();

    bool is_surface() const { return is_surface_; }
    uint64_t number() const { return number_; }
    const CUDA_RESOURCE_DESC& resource() const { return resource_; }
    const CUDA_TEXTURE_DESC& sampling() const { return sampling_; }
    const CUDA_RESOURCE_VIEW_DESC* view() const { return has_view_ ? &view_ : nullptr; }

private:
    bool is_surface_ = false, has_view_ = false;
    uint64_t number_ = 0;
    CUcontext context_ = nullptr;
    CUDA_RESOURCE_DESC resource_{};
    CUDA_TEXTURE_DESC sampling_{};
    CUDA_RESOURCE_VIEW_DESC view_{};
};

} // namespace emu::state
