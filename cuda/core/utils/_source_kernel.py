# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels from source, compiled when a device first needs them."""

from __future__ import annotations

import dataclasses

from cuda.core._compile.cache._stores import FileStreamProgramCache, ProgramCacheResource
from cuda.core._device import Device
from cuda.core._launch_config import LaunchConfig
from cuda.core._module import Kernel, ObjectCode
from cuda.core._program import Program, ProgramOptions
from cuda.core._stream import Stream
from cuda.core._utils.cuda_utils import check_or_create_options
from cuda.core._utils.locks import RLock

__all__ = ["kernel"]


class SourceKernel:
    """A kernel from source: see :func:`cuda.core.utils.kernel`, which returns one."""

    def __init__(self, source: str, name: str, code_type: str, options: ProgramOptions, cache):
        self._source, self._name, self._code_type = source, name, code_type
        self._options, self._cache = options, cache
        self._compiled: dict[str, tuple[ObjectCode, Kernel]] = {}  # by architecture
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"<SourceKernel {self._name!r} compiled for {sorted(self._compiled) or 'no device yet'}>"

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
            If the source cannot be compiled or loaded, or has no such kernel.
        """
        return self._compiled_for(device)[1]

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
        return self._compiled_for(_current_device())[0].struct(name)

    def _kernel_for(self, stream) -> Kernel:
        """Return the kernel for the device of a stream, as :func:`launch` does."""
        stream = getattr(stream, "stream", stream)  # of a graph builder
        if isinstance(stream, Stream) and int(stream.handle) > 2:
            return self.for_device(stream.device)
        return self.for_device(_current_device())

    def _compiled_for(self, device) -> tuple[ObjectCode, Kernel]:
        arch = f"sm_{Device(device).arch}" if self._options.arch is None else self._options.arch
        found = self._compiled.get(arch)
        if found is None:
            with self._lock:
                if arch not in self._compiled:
                    self._compiled[arch] = self._compile(arch)
                found = self._compiled[arch]
        return found

    def _compile(self, arch: str) -> tuple[ObjectCode, Kernel]:
        options = dataclasses.replace(self._options, arch=arch)
        # A name expression compiles in every case but for extern "C" kernels, whose symbol it does not change.
        expressions = (self._name,) if self._code_type == "c++" else ()
        with Program(self._source, self._code_type, options) as program:
            code = program.compile("cubin", name_expressions=expressions, cache=self._cache)
        return code, code.get_kernel(self._name)


def _current_device() -> Device:
    """Return the current device, after making device 0 current if there is none."""
    device = Device()
    device._set_if_none()  # a default stream belongs to the current context
    return device


def kernel(
    source: str,
    name: str,
    *,
    code_type: str = "c++",
    options: ProgramOptions | dict | None = None,
    cache: ProgramCacheResource | bool = True,
) -> SourceKernel:
    """Return a kernel from source, which is compiled when a device first needs it.

    Parameters
    ----------
    source : str
        The source, as for :class:`~cuda.core.Program`.
    name : str
        The name of the kernel: a function, or an instance of a template such as ``"scale<float>"``.
    code_type : str, optional
        The language of the source. Defaults to ``"c++"``.
    options : :class:`~cuda.core.ProgramOptions` | dict, optional
        The options of the compiler. The architecture defaults to that of each device.
    cache : :class:`ProgramCacheResource` | bool, optional
        Where to keep the compiled code. True, the default, means the :class:`FileStreamProgramCache` of the user, and
        False no cache.

    Returns
    -------
    SourceKernel
        An object to launch like a :class:`~cuda.core.Kernel`: with :func:`~cuda.core.launch`, by
        ``kernel[grid, block, shmem_size, stream](*args)``, ``kernel(*args, grid=..., block=..., stream=...)`` or, with
        a thread for each of n elements, ``kernel[:n](*args)`` or ``kernel(*args, elements=n)``. Its method
        ``for_device()`` returns the Kernel of a device, and ``dtype()`` and ``struct()`` return the layouts of
        parameters and structures. A launch on a default stream makes device 0 current on a thread
        without a current context.

    Raises
    ------
    TypeError
        If an argument has the wrong type.

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
    """
    for label, value in (("source", source), ("name", name), ("code_type", code_type)):
        if not isinstance(value, str):
            raise TypeError(f"{label} must be a str, not {type(value).__name__}")
    if not isinstance(cache, (bool, ProgramCacheResource)):
        raise TypeError(f"cache must be a ProgramCacheResource or a bool, not {type(cache).__name__}")
    options = check_or_create_options(ProgramOptions, options, "the options of a kernel")
    if isinstance(cache, bool):
        cache = FileStreamProgramCache() if cache else None
    return SourceKernel(source, name, code_type, options, cache)
