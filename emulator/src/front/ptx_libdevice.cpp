// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Modules may declare functions of libdevice, such as __nv_sinf, without defining them. The device has these functions
// for CUDA C++, so a declaration becomes a function that calls the one of CUDA C++.
#include <map>

#include "ptx.hpp"

namespace emu::front {
namespace {

// Functions by the types of the result and the parameters: f: float, d: double, i: int, u: unsigned, l: long long,
// U: unsigned long long, p: int*, F: float*, D: double*; v: no result.
struct Group {
    const char* types;
    const char* prefix; // of the name in CUDA C++
    const char* names;
};
const Group groups[] = {
    {"ff", "",
     "acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf cospif cyl_bessel_i0f cyl_bessel_i1f erfcf erfcinvf "
     "erfcxf erff erfinvf exp10f exp2f expf expm1f fabsf floorf j0f j1f lgammaf log10f log1pf log2f logbf logf "
     "nearbyintf normcdff normcdfinvf rcbrtf rintf roundf rsqrtf sinf sinhf sinpif sqrtf tanf tanhf tgammaf truncf "
     "y0f y1f"},
    {"dd", "",
     "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc erfcinv erfcx "
     "erfinv exp exp10 exp2 expm1 fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf normcdfinv rcbrt "
     "rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1"},
    {"fff", "", "atan2f copysignf fdimf fmaxf fminf fmodf hypotf nextafterf powf remainderf rhypotf"},
    {"ddd", "", "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder rhypot"},
    {"ffff", "", "fmaf norm3df rnorm3df"},
    {"dddd", "", "fma norm3d rnorm3d"},
    {"fffff", "", "norm4df rnorm4df"},
    {"ddddd", "", "norm4d rnorm4d"},
    {"if", "", "ilogbf"},
    {"id", "", "ilogb"},
    {"lf", "", "llrintf llroundf"},
    {"ld", "", "llrint llround"},
    {"ffi", "", "ldexpf scalbnf"},
    {"ddi", "", "ldexp scalbn"},
    {"fif", "", "jnf ynf"},
    {"did", "", "jn yn"},
    {"ii", "", "abs"},
    {"ll", "", "llabs"},
    {"iii", "", "max min"},
    {"uuu", "", "umax umin"},
    {"lll", "", "llmax llmin"},
    {"UUU", "", "ullmax ullmin"},
    {"ffp", "", "frexpf"},
    {"ddp", "", "frexp"},
    {"fffp", "", "remquof"},
    {"dddp", "", "remquo"},
    {"ffF", "", "modff"},
    {"ddD", "", "modf"},
    {"vfFF", "", "sincosf sincospif"},
    {"vdDD", "", "sincos sincospi"},
    {"ff", "__", "frcp_rd frcp_rn frcp_ru frcp_rz frsqrt_rn fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz saturatef"},
    {"dd", "__", "drcp_rd drcp_rn drcp_ru drcp_rz dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz"},
    {"fff", "__",
     "fadd_rd fadd_rn fadd_ru fadd_rz fdiv_rd fdiv_rn fdiv_ru fdiv_rz fmul_rd fmul_rn fmul_ru fmul_rz fsub_rd fsub_rn "
     "fsub_ru fsub_rz"},
    {"ddd", "__",
     "dadd_rd dadd_rn dadd_ru dadd_rz ddiv_rd ddiv_rn ddiv_ru ddiv_rz dmul_rd dmul_rn dmul_ru dmul_rz dsub_rd dsub_rn "
     "dsub_ru dsub_rz"},
    {"ffff", "__", "fmaf_rd fmaf_rn fmaf_ru fmaf_rz"},
    {"dddd", "__", "fma_rd fma_rn fma_ru fma_rz"},
    {"id", "__", "double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2loint"},
    {"ud", "__", "double2uint_rd double2uint_rn double2uint_ru double2uint_rz"},
    {"if", "__", "float2int_rd float2int_rn float2int_ru float2int_rz float_as_int"},
    {"uf", "__", "float2uint_rd float2uint_rn float2uint_ru float2uint_rz float_as_uint"},
    {"ld", "__", "double2ll_rd double2ll_rn double2ll_ru double2ll_rz double_as_longlong"},
    {"Ud", "__", "double2ull_rd double2ull_rn double2ull_ru double2ull_rz"},
    {"lf", "__", "float2ll_rd float2ll_rn float2ll_ru float2ll_rz"},
    {"Uf", "__", "float2ull_rd float2ull_rn float2ull_ru float2ull_rz"},
    {"fi", "__", "int2float_rd int2float_rn int2float_ru int2float_rz int_as_float"},
    {"fu", "__", "uint2float_rd uint2float_rn uint2float_ru uint2float_rz uint_as_float"},
    {"dl", "__", "ll2double_rd ll2double_rn ll2double_ru ll2double_rz longlong_as_double"},
    {"dU", "__", "ull2double_rd ull2double_rn ull2double_ru ull2double_rz"},
    {"fd", "__", "double2float_rd double2float_rn double2float_ru double2float_rz"},
    {"fl", "__", "ll2float_rd ll2float_rn ll2float_ru ll2float_rz"},
    {"fU", "__", "ull2float_rd ull2float_rn ull2float_ru ull2float_rz"},
    {"di", "__", "int2double_rn"},
    {"du", "__", "uint2double_rn"},
    {"dii", "__", "hiloint2double"},
    {"ii", "__", "brev clz ffs popc"},
    {"il", "__", "clzll ffsll popcll"},
    {"ll", "__", "brevll"},
    {"iii", "__", "hadd mul24 mulhi rhadd"},
    {"uuu", "__", "uhadd umul24 umulhi urhadd"},
    {"lll", "__", "mul64hi"},
    {"UUU", "__", "umul64hi"},
    {"iiii", "__", "byte_perm"},
    {"iiiu", "__", "sad"},
    {"uuuu", "__", "usad"},
};

// Those whose name in CUDA C++ differs.
struct Renamed {
    const char *types, *function;
};
const std::map<std::string, Renamed> renamed = {
    {"fast_cosf", {"ff", "__cosf"}},     {"fast_exp10f", {"ff", "__exp10f"}},
    {"fast_expf", {"ff", "__expf"}},     {"fast_log10f", {"ff", "__log10f"}},
    {"fast_log2f", {"ff", "__log2f"}},   {"fast_logf", {"ff", "__logf"}},
    {"fast_sinf", {"ff", "__sinf"}},     {"fast_tanf", {"ff", "__tanf"}},
    {"fast_fdividef", {"fff", "__fdividef"}}, {"fast_powf", {"fff", "__powf"}},
    {"powif", {"ffi", "powf"}},          {"powi", {"ddi", "pow"}},
    {"finitef", {"if", "isfinite"}},     {"isfinited", {"id", "isfinite"}},
    {"isinff", {"if", "isinf"}},         {"isinfd", {"id", "isinf"}},
    {"isnanf", {"if", "isnan"}},         {"isnand", {"id", "isnan"}},
    {"signbitf", {"if", "signbit"}},     {"signbitd", {"id", "signbit"}},
    {"rcp64h", {"dd", "::emu::ptx::rough_reciprocal"}},
};

const std::map<std::string, Renamed>& functions()
{
    static const auto& all = *[] {
        auto* made = new std::map<std::string, Renamed>(renamed);
        for (const Group& group : groups)
            for (const char* at = group.names; *at;) {
                const char* end = at;
                while (*end && *end != ' ')
                    ++end;
                std::string name(at, end);
                made->insert({name, {group.types, (new std::string(group.prefix + name))->c_str()}});
                at = *end ? end + 1 : end;
            }
        return made;
    }();
    return all;
}

std::string type_named(char letter)
{
    static const std::map<char, const char*> types = {
        {'f', "float"},  {'d', "double"}, {'i', "int"},    {'u', "unsigned int"}, {'l', "long long"},
        {'U', "unsigned long long"}, {'p', "int*"}, {'F', "float*"}, {'D', "double*"}};
    return types.at(letter);
}

} // namespace

std::string define_libdevice(const std::string& name)
{
    auto found = name.compare(0, 5, "__nv_") ? functions().end() : functions().find(name.substr(5));
    if (found == functions().end())
        return "";
    std::string types = found->second.types, parameters, arguments;
    bool returns = types[0] != 'v';
    for (size_t i = returns ? 0 : 1; i < types.size(); ++i) {
        std::string parameter = "emu_p" + std::to_string(i);
        parameters += (parameters.empty() ? "emu_u64 " : ", emu_u64 ") + parameter;
        if (i)
            arguments += (i > 1 ? ", *(" : "*(") + type_named(types[i]) + "*)" + parameter;
    }
    std::string call = std::string(found->second.function) + "(" + arguments + ");";
    return "static __device__ void " + name + "(" + parameters + ") { " +
           (returns ? "*(" + type_named(types[0]) + "*)emu_p0 = " : "") + call + " } ";
}

} // namespace emu::front
