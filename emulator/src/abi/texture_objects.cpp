// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Texture objects and surface objects.
#include <algorithm>
#include <iterator>

#include "../state/textures/image_object.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

ENTRY(cuTexObjectCreate, 5000)(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                               const CUDA_TEXTURE_DESC* pTexDesc, const CUDA_RESOURCE_VIEW_DESC* pResViewDesc)
{
    std::shared_ptr<Context> context;
    REQUIRE(pTexObject && pResDesc && pTexDesc, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return ImageObject::create_texture(*pResDesc, *pTexDesc, pResViewDesc, context->handle(),
                                       context->device().ordinal(), pTexObject);
}

ENTRY(cuTexObjectDestroy, 5000)(CUtexObject texObject)
{
    std::shared_ptr<Context> context;
    TRY(need_any_context(&context));
    return ImageObject::destroy_texture(texObject);
}

ENTRY(cuTexObjectGetResourceDesc, 5000)(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    auto texture = ImageObject::find_texture(texObject);
    REQUIRE(pResDesc && texture, CUDA_ERROR_INVALID_VALUE);
    *pResDesc = texture->resource();
    return CUDA_SUCCESS;
}

ENTRY(cuTexObjectGetTextureDesc, 5000)(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    auto texture = ImageObject::find_texture(texObject);
    REQUIRE(pTexDesc && texture, CUDA_ERROR_INVALID_VALUE);
    *pTexDesc = texture->sampling();
    // Drivers do not return the border color.
    std::fill(std::begin(pTexDesc->borderColor), std::end(pTexDesc->borderColor), 0.0f);
    return CUDA_SUCCESS;
}

ENTRY(cuTexObjectGetResourceViewDesc, 5000)(CUDA_RESOURCE_VIEW_DESC* pResViewDesc, CUtexObject texObject)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    auto texture = ImageObject::find_texture(texObject);
    REQUIRE(pResViewDesc && texture && texture->view(), CUDA_ERROR_INVALID_VALUE);
    *pResViewDesc = *texture->view();
    return CUDA_SUCCESS;
}

ENTRY(cuSurfObjectCreate, 5000)(CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc)
{
    std::shared_ptr<Context> context;
    REQUIRE(pSurfObject && pResDesc, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return ImageObject::create_surface(*pResDesc, context->handle(), context->device().ordinal(), pSurfObject);
}

ENTRY(cuSurfObjectDestroy, 5000)(CUsurfObject surfObject)
{
    std::shared_ptr<Context> context;
    TRY(need_any_context(&context));
    return ImageObject::destroy_surface(surfObject);
}

ENTRY(cuSurfObjectGetResourceDesc, 5000)(CUDA_RESOURCE_DESC* pResDesc, CUsurfObject surfObject)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    auto surface = ImageObject::find_surface(surfObject);
    REQUIRE(pResDesc && surface, CUDA_ERROR_INVALID_VALUE);
    *pResDesc = surface->resource();
    return CUDA_SUCCESS;
}
