// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// mma.sync and ldmatrix: products of matrices whose elements are in the registers of a warp.
#include <map>

#include "ptx_instruction.hpp"

namespace emu::front {
namespace {

class Product : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    // ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {d...}, [address]
    bool load(std::string* made)
    {
        bool known = count(2, 2) && take("sync") && take("m8n8") && take("b16");
        take("aligned");
        std::string size = take_one_of({"x1", "x2", "x4"});
        bool transposes = take("trans"), is_shared = take("shared") || take("shared::cta");
        PtxWords ds = vector(operands_[0], true);
        std::string at = known ? names_.address(operands_[1]) : "";
        if (at.empty() || size.empty() || ds.size() != size_t(size[1] - '0'))
            return false;
        *made = "emu_u64 emu_d[4]; ::emu::ptx::load_matrices(" + at + (is_shared ? ", true, " : ", false, ") +
                size.substr(1) + (transposes ? ", true" : ", false") + ", emu_d);";
        for (size_t i = 0; i < ds.size(); ++i)
            *made += " " + ds[i] + " = emu_d[" + std::to_string(i) + "];";
        return !failed_ && words_.empty();
    }

    // mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d...}, {a...}, {b...}, {c...}
    bool translate(std::string* made)
    {
        static const std::map<std::string, const char*> elements = {{"f16", "Pairs<::emu::ptx::f16>"},
                                                                    {"bf16", "Pairs<::emu::ptx::bf16>"},
                                                                    {"tf32", "Tf32"},
                                                                    {"s8", "Fours<signed char>"},
                                                                    {"u8", "Fours<emu_u8>"}};
        static const std::map<std::string, const char*> sums = {
            {"f32", "float"}, {"f16", "::emu::ptx::f16"}, {"s32", "emu_i32"}};
        if (!count(4, 4) || !take("sync") || words_.size() < 7)
            return false;
        take("aligned");
        std::string c = words_.back(), b = words_.end()[-2], a = words_.end()[-3], d = words_.end()[-4];
        words_.erase(words_.end() - 4, words_.end());
        if (!elements.count(a) || !elements.count(b) || !sums.count(c) || !sums.count(d))
            return false;
        bool is_integer = a[0] != 'f' && a[0] != 'b' && a[0] != 't';
        if ((!is_integer && a != b) || (d == "s32") != is_integer || (c == "s32") != is_integer)
            return false;
        size_t each = a == "tf32" ? 1 : is_integer ? 4 : 2;
        PtxWords as = vector(operands_[1], false), bs = vector(operands_[2], false), cs = vector(operands_[3], false);
        PtxWords ds = vector(operands_[0], true);
        bool fits = take("m16n8k" + std::to_string(as.size() / 2 * 4 * each)) && take("row") && take("col");
        if (!fits || (as.size() != 2 && as.size() != 4) || bs.size() * 2 != as.size() ||
            cs.size() != (c == "f16" ? 2u : 4u) || ds.size() != (d == "f16" ? 2u : 4u))
            return false;
        auto list = [](const PtxWords& words) {
            std::string text;
            for (const std::string& word : words)
                text += (text.empty() ? "" : ", ") + word;
            return "[] = {" + text + "}; ";
        };
        *made = "const emu_u64 emu_a" + list(as) + "const emu_u64 emu_b" + list(bs) + "const emu_u64 emu_c" + list(cs) +
                "emu_u64 emu_d[4]; ::emu::ptx::multiply<::emu::ptx::" + elements.at(a) +
                ", ::emu::ptx::" + elements.at(b) + ", " + sums.at(d) + ", " + sums.at(c) +
                ">(emu_a, emu_b, emu_c, emu_d);";
        for (size_t i = 0; i < ds.size(); ++i)
            *made += " " + ds[i] + " = emu_d[" + std::to_string(i) + "];";
        return !failed_ && words_.empty();
    }
};

} // namespace

bool translate_product(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    Product product(code, operands, names);
    return code[0] == "mma" ? product.translate(made) : product.load(made);
}

} // namespace emu::front
