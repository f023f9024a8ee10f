# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels from source, compiled when a device first needs them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from cuda.core._compile.cache._stores import FileStreamProgramCache, ProgramCacheResource
from cuda.core._device import Device
from cuda.core._launch_config import LaunchConfig
from cuda.core._module import Kernel, KernelAttributes, KernelOccupancy, ObjectCode
from cuda.core._program import Program, ProgramOptions, read_source
from cuda.core._stream import Stream, is_default_stream, launch_stream
from cuda.core._utils.cuda_utils import check_or_create_options
from cuda.core._utils.late import LateModule
from cuda.core._utils.locks import RLock
from cuda.core._utils.other_names import explain_names
from cuda.core._utils.validators import shown

if TYPE_CHECKING:
    import inspect

    from cuda.core._memory._buffer import Buffer

__all__ = ["SourceKernel", "kernel"]

_prebuilt = LateModule("cuda.core._compile.cache._prebuilt")


class _Source:
    """A source with its kernels, compiled once for each architecture.

    Parameters
    ----------
    text, code_type, options, cache, prebuilt
        As for :func:`kernel`.
    expressions : tuple of str
        The name expressions to compile with.
    """

    def __init__(
        self, text: str, code_type: str, options: ProgramOptions, cache, expressions: tuple[str, ...], prebuilt=None
    ):
        self._text, self._code_type, self._options, self._cache = text, code_type, options, cache
        self._prebuilt = prebuilt
        # A name expression compiles in every case but for extern "C" kernels, whose symbol it does not change.
        self._expressions = expressions if code_type == "c++" else ()
        self._codes: dict[str, ObjectCode] = {}  # by architecture
        self._lock = RLock()

    def arch_for(self, device: Device | int | None) -> str:
        """Return the architecture that the code for a device is compiled for."""
        return f"sm_{Device(device).arch}" if self._options.arch is None else self._options.arch

    def compiled(self, arch: str) -> ObjectCode:
        """Return the code for an architecture, which the first call compiles."""
        found = self._codes.get(arch)
        if found is None:
            with self._lock:
                if arch not in self._codes:
                    self._codes[arch] = self._compile(arch, self._expressions)
                found = self._codes[arch]
        return found

    def _compile(self, arch: str, expressions: tuple[str, ...]) -> ObjectCode:
        if self._prebuilt is not None:
            directory = _prebuilt.prebuilt_directory(self._prebuilt)
            found = _prebuilt.load_prebuilt(directory, self._text, expressions, self._code_type, self._options, arch)
            if found is not None:
                return found
        options = dataclasses.replace(self._options, arch=arch)
        with Program(self._text, self._code_type, options) as program:
            return program.compile("cubin", name_expressions=expressions, cache=self._cache)


