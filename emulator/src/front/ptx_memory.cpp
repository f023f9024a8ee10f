// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Loads, stores, atomic operations, and operations on multicast addresses.
#include <set>

#include "ptx_instruction.hpp"

namespace emu::front {
namespace {

class Memory : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    bool translate(std::string* made)
    {
        bool done = name_ == "atom" || name_ == "red" ? atomic()
                    : name_ == "multimem"             ? multicast()
                    : name_ == "cp"                   ? bulk_reduction()
                                                      : access();
        *made = made_;
        return done && !failed_ && words_.empty();
    }

private:
    // Removes the words about scopes, caches and spaces. Returns false if the space is not supported.
    bool take_access(bool* shared, bool* strong)
    {
        bool releases = take("release") || take("acq_rel");
        *strong = releases;
        for (const char* word : {"volatile", "relaxed", "acquire", "mmio"})
            *strong = take(word) || *strong;
        take("weak");
        bool is_near = take_one_of({"cta", "cluster", "gpu", "sys"}) == "cta";
        if (*strong || name_ == "atom" || name_ == "red")
            order_ = releases ? (is_near ? "EMU_ORDER(EMU_SCOPE_BLOCK | EMU_SCOPE_RELEASE) "
                                         : "EMU_ORDER(EMU_SCOPE_DEVICE | EMU_SCOPE_RELEASE) ")
                     : is_near ? "EMU_ORDER(EMU_SCOPE_BLOCK) "
                               : "";
        *shared = take("shared") || take("shared::cta") || take("shared::cluster");
        if (!*shared)
            space_ = take_one_of({"global", "local", "const"});
        words_.erase(std::remove_if(words_.begin(), words_.end(),
                                    [](const std::string& word) {
                                        static const auto& hints = *new std::set<std::string>{"ca", "cg", "cs", "lu",
                                                                                    "cv", "wb", "wt", "nc"};
                                        return hints.count(word) || word.compare(0, 4, "L1::") == 0 ||
                                               (word.compare(0, 4, "L2::") == 0 && word != "L2::cache_hint");
                                    }),
                     words_.end());
        return true;
    }

    // Names an access of a module to the races check.
    static constexpr const char* together = "EMU_ORDER(EMU_SCOPE_TOGETHER) ";

    bool access()
    {
        bool loads = name_ == "ld" || name_ == "ldu", stores = name_ == "st";
        size_t expected = (loads || stores) && take("L2::cache_hint") ? 3 : 2; // the last one is a policy
        if ((!loads && !stores) || !count(expected, expected))
            return false;
        bool shared, strong;
        take_access(&shared, &strong);
        std::string type = take_type(), size = take_one_of({"v2", "v4"});
        std::string at = names_.address(operands_[loads ? 1 : 0]);
        if (type.empty() || type == "pred" || at.empty())
            return false;
        if (space_ == "local" || space_ == "const")
            at = std::string("::emu::ptx::") + (space_ == "local" ? "local" : "constant") + "_address(" + at + ")";
        std::string where = at + (shared ? ", true" : ", false");
        if (!size.empty())
            return vector_access(type_of(type) + ", " + size.substr(1), where, loads, type[0] == 's');
        where += strong ? ", true" : ", false";
        if (stores) {
            if (names_.version && !strong) // of a module, not inline
                order_ = together;
            made_ = order_ + "::emu::ptx::store<" + type_of(type) + ">(" + where + ", " + raw(1) + ");";
            return true;
        }
        std::string value = "::emu::ptx::load<" + type_of(type) + ">(" + where + ")";
        if (type[0] == 's') // a wider register is sign-extended
            value = "(emu_u64)(long long)::emu::ptx::as<" + type_of(type) + ">(" + value + ")";
        if (names_.version && !strong)
            order_ = together;
        made_ = order_ + target(operands_[0]) + " = " + value + ";";
        return true;
    }

