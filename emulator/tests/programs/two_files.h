// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// What two_files.cu and two_files_other.cu share.
#pragma once

__constant__ int base;

template <class T> __global__ void add(T* x, T y) { *x = y > 50 ? *x + y : y; }

void launch_other(int* x);
