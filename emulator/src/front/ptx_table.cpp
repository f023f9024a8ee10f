// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Inline PTX instructions for arithmetic, conversions, warps and barriers, as calls of the functions in emulator_ptx.h.
// An instruction or modifier that is missing here is rejected, never ignored, except for cache and scope hints, which
// make no difference on this device.
#include <algorithm>
#include <map>
#include <set>

#include "ptx_instruction.hpp"

namespace emu::front {
namespace {

using Words = PtxWords;

class Instruction : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    bool translate(std::string* made)
    {
        bool done = control() || warp() || barrier() || choice() || compared() || conversion() || carrying() ||
                    integer() || floating();
        *made = made_;
        return done && !failed_ && words_.empty();
    }

private:
    // ------------------------------------------------------------------------- control

    bool control()
    {
        if (name_ == "trap" || name_ == "brkpt")
            made_ = name_ == "trap" ? "__trap();" : "__brkpt();";
        else if (name_ == "exit")
            made_ = "emu_exit_thread();";
        else if (name_ == "setmaxnreg" && count(1, 1) && (take("inc") || take("dec"))) { // registers do not run out
            made_ = ";";
            return take("sync") && take("aligned") && take("u32");
        } else if (name_ == "createpolicy" && take("b64")) { // there are no caches
            words_.clear();
            made_ = target(operands_[0]) + " = 0;";
        } else if (name_ == "nanosleep" && count(1, 1) && take("u32"))
            made_ = "emu_nanosleep((emu_u32)" + raw(0) + ");";
        else if (name_ == "cvta" && count(2, 2)) {
            bool to = take("to");
            std::string space =
                take_one_of({"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"});
            if (space.empty() || (!take("u64") && !take("u32")))
                return false;
            std::string function = to                                ? ""
                                   : space.compare(0, 6, "shared") == 0 ? "__cvta_shared_to_generic"
                                   : space == "const"                ? "::emu::ptx::constant_address"
                                   : space == "global"               ? ""
                                                                     : "::emu::ptx::local_address";
            made_ = target(operands_[0]) + " = (emu_u64)" + function + "(" + raw(1) + ");";
        } else if (name_ == "isspacep" && count(2, 2)) {
            std::string space = take_one_of({"global", "shared", "shared::cta", "shared::cluster", "local", "const"});
            if (space.empty())
                return false;
            std::string function = space == "shared::cluster" ? "ClusterShared"
                                   : space == "const"         ? "Constant"
                                                              : space.substr(0, space.find(':'));
            function[0] = char(std::toupper(function[0]));
            made_ = target(operands_[0]) + " = __is" + function + "((const void*)" + raw(1) + ");";
        } else if (name_ == "mapa" && count(3, 3))
            return cluster_address("(emu_u64)emu_cluster_map(", ", (emu_u32)" + raw(2) + ")");
        else if (name_ == "getctarank" && count(2, 2))
            return cluster_address("emu_cluster_rank_of(", ")");
        else if (name_ == "mov" && count(2, 2))
            return pack();
        else
            return false;
        return true;
    }

    // mapa.u64 d, a, b takes a generic address. mapa.shared::cluster.u32 d, a, b takes the lower half of one, like all
    // accesses to shared memory, and returns such a half.
    bool cluster_address(const std::string& begin, const std::string& end)
    {
        bool in_window = take("shared::cluster"), is_narrow = take("u32");
        std::string at = (in_window ? "__cvta_shared_to_generic(" : "((const void*)") + raw(1) + ")";
        made_ = target(operands_[0]) + " = " + (is_narrow ? "(emu_u32)" : "") + begin + at + end + ";";
        return is_narrow ? in_window : take("u64");
    }