    bool vector_access(const std::string& types, const std::string& where, bool loads, bool is_signed)
    {
        PtxWords parts = vector(operands_[loads ? 0 : 1], loads);
        if (parts.size() != size_t(types.back() - '0'))
            return false;
        std::string list;
        for (size_t i = 0; i < parts.size(); ++i) {
            list += (i ? ", " : "") + parts[i];
            std::string one = "emu_v[" + std::to_string(i) + "]";
            if (is_signed)
                one = "(emu_u64)(long long)::emu::ptx::as<" + types.substr(0, types.size() - 3) + ">(" + one + ")";
            made_ += loads ? parts[i] + " = " + one + "; " : "";
        }
        made_ = loads
                    ? (names_.version ? together : "") + std::string("emu_u64 emu_v[4]; ::emu::ptx::load<") + types + ">(" + where + ", emu_v); " + made_
                    : (names_.version ? together : "") + std::string("const emu_u64 emu_v[] = {") +
                          list + "}; ::emu::ptx::store<" + types + ">(" + where + ", emu_v);";
        return true;
    }

    // atom.add.f32 d, [a], b; red.add.f32 [a], b; of halves as atom.add.noftz.f16, and of vectors as red.v4.f16.add.noftz
    bool atomic()
    {
        static const auto& functions = *new std::map<std::string, const char*>{
            {"add", "Add"}, {"min", "Min"}, {"max", "Max"}, {"inc", "Inc"},   {"dec", "Dec"},
            {"and", "And"}, {"or", "Or"},   {"xor", "Xor"}, {"exch", "Exch"}, {"cas", "CAS"}};
        bool shared, strong, returns = name_ == "atom", has_policy = take("L2::cache_hint");
        take_access(&shared, &strong);
        std::string half = take_one_of({"f16", "bf16", "f16x2", "bf16x2"}), size = take_one_of({"v2", "v4", "v8"});
        std::string type = half.empty() ? take_one_of({"f32"}) : half;
        type = type.empty() ? take_type() : type;
        std::string operation = take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
        size_t first = returns ? 1 : 0, expected = first + (operation == "cas" ? 3 : 2) + has_policy;
        if (operation.empty() || type.size() < 3 || type == "pred" || !count(expected, expected))
            return false;
        std::string at = names_.address(operands_[first]);
        if (at.empty())
            return false;
        if (!half.empty() || !size.empty())
            return atomic_floats(type, size.empty() ? 1 : size_t(size[1] - '0'), operation, at, shared);
        bool is_signed = operation == "min" || operation == "max" || (operation == "add" && type == "s32");
        if (type[0] == 's' && !is_signed)
            type[0] = 'u';
        std::string call = std::string("::atomic") + functions.at(operation) + "(::emu::ptx::pointer<" + type_of(type) +
                           ">(" + at + (shared ? ", true), " : ", false), ") + as(first + 1, type);
        call += operation == "cas" ? ", " + as(first + 2, type) + ")" : ")";
        if (!returns || operands_[0] == "_")
            made_ = call + ";";
        else
            assign(type, call);
        made_ = order_ + made_;
        return true;
    }

    // cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [to], [from], bytes
    bool bulk_reduction()
    {
        static const auto& operations = *new std::map<std::string, std::pair<std::string, const char*>>{
            {"add", {"Add", "u32 s32 u64 f32 f64 f16 bf16"}},
            {"min", {"Min", "u32 s32 u64 s64 f16 bf16"}},
            {"max", {"Max", "u32 s32 u64 s64 f16 bf16"}},
            {"inc", {"Inc", "u32"}},
            {"dec", {"Dec", "u32"}},
            {"and", {"And", "b32 b64"}},
            {"or", {"Or", "b32 b64"}},
            {"xor", {"Xor", "b32 b64"}}};
        if (!count(3, 3) || !take("async") || !take("reduce") || !take("bulk") || !take("bulk_group") ||
            !take("global") || !take("shared::cta"))
            return false;
        std::string type = take_type(),
                    operation = take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
        std::string to = names_.address(operands_[0]), from = names_.address(operands_[1]), kind = type_of(type),
                    update;
        if (to.empty() || from.empty() || operation.empty() || !has_word(operations.at(operation).second, type) ||
            (is_half(type) && operation == "add" && !take("noftz")))
            return false;
        if (is_half(type)) {
            char sign = operation == "add" ? '+' : operation == "min" ? '<' : '>';
            update = "emu_u64 bits = from; ::emu::ptx::update_vector<::emu::ptx::" + type +
                     ", 1, 1>((emu_u64)to, false, '" + sign + "', &bits);";
        } else
            update = "::atomic" + operations.at(operation).first + "(to, from);";
        made_ = "::emu::ptx::reduce_bulk<" + kind + ">(" + to + ", " + from + ", " + raw(2) + ", [](" + kind +
                "* to, " + kind + " from) { " + update + " });";
        return true;
    }

