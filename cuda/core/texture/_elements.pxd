# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

# Width, height and depth as the driver takes them: 0 for missing axes.
cpdef tuple driver_extents(tuple shape, unsigned int flags)

# The shape of a mipmap level: extents are halved, layers and faces are not.
cpdef tuple level_shape(tuple shape, unsigned int flags, int level)

# The maximum number of levels: in the last one all extents but layers and faces are 1.
cpdef object max_levels(tuple shape, unsigned int flags)

# The size in bytes of an element, and of all elements when packed.
cpdef int element_size(object format, int num_channels) except -1
cpdef object image_bytes(tuple shape, object format, int num_channels)
