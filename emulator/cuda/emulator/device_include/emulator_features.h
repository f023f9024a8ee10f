// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The C++ feature-test macros, with NVRTC's values. Read before the program is preprocessed, so only #define may be
// used here.
#pragma once

#define __cpp_alias_templates 200704L
#define __cpp_attributes 200809L
#define __cpp_constexpr 200704L
#define __cpp_decltype 200707L
#define __cpp_delegating_constructors 200604L
#define __cpp_exceptions 199711L
#define __cpp_inheriting_constructors 201511L
#define __cpp_initializer_lists 200806L
#define __cpp_lambdas 200907L
#define __cpp_nsdmi 200809L
#define __cpp_range_based_for 200907L
#define __cpp_raw_strings 200710L
#define __cpp_ref_qualifiers 200710L
#define __cpp_rtti 199711L
#define __cpp_rvalue_references 200610L
#define __cpp_static_assert 200410L
#define __cpp_threadsafe_static_init 200806L
#define __cpp_unicode_characters 200704L
#define __cpp_unicode_literals 200710L
#define __cpp_user_defined_literals 200809L
#define __cpp_variadic_templates 200704L

#if __cplusplus >= 201402L
#define __cpp_aggregate_nsdmi 201304L
#define __cpp_binary_literals 201304L
#undef __cpp_constexpr
#define __cpp_constexpr 201304L
#define __cpp_decltype_auto 201304L
#define __cpp_digit_separators 201309L
#define __cpp_generic_lambdas 201304L
#define __cpp_init_captures 201304L
#define __cpp_return_type_deduction 201304L
#define __cpp_sized_deallocation 201309L
#define __cpp_template_template_args 201611L
#define __cpp_variable_templates 201304L
#endif

#if __cplusplus >= 201703L
#define __cpp_aggregate_bases 201603L
#define __cpp_aligned_new 201606L
#define __cpp_capture_star_this 201603L
#undef __cpp_constexpr
#define __cpp_constexpr 201603L
#define __cpp_deduction_guides 201703L
#define __cpp_enumerator_attributes 201411L
#define __cpp_fold_expressions 201603L
#define __cpp_guaranteed_copy_elision 201606L
#define __cpp_hex_float 201603L
#define __cpp_if_constexpr 201606L
#define __cpp_inline_variables 201606L
#define __cpp_namespace_attributes 201411L
#define __cpp_nested_namespace_definitions 201411L
#define __cpp_noexcept_function_type 201510L
#define __cpp_nontype_template_args 201411L
#define __cpp_nontype_template_parameter_auto 201606L
#undef __cpp_range_based_for
#define __cpp_range_based_for 201603L
#undef __cpp_static_assert
#define __cpp_static_assert 201411L
#define __cpp_structured_bindings 201606L
#define __cpp_variadic_using 201611L
#endif

#if __cplusplus >= 202002L
#define __cpp_aggregate_paren_init 201902L
#define __cpp_char8_t 202207L
#define __cpp_concepts 202002L
#define __cpp_conditional_explicit 201806L
#define __cpp_consteval 202211L
#undef __cpp_constexpr
#define __cpp_constexpr 201907L
#define __cpp_constexpr_dynamic_alloc 201907L
#define __cpp_constexpr_in_decltype 201711L
#define __cpp_constinit 201907L
#undef __cpp_deduction_guides
#define __cpp_deduction_guides 201907L
#define __cpp_designated_initializers 201707L
#undef __cpp_generic_lambdas
#define __cpp_generic_lambdas 201707L
#define __cpp_impl_destroying_delete 201806L
#define __cpp_impl_three_way_comparison 201907L
#undef __cpp_init_captures
#define __cpp_init_captures 201803L
#undef __cpp_nontype_template_args
#define __cpp_nontype_template_args 201911L
#define __cpp_using_enum 201907L
#endif