    // Each number is updated atomically; a pair or vector is not.
    bool atomic_floats(const std::string& type, size_t size, const std::string& operation, const std::string& at,
                       bool shared)
    {
        static const auto& operations = *new std::map<std::string, char>{{"add", '+'}, {"min", '<'}, {"max", '>'}};
        bool is_pair = type.back() == '2' && type != "f32", is_half = type != "f32", returns = name_ == "atom";
        auto how = operations.find(operation);
        size_t bytes = is_half && !is_pair ? 2 : 4, value = returns ? 2 : 1;
        bool is_right = how != operations.end() && (operation == "add" || (is_half && size > 1)) &&
                        size * bytes <= 16 && (size == 1 || !shared) && (!is_half || take("noftz"));
        PtxWords values = size > 1 ? vector(operands_[value], false) : PtxWords{raw(value)}, targets;
        if (returns)
            targets = size > 1 ? vector(operands_[0], true) : PtxWords{target(operands_[0])};
        if (!is_right || values.size() != size || (returns && targets.size() != size))
            return false;
        std::string list;
        for (const std::string& one : values)
            list += (list.empty() ? "" : ", ") + one;
        std::string format = is_half ? "::emu::ptx::" + type.substr(0, type.find("x2")) : "float";
        made_ = order_ + "emu_u64 emu_v[] = {" + list + "}; ::emu::ptx::update_vector<" + format + ", " +
                std::to_string(is_pair ? 2 : 1) + ", " + std::to_string(size) + ">(" + at +
                (shared ? ", true, '" : ", false, '") + how->second + "', emu_v);";
        for (size_t i = 0; i < targets.size(); ++i)
            made_ += " " + targets[i] + " = emu_v[" + std::to_string(i) + "];";
        return true;
    }

    // multimem.ld_reduce.add.f32 d, [a]; multimem.st.f32 [a], b; multimem.red.add.f32 [a], b; also of v2 and v4
    bool multicast()
    {
        static const auto& operations = *new std::map<std::string, char>{{"add", '+'}, {"min", '<'}, {"max", '>'},
                                                               {"and", '&'}, {"or", '|'},  {"xor", '^'}};
        std::string kind = take_one_of({"ld_reduce", "st", "red"});
        bool shared, strong, loads = kind == "ld_reduce";
        if (kind.empty() || !count(2, 2) || !take_access(&shared, &strong) || shared)
            return false;
        std::string operation = kind == "st" ? "" : take_one_of({"add", "min", "max", "and", "or", "xor"});
        std::string size = take_one_of({"v2", "v4"}), type = take_type(), at = names_.address(operands_[loads ? 1 : 0]);
        bool is_float = type[0] == 'f', is_wide = type.size() == 3 && (type[1] == '3' || type[1] == '6');
        if (!is_wide || at.empty() || (kind != "st" && (operation.empty() || (is_float && operation != "add"))))
            return false;
        const std::string& values = operands_[loads ? 0 : 1];
        PtxWords parts = size.empty() ? PtxWords{loads ? target(values) : raw(1)} : vector(values, loads);
        if (!size.empty() && parts.size() != size_t(size[1] - '0'))
            return false;
        std::string bytes = std::to_string(std::stoi(type.substr(1)) / 8);
        char how = kind == "st" ? '=' : operations.at(operation);
        for (size_t i = 0; i < parts.size(); ++i) {
            std::string place = "(emu_u64)(" + at + ") + " + std::to_string(i) + " * " + bytes;
            made_ += loads ? parts[i] + " = " : "";
            made_ += "emu_multicast(" + place + ", " + bytes + ", '" + type[0] + "', '" + how + "', ";
            made_ += loads ? "1, 0); " : "0, " + parts[i] + "); ";
        }
        return true;
    }

    std::string space_, order_; // order_: what tells the races check the order and scope of the next access
};

} // namespace

bool is_memory(const PtxWords& code)
{
    static const auto& names = *new std::set<std::string>{"ld", "ldu", "st", "atom", "red", "multimem"};
    return names.count(code[0]) || (code.size() > 1 && code[0] == "cp" && code[1] == "reduce");
}

bool translate_memory(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    return Memory(code, operands, names).translate(made);
}

} // namespace emu::front
