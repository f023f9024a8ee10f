# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._utils cimport cydriver


cdef class LaunchConfig:
    cdef:
        object __weakref__
        # The driver's struct, complete but for the stream. Its grid counts blocks, also with a cluster.
        cydriver.CUlaunchConfig _native
        cydriver.CUlaunchAttribute _attributes[16]
        unsigned int _grid[3]       # as the user counts: clusters, where there is a cluster
        unsigned int _cluster[3]    # all zero without a cluster
        bint _is_cooperative
        bint _is_serialization_programmatic
        int _cluster_policy         # a CUclusterSchedulingPolicy, or -1
        int _priority               # 0 for that of the stream
        bint _is_grid_resident          # the grid is computed at each launch
        dict _rare                  # the other attributes that are set, by name, or None
        list _kept                  # what their values refer to
