# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel attributes and occupancy queries."""

from cuda.core._native._cuda_core cimport KernelHandle


cdef object KernelAttributes_create(const KernelHandle& h_kernel)
cdef object KernelOccupancy_create(const KernelHandle& h_kernel)