@explain_names
class SourceKernel:
    """A kernel from source, compiled when a device first needs it, which :func:`cuda.core.utils.kernel` returns.

    It launches as a :class:`~cuda.core.Kernel` does, on the device of the stream: ``kernel[grid, block](*args)``,
    ``kernel[:n](*args)``, ``kernel(*args, grid=..., block=...)`` or :func:`cuda.core.launch`.
    """

    def __init__(self, source: _Source, name: str):
        if not isinstance(source, _Source):
            raise RuntimeError("SourceKernel cannot be constructed directly; use cuda.core.utils.kernel()")
        self._source, self._name = source, name
        self._kernels: dict[str, Kernel] = {}  # by architecture

    def __repr__(self) -> str:
        return f"<SourceKernel {self._name!r} compiled for {sorted(self._kernels) or 'no device yet'}>"

    def __getitem__(self, key):
        """Return a bound kernel, as :class:`~cuda.core.Kernel` does.

        ``kernel[grid, block, shmem_size, stream]``, or ``kernel[:n, block]`` for one thread for each of n elements.
        """
        return self._kernel_for(key[3] if isinstance(key, tuple) and len(key) == 4 else None)[key]

    def __call__(
        self, *kernel_args, grid=None, block=None, shmem_size: int = 0, stream=None, elements=None, **named_args
    ) -> None:
        """Launch the kernel (``cuLaunchKernelEx``), as a :class:`~cuda.core.Kernel` does.

        ``elements=n`` instead of ``grid`` launches at least one thread for each of n elements.
        """
        sizes = {"grid": grid, "block": block, "shmem_size": shmem_size, "elements": elements}
        self._kernel_for(stream)(*kernel_args, **sizes, stream=stream, **named_args)

    def bind(self, config: LaunchConfig | dict, *arguments, stream, **named):
        """Bind the kernel to a configuration, a stream and arguments, as :meth:`cuda.core.Kernel.bind` does."""
        return self._kernel_for(stream).bind(config, *arguments, stream=stream, **named)

    def for_device(self, device: Device | int | None = None) -> Kernel:
        """Return the kernel for a device, and compile it on first use.

        Parameters
        ----------
        device : :class:`~cuda.core.Device` | int, optional
            The device. Defaults to the current one.

        Returns
        -------
        :class:`~cuda.core.Kernel`
            The kernel. Devices of one architecture share it.

        Raises
        ------
        NVRTCError, CUDAError
            If the source cannot be compiled or loaded, or has no such kernel, in which case the message names similar
            ones.
        """
        arch = self._source.arch_for(device)
        found = self._kernels.get(arch)
        if found is None:
            found = self._kernels.setdefault(arch, self._source.compiled(arch).get_kernel(self._name))
        return found

    def dtype(self, parameter: str | int) -> numpy.dtype:  # noqa: F821
        """Return the NumPy dtype whose values a parameter takes, as :meth:`cuda.core.Kernel.dtype` does.

        Examples
        --------
        >>> from cuda.core.utils import kernel
        >>> source = "struct P { int a; double b; }; __global__ void f(P p, double* x) { *x = p.a * p.b; }"
        >>> kernel(source, "f", cache=False).dtype("p").itemsize
        16
        """
        return self._kernel_for(None).dtype(parameter)

    def struct(self, name: str) -> numpy.dtype:  # noqa: F821
        """Return the NumPy dtype of a structure that the source defines, as :meth:`cuda.core.ObjectCode.struct` does.

        Examples
        --------
        >>> from cuda.core.utils import kernel
        >>> source = "struct Ray { char hit; float4 direction; }; __global__ void f(Ray* ray) { ray->hit = 1; }"
        >>> kernel(source, "f", cache=False).struct("Ray").fields["direction"][1]
        16
        """
        return self._source.compiled(self._source.arch_for(_current_device())).struct(name)

    def get_global(self, name: str) -> Buffer:
        """Return the memory of a global variable of the source on the current device (``cuLibraryGetGlobal``).

        Parameters
        ----------
        name : str
            The name of a ``__device__``, ``__managed__`` or ``__constant__`` variable. For one in a namespace or of a
            template, ``"&scope::variable"``, one of the ``name_expressions`` of :func:`~cuda.core.utils.kernel`.

        Returns
        -------
        :class:`~cuda.core.Buffer`
            The memory, as :meth:`ObjectCode.get_global() <cuda.core.ObjectCode.get_global>` returns it. Kernels of one
            source share the variable.

        Raises
        ------
        NVRTCError, CUDAError
            If the source cannot be compiled or loaded, or has no such variable.
        """
        return self._source.compiled(self._source.arch_for(_current_device())).get_global(name)

    @property
    def attributes(self) -> KernelAttributes:
        """The attributes of the kernel for the current device, such as registers and shared memory."""
        return self.for_device().attributes

    @property
    def occupancy(self) -> KernelOccupancy:
        """Occupancy queries for the current device: how many of the kernel's blocks can be resident."""
        return self.for_device().occupancy

    @property
    def signature(self) -> inspect.Signature:
        """The names and C types of the parameters: :attr:`Kernel.signature <cuda.core.Kernel.signature>`."""
        return self.for_device().signature

    def _kernel_for(self, stream) -> Kernel:
        """Return the kernel for the device of a stream, as :func:`launch` does."""
        stream = launch_stream() if stream is None else getattr(stream, "stream", stream)  # of a graph builder
        if isinstance(stream, Stream) and not is_default_stream(stream):
            return self.for_device(stream.device)
        return self.for_device(_current_device())


def _current_device() -> Device:
    """Return the current device, after making device 0 current if there is none."""
    device = Device()
    device._set_if_none()  # a default stream belongs to the current context
    return device


