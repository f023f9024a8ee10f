# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState

# The TensorMapDataType of `data_type`, or of the view if that is None; ValueError if tensor maps have no such type.
cdef object find_data_type(ViewState view, object data_type)

# The same for common types; None if find_data_type() has to decide.
cdef object find_data_type_fast(ViewState view, object data_type)

# Returns a member of an enum, for None the member of value 0; TypeError for anything else.
cdef object check_choice(str name, object value, object cls)

# Returns an int; TypeError for a value that is no integer.
cdef object int_argument(str name, object value)

# Returns `options`, or options made from the other arguments; TypeError if both are given.
cdef object tile_options(object box_dim, object options, dict choices)


# The value of a member of an enum, 0 for None; -1 for anything else.
cdef inline int enum_value(object value, object cls) except -2:
    return 0 if value is None else <int>value if type(value) is cls else -1
