# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Device resources: the multiprocessors and work queues from which green contexts are created."""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libc.string cimport memset
from libcpp.vector cimport vector

from cuda.core._native._cuda_core cimport refuse_pickle
from cuda.core._native._cuda_core cimport ContextHandle
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, c_driver_version, check_or_create_options, require_driver

import operator
from collections.abc import Sequence

from cuda.core import typing as enums
from cuda.core._utils.options import Options, options
from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import require_call
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import check_locality_domain, check_str_enum, shown

__all__ = ["DeviceResources", "SMResource", "SMResourceOptions", "WorkqueueResource", "WorkqueueResourceOptions"]

_SCOPES = {
    "device_ctx": cydriver.CU_WORKQUEUE_SCOPE_DEVICE_CTX,
    "green_ctx_balanced": cydriver.CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED,
}
_SCOPE_NAMES = {code: scope for scope, code in _SCOPES.items()}
_ANY_DOMAIN = 0xFFFFFFFF  # CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID_ANY


cdef class DeviceResources:
    """The multiprocessors and work queues of a device or context, from ``Device.resources`` or ``Context.resources``.

    Each access to a property queries the driver.
    """

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use Device.resources, Context.resources or Stream.resources."""
        raise RuntimeError("DeviceResources cannot be constructed directly; use Device.resources or Context.resources")

    def __repr__(self):
        where = " context" if self._h_context else ""
        return f"<DeviceResources of{where} device {self._device_id}>"

    def __reduce__(self):
        refuse_pickle(self)

    @property
    def sm(self) -> SMResource:
        """The streaming multiprocessors (``cuDeviceGetDevResource``, ``cuCtxGetDevResource``).

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 12.4.
        CUDAError
            If the device has no resources of this type.
        """
        cdef SMResource resource = SMResource.__new__(SMResource)
        require_call("cuDeviceGetDevResource", "partitioning of multiprocessors")
        DeviceResources_query(self, &resource._resource, cydriver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM)
        resource._device_id = self._device_id
        return resource

    @property
    def workqueue(self) -> WorkqueueResource:
        """The work queues (``cuDeviceGetDevResource``, ``cuCtxGetDevResource``).

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 13.1.
        """
        cdef WorkqueueResource resource = WorkqueueResource.__new__(WorkqueueResource)
        require_driver(13010, "configuration of work queues")
        DeviceResources_query(
            self, &resource._resource, cydriver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG
        )
        return resource


@options
class SMResourceOptions(Options):
    """Options of :meth:`SMResource.split`: the number and sizes of groups of multiprocessors.

    If ``count`` is a sequence, it has one item per group, and every other field is a sequence of that length or one
    value for all groups. If it is a number, there is one group.

    Attributes
    ----------
    count : int | sequence of int, optional
        The number of multiprocessors of a group. If None or 0, the driver chooses it.
    coscheduled_sm_count : int | sequence of int, optional
        The number of multiprocessors guaranteed to be co-scheduled, for clusters. If None, the driver's default.
        Needs a driver of CUDA 13.1.
    preferred_coscheduled_sm_count : int | sequence of int, optional
        The preferred number of co-scheduled multiprocessors; ``coscheduled_sm_count`` is the fallback. Needs a driver
        of CUDA 13.1.
    backfill : bool | sequence of bool, optional
        Whether a group may include multiprocessors that cannot be co-scheduled with the others. Default is False.
    locality_domain : int | str | sequence, optional
        The locality domain that the multiprocessors of a group belong to, from 0 to
        ``Device.properties.locality_domain_count - 1``, or ``"any"`` for those that belong to one. If None, the driver
        ignores domains. Needs a driver of CUDA 13.4.
    supplemental : bool | sequence of bool, optional
        Whether a group may have more multiprocessors of its domain than
        ``Device.properties.locality_domain_multiprocessor_count``. Default is False. Needs ``locality_domain``.
    """

    count: int | Sequence[int] | None = None
    coscheduled_sm_count: int | Sequence[int] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int] | None = None
    backfill: bool | Sequence[bool] = False
    locality_domain: int | str | Sequence[int | str | None] | None = None
    supplemental: bool | Sequence[bool] = False


cdef class SMResource:
    """A group of streaming multiprocessors of a device, from :attr:`DeviceResources.sm` or :meth:`split`."""

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use DeviceResources.sm or :meth:`split`."""
        raise RuntimeError("SMResource cannot be constructed directly; use DeviceResources.sm or SMResource.split()")

    def __repr__(self):
        kind = ", dry run" if self._is_dry_run else ""
        return f"<SMResource of {self.sm_count} multiprocessors of device {self._device_id}{kind}>"

    def __reduce__(self):
        refuse_pickle(self)

    def split(self, options: SMResourceOptions, *, dry_run: bool = False) -> tuple[list[SMResource], SMResource]:
        """Partition these multiprocessors into disjoint groups.

        This object does not change. A group has an effect only in a green context that is created from it.

        Parameters
        ----------
        options : :class:`SMResourceOptions` | dict
            The number and the sizes of the groups.
        dry_run : bool, optional
            Whether to compute only sizes. No context can be created from the result. Default is False.

        Returns
        -------
        tuple of (list of :class:`SMResource`, :class:`SMResource`)
            The groups, in the order of the options, and the multiprocessors that are left. Drivers older than CUDA
            13.1 round sizes up and may return fewer groups (``cuDevSmResourceSplitByCount``); newer drivers return
            the requested groups or fail (``cuDevSmResourceSplit``).

        Raises
        ------
        TypeError
            If a field has the wrong type.
        ValueError
            If ``count`` is empty or negative, another field is a sequence of another length, or ``locality_domain`` is
            out of range, or missing for ``supplemental``.
        NotSupportedError
            If the driver is older than CUDA 13.1, and the counts differ or a co-scheduling field is set; or older than
            CUDA 13.4, and ``locality_domain`` is set.
        CUDAError
            If the multiprocessors cannot be partitioned like this.
        """
        cdef vector[cydriver.CUdevResource] c_groups
        cdef SMResource rest = SMResource.__new__(SMResource)
        if self._resource.type != cydriver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM:
            raise RuntimeError("this SMResource has no multiprocessors to split")
        if options is None:
            raise TypeError("options must be an SMResourceOptions, not None")
        groups = _groups_of(check_or_create_options(SMResourceOptions, options, "options of a split"))
        if c_driver_version() >= 13010:
            SMResource_split_by_groups(self, groups, &c_groups, &rest._resource)
        else:
            SMResource_split_evenly(self, groups, &c_groups, &rest._resource)
        rest._device_id = self._device_id
        rest._is_dry_run = self._is_dry_run or dry_run
        return [
            SMResource_wrap(c_groups[i], self._device_id, rest._is_dry_run) for i in range(<Py_ssize_t>c_groups.size())
        ], rest

    @property
    def handle(self) -> int:
        """The address of the ``CUdevResource`` of this object."""
        return <uintptr_t>&self._resource

    @property
    def sm_count(self) -> int:
        """The number of multiprocessors."""
        return self._resource.sm.smCount

    @property
    def min_partition_size(self) -> int:
        """The smallest number of multiprocessors that a group can have."""
        return self._resource.sm.minSmPartitionSize

    @property
    def coscheduled_alignment(self) -> int:
        """The number of multiprocessors guaranteed to be co-scheduled.

        For drivers older than CUDA 13.1, which do not report it, :attr:`min_partition_size`.
        """
        return self._resource.sm.smCoscheduledAlignment or self._resource.sm.minSmPartitionSize

    @property
    def flags(self) -> int:
        """The driver's flags (``CUdevSmResourceGroup_flags``)."""
        return self._resource.sm.flags

    @property
    def locality_domain(self) -> int | str | None:
        """The locality domain of the multiprocessors, as in :class:`SMResourceOptions`; None without such an option."""
        if not self._resource.sm.flags & cydriver.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID:
            return None
        domain = self._resource.sm.localityDomainId
        return "any" if domain == _ANY_DOMAIN else domain


