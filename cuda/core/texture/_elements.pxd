# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

# Width, height and depth as the driver takes them: 0 for axes that are not there.
cpdef tuple driver_extents(tuple shape, unsigned int flags)

# The shape of a level of a mipmapped array: halved axes, and as many layers and faces.
cpdef tuple level_shape(tuple shape, unsigned int flags, int level)

# How many levels there can be: until the largest extent that is halved is 1.
cpdef object most_levels(tuple shape, unsigned int flags)

# The bytes of an element, and of all elements, densely packed.
cpdef int element_size(object format, int num_channels) except -1
cpdef object image_bytes(tuple shape, object format, int num_channels)
