# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of Numba, JAX and Warp: the protocol is chosen once per class, not for each object.

They are read through a protocol, unlike those of CuPy, whose attributes are read: JAX and Warp order their own streams
in ``__dlpack__``, and the CUDA array interface of Numba has all information.
"""

from __future__ import annotations

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._arrays.importing._exchange cimport loaded_class
from cuda.core._arrays.importing._protocols cimport (
    Importer,
    Purpose,
    import_cuda_interface,
    import_dlpack,
    import_dlpack_as,
)

__all__ = []

# (module, class). A class is used only if the program has imported its module.
cdef tuple _CLASSES = (
    ("numba.cuda.cudadrv.devicearray", "DeviceNDArray"),
    ("jaxlib._jax", "ArrayImpl"),
    ("jaxlib.xla_extension", "ArrayImpl"),
    ("warp", "array"),
)


cdef object library_class(object cls, Importer* importer):
    for module, name in _CLASSES:
        base = loaded_class(module, name)
        if base is not None and issubclass(cls, base):
            if module.startswith("jaxlib."):
                importer[0] = import_jax
            elif hasattr(base, "__dlpack__") and hasattr(base, "__dlpack_device__"):
                importer[0] = import_with_dlpack
            else:
                importer[0] = import_with_interface
            return base
    return None


cdef bint reads_dlpack(Importer importer) noexcept:
    cdef Importer jax = import_jax
    cdef Importer dlpack = import_with_dlpack
    return importer == jax or importer == dlpack


cdef bint reads_interface(Importer importer) noexcept:
    cdef Importer interface = import_with_interface
    return importer == interface


# JAX would use -1 as the address of a stream, so it gets None for "no ordering".
cdef bint import_jax(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    import_dlpack_as(self, obj, stream_ptr, purpose, None)
    return True


cdef bint import_with_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    # Also for copies of host memory, because the buffer protocol of JAX raises for bfloat16.
    import_dlpack(self, obj, stream_ptr, purpose)
    return True


cdef bint import_with_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    import_cuda_interface(self, obj, stream_ptr, purpose)
    return True
