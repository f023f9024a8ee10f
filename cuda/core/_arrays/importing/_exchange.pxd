# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._arrays.importing._protocols cimport Purpose
from cuda.core._dlpack cimport DLPackExchangeAPI


# A class of a library; None if the program has not imported the module.
cdef object loaded_class(str module, str name)

# Whether the class is that of PyTorch's tensors or derived from it. PyTorch is not imported for the check.
cdef bint is_torch_type(object cls) except -1
# Fills an empty state from a tensor, ordered after PyTorch's current stream.
cdef bint import_torch(ViewState self, object tensor, object stream_ptr, Purpose purpose) except -1

# The exchange table of a class of any library; NULL if it has none, or none of a supported version.
cdef const DLPackExchangeAPI* find_exchange(object cls) except? NULL
# Fills an empty state from an object whose class has an exchange table. False if the table's functions refuse.
cdef bint import_with_table(ViewState self, object tensor, object stream_ptr, Purpose purpose) except -1
