# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Builds for AArch64 on another machine: cmake -DCMAKE_TOOLCHAIN_FILE=aarch64.cmake. CXX names another compiler.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(NOT DEFINED ENV{CXX})
  set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
endif()
