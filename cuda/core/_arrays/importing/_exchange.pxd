# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._arrays.importing._protocols cimport Purpose
from cuda.core._dlpack cimport DLPackExchangeAPI


# A class of a library, if the program has imported it; else None.
cdef object loaded_class(str module, str name)

# Whether the class is that of PyTorch's tensors, or derived from it. PyTorch is not imported for that.
cdef bint is_torch_type(object cls) except -1
# Fills an empty state from a tensor, ordered against PyTorch's current stream.
cdef bint import_torch(ViewState self, object tensor, object stream_ptr, Purpose purpose) except -1

# The exchange table of a class of any library; NULL where it has none that we know.
cdef const DLPackExchangeAPI* find_exchange(object cls) except? NULL
# Fills an empty state from an object whose class has one.
cdef bint import_with_table(ViewState self, object tensor, object stream_ptr, Purpose purpose) except -1