    // mov.b64 d, {a, b} and mov.b64 {a, b}, d
    bool pack()
    {
        std::string type = take_type();
        bool packs = operands_[1][0] == '{', unpacks = operands_[0][0] == '{';
        if (packs == unpacks || type.size() != 3)
            return false;
        Words parts = vector(operands_[packs ? 1 : 0], unpacks);
        int bits = std::stoi(type.substr(1)), each = parts.empty() ? 0 : bits / int(parts.size());
        if (parts.size() != 2 && parts.size() != 4)
            return false;
        std::string mask = " & " + std::to_string((1ull << each) - 1) + "ull)", whole = packs ? "" : raw(1);
        made_ = packs ? "" : "const emu_u64 emu_whole = " + whole + "; ";
        for (size_t i = 0; i < parts.size(); ++i) {
            std::string shift = std::to_string(int(i) * each);
            if (packs)
                whole += (i ? " | (" : "(") + parts[i] + mask + " << " + shift;
            else
                made_ += parts[i] + " = (emu_whole >> " + shift + mask.substr(0, mask.size()) + "; ";
        }
        if (packs)
            made_ = target(operands_[0]) + " = " + whole + ";";
        return true;
    }

    // ------------------------------------------------------------------ warps, barriers

    bool warp()
    {
        if (name_ == "activemask" && take("b32") && count(1, 1))
            return assign("b32", "__activemask()");
        if (!std::set<std::string>{"vote", "match", "shfl", "redux"}.count(name_) || !take("sync"))
            return false;
        if (name_ == "vote" && count(3, 3)) {
            std::string kind = take_one_of({"all", "any", "uni", "ballot"}), mask = "(emu_u32)" + raw(2);
            if (kind.empty() || !take(kind == "ballot" ? "b32" : "pred"))
                return false;
            return assign("b32",
                          "(emu_u32)__" + kind + "_sync(" + mask + ", (int)((" + raw(1) + ") & 0xffffffffu) != 0)");
        }
        if (name_ == "match" && count(3, 3)) {
            bool all = take("all");
            std::string type = take_type(), first, second;
            if ((!all && !take("any")) || type.size() < 3)
                return false;
            split_target(&first, &second);
            std::string arguments = "((emu_u32)" + raw(2) + ", " + as(1, type);
            made_ = all ? "int emu_p; " + first + " = __match_all_sync" + arguments + ", &emu_p); " + second +
                              " = (emu_u64)emu_p;"
                        : first + " = __match_any_sync" + arguments + ");";
            return true;
        }
        if (name_ == "redux" && count(3, 3)) {
            std::string operation = take_one_of({"add", "min", "max", "and", "or", "xor"}), type = take_type();
            if (operation.empty() || type.size() != 3 || type.substr(1) != "32" || type == "f32")
                return false;
            return assign(type, "__reduce_" + operation + "_sync((emu_u32)" + raw(2) + ", " + as(1, type) + ")");
        }
        return name_ == "shfl" && shuffle();
    }

    bool shuffle()
    {
        static const auto& modes = *new std::map<std::string, const char*>{{"idx", "EMU_WARP_SHUFFLE_INDEX"},
                                                                 {"up", "EMU_WARP_SHUFFLE_UP"},
                                                                 {"down", "EMU_WARP_SHUFFLE_DOWN"},
                                                                 {"bfly", "EMU_WARP_SHUFFLE_XOR"}};
        std::string mode = take_one_of({"idx", "up", "down", "bfly"}), first, second;
        if (mode.empty() || !take("b32") || !count(5, 5))
            return false;
        split_target(&first, &second);
        std::string list = modes.at(mode);
        for (size_t i = 1; i < 5; ++i)
            list += ", (emu_u32)" + raw(i);
        made_ = "emu_u64 emu_p; " + first + " = ::emu::ptx::shuffle(" + list + ", &emu_p); " + second + " = emu_p;";
        return true;
    }

