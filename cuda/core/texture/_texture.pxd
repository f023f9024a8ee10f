# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._native._cuda_core cimport ArrayHandle, DriverObject


# Wraps an array of another library, whose shape and format the driver reports. Its context must be current.
cdef DriverObject Array_wrap_foreign(const ArrayHandle& h_array, int device_id)
