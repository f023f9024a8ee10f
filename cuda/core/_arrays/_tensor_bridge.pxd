# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._importers cimport ViewState


# Whether `obj` is a tensor of PyTorch, which is not imported for that.
cdef bint is_torch(object obj) except -1
# Fills an empty state from a tensor, ordered against PyTorch's current stream.
cdef int view_torch(ViewState self, object tensor, object stream_ptr) except -1
