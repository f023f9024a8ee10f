# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState

# The type of the elements of a view, or of what the user names instead; ValueError if tensor maps have no such type.
cdef object find_data_type(ViewState view, object data_type)

# The same where one look-up tells it, else None.
cdef object plain_data_type(ViewState view, object data_type)

# A member of an enum, or the one of value 0 for None; TypeError for anything else.
cdef object check_choice(str name, object value, object cls)

cdef object int_argument(str name, object value)

# The options of a tile: those given, or those of the arguments; TypeError for both.
cdef object tile_options(object box_dim, object options, dict choices)


# The number of a member, or of None; -1 for anything else.
cdef inline int plain_choice(object value, object cls) except -2:
    return 0 if value is None else <int>value if type(value) is cls else -1
