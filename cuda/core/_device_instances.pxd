# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0


# The devices of the calling thread by ordinal; `make` makes the one of an ordinal, at the thread's first call.
cdef tuple devices_of_thread(object make)

# The ordinal that Device(device_id) means; None is that of the current context. ValueError if there is none.
cdef Py_ssize_t ordinal_of(object device_id, Py_ssize_t count) except -1

# The argument of Device(), from all that it was called with.
cdef object device_argument(tuple args, dict kwargs)
