# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0


# The devices of the calling thread, by ordinal. At the thread's first call, `make(ordinal)` creates each.
cdef tuple devices_of_thread(object make)

# The ordinal for Device(device_id); for None, that of the current context. ValueError if there is no such device.
cdef Py_ssize_t ordinal_of(object device_id, Py_ssize_t count) except -1

# The argument `device_id` of a call of Device(); TypeError for other arguments.
cdef object device_argument(tuple args, dict kwargs)