    bool barrier()
    {
        if (name_ != "bar" && name_ != "barrier")
            return false;
        take("cta");
        take("aligned");
        if (take("warp") && take("sync") && count(1, 1)) {
            made_ = "__syncwarp((emu_u32)" + raw(0) + ");";
            return true;
        }
        if (take("cluster")) {
            bool arrives = take("arrive"), waits = !arrives && take("wait");
            take_one_of({arrives ? "release" : "acquire", arrives ? "relaxed" : "acquire"});
            made_ = arrives ? "emu_cluster_arrive();" : "emu_cluster_wait(emu_cluster_token());";
            return (arrives || waits) && operands_.empty();
        }
        std::string what = take_one_of({"sync", "arrive", "red"});
        if ((what == "sync" && count(1, 2)) || (what == "arrive" && count(2, 2))) {
            std::string number = operands_.size() > 1 ? "(emu_u32)" + raw(1) : "0";
            bool whole = what == "sync" && operands_.size() == 1 && operands_[0] == "0";
            made_ = whole            ? "__syncthreads();"
                    : what == "sync" ? "emu_barrier_named((emu_u32)" + raw(0) + ", " + number + ");"
                                     : "emu_barrier_arrive((emu_u32)" + raw(0) + ", " + number + ");";
            return true;
        }
        std::string operation = take_one_of({"popc", "and", "or"});
        if (what != "red" || !count(3, 4) || !take(operation == "popc" ? "u32" : "pred"))
            return false;
        std::string kind = operation == "popc" ? "COUNT" : operation == "and" ? "AND" : "OR";
        std::string number = count(4, 4) ? "(emu_u32)" + raw(2) : "0";
        return assign("u32", "(emu_u32)emu_barrier_reduce(EMU_REDUCE_" + kind + ", (" + raw(operands_.size() - 1) +
                                 ") != 0, (emu_u32)" + raw(1) + ", " + number + ")");
    }

    // ------------------------------------------------------------- comparisons, conversions

    bool choice()
    {
        if (name_ == "slct" && count(4, 4)) {
            take("ftz");
            std::string by = take_type(), type = take_type();
            return (by == "s32" || by == "f32") && !type.empty() &&
                   assign(type, as(3, by) + " >= 0 ? " + as(1, type) + " : " + as(2, type));
        }
        if (name_ == "selp" && count(4, 4)) {
            std::string type = take_type();
            type = is_half(type) ? "b16" : type;
            return !type.empty() && assign(type, "(" + raw(3) + ") != 0 ? " + as(1, type) + " : " + as(2, type));
        }
        if (name_ == "testp" && count(2, 2)) {
            static const auto& tests = *new std::map<std::string, const char*>{
                {"finite", "__builtin_isfinite(emu_a)"},
                {"infinite", "__builtin_isinf(emu_a) != 0"},
                {"number", "emu_a == emu_a"},
                {"notanumber", "emu_a != emu_a"},
                {"normal", "emu_a == 0 || __builtin_isnormal(emu_a)"},
                {"subnormal", "emu_a != 0 && __builtin_isfinite(emu_a) && !__builtin_isnormal(emu_a)"}};
            std::string type = take_type();
            auto test = words_.empty() ? tests.end() : tests.find(words_[0]);
            if (test == tests.end() || (type != "f32" && type != "f64"))
                return false;
            words_.erase(words_.begin());
            made_ = "const auto emu_a = " + as(1, type) + "; " + target(operands_[0]) + " = " + test->second + ";";
            return true;
        }
        return false;
    }

