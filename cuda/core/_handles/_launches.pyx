# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The list of launches in progress, one per process."""

cdef LaunchList* _launches = new LaunchList()


cdef LaunchList* launch_list() noexcept nogil:
    return _launches