@options
class WorkqueueResourceOptions(Options):
    """Options of :meth:`WorkqueueResource.configure`. None leaves a setting unchanged.

    Attributes
    ----------
    sharing_scope : :class:`~cuda.core.typing.WorkqueueSharingScopeType` | str, optional
        ``"device_ctx"``: all contexts of the device share the queues. ``"green_ctx_balanced"``: green contexts use
        different queues where possible.
    concurrency_limit : int, optional
        The expected number of concurrent stream-ordered workloads, at least 1.
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None

    def _check(self):
        if self.sharing_scope is not None:
            check_str_enum(self.sharing_scope, enums.WorkqueueSharingScopeType)
        if self.concurrency_limit is not None:
            if isinstance(self.concurrency_limit, bool) or not hasattr(type(self.concurrency_limit), "__index__"):
                raise TypeError(f"concurrency_limit must be an int, not {type(self.concurrency_limit).__name__}")
            if not 1 <= operator.index(self.concurrency_limit) < 1 << 32:
                raise ValueError(f"concurrency_limit must be from 1 to 2**32 - 1, not {shown(self.concurrency_limit)}")


cdef class WorkqueueResource:
    """A configuration of the work queues of a device, from :attr:`DeviceResources.workqueue`."""

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use DeviceResources.workqueue."""
        raise RuntimeError("WorkqueueResource cannot be constructed directly; use DeviceResources.workqueue")

    def __repr__(self):
        return f"<WorkqueueResource of device {self._resource.wqConfig.device}, limit {self.concurrency_limit}>"

    def __reduce__(self):
        refuse_pickle(self)

    def configure(self, options: WorkqueueResourceOptions) -> None:
        """Update this configuration.

        It takes effect in green contexts that are created from it afterwards.

        Parameters
        ----------
        options : :class:`WorkqueueResourceOptions` | dict
            The settings to change.

        Raises
        ------
        TypeError
            If ``options`` or a field has the wrong type.
        ValueError
            If a field has an invalid value.
        """
        if options is None:
            raise TypeError("options must be a WorkqueueResourceOptions, not None")
        options = check_or_create_options(WorkqueueResourceOptions, options, "options of work queues")
        if options.sharing_scope is not None:
            self._resource.wqConfig.sharingScope = <cydriver.CUdevWorkqueueConfigScope><int>_SCOPES[
                options.sharing_scope
            ]
        if options.concurrency_limit is not None:
            self._resource.wqConfig.wqConcurrencyLimit = operator.index(options.concurrency_limit)

    @property
    def handle(self) -> int:
        """The address of the ``CUdevResource`` of this object."""
        return <uintptr_t>&self._resource

    @property
    def sharing_scope(self) -> WorkqueueSharingScopeType:
        """Which contexts share the queues."""
        return enums.WorkqueueSharingScopeType(_SCOPE_NAMES[<int>self._resource.wqConfig.sharingScope])

    @property
    def concurrency_limit(self) -> int:
        """The expected number of concurrent stream-ordered workloads."""
        return self._resource.wqConfig.wqConcurrencyLimit

    @property
    def device(self) -> Device:
        """The :class:`Device` of the queues."""
        return slots.get("Device")(self._resource.wqConfig.device)