    // setp.lt.and.f32 p|q, a, b, c; set.lt.u32.f32 d, a, b
    bool compared()
    {
        if ((name_ != "setp" && name_ != "set") || !count(3, 4) || words_.empty())
            return false;
        bool flush = take("ftz");
        std::string type = take_type(), result = name_ == "set" ? take_type() : "pred", join = take_join();
        std::string how = words_.size() == 1 ? words_[0] : "";
        if (type.empty() || result.empty() || join.empty() != count(3, 3))
            return false;
        auto a = [&](size_t i) { return flush ? flushed(type, as(i, type)) : as(i, type); };
        std::string test = comparison(how, is_float(type), a(1), a(2));
        words_.clear();
        made_ = "const bool emu_t = " + test + "; ";
        if (!join.empty())
            made_ += "const bool emu_c = (bool)(" + raw(3) + "); ";
        std::string yes = join.empty() ? "emu_t" : "(emu_t" + join + "emu_c)", first, second;
        if (name_ == "set") {
            std::string declared = made_;
            assign(result, yes + (is_float(result) ? " ? 1.0f : 0.0f" : " ? 0xffffffffu : 0u"));
            made_ = declared + made_;
            return !test.empty();
        }
        split_target(&first, &second);
        made_ +=
            second + " = " + (join.empty() ? "!emu_t" : "!emu_t" + join + "emu_c") + "; " + first + " = " + yes + ";";
        return !test.empty();
    }

    std::string take_rounding(bool to_whole)
    {
        Words list = to_whole ? Words{"rni", "rzi", "rmi", "rpi"} : Words{"rn", "rz", "rm", "rp"};
        return take_one_of(list);
    }
    static std::string mode_of(const std::string& rounding)
    {
        char c = rounding.size() > 1 ? rounding[1] : 'n';
        return c == 'z'   ? "::emu::ROUND_ZERO"
               : c == 'm' ? "::emu::ROUND_DOWN"
               : c == 'p' ? "::emu::ROUND_UP"
                          : "::emu::ROUND_NEAREST";
    }

