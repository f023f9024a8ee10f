# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._device_contexts cimport DeviceContexts


# The base of Device with its methods for arrays, textures and surfaces.
cdef class DeviceTextures(DeviceContexts):
    pass
