# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._native._cuda_core cimport Anchor


# If a builder captures work on `stream`, its graph keeps both things as long as a clone or a launch needs them.
cdef int keep_for_capture(object stream, Anchor first, Anchor second) except -1