    bool conversion()
    {
        if (name_ == "cvt" && take("pack"))
            return take("sat") && pack_integers();
        if (name_ != "cvt" || !count(2, 2))
            return false;
        if (take("tf32"))
            return take("f32") && tensor_float();
        std::string from = take_type(), to = take_type();
        if (from.empty() || to.empty() || from == "pred" || to == "pred")
            return false;
        bool flush = take("ftz"), saturate = take("sat");
        std::string whole = take_rounding(true), rounding = whole.empty() ? take_rounding(false) : "";
        std::string a = as(1, from), type = type_of(to);
        if (flush && from == "f32")
            a = "::emu::ptx::flushed(" + a + ")";
        if (is_float(from) && !is_float(to)) {
            if (whole.empty())
                return false;
            return assign_wide(to, "::emu::saturated<" + type + ">(::emu::whole(" + a + ", " + mode_of(whole) + "))");
        }
        if (!is_float(from) && !is_float(to))
            return whole.empty() && rounding.empty() &&
                   assign_wide(to, saturate ? "::emu::ptx::clamped<" + type + ">(" + a + ")" : "(" + type + ")" + a);
        std::string value;
        if (is_half(to) && !rounding.empty() && from != to) {
            std::string exact = is_float(from) ? "(double)" + a : "::emu::integer_to_odd(" + widened(from, a) + ")";
            exact = saturate ? "::emu::unit_range(" + exact + ")" : exact;
            made_ = target(operands_[0]) + " = ::emu::ptx::" + to + "::from<" + mode_of(rounding) + ">(" + exact + ");";
            return true;
        }
        if (!is_float(from))
            value = rounding.empty()
                        ? ""
                        : "::emu::ptx::from_integer<" + type + ">(" + widened(from, a) + ", " + mode_of(rounding) + ")";
        else if (is_half(from) && from != to)
            value = rounding.empty() ? "(" + type + ")" + a : "";
        else if (from == to)
            value = whole.empty() ? (rounding.empty() ? a : "") : "::emu::whole(" + a + ", " + mode_of(whole) + ")";
        else if (to == "f64")
            value = rounding.empty() ? "(double)" + a : "";
        else if (!rounding.empty())
            value = "__double2float_" + suffix(rounding) + "(" + a + ")";
        if (value.empty())
            return false;
        if (flush && to == "f32")
            value = "::emu::ptx::flushed(" + value + ")";
        return assign(to, saturate ? "::emu::ptx::unit(" + value + ")" : value);
    }
    // cvt.pack.sat.s16.s32 d, a, b; cvt.pack.sat.u8.s32.b32 d, a, b, c: the lower half of c becomes the upper one.
    bool pack_integers()
    {
        bool joins = take("b32");
        std::string from = take_type(), to = take_type();
        bool is_right = from == "s32" && (joins ? to == "s8" || to == "u8" : to == "s16" || to == "u16");
        if (!is_right || !count(joins ? 4 : 3, joins ? 4 : 3))
            return false;
        std::string wide = joins ? "emu_u8" : "unsigned short", clamped = "::emu::ptx::clamped<" + type_of(to) + ">(";
        made_ = target(operands_[0]) + " = (emu_u32)(" + wide + ")" + clamped + as(1, from) + ") << " +
                (joins ? "8" : "16") + " | (" + wide + ")" + clamped + as(2, from) + ")" +
                (joins ? " | (emu_u32)" + raw(3) + " << 16;" : ";");
        return true;
    }
    // cvt.rna.tf32.f32 d, a: a float whose low 13 bits are zero.
    bool tensor_float()
    {
        std::string rounding = take_one_of({"rna", "rn", "rz"});
        std::string half = rounding == "rna" ? "0x1000u" : rounding == "rn" ? "0xfffu + (emu_a >> 13 & 1)" : "0";
        std::string nan = rounding == "rna" ? "emu_a" : "0x7fffffffu";
        made_ = "const emu_u32 emu_a = (emu_u32)" + raw(1) + "; " + target(operands_[0]) +
                " = ((emu_a & 0x7fffffffu) > 0x7f800000u ? " + nan + " : emu_a + " + half + ") & 0xffffe000u;";
        return !rounding.empty();
    }
    // Small integers are converted through 32 bits.
    static std::string widened(const std::string& type, const std::string& value)
    {
        return type.size() < 3 || type.substr(1) == "16" ? "(emu_i32)" + value : value;
    }
    // A destination wider than the type is sign-extended.
    bool assign_wide(const std::string& type, const std::string& value)
    {
        if (type[0] != 's')
            return assign(type, value);
        made_ = target(operands_[0]) + " = (emu_u64)(long long)(" + value + ");";
        return true;
    }
    static std::string suffix(const std::string& rounding)
    {
        return rounding == "rm" ? "rd" : rounding == "rp" ? "ru" : rounding.empty() ? "rn" : rounding;
    }

    // ------------------------------------------------------------------------ integers

    // add.cc and addc, sub.cc and subc, mad.lo.cc and madc.hi: the carry lives within one asm statement.
    bool carrying()
    {
        bool reads = name_ == "addc" || name_ == "subc" || name_ == "madc";
        bool writes = (reads || name_ == "add" || name_ == "sub" || name_ == "mad") && take("cc");
        if (!reads && !writes)
            return false;
        std::string type = take_type();
        bool multiplies = name_[0] == 'm', high = multiplies && take("hi");
        if (type.size() != 3 || is_float(type) || !count(multiplies ? 4 : 3, multiplies ? 4 : 3) ||
            (multiplies && !high && !take("lo")) || (reads && !*names_.carries))
            return false;
        *names_.carries = *names_.carries || writes;
        std::string unsigned_type = type_of("u" + type.substr(1)), a = raw(1), b = raw(2);
        if (multiplies) {
            std::string product =
                high ? "::emu::ptx::high(" + as(1, type) + ", " + as(2, type) + ")" : as(1, type) + " * " + as(2, type);
            a = "::emu::ptx::of<" + type_of(type) + ">(" + product + ")", b = raw(3);
        }
        made_ = target(operands_[0]) + " = ::emu::ptx::" + (name_[0] == 's' ? "subtract<" : "add<") + unsigned_type +
                ">(" + a + ", " + b + ", " + (reads ? "emu_carry" : "0") + ", " +
                (writes ? "&emu_carry" : "&emu_sink") + ");";
        return true;
    }

