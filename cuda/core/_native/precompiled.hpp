// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The headers that every extension includes; setup.py compiles them once, if the compiler is GCC.
#pragma once

#include <Python.h>
#include <cuda.h>
#include <nvrtc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
