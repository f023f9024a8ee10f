# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The layout of a kernel's parameters, which the driver reports, and their types; a part of ``_module.pyx``."""

cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t
from libcpp.vector cimport vector

from cuda.core._code._loading cimport demangled
from cuda.core._context cimport Context_current, Context_enter, Context_leave, Context_primary
from cuda.core._native._cuda_core cimport CaptureModeScope, ContextHandle, KernelPin, relax_capture_mode
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport (
    ALLOW_RETURN,
    HANDLE_RETURN,
    LEAVE_RETURN,
    c_driver_version,
    note_left_context,
    require_driver,
)

from cuda.core._code._layouts import numpy_type
from cuda.core._code._signatures import Parameter, function_of, parameters_of, types_of_kernel
from cuda.core._code._types import C_TYPES, is_pointer, size_of


cdef int Kernel_check_layout(Kernel self) except -1:
    cdef KernelPin pin
    if not self._has_layout:
        Kernel_pin(self, &pin)
        Kernel_read_layout(self, pin)
    if not self._is_layout_known:
        require_driver(12040, "reading the parameters of a kernel")
    return 0


cdef int Kernel_read_layout(Kernel self, const KernelPin& pin) except -1:
    cdef vector[ParamSlot] slots
    cdef size_t i
    name = self._name or c_kernel_name(pin.get())
    if c_driver_version() < 12040:
        self._last_launch = last_launch_of(name, None)
        self._has_layout = True
        return 0
    read_layout(pin.get(), slots)
    types = None if self._has_sizes_only else kernel_types(name, self._declarations, slots)
    for i in range(slots.size()):
        ParamSlot_set_type(&slots[i], types[i] if types else None)
    with cython.critical_section(self):
        if not self._has_layout:
            self._name = name
            self._types = types
            self._records = [None] * slots.size()
            self._slots.swap(slots)
            self._block_size = self._slots.back().offset + self._slots.back().size if self._slots.size() else 0
            self._last_launch = last_launch_of(name, tuple([
                (types[i] if types else None, self._slots[i].offset, self._slots[i].size)
                for i in range(self._slots.size())
            ]))
            self._is_layout_known = True
            self._has_layout = True
    return 0


cdef int read_layout(cydriver.CUkernel c_kernel, vector[ParamSlot]& slots) except -1:
    cdef ContextHandle h_context
    cdef int is_entered = 0
    cdef CaptureModeScope mode
    # The driver needs a context, but any context will do.
    Context_current(&h_context)
    if not h_context:
        Context_primary(0, &h_context)
    is_entered = Context_enter(h_context.get())
    # The query can load the kernel, which the capture modes "global" and "thread_local" forbid.
    relax_capture_mode(mode)
    try:
        read_slots(c_kernel, slots)
        load_kernel(c_kernel)
    except BaseException as error:
        note_left_context(error, Context_leave(is_entered))
        raise
    return LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, Context_leave(is_entered))


cdef int read_slots(cydriver.CUkernel c_kernel, vector[ParamSlot]& slots) except -1:
    cdef ParamSlot slot
    cdef size_t c_count = 0
    cdef bint has_count = c_driver_version() >= 13020
    if has_count:
        HANDLE_RETURN(cydriver.cuKernelGetParamCount(c_kernel, &c_count), b"cuKernelGetParamCount")
    while not has_count or slots.size() < c_count:
        slot.offset = slot.size = 0
        if has_count:
            HANDLE_RETURN(
                cydriver.cuKernelGetParamInfo(c_kernel, slots.size(), &slot.offset, &slot.size),
                b"cuKernelGetParamInfo",
            )
        # Without a count, the call returns "invalid value" after the last parameter.
        elif not ALLOW_RETURN(
            cydriver.cuKernelGetParamInfo(c_kernel, slots.size(), &slot.offset, &slot.size),
            cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
            b"cuKernelGetParamInfo",
        ):
            break
        slots.push_back(slot)
    return 0


# Loads the kernel now: the first launch would load it, but might be captured. A kernel without code for this device is
# not an error here, because it might be meant for another device.
cdef int load_kernel(cydriver.CUkernel c_kernel) except -1:
    cdef cydriver.CUfunction c_function = NULL
    cdef bint can_load = c_driver_version() >= 12040
    with nogil:
        if ALLOW_RETURN(
            cydriver.cuKernelGetFunction(&c_function, c_kernel),
            cydriver.CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU,
            b"cuKernelGetFunction",
        ) and can_load:
            HANDLE_RETURN(cydriver.cuFuncLoad(c_function), b"cuFuncLoad")
    return 0


cdef str c_kernel_name(cydriver.CUkernel c_kernel):
    cdef const char* c_name = NULL
    if c_driver_version() < 12030:  # without cuKernelGetName
        return ""
    if cydriver.cuKernelGetName(&c_name, c_kernel) != cydriver.CUDA_SUCCESS or c_name == NULL:
        return ""
    return (<bytes>c_name).decode(errors="replace")


# The types of the parameters, or None if they are unknown or do not have the sizes that the driver reports.
cdef list kernel_types(str symbol, object declarations, const vector[ParamSlot]& slots):
    cdef size_t i
    found = types_of_kernel(symbol, declarations)
    if found is None or len(found) != slots.size():
        return None
    types = [c_type if declarations is None else marked_structure(c_type, declarations) for c_type in found]
    for i in range(slots.size()):
        layout = declarations.layout(types[i][7:]) if types[i].startswith("struct ") else None
        size = size_of(types[i]) if layout is None else layout.size
        if size not in (None, slots[i].size):
            return None
    return types