    bool integer()
    {
        static const auto& binary = *new std::map<std::string, const char*>{{"add", " + "}, {"sub", " - "}, {"and", " & "},
                                                                  {"or", " | "},  {"xor", " ^ "}};
        std::string mode = name_ == "prmt" ? take_one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) : "";
        if (words_.empty() || is_float(words_.back()))
            return false;
        std::string type = take_type(), name = name_;
        if (type.empty())
            return false;
        std::string kind = type_of(type);
        if (!mode.empty())
            return type == "b32" && permute(mode);
        if ((name == "add" || name == "sub") && type == "s32" && count(3, 3) && take("sat"))
            return assign(type, "::emu::ptx::clamped<emu_i32>((long long)" + as(1, type) + binary.at(name) +
                                    as(2, type) + ")");
        auto sign = binary.find(name);
        if (sign != binary.end() && count(3, 3))
            return assign(type, "(" + kind + ")(" + as(1, type) + sign->second + as(2, type) + ")");
        if ((name == "div" || name == "rem") && count(3, 3))
            return assign(type, std::string("::emu::ptx::") + (name == "div" ? "quotient(" : "remainder(") +
                                    as(1, type) + ", " + as(2, type) + ")");
        if (name == "not" && count(2, 2))
            return assign(type, type == "pred" ? "!" + as(1, type) : "(" + kind + ")~" + as(1, type));
        if (name == "cnot" && count(2, 2))
            return assign(type, "(" + kind + ")(" + as(1, type) + " == 0)");
        if (name == "neg" && count(2, 2))
            return assign(type, "(" + kind + ")-" + as(1, type));
        if (name == "abs" && count(2, 2))
            return assign(type, "::emu::ptx::absolute(" + as(1, type) + ")");
        if ((name == "min" || name == "max") && count(3, 3))
            return assign(type, std::string("::emu::ptx::") + (name == "min" ? "least(" : "most(") + as(1, type) +
                                    ", " + as(2, type) + ")");
        if (name == "mul" || name == "mad" || name == "mul24" || name == "mad24")
            return product(type);
        return bits(type);
    }

    bool product(const std::string& type)
    {
        bool adds = name_.compare(0, 3, "mad") == 0;
        std::string part = take_one_of({"lo", "hi", "wide"}), result = part == "wide" ? wide_of(type) : type;
        if (part.empty() || result.empty() || !count(adds ? 4 : 3, adds ? 4 : 3))
            return false;
        if (name_.size() > 3) { // mul24.hi returns bits 16 to 47 of the product
            std::string sign = type == "s32" ? "true)" : "false)", shift = part == "hi" ? " >> 16)" : ")";
            std::string value = "(emu_u32)(::emu::ptx::part(" + raw(1) + ", 24, 0, " + sign + " * ::emu::ptx::part(" +
                                raw(2) + ", 24, 0, " + sign + shift;
            return part != "wide" && (type == "s32" || type == "u32") &&
                   assign("u32", value + (adds ? " + " + as(3, "u32") : ""));
        }
        std::string a = as(1, type), b = as(2, type), value;
        if (part == "hi")
            value = type.substr(1) == "16" ? "(" + a + " * " + b + " >> 16)" : "::emu::ptx::high(" + a + ", " + b + ")";
        else
            value =
                part == "wide" ? "(" + type_of(result) + ")" + a + " * (" + type_of(result) + ")" + b : a + " * " + b;
        return assign(result, "(" + type_of(result) + ")(" + value + (adds ? " + " + as(3, result) : "") + ")");
    }

