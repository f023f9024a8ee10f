// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Settings of core dumps, and callbacks when one is written. Contexts have no settings of their own.
#include "../state/core_dumps.hpp"

#include "calls.hpp"

using namespace emu;
using namespace emu::state;

ENTRY(cuCoredumpSetAttributeGlobal, 12010)(CUcoredumpSettings attrib, void* value, size_t* size)
{
    return core_dumps::set(attrib, value, size);
}

ENTRY(cuCoredumpGetAttributeGlobal, 12010)(CUcoredumpSettings attrib, void* value, size_t* size)
{
    return core_dumps::get(attrib, value, size);
}

ENTRY(cuCoredumpRegisterStartCallback, 13020)(CUcoredumpStatusCallback callback, void* userData,
                                              CUcoredumpCallbackHandle* callbackOut)
{
    return core_dumps::listen({callback, userData, false}, callbackOut);
}

ENTRY(cuCoredumpRegisterCompleteCallback, 13020)(CUcoredumpStatusCallback callback, void* userData,
                                                 CUcoredumpCallbackHandle* callbackOut)
{
    return core_dumps::listen({callback, userData, true}, callbackOut);
}

ENTRY(cuCoredumpDeregisterStartCallback, 13020)(CUcoredumpCallbackHandle callback)
{
    return core_dumps::stop_listening(callback, false);
}

ENTRY(cuCoredumpDeregisterCompleteCallback, 13020)(CUcoredumpCallbackHandle callback)
{
    return core_dumps::stop_listening(callback, true);
}
