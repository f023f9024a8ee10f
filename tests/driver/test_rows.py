# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What programs of the classic style use, in rows, and the tests that cover it."""

import ast
import functools
import re
from pathlib import Path

import pytest

from driver.test_names import public_names

HERE = Path(__file__).resolve().parent
# Each row: how often programs use the names, the names, and below them the tests (file and function without "test_").
ROWS = """
# Modules
must   import lines, python -m cuda.core.driver
       classic_names.classic_names_are_those_of_the_modules_of_this_package
must   VERSION VERSION_STATUS VERSION_TEXT
       constants.the_version_can_be_compared
must   autoinit
       autoinit.a_program_gets_a_context_and_may_end_it_in_any_way
rare   autoprimaryctx
       autoprimaryctx.a_program_gets_the_primary_context
rare   gl.autoinit
       gl/test_autoinit.a_program_gets_a_context
rare   debug
       debug.a_program_runs_with_debugging_on

# Spellings of either guide
must   Error CudaError
       errors.an_unknown_code_becomes_the_base_class
must   Context make_context
       contexts/test_context.the_constructor_does_what_make_context_does
       contexts/test_context.a_new_context_is_current_until_it_is_popped
must   pop
       contexts/test_context.methods_of_the_current_context_are_called_on_class_and_instance
must   synchronize get_device
       contexts/test_context.methods_of_the_current_context_are_called_on_class_and_instance
must   get_current
       contexts/test_context.methods_of_the_current_context_are_called_on_class_and_instance
must   mem_host_alloc HostAllocation PagelockedHostAllocation HostPointer
       memory/test_host_memory.aligned_zeros_are_like_another_array
       memory/test_host_memory.a_page_locked_allocation_is_a_buffer_and_freed_once
must   DEVICE_MAP DEVICEMAP WRITE_COMBINED WRITECOMBINED
       constants.flags_of_host_memory_have_both_spellings
must   stream_flags NON_BLOCKING
       contexts/test_streams.flags_decide_whether_a_stream_is_nonblocking
must   Module module_from_buffer module_from_file
       modules/test_module.code_is_loaded_from_memory_and_files
must   get_global
       modules/test_module.variables_are_addresses_with_sizes
       modules/test_module.an_address_of_a_variable_is_an_argument
must   prepare PreparedFunction Function
       modules/test_module.prepared_functions_are_functions
must   record synchronize
       contexts/test_streams.events_are_recorded_and_timed

# Errors
must   Error
       errors.an_unknown_code_becomes_the_base_class
must   MemoryError
       errors.out_of_memory_is_the_builtin_too
       memory/test_device_memory.too_much_memory_is_a_memory_error
must   LaunchError
       errors.codes_of_failed_launches_become_launch_errors_of_both_interfaces
       errors.a_fault_of_a_kernel_is_caught_by_either_name
should RuntimeError
       errors.codes_of_the_environment_become_runtime_errors
must   LogicError
       errors.most_codes_become_logic_errors
must   CompileError command_line stdout stderr
       compiler.a_compile_error_has_the_output_of_the_compiler

# Constants
must   names values
       constants.namespaces_have_names_and_values
should ctx_flags SCHED_AUTO SCHED_SPIN SCHED_YIELD SCHED_BLOCKING_SYNC BLOCKING_SYNC SCHED_MASK MAP_HOST
     + LMEM_RESIZE_TO_MAX FLAGS_MASK
       constants.namespaces_have_the_members_of_the_classic_interface
should event_flags DEFAULT BLOCKING_SYNC DISABLE_TIMING INTERPROCESS
       constants.namespaces_have_the_members_of_the_classic_interface
must   device_attribute SHARED_MEMORY_PER_BLOCK REGISTERS_PER_BLOCK GPU_OVERLAP
     + MAXIMUM_TEXTURE2D_ARRAY_WIDTH
       constants.namespaces_have_the_members_of_the_classic_interface
should function_attribute MAX_THREADS_PER_BLOCK SHARED_SIZE_BYTES CONST_SIZE_BYTES LOCAL_SIZE_BYTES
     + NUM_REGS PTX_VERSION BINARY_VERSION CACHE_MODE_CA MAX_DYNAMIC_SHARED_SIZE_BYTES
     + PREFERRED_SHARED_MEMORY_CARVEOUT
       constants.namespaces_have_the_members_of_the_classic_interface
rare   pointer_attribute CONTEXT MEMORY_TYPE DEVICE_POINTER HOST_POINTER
       constants.namespaces_have_the_members_of_the_classic_interface
should func_cache PREFER_NONE PREFER_SHARED PREFER_L1 PREFER_EQUAL
       constants.namespaces_have_the_members_of_the_classic_interface
rare   shared_config DEFAULT_BANK_SIZE FOUR_BYTE_BANK_SIZE EIGHT_BYTE_BANK_SIZE
       constants.namespaces_have_the_members_of_the_classic_interface
should array_format UNSIGNED_INT8 UNSIGNED_INT16 UNSIGNED_INT32 SIGNED_INT8 SIGNED_INT16 SIGNED_INT32 HALF
     + FLOAT
       constants.namespaces_have_the_members_of_the_classic_interface
rare   array3d_flags ARRAY3D_2DARRAY ARRAY3D_LAYERED SURFACE_LDST CUBEMAP TEXTURE_GATHER
       constants.namespaces_have_the_members_of_the_classic_interface
should address_mode filter_mode WRAP CLAMP MIRROR BORDER POINT LINEAR
       constants.namespaces_have_the_members_of_the_classic_interface
rare   memory_type HOST DEVICE ARRAY UNIFIED
       constants.namespaces_have_the_members_of_the_classic_interface
rare   compute_mode DEFAULT PROHIBITED EXCLUSIVE_PROCESS
       constants.namespaces_have_the_members_of_the_classic_interface
must   host_alloc_flags PORTABLE DEVICEMAP WRITECOMBINED
       constants.namespaces_have_the_members_of_the_classic_interface
rare   mem_host_register_flags PORTABLE DEVICEMAP
       constants.namespaces_have_the_members_of_the_classic_interface
should mem_attach_flags GLOBAL HOST SINGLE
       constants.namespaces_have_the_members_of_the_classic_interface
should limit STACK_SIZE PRINTF_FIFO_SIZE MALLOC_HEAP_SIZE DEV_RUNTIME_SYNC_DEPTH
     + DEV_RUNTIME_PENDING_LAUNCH_COUNT
       constants.namespaces_have_the_members_of_the_classic_interface
rare   jit_option MAX_REGISTERS THREADS_PER_BLOCK WALL_TIME INFO_LOG_BUFFER ERROR_LOG_BUFFER
     + OPTIMIZATION_LEVEL TARGET_FROM_CUCONTEXT TARGET FALLBACK_STRATEGY
       constants.namespaces_have_the_members_of_the_classic_interface
rare   jit_target jit_fallback PREFER_PTX PREFER_BINARY
       constants.namespaces_have_the_members_of_the_classic_interface
rare   jit_input_type CUBIN PTX FATBINARY OBJECT LIBRARY
       constants.namespaces_have_the_members_of_the_classic_interface
rare   ipc_mem_flags LAZY_ENABLE_PEER_ACCESS
       constants.namespaces_have_the_members_of_the_classic_interface
rare   graphics_register_flags array_cubemap_face NONE READ_ONLY WRITE_DISCARD POSITIVE_X NEGATIVE_Z
       constants.namespaces_have_the_members_of_the_classic_interface
rare   profiler_output_mode KEY_VALUE_PAIR CSV
       constants.namespaces_have_the_members_of_the_classic_interface
rare   TRSA_OVERRIDE_FORMAT TRSF_READ_AS_INTEGER TRSF_NORMALIZED_COORDINATES TR_DEFAULT
       constants.plain_numbers_are_those_of_the_driver

# Devices and contexts
must   init
       library.init_can_be_repeated
should get_version
       library.versions_are_reported
should get_driver_version
       library.versions_are_reported
must   Device
       contexts/test_context.a_device_is_found_by_its_pci_bus_id
       contexts/test_context.an_invalid_ordinal_raises_logic_error
must   count name pci_bus_id
       contexts/test_context.a_device_reports_its_properties
must   compute_capability total_memory
       contexts/test_context.a_device_reports_its_properties
must   get_attribute warp_size
       contexts/test_context.attributes_are_read_by_member_number_or_name
must   get_attributes
       contexts/test_context.get_attributes_returns_all_attributes_by_member
       contexts/test_context.refused_attributes_are_named_in_a_warning
must   make_context
       contexts/test_context.a_new_context_is_current_until_it_is_popped
should retain_primary_context
       contexts/test_context.the_primary_context_is_retained_without_becoming_current
rare   can_access_peer
       contexts/test_context.peers_are_devices
should Device == hash
       contexts/test_context.devices_compare_by_their_ordinals
must   push
       contexts/test_context.a_context_may_be_on_a_stack_several_times
       contexts/test_context.a_context_made_in_one_thread_is_used_in_another
must   pop
       contexts/test_context.a_new_context_is_current_until_it_is_popped
       contexts/test_context.popping_an_empty_stack_raises_logic_error
must   detach
       contexts/test_context.a_detached_context_leaves_the_stack_and_its_objects_become_invalid
       contexts/test_context.contexts_of_one_device_share_its_memory_and_are_detached_separately
rare   attach
       contexts/test_context.a_foreign_context_is_attached
       contexts/test_context.attaching_needs_a_context
must   get_current get_device synchronize
       contexts/test_context.methods_of_the_current_context_are_called_on_class_and_instance
should set_limit get_limit
       contexts/test_context.limits_are_set_and_read
rare   set_cache_config get_cache_config set_shared_config get_shared_config
       contexts/test_context.cache_and_banks_are_configured
should get_api_version Context handle
       contexts/test_context.a_context_reports_its_version_handle_and_device
rare   enable_peer_access disable_peer_access
       contexts/test_context.contexts_reach_memory_of_peers

# Streams, events, profiler
must   Stream
       contexts/test_streams.flags_decide_whether_a_stream_is_nonblocking
       contexts/test_streams.unknown_flags_of_streams_are_refused
must   Stream synchronize is_done
       contexts/test_streams.flags_decide_whether_a_stream_is_nonblocking
should wait_for_event
       contexts/test_streams.a_stream_waits_for_an_event
must   Stream handle
       contexts/test_streams.events_are_recorded_and_timed
must   streams of others
       contexts/test_streams.streams_of_other_libraries_are_accepted
must   Event record synchronize query
       contexts/test_streams.events_are_recorded_and_timed
must   time_since time_till
       contexts/test_streams.events_are_recorded_and_timed
rare   ipc_handle from_ipc_handle
       memory/test_ipc.another_process_waits_for_an_event
should start_profiler stop_profiler
       contexts/test_streams.the_profiler_is_started_and_stopped
rare   initialize_profiler
       contexts/test_streams.initialize_profiler_is_not_supported

# Device memory
must   mem_get_info
       memory/test_device_memory.memory_is_allocated_and_freed
must   mem_alloc
       memory/test_device_memory.memory_is_allocated_and_freed
       memory/test_device_memory.sizes_may_be_numpy_ints
       memory/test_device_memory.memory_has_at_least_one_byte
should mem_alloc_like
       memory/test_device_memory.an_allocation_is_a_buffer
should mem_alloc_pitch
       memory/test_device_memory.rows_begin_at_a_pitch
rare   mem_get_address_range
       memory/test_device_memory.an_allocation_is_an_address
must   DeviceAllocation free as_buffer
       memory/test_device_memory.memory_is_allocated_and_freed
       memory/test_device_memory.a_memoryview_shows_the_device_address
       memory/test_device_memory.freed_memory_is_refused
should PointerHolderBase get_pointer
       memory/test_device_memory.objects_with_an_address_are_device_pointers
       memory/test_device_memory.pointer_holders_must_define_get_pointer
rare   mem_get_ipc_handle IPCMemoryHandle close
       memory/test_ipc.another_process_reads_and_writes_memory
must   to_device
       memory/test_copies.from_device_returns_the_given_shape_and_order
       memory/test_copies.copies_begin_at_any_address
must   from_device from_device_like
       memory/test_copies.from_device_returns_the_given_shape_and_order

# Host memory
must   pagelocked_empty pagelocked_zeros pagelocked_empty_like pagelocked_zeros_like
       memory/test_host_memory.arrays_have_shape_type_and_order
       memory/test_host_memory.page_locked_memory_is_copied_asynchronously
must   get_flags get_device_pointer
       memory/test_host_memory.mapped_memory_has_an_address_on_the_device
rare   aligned_empty aligned_zeros aligned_empty_like aligned_zeros_like AlignedHostAllocation
       memory/test_host_memory.arrays_have_shape_type_and_order
       memory/test_host_memory.aligned_memory_begins_at_a_multiple_of_the_alignment
       memory/test_host_memory.aligned_zeros_are_like_another_array
should register_host_memory RegisteredHostMemory unregister
       memory/test_host_memory.arrays_are_registered
should managed_empty managed_zeros managed_empty_like managed_zeros_like
       memory/test_managed.host_and_device_use_one_address
       memory/test_managed.arrays_like_others
       memory/test_managed.managed_memory_needs_attach_flags
should ManagedAllocation attach
       memory/test_managed.managed_memory_is_attached_to_a_stream
       memory/test_managed.arrays_like_others

# Copies and fills
must   memcpy_htod memcpy_dtoh
       memory/test_copies.objects_with_the_buffer_protocol_are_copied
       memory/test_copies.copies_of_nothing_do_nothing
must   memcpy_htod_async memcpy_dtoh_async
       memory/test_copies.asynchronous_copies_keep_the_order_of_their_stream
       memory/test_copies.asynchronous_copies_keep_the_host_memory
must   memcpy_dtod memcpy_dtod_async
       memory/test_copies.asynchronous_copies_keep_the_order_of_their_stream
       memory/test_copies.copies_within_and_between_devices
rare   memcpy_peer memcpy_peer_async
       memory/test_copies.copies_within_and_between_devices
rare   memcpy_dtoa memcpy_atod memcpy_htoa memcpy_atoh memcpy_atoa py_memcpy_atoh py_memcpy_htoa
       textures/test_cuda_arrays.one_dimensional_arrays_are_copied
must   memset_d8 memset_d16 memset_d32
       memory/test_copies.memory_is_filled
       memory/test_copies.fills_change_only_the_given_elements
rare   memset_d2d8 memset_d2d16 memset_d2d32
       memory/test_copies.fills_change_only_the_given_elements
should memset_d8_async memset_d16_async memset_d32_async memset_d2d8_async memset_d2d16_async
     + memset_d2d32_async
       memory/test_copies.fills_change_only_the_given_elements
should Memcpy2D src_x_in_bytes src_y src_pitch width_in_bytes height set_src_host set_dst_host
     + set_src_device set_dst_device aligned
       memory/test_copy_records.a_part_of_an_image_is_copied
       memory/test_copy_records.buffers_may_have_gaps
       memory/test_copy_records.a_volume_is_copied
rare   Memcpy3D Memcpy3DPeer set_src_context set_dst_context depth
       memory/test_copy_records.a_volume_is_copied

# Arrays, textures, surfaces
should ArrayDescriptor ArrayDescriptor3D
       textures/test_cuda_arrays.arrays_are_made_of_descriptors
       textures/test_cuda_arrays.an_array_returns_its_descriptor
should Array get_descriptor get_descriptor_3d
       textures/test_cuda_arrays.an_array_returns_its_descriptor
should dtype_to_array_format
       textures/test_cuda_arrays.each_supported_dtype_has_an_array_format
should matrix_to_array allow_double_hack
       textures/test_cuda_arrays.matrices_are_copied
rare   np_to_array gpuarray_to_array
       textures/test_cuda_arrays.arrays_of_numpy_are_copied
       textures/test_cuda_arrays.arrays_of_the_device_are_copied
rare   make_multichannel_2d_array
       textures/test_cuda_arrays.images_have_channels
rare   bind_array_to_texref matrix_to_texref
       textures/test_references.integers_are_read_as_fractions_in_normalized_mode
       textures/test_references.prepared_calls_read_the_bound_array
rare   TextureReference set_array set_address set_address_2d set_format set_address_mode set_filter_mode
     + set_flags get_address get_array get_address_mode get_filter_mode get_format get_flags
       textures/test_references.a_matrix_is_read_through_a_texture
       textures/test_references.linear_memory_is_fetched
       textures/test_references.invalid_references_and_settings_are_refused
       textures/test_references.rows_in_linear_memory_are_read
rare   SurfaceReference get_array
       textures/test_references.surfaces_are_written
rare   get_texref get_surfref texrefs param_set_texref
       textures/test_references.prepared_calls_read_the_bound_array
       textures/test_references.surfaces_are_written
should pycuda-helpers.hpp fp_tex1Dfetch fp_tex2D fp_tex3D fp_tex2DLayered fp_surf3Dwrite fp_surf3Dread
     + fp_surf2DLayeredwrite
       textures/test_array_textures.elements_of_all_floating_types_are_fetched
       textures/test_array_textures.arrays_of_doubles_are_read_in_two_and_three_dimensions
       textures/test_array_textures.surfaces_store_elements_by_their_index
       textures/test_array_textures.layers_store_elements_by_their_index

# Modules and functions
must   module_from_file
       modules/test_module.code_is_loaded_from_memory_and_files
must   module_from_buffer message_handler
       compile/test_linker.code_is_loaded_with_a_handler_for_messages
must   get_function get_global
       modules/test_module.functions_are_found_by_name_and_keep_the_code
       modules/test_module.variables_are_addresses_with_sizes
rare   Linker add_data add_file link_module
       compile/test_linker.what_cannot_be_linked_is_an_error
should get_attribute num_regs
       modules/test_module.attributes_are_read_and_set
should set_attribute set_cache_config set_shared_config
       modules/test_module.attributes_are_read_and_set
must   block grid
       modules/test_module.extents_are_accepted_in_many_forms
       modules/test_module.a_call_needs_a_block_and_refuses_unknown_keywords
       modules/test_module.invalid_extents_are_refused
must   time_kernel
       modules/test_module.a_call_is_timed
must   scalars as arguments
       modules/test_arguments.scalars_and_structures_are_passed_at_the_offsets_of_the_kernel
must   DeviceAllocation PooledDeviceAllocation GPUArray
       modules/test_arguments.addresses_are_accepted_in_many_forms
       modules/test_arguments.memory_of_all_kinds_is_an_argument
must   In Out InOut ArgumentHandler
       modules/test_arguments.host_arrays_are_copied_with_the_call
       modules/test_arguments.host_arrays_are_copied_on_the_stream_of_the_call
       modules/test_arguments.handlers_can_be_subclassed
must   intp uintp
       modules/test_arguments.addresses_are_accepted_in_many_forms
should managed_zeros
       memory/test_managed.host_and_device_use_one_address
       modules/test_arguments.memory_of_all_kinds_is_an_argument
should vec make_float3
       modules/test_arguments.scalars_and_structures_are_passed_at_the_offsets_of_the_kernel
       modules/test_arguments.structures_of_vectors_are_arguments
must   values of Python
       modules/test_arguments.python_values_are_refused_with_the_numpy_type_to_use
       modules/test_arguments.arguments_of_another_size_or_number_are_refused
should gpudata PointerHolderBase
       modules/test_arguments.addresses_are_accepted_in_many_forms
must   prepare
       modules/test_module.preparing_checks_the_types
       modules/test_module.structures_are_prepared
must   prepared_call
       modules/test_module.prepared_calls_accept_python_values
       modules/test_module.there_are_no_prepared_calls_before_prepare
must   prepared_async_call
       modules/test_module.prepared_calls_accept_python_values
must   prepared_timed_call
       modules/test_module.prepared_calls_accept_python_values
must   arg_format
       modules/test_module.prepared_calls_check_their_arguments

# Compiler
must   SourceModule no_extern_c options
       compiler.a_source_is_compiled_inside_extern_c
       compiler.a_source_may_declare_extern_c_itself
       compile/test_compilation.options_of_nvcc_are_accepted
should compile target
       compile/test_compilation.ptx_is_a_target_and_fat_binaries_are_refused
should DynamicModule add_source add_data add_file add_stdlib link
       compile/test_linker.code_from_memory_and_files_is_linked
       compile/test_linker.libraries_are_found_or_named_in_the_error
       compile/test_linker.several_sources_are_linked
should DynamicSourceModule
       compile/test_linker.dynamic_source_modules_are_linked_and_run
       compile/test_linker.a_kernel_launches_a_kernel
should DEFAULT_NVCC_FLAGS
       compile/test_compilation.default_options_come_from_the_environment
rare   set_debugging
       library.debugging_is_switched_on_and_off
rare   get_nvcc_version preprocess_source
       compile/test_nvcc.nvcc_returns_its_version_and_preprocesses
must   cache_dir
       compile/test_compilation.code_is_found_in_the_cache
       compile/test_compilation.the_environment_names_the_cache
       compile/test_compilation.the_environment_switches_the_cache_off
must   keep
       compile/test_compilation.keep_leaves_the_files_of_a_compilation
must   include_dirs
       compile/test_compilation.headers_are_found_in_directories_of_the_caller
must   headers of the host
       compile/test_compilation.each_header_compiles_inside_extern_c
must   M_PI uint
       compile/test_compilation.code_in_the_style_of_host_compilers_compiles
       compile/test_compilation.code_in_the_style_of_host_compilers_gives_the_right_results
must   cuda_runtime.h cuComplex.h
       compile/test_compilation.each_header_compiles_inside_extern_c
should curand_kernel.h
       compile/test_compilation.only_headers_that_the_package_lacks_need_the_toolkit
should pycuda-complex.hpp
       compile/test_compilation.complex_numbers_have_their_operators
should kernels that launch kernels
       compile/test_linker.a_kernel_launches_a_kernel
should functions without an execution space
       compile/test_compilation.code_in_the_style_of_host_compilers_compiles

# Arrays and kernels made of expressions
must   shape dtype strides size nbytes itemsize ndim mem_size gpudata base allocator ptr T flags
       arrays/test_base.attributes_describe_the_layout
       arrays/test_base.the_allocator_serves_arrays_and_their_results
       arrays/test_base.views_keep_the_memory_alive
       arrays/test_base.overlap_is_by_the_range_of_memory
       arrays/test_object.transpose_and_squeeze_match_numpy
should _grid _block
       arrays/test_base.splay_chooses_grid_and_block
must   __cuda_array_interface__
       arrays/test_base.other_libraries_read_the_array_interface
       arrays/test_base.dlpack_shares_the_memory
must   set set_async
       arrays/test_transfer.set_stores_in_arrays_of_any_layout
       arrays/test_transfer.asynchronous_copies_are_complete_when_their_stream_is
       arrays/test_transfer.sizes_and_types_must_agree
must   get get_async
       arrays/test_transfer.get_fills_the_given_array
       arrays/test_transfer.asynchronous_copies_are_complete_when_their_stream_is
       arrays/test_transfer.page_locked_arrays_outlive_the_array
must   copy fill astype reverse
       arrays/test_transfer.fill_stores_one_value
       arrays/test_transfer.types_are_converted_as_in_numpy
       arrays/test_object.elements_are_reversed
       arrays/test_object.copies_of_views_are_packed
must   reshape ravel view squeeze transpose
       arrays/test_object.reshape_is_that_of_numpy
       arrays/test_object.reshape_shares_memory_where_it_can
       arrays/test_object.transpose_and_squeeze_match_numpy
       arrays/test_object.view_reinterprets_contiguous_elements
must   indexing
       arrays/test_object.indexing_gives_views
       arrays/test_layout.indexing_selects_what_numpy_selects
       arrays/test_layout.invalid_indices_raise_index_error
should assignment
       arrays/test_transfer.assignment_converts_and_broadcasts
       arrays/test_transfer.assignment_refuses_values_that_do_not_broadcast_or_convert
must   arithmetic
       array_functions/test_math.arithmetic_matches_numpy
       array_functions/test_operators.each_operator_takes_a_number_on_either_side
       array_functions/test_operators.operators_in_place_keep_the_type_and_the_memory
       array_functions/test_math.operands_are_broadcast
       array_functions/test_math.powers_match_numpy
should comparisons
       array_functions/test_operators.comparisons_give_zero_and_one_in_the_type_of_the_operands
must   len bool str hash pickle
       arrays/test_object.length_and_truth_value_are_those_of_numpy
       arrays/test_object.str_and_repr_are_those_of_the_host_copy
       arrays/test_object.arrays_have_no_hash
       arrays/test_object.pickles_and_copies_have_the_values
should real imag conj
       arrays/test_object.real_imag_and_conj_of_complex_arrays
       arrays/test_object.real_imag_and_conj_of_real_arrays
should mul_add
       arrays/test_object.mul_add_computes_a_weighted_sum
should any all
       arrays/test_object.any_and_all_are_arrays_of_one_boolean
rare   bind_to_texref bind_to_texref_ext
       textures/test_array_textures.integers_are_fetched_from_the_first_element_of_the_array
       textures/test_array_textures.channels_are_fetched_together_and_the_format_can_be_set_before
must   to_gpu to_gpu_async
       arrays/test_transfer.order_of_axes_is_kept_both_ways
       arrays/test_transfer.asynchronous_copies_are_complete_when_their_stream_is
       gpuarray.to_gpu_takes_arrays_only
must   empty zeros ones empty_like zeros_like ones_like
       gpuarray.arrays_like_others_have_their_layout
       gpuarray.new_arrays_have_the_given_shape_type_and_value
must   arange
       gpuarray.arange_matches_numpy
       gpuarray.arange_without_a_dtype_warns
must   sum dot max min
       gpuarray.reductions_are_arrays_without_dimensions
       array_functions/test_reduce.reductions_match_numpy_for_all_types
       array_functions/test_reduce.every_element_counts_once
rare   subset_sum subset_dot subset_max subset_min
       gpuarray.reductions_are_arrays_without_dimensions
should maximum minimum if_positive where
       gpuarray.maximum_and_minimum_take_numbers_and_arrays
       gpuarray.if_positive_chooses_by_sign
       gpuarray.where_chooses_by_truth_value
should concatenate stack transpose reshape logical_and logical_or logical_not
       gpuarray.arrays_are_joined
       gpuarray.transpose_and_reshape_are_functions_too
       gpuarray.logical_functions_give_booleans
should take
       gpuarray.take_reads_elements_by_index
rare   multi_take multi_put multi_take_put
       gpuarray.several_arrays_are_taken_and_put_at_once
rare   splay
       arrays/test_base.splay_chooses_grid_and_block
should vec
       types.vector_types_have_fields_and_makers
must   ElementwiseKernel
       elementwise.a_kernel_computes_a_linear_combination
       elementwise.arguments_can_be_objects
       elementwise.arguments_are_checked
must   range slice
       elementwise.slice_and_range_choose_the_indices
       elementwise.slice_and_range_are_checked
rare   get_elwise_kernel get_elwise_module get_elwise_kernel_and_types get_elwise_range_module
       elementwise.get_elwise_functions_return_prepared_kernels
must   ReductionKernel
       reduction.a_kernel_computes_a_dot_product
       reduction.the_result_can_go_into_an_array
       reduction.results_can_be_structures_without_operators
should InclusiveScanKernel ExclusiveScanKernel
       scan.scans_compute_running_sums
       scan.operands_keep_their_order
       scan.arguments_are_checked
should cumath fabs ceil floor exp log log10 sqrt sin cos tan asin acos atan sinh cosh tanh
       cumath.functions_of_real_numbers_match_numpy
       cumath.functions_of_complex_numbers_match_numpy
should fmod frexp ldexp modf
       cumath.frexp_ldexp_and_modf_match_numpy
       cumath.arguments_are_checked
       cumath.functions_of_two_arguments_match_numpy

# Random numbers, tools and the rest
must   rand
       curandom.numbers_are_uniform_from_zero_and_below_one
       curandom.all_bits_of_integers_are_random
       curandom.equal_seeds_of_numpy_give_equal_numbers
should XORWOWRandomNumberGenerator MRG32k3aRandomNumberGenerator
       random/test_generators.large_skips_are_sums_of_small_ones
rare   Sobol32RandomNumberGenerator Sobol64RandomNumberGenerator ScrambledSobol32RandomNumberGenerator
     + ScrambledSobol64RandomNumberGenerator
       random/test_tables.generators_use_the_tables_of_the_library
should fill_uniform gen_uniform
       random/test_generators.uniform_numbers_have_the_uniform_distribution
       random/test_generators.arrays_of_any_layout_are_filled_on_streams
should fill_normal gen_normal fill_log_normal gen_log_normal
       random/test_generators.normal_and_log_normal_numbers_have_their_distribution
       random/test_generators.arrays_of_any_layout_are_filled_on_streams
rare   fill_poisson gen_poisson
       random/test_generators.fill_poisson_takes_the_mean_of_each_element
       random/test_generators.poisson_numbers_have_the_poisson_distribution
rare   call_skip_ahead call_skip_ahead_array call_skip_ahead_sequence
       random/test_generators.skipping_leaves_numbers_out
       random/test_generators.skipping_sequences_is_additive_and_gives_other_numbers
should generators_per_block block_count state
       random/test_generators.generators_report_their_number_and_state
rare   seed_getter_uniform seed_getter_unique get_curand_version direction_vector_set
     + generate_direction_vectors generate_scramble_constants32 generate_scramble_constants64
       random/test_tables.a_missing_library_is_named_in_the_error
       random/test_generators.seeds_are_checked
       random/test_tables.direction_vector_sets_have_names_and_values
must   make_default_context
       contexts/test_default_context.the_first_device_is_the_default
       contexts/test_default_context.the_environment_chooses_the_device
       contexts/test_default_context.a_file_in_the_home_directory_chooses_the_device
rare   get_default_device
       contexts/test_default_context.get_default_device_falls_back_to_the_given_ordinal
must   context_dependent_memoize clear_context_caches
       contexts/test_memoize.results_are_computed_once_for_each_context_and_arguments
should DeviceMemoryPool PooledDeviceAllocation held_blocks active_blocks managed_bytes active_bytes
     + free_held stop_holding bin_number alloc_size
       memory/test_pools.stop_holding_frees_held_blocks_and_holds_no_more
       memory/test_pools.bins_waste_less_than_an_eighth_of_the_size
       memory/test_pools.memory_goes_back_to_the_pool_and_is_reused
should PageLockedMemoryPool PageLockedAllocator PooledHostAllocation
       memory/test_pools.page_locked_pools_return_arrays
rare   DebugMemoryPool bitlog2
       memory/test_pools.the_logarithm_of_a_negative_number_is_refused
       tools.debug_memory_pools_log_allocations
must   dtype_to_ctype TypeNameNotKnown get_or_register_dtype register_dtype
       types.a_name_that_is_not_known_is_refused
       types.structures_are_registered_under_names
       types.the_older_registration_takes_each_name_once
should parse_c_arg get_arg_type VectorArg ScalarArg declarator struct_char
       types.declarations_are_parsed
       types.format_characters_are_those_of_prepare
       kernels/test_user.arguments_of_custom_classes_are_passed_unchanged
should DeviceData align align_bytes align_words align_dtype coalesce make_valid_tex_channel_count
       modules/test_occupancy.limits_are_those_of_the_device
       modules/test_occupancy.sizes_are_aligned_to_the_units_of_the_device
should OccupancyRecord tb_per_mp limited_by warps_per_mp occupancy
       modules/test_occupancy.the_number_of_blocks_on_a_multiprocessor_and_its_limit_are_computed
should mark_cuda_test init_cuda_context_fixture
       contexts/test_memoize.the_fixture_makes_a_context_and_ends_it
       contexts/test_memoize.mark_cuda_test_runs_a_function_in_a_context_of_its_own
rare   platform_bits has_stack has_double_support sizeof
       characterize.the_platform_has_64_bits_a_stack_and_doubles
       characterize.sizes_are_those_of_the_device
rare   graphics_map_flags RegisteredBuffer RegisteredImage gl_handle unregister map unmap
     + RegisteredMapping BufferObject BufferObjectMapping
     + device_ptr_and_size array
       gl/test_registered.images_are_mapped_one_subresource_at_a_time
       gl/test_registered.arguments_are_checked
       gl/test_registered.the_classes_of_cuda_2_are_refused
       gl/test_registered.kernels_write_what_opengl_reads
rare   have_gl_ext
       library.the_interface_to_opengl_is_available

# Beyond the classic interface
ours   NotSupportedError DeviceFaultError
       errors.a_not_supported_error_is_caught_by_either_name
       errors.a_fault_of_a_kernel_is_caught_by_either_name
ours   ArrayFlags
       arrays/test_base.attributes_describe_the_layout
ours   as_gpuarray from_dlpack
       gpuarray.arrays_of_other_libraries_are_viewed
ours   full full_like
       gpuarray.new_arrays_have_the_given_shape_type_and_value
       gpuarray.arrays_like_others_have_their_layout
ours   put
       gpuarray.put_writes_elements_by_index
ours   atan2
       cumath.functions_of_two_arguments_match_numpy
ours   PhiloxRandomNumberGenerator
       random/test_generators.uniform_numbers_have_the_uniform_distribution
ours   main
       main.without_a_program_the_usage_is_shown
       debug.a_program_runs_with_debugging_on
"""