    // prmt.b32.f4e d, a, b, c: c selects one of four permutations.
    bool permute(const std::string& mode)
    {
        static const auto& selectors = *new std::map<std::string, const char*>{
            {"f4e", "0x6543543243213210"}, {"b4e", "0x0123701267015670"}, {"rc8", "0x3333222211110000"},
            {"ecl", "0x3333322232113210"}, {"ecr", "0x3210221011100000"}, {"rc16", "0x3232101032321010"}};
        std::string selector = selectors.at(mode);
        selector = "(emu_u32)(" + selector + "ull >> 16 * (" + raw(3) + " & 3)) & 0xffffu";
        return count(4, 4) &&
               assign("b32", "::emu::ptx::permute(" + as(1, "b32") + ", " + as(2, "b32") + ", " + selector + ")");
    }

    bool bits(const std::string& type)
    {
        std::string kind = type_of(type), name = name_;
        if ((name == "shl" || name == "shr") && count(3, 3))
            return assign(type, std::string("::emu::ptx::shift_") + (name == "shl" ? "left(" : "right(") + as(1, type) +
                                    ", (emu_u32)" + raw(2) + ")");
        if (name == "popc" && count(2, 2))
            return assign("u32", "::emu::ptx::ones(" + as(1, type) + ")");
        if (name == "clz" && count(2, 2))
            return assign("u32", "::emu::ptx::leading_zeros(" + as(1, type) + ")");
        if (name == "brev" && count(2, 2))
            return assign(type, "::emu::ptx::reversed(" + as(1, type) + ")");
        if (name == "bfind" && count(2, 2))
            return assign("u32", "::emu::ptx::find_bit(" + as(1, type) + (take("shiftamt") ? ", true)" : ", false)"));
        if (name == "bfe" && count(4, 4))
            return assign(type,
                          "::emu::ptx::extract(" + as(1, type) + ", (emu_u32)" + raw(2) + ", (emu_u32)" + raw(3) + ")");
        if (name == "bfi" && count(5, 5))
            return assign(type, "::emu::ptx::insert(" + as(1, type) + ", " + as(2, type) + ", (emu_u32)" + raw(3) +
                                    ", (emu_u32)" + raw(4) + ")");
        if (name == "sad" && count(4, 4))
            return assign(type, "::emu::ptx::distance(" + as(1, type) + ", " + as(2, type) + ", " + as(3, type) + ")");
        if (name == "szext" && count(3, 3) && (type == "s32" || type == "u32")) {
            bool wraps = take("wrap");
            std::string bits = "(emu_u32)" + raw(2);
            bits = wraps ? bits + " & 31" : "::emu::ptx::least(" + bits + ", 32u)";
            return (wraps || take("clamp")) &&
                   assign(type, "::emu::ptx::extract(" + as(1, type) + ", 0u, " + bits + ")");
        }
        if (type != "b32")
            return false;
        if (name == "prmt" && count(4, 4))
            return assign(type, "::emu::ptx::permute(" + as(1, type) + ", " + as(2, type) + ", " + as(3, type) + ")");
        if (name == "bmsk" && count(3, 3)) {
            bool wraps = take("wrap");
            return (wraps || take("clamp")) && assign(type, "::emu::ptx::mask((emu_u32)" + raw(1) + ", (emu_u32)" +
                                                                raw(2) + (wraps ? ", true)" : ", false)"));
        }
        if (name == "lop3" && count(5, 5))
            return assign(type, "::emu::ptx::logic(" + as(1, type) + ", " + as(2, type) + ", " + as(3, type) +
                                    ", (emu_u32)" + raw(4) + ")");
        std::string way = name == "shf" ? take_one_of({"l", "r"}) : "", limit = take_one_of({"wrap", "clamp"});
        return !way.empty() && !limit.empty() && count(4, 4) &&
               assign(type, "::emu::ptx::funnel(" + as(1, type) + ", " + as(2, type) + ", (emu_u32)" + raw(3) +
                                (way == "l" ? ", true" : ", false") + (limit == "wrap" ? ", true)" : ", false)"));
    }