cdef DeviceResources DeviceResources_of_device(int device_id):
    cdef DeviceResources self = DeviceResources.__new__(DeviceResources)
    self._device_id = device_id
    return self


cdef DeviceResources DeviceResources_of_context(const ContextHandle& h_context, int device_id):
    cdef DeviceResources self = DeviceResources_of_device(device_id)
    self._h_context.set(h_context)
    return self


cdef int DeviceResources_query(
    DeviceResources self, cydriver.CUdevResource* c_resource, cydriver.CUdevResourceType c_type
) except -1:
    cdef ContextHandle h_context = self._h_context.copy()
    cdef int device_id = self._device_id
    with nogil:
        if h_context:
            HANDLE_RETURN(cydriver.cuCtxGetDevResource(h_context.get(), c_resource, c_type), b"cuCtxGetDevResource")
        else:
            HANDLE_RETURN(cydriver.cuDeviceGetDevResource(device_id, c_resource, c_type), b"cuDeviceGetDevResource")
    return 0


cdef int Resource_add(object resource, int device_id, vector[cydriver.CUdevResource]* c_resources) except -1:
    cdef cydriver.CUdevResource c_resource
    if isinstance(resource, SMResource):
        if (<SMResource>resource)._is_dry_run:
            raise ValueError("resources must not come from a dry run; call SMResource.split() without dry_run")
        c_resource = (<SMResource>resource)._resource
        owner = (<SMResource>resource)._device_id
    elif isinstance(resource, WorkqueueResource):
        c_resource = (<WorkqueueResource>resource)._resource
        owner = c_resource.wqConfig.device
    else:
        raise TypeError(f"resources must contain SMResource or WorkqueueResource, not {type(resource).__name__}")
    if c_resource.type == cydriver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_INVALID:
        raise ValueError(f"resources must not hold an empty {type(resource).__name__}")
    if owner != device_id:
        raise ValueError(f"resources must be of device {device_id}, not of device {owner}")
    c_resources.push_back(c_resource)
    return 0


# --- Splits ---------------------------------------------------------------------------------------

cdef SMResource SMResource_wrap(const cydriver.CUdevResource& c_resource, int device_id, bint is_dry_run):
    cdef SMResource self = SMResource.__new__(SMResource)
    self._resource = c_resource
    self._device_id = device_id
    self._is_dry_run = is_dry_run
    return self