@overload
def kernel(
    source: str | os.PathLike,
    name: str,
    *,
    code_type: str = ...,
    options: ProgramOptions | dict | None = ...,
    cache: ProgramCacheResource | bool = ...,
    name_expressions: Sequence[str] = ...,
    prebuilt: str | os.PathLike | None = ...,
) -> SourceKernel: ...
@overload
def kernel(
    source: str | os.PathLike,
    name: Sequence[str],
    *,
    code_type: str = ...,
    options: ProgramOptions | dict | None = ...,
    cache: ProgramCacheResource | bool = ...,
    name_expressions: Sequence[str] = ...,
    prebuilt: str | os.PathLike | None = ...,
) -> tuple[SourceKernel, ...]: ...
def kernel(
    source: str | os.PathLike,
    name: str | Sequence[str],
    *,
    code_type: str = "c++",
    options: ProgramOptions | dict | None = None,
    cache: ProgramCacheResource | bool = True,
    name_expressions: Sequence[str] = (),
    prebuilt: str | os.PathLike | None = None,
) -> SourceKernel | tuple[SourceKernel, ...]:
    """Return a kernel from source, which is compiled when a device first needs it.

    Parameters
    ----------
    source : str | os.PathLike
        The source, as for :class:`~cuda.core.Program`, or a path such as ``pathlib.Path("scale.cu")``, as for
        :meth:`Program.from_file() <cuda.core.Program.from_file>`. The file is read by this call.
    name : str | sequence of str
        The name of the kernel: a function, or an instance of a template such as ``"scale<float>"``. Several names
        return several kernels, which are compiled together and share their global variables.
    code_type : str, optional
        The language of the source. Defaults to ``"c++"``.
    options : :class:`~cuda.core.ProgramOptions` | dict, optional
        The options of the compiler. The architecture defaults to that of each device.
    cache : :class:`ProgramCacheResource` | bool, optional
        Where to keep the compiled code. True, the default, means the :class:`FileStreamProgramCache` of the user, and
        False no cache.
    name_expressions : sequence of str, optional
        Name expressions of variables that :meth:`SourceKernel.get_global` returns, such as ``"&scope::variable"``.
        Variables outside namespaces and templates need none.
    prebuilt : str | os.PathLike, optional
        Where to look first for code that ``python -m cuda.core prebuild`` has compiled: the name of a package, such as
        ``"mypackage.kernels"``, or the path of a directory. It is used if the source, the names and the options are the
        same. Defaults to None.

    Returns
    -------
    SourceKernel | tuple of SourceKernel
        An object to launch like a :class:`~cuda.core.Kernel`: with :func:`~cuda.core.launch`, by
        ``kernel[grid, block, shmem_size, stream](*args)``, ``kernel(*args, grid=..., block=..., stream=...)`` or, with
        a thread for each of n elements, ``kernel[:n](*args)`` or ``kernel(*args, elements=n)``. Without a stream, it
        runs on that of :meth:`Stream.use() <cuda.core.Stream.use>`, or else on the default stream, which makes device 0
        current on a thread without a current context. Its method ``for_device()`` returns the Kernel of a device, and
        ``dtype()`` and ``struct()`` the layouts of parameters and structures. For several names, a tuple of such
        objects.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If there are no names, or if ``source`` is a str with the name of a file.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device
    >>> from cuda.core.utils import kernel
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> source = '''__global__ void scale(float* x, float by, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) x[i] *= by;
    ... }'''
    >>> scale = kernel(source, "scale", cache=False)
    >>> x = device.to_device(np.arange(4, dtype=np.float32), stream=stream)
    >>> scale(x, 2, 4, elements=4, stream=stream)
    >>> x.to_host(stream=stream)
    array([0., 2., 4., 6.], dtype=float32)

    Several kernels of one source, and a variable that they share:

    >>> source = '''__constant__ float by;
    ... template <class T> __global__ void grow(T* x) { x[threadIdx.x] *= by; }
    ... template <class T> __global__ void shrink(T* x) { x[threadIdx.x] /= by; }'''
    >>> grow, shrink = kernel(source, ("grow<float>", "shrink<float>"), cache=False)
    >>> grow.get_global("by").copy_from(np.array([3], np.float32), stream=stream)
    >>> grow(x, grid=1, block=4, stream=stream)
    >>> x.tolist(stream=stream)
    [0.0, 6.0, 12.0, 18.0]
    """
    names = (name,) if isinstance(name, str) else strings("name", name)
    expressions = strings("name_expressions", name_expressions)
    if isinstance(source, os.PathLike):
        source, code_type, options = read_source(source, options, None if code_type == "c++" else code_type)
    if prebuilt is not None and not isinstance(prebuilt, (str, os.PathLike)):
        raise TypeError(f"prebuilt must be the name of a package or a path, not {type(prebuilt).__name__}")
    for label, value in (("source", source), ("code_type", code_type)):
        if not isinstance(value, str):
            raise TypeError(f"{label} must be a str, not {type(value).__name__}")
    if source.lower().endswith((".cu", ".cuh", ".ptx")) and "\n" not in source and "{" not in source:
        raise ValueError(f"source must be the text of a program; to read a file, pass pathlib.Path({source!r})")
    if not isinstance(cache, (bool, ProgramCacheResource)):
        raise TypeError(f"cache must be a ProgramCacheResource or a bool, not {type(cache).__name__}")
    options = check_or_create_options(ProgramOptions, options, "the options of a kernel")
    if isinstance(cache, bool):
        cache = FileStreamProgramCache() if cache else None
    if not names:
        raise ValueError("name must contain at least one name")
    shared = _Source(source, code_type, options, cache, (*names, *expressions), prebuilt)
    kernels = tuple(SourceKernel(shared, each) for each in names)
    return kernels[0] if isinstance(name, str) else kernels


def strings(label: str, value) -> tuple[str, ...]:
    """Return a sequence of str as a tuple, or raise TypeError."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        text = "a str or a sequence of str" if label == "name" else "a sequence of str"
        raise TypeError(f"{label} must be {text}, not {shown(value)}")
    return tuple(value)