    // -------------------------------------------------------------------------- floats

    bool floating()
    {
        bool flush = take("ftz"); // cuRAND writes it after the type
        std::string type = take_type();
        if (type != "f32" && type != "f64")
            return false;
        flush_ = flush;
        flush = flush && type == "f32";
        bool saturate = take("sat");
        auto a = [&](size_t i) { return flush ? flushed(type, as(i, type)) : as(i, type); };
        std::string value = operation(type, a);
        if (value.empty())
            return false;
        if (flush)
            value = "::emu::ptx::flushed(" + value + ")";
        return assign(type, saturate ? "::emu::ptx::unit(" + value + ")" : value);
    }

    template <class Operand> std::string operation(const std::string& type, Operand a)
    {
        static const auto& approximate = *new std::map<std::string, const char*>{
            {"sqrt", "sqrtf"}, {"rsqrt", "rsqrtf"}, {"ex2", "exp2f"}, {"lg2", "log2f"},
            {"sin", "sinf"},   {"cos", "cosf"},     {"tanh", "tanhf"}};
        const std::string letter = type == "f32" ? "f" : "d";
        const std::string& name = name_;
        if (count(2, 2) && name == "neg")
            return "-" + a(1);
        if (count(2, 2) && name == "abs")
            return "::emu::ptx::absolute(" + a(1) + ")";
        if (name == "min" || name == "max")
            return least_or_most(a);
        if (count(3, 3) && name == "copysign") // the sign comes from the first operand
            return "__builtin_copysign" + std::string(type == "f32" ? "f(" : "(") + a(2) + ", " + a(1) + ")";
        bool fast = take("approx") || (name == "div" && take("full"));
        std::string rounding = fast ? "" : take_rounding(false);
        if (fast && type == "f32" && count(2, 2) && approximate.count(name))
            return std::string("::") + approximate.at(name) + "(" + a(1) + ")";
        if (fast && type == "f64" && count(2, 2) && name == "rsqrt")
            return "::rsqrt(" + a(1) + ")";
        if (fast && type == "f64" && count(2, 2) && name == "rcp" && flush_)
            return "::emu::ptx::rough_reciprocal(" + a(1) + ")";
        if (fast && (type != "f32" || (name != "div" && name != "rcp")))
            return "";
        std::string end = "_" + suffix(rounding) + "(";
        if (count(3, 3) && (name == "add" || name == "sub" || name == "mul" || name == "div"))
            return (name == "div" && rounding.empty() && !fast) ? ""
                                                                : "__" + letter + name + end + a(1) + ", " + a(2) + ")";
        if (count(2, 2) && (name == "sqrt" || name == "rcp"))
            return rounding.empty() && !fast ? "" : "__" + letter + name + end + a(1) + ")";
        if (count(4, 4) && (name == "fma" || name == "mad"))
            return rounding.empty()
                       ? ""
                       : (type == "f32" ? "__fmaf" : "__fma") + end + a(1) + ", " + a(2) + ", " + a(3) + ")";
        return "";
    }

    bool flush_ = false; // .ftz
};

} // namespace

bool translate_instruction(const std::vector<std::string>& code, const std::vector<std::string>& operands,
                           const PtxNames& names, std::string* made)
{
    return is_copies(code) ? translate_copies(code, operands, names, made)
           : is_warpgroups(code) ? translate_warpgroups(code, operands, names, made)
           : is_matrices(code) ? translate_matrices(code, operands, names, made)
           : is_video(code)  ? translate_video(code, operands, names, made)
           : is_image(code)  ? translate_image(code, operands, names, made)
           : is_memory(code) ? translate_memory(code, operands, names, made)
           : is_packed(code) ? translate_packed(code, operands, names, made)
                             : Instruction(code, operands, names).translate(made);
}

} // namespace emu::front