cdef int SMResource_split_by_groups(
    SMResource self, list groups, vector[cydriver.CUdevResource]* c_groups, cydriver.CUdevResource* c_rest
) except -1:
    cdef vector[cydriver.CU_DEV_SM_RESOURCE_GROUP_PARAMS] c_parameters
    cdef cydriver.CU_DEV_SM_RESOURCE_GROUP_PARAMS c_group
    for count, together, preferred, backfill, domain, supplemental in groups:
        memset(&c_group, 0, sizeof(c_group))
        c_group.smCount = count
        c_group.coscheduledSmCount = together
        c_group.preferredCoscheduledSmCount = preferred
        if backfill:
            c_group.flags |= cydriver.CU_DEV_SM_RESOURCE_GROUP_BACKFILL
        if domain is not None:
            c_group.flags |= cydriver.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID
            c_group.localityDomainId = domain
        if supplemental:
            c_group.flags |= cydriver.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS
        c_parameters.push_back(c_group)
    c_groups.resize(c_parameters.size())
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDevSmResourceSplit(
                c_groups.data(), <unsigned int>c_groups.size(), &self._resource, c_rest, 0, c_parameters.data()
            ),
            b"cuDevSmResourceSplit",
        )
    return 0


cdef int SMResource_split_evenly(
    SMResource self, list groups, vector[cydriver.CUdevResource]* c_groups, cydriver.CUdevResource* c_rest
) except -1:
    cdef unsigned int c_count = <unsigned int>len(groups)
    cdef unsigned int c_least = 0
    if any(together or preferred for _, together, preferred, *_ in groups):
        require_call("cuDevSmResourceSplit", "coscheduled_sm_count or its preferred count")
    if len({count for count, *_ in groups}) > 1:
        require_call("cuDevSmResourceSplit", "a split by different counts")
    c_least = groups[0][0]
    c_groups.resize(c_count)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDevSmResourceSplitByCount(c_groups.data(), &c_count, &self._resource, c_rest, 0, c_least),
            b"cuDevSmResourceSplitByCount",
        )
    c_groups.resize(c_count)
    return 0


def _groups_of(options) -> list[tuple[int, int, int, bool, int | None, bool]]:
    """Return the values of all fields for each group, in the order of the fields."""
    is_many = _is_sequence(options.count)
    size = len(options.count) if is_many else 1
    if size == 0:
        raise ValueError("count must not be empty: it has one item per group")
    columns = [
        [_number(name, value) for value in _column(name, getattr(options, name), is_many, size)]
        for name in ("count", "coscheduled_sm_count", "preferred_coscheduled_sm_count")
    ]
    columns.append([_truth("backfill", value) for value in _column("backfill", options.backfill, is_many, size)])
    domains = [_domain(value) for value in _column("locality_domain", options.locality_domain, is_many, size)]
    supplemental = _column("supplemental", options.supplemental, is_many, size)
    columns += [domains, [_truth("supplemental", value) for value in supplemental]]
    if any(value and domain is None for domain, value in zip(domains, supplemental)):
        raise ValueError("supplemental needs a locality_domain for the same group")
    if any(domain is not None for domain in domains):
        require_driver(13040, "multiprocessors of a locality domain")
    return list(zip(*columns))


def _is_sequence(value) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview))


def _column(name: str, value, is_many: bool, size: int) -> list:
    """Return the value of a field for each group."""
    if not _is_sequence(value):
        return [value] * size
    if not is_many:
        raise ValueError(f"{name} must be one value, not a sequence, because count is one value")
    if len(value) != size:
        raise ValueError(f"{name} must have {size} items like count, not {len(value)}")
    return list(value)


def _number(name: str, value) -> int:
    """Return a number of multiprocessors, or 0 for None, so the driver chooses."""
    if value is None:
        return 0
    if type(value) is not int:
        raise TypeError(f"{name} must be an int or None for each group, not {type(value).__name__}")
    if not 0 <= value < 1 << 32:
        raise ValueError(f"{name} must be from 0 to 2**32 - 1, not {shown(value)}")
    return value


def _truth(name: str, value) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool or a sequence of bools, not {type(value).__name__}")
    return value


def _domain(value) -> int | None:
    """Return the number of a locality domain, that of any domain for "any", or None for None."""
    if isinstance(value, str) and value == "any":
        return _ANY_DOMAIN
    if isinstance(value, str):
        raise ValueError(f"locality_domain must be an int, 'any' or None for each group, not {shown(value)}")
    check_locality_domain(value)
    return value


check_self_in_methods(globals())