def rows():
    """Yield mark, names and tests of each row."""
    entries = []
    for line in ROWS.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("     + "):
            entries[-1][1].extend(line[7:].split())
        elif line.startswith(" "):
            entries[-1][2].append(line.strip())
        else:
            mark, *names = line.split()
            entries.append((mark, names, []))
    return entries


@functools.cache
def texts_of(file):
    """Return the texts of the tests in a file, each with the definitions of the file that it uses."""
    path = HERE / f"{file}.py" if "/" in file else HERE / f"test_{file}.py"
    source = path.read_text()
    texts = {}
    for node in ast.parse(source).body:
        text = ast.get_source_segment(source, node)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            decorators = [ast.get_source_segment(source, item) for item in node.decorator_list]
            texts[node.name] = "\n".join([*decorators, text])
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                texts[target.id] = text
    return {name: with_definitions(name, texts) for name in texts if name.startswith("test_")}


def with_definitions(name, texts):
    found, left = {name}, [name]
    while left:
        words = set(re.findall(r"\w+", texts[left.pop()])) & set(texts)
        left += [word for word in words - found if not word.startswith("test_")]
        found |= words
    return "\n".join(texts[word] for word in found)


def identifiers(names):
    """Return the names of a row that are identifiers of Python; others say in words what is meant."""
    known = {name for _, _, name in public_names()}
    return [name for name in names if name in known]


@pytest.mark.parametrize("mark, names, tests", rows(), ids=lambda value: value[0] if isinstance(value, list) else None)
def test_a_row_has_tests_which_use_its_names(mark, names, tests, device):
    assert mark in ("must", "should", "rare", "ours") and tests
    text = ""
    for test in tests:
        file, _, function = test.rpartition(".")
        known = texts_of(file)
        assert f"test_{function}" in known, test
        text += known[f"test_{function}"]
    words = set(re.findall(r"\w+", text))
    assert [name for name in identifiers(names) if name not in words] == []


def test_every_public_name_is_in_a_row(device):
    listed = {name for _, names, _ in rows() for name in names}
    modules = {path.rpartition(".")[2] for path, _, _ in public_names()}
    members = {full for _, full, _ in public_names() if "." in full}
    names = {name for _, _, name in public_names()} - {full.rpartition(".")[2] for full in members}
    assert sorted(names - modules - listed) == []