# A type with "struct" before the name of a structure of the source, which might be a name that we know.
cdef str marked_structure(str c_type, object declarations):
    base = c_type.removeprefix("const ").rstrip("*")
    is_known = size_of(base) is not None
    if is_known and not base.startswith("__"):
        return c_type
    if declarations.layout(base) is None if not is_known else not declarations.defines(base):
        return c_type
    return c_type.replace(base, f"struct {base}") if is_known or base is c_type else c_type


cdef list Kernel_parameters(Kernel self):
    found = self._parameters
    if found is None:
        if self._types is None:
            found = [Parameter(None, None)] * self._slots.size()
        else:
            found = parameters_of(self._name, self._declarations)
            # Without a symbol, which is the case in tests only.
            found = found or [Parameter(None, c_type) for c_type in self._types]
        self._parameters = found
    return found


cdef object Kernel_dtype(Kernel self, object parameter):
    cdef size_t index
    names = [name for name, _ in Kernel_parameters(self)]
    if not isinstance(parameter, (str, int)):
        raise TypeError(f"parameter must be a str or an int, not {type(parameter).__name__}")
    if parameter not in (names if isinstance(parameter, str) else range(len(names))):
        known = "are unknown" if None in names else f"are {', '.join(names)}"
        raise ValueError(f"{function_name(self._name)}() has no parameter {shown(parameter)}; the names {known}")
    index = names.index(parameter) if isinstance(parameter, str) else parameter
    c_type = None if self._types is None else self._types[index]
    is_structure = c_type is not None and c_type.startswith("struct ")
    layout = self._declarations.layout(c_type[7:]) if is_structure else None
    if is_structure and layout is not None and layout.fields is not None:
        return numpy_type(c_type[7:], layout.size, self._declarations.layout)
    if size_of(c_type or "") is not None:
        return numpy_type(c_type, self._slots[index].size)
    raise ValueError(f"the layout of parameter {parameter!r} of {function_name(self._name)}() is unknown")


cdef str Kernel_function(Kernel self):
    return function_name(self._name)


cdef str function_name(str symbol):
    function = demangled(symbol)
    return symbol if function is None else (function_of(function)[0] or symbol).rpartition("::")[2]


# letter of C_TYPES -> (kind, least value, greatest value). A char may have either sign.
cdef dict _LETTERS = {
    "?": (SHORT_INT, 0, 1),
    "c": (SHORT_INT, -(1 << 7), (1 << 8) - 1),
    "b": (SHORT_INT, -(1 << 7), (1 << 7) - 1),
    "B": (SHORT_INT, 0, (1 << 8) - 1),
    "h": (SHORT_INT, -(1 << 15), (1 << 15) - 1),
    "H": (SHORT_INT, 0, (1 << 16) - 1),
    "i": (INT32, -(1 << 31), (1 << 31) - 1),
    "I": (UINT32, 0, (1 << 32) - 1),
    "q": (INT64, INT64_MIN, INT64_MAX),
    "Q": (UINT64, 0, INT64_MAX),
    "e": (FLOAT16, 0, 0),
    "f": (FLOAT32, 0, 0),
    "d": (FLOAT64, 0, 0),
    "ff": (COMPLEX64, 0, 0),
    "dd": (COMPLEX128, 0, 0),
}


# letter of C_TYPES -> (code, bits) of DLPack for the elements that a pointer takes.
cdef dict _ELEMENTS = {
    "?": ((6, 8),), "b": ((0, 8),), "h": ((0, 16),), "i": ((0, 32),), "q": ((0, 64),), "H": ((1, 16),),
    "I": ((1, 32),), "Q": ((1, 64),), "e": ((2, 16),), "f": ((2, 32),), "d": ((2, 64),), "E": ((4, 16), (1, 16)),
    "ff": ((2, 32), (5, 64)), "dd": ((2, 64), (5, 128)), "P": ((1, 64), (0, 64)),
}


cdef int ParamSlot_set_elements(ParamSlot* slot, str c_type) except -1:
    target = c_type[:-1].removeprefix("const ")
    letters = "P" if target.endswith("*") else C_TYPES.get(target, "")
    elements = _ELEMENTS.get(letters) or _ELEMENTS.get(letters[:1])
    slot.takes_elements = elements is None
    slot.takes_readonly = c_type.startswith("const ") or c_type.count("*") != 1
    for index, (code, bits) in enumerate(elements or ()):
        slot.elements[index] = code | bits << 8 | 1 << 16
    return 0


cdef int ParamSlot_set_type(ParamSlot* slot, object c_type) except -1:
    letters = C_TYPES.get(c_type)
    slot.elements[0] = slot.elements[1] = 0
    slot.takes_elements = slot.takes_readonly = c_type is None
    if c_type is not None and is_pointer(c_type):
        slot.kind, slot.low, slot.high = POINTER, INT64_MIN, INT64_MAX
        ParamSlot_set_elements(slot, c_type)
    elif c_type is not None and (c_type.startswith("struct ") or c_type.endswith(">")) and letters is None:
        slot.kind, slot.low, slot.high = STRUCTURE, 0, 0
    elif letters is not None:
        slot.kind, slot.low, slot.high = _LETTERS.get(letters, (OTHER, 0, 0))
    else:
        slot.kind, slot.low, slot.high = SIZED, 0, 0
        if slot.size in (1, 2, 4):
            # Signed or unsigned.
            slot.low, slot.high = -(<int64_t>1 << (8 * slot.size - 1)), (<int64_t>1 << (8 * slot.size)) - 1
        elif slot.size == 8:
            slot.low, slot.high = INT64_MIN, INT64_MAX
    slot.takes_int = slot.kind & (ANY_INTEGER | POINTER) or slot.high > 0
    return 0
