// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// ldmatrix, stmatrix, movmatrix, mma and wmma: matrices whose elements are in the registers of a warp.
#include <cstdio>
#include <map>

#include "ptx_instruction.hpp"

namespace emu::front {
namespace {

// An element type: the class that reads elements from a register, how many a register holds, its sums, and the depths
// of mma with 8 and with 16 rows. Both factors have the same `kind`.
struct Element {
    const char* reader;
    unsigned each;
    const char *kind, *sums, *depths8, *depths16;
};
const std::map<std::string, Element> elements = {
    {"f16", {"Pairs<::emu::ptx::f16>", 2, "f16", "f16 f32", "", "8 16"}},
    {"bf16", {"Pairs<::emu::ptx::bf16>", 2, "bf16", "f32", "", "8 16"}},
    {"tf32", {"Tf32", 1, "tf32", "f32", "", "4 8"}},
    {"e4m3", {"Fours<::emu::ptx::e4m3>", 4, "f8", "f16 f32", "", "16 32"}},
    {"e5m2", {"Fours<::emu::ptx::e5m2>", 4, "f8", "f16 f32", "", "16 32"}},
    {"s8", {"Integers<8, true>", 4, "i8", "s32", "16", "16 32"}},
    {"u8", {"Integers<8, false>", 4, "i8", "s32", "16", "16 32"}},
    {"s4", {"Integers<4, true>", 8, "i4", "s32", "32", "32 64"}},
    {"u4", {"Integers<4, false>", 8, "i4", "s32", "32", "32 64"}},
    {"b1", {"Bits", 32, "b1", "s32", "128", "128 256"}},
    {"f64", {"Doubles", 1, "f64", "f64", "4", "4 8 16"}},
};
const std::map<std::string, const char*> sum_types = {
    {"f32", "float"}, {"f16", "::emu::ptx::f16"}, {"s32", "emu_i32"}, {"f64", "double"}};

struct Shape {
    unsigned m = 0, n = 0, k = 0;
    std::string type;   // for wmma: the elements, as in the instruction
    unsigned rows(char use) const { return use == 'b' ? k : m; }
    unsigned columns(char use) const { return use == 'a' ? k : n; }
};

// Returns the number of registers in a wmma fragment. On a GPU, f16 registers hold each factor twice; here half of them
// are unused.
unsigned fragment_registers(const Shape& shape, char use, const std::string& type)
{
    unsigned count = shape.rows(use) * shape.columns(use) / 32;
    if (type == "f16")
        return use == 'a' || use == 'b' ? 8 : count / 2;
    return elements.count(type) ? count / elements.at(type).each : count;
}

bool fits_fragment(const Shape& s, const std::string& type)
{
    bool is_large = s.k == 16 && ((s.m == 16 && s.n == 16) || (s.m == 32 && s.n == 8) || (s.m == 8 && s.n == 32));
    bool is_tf32 = s.m == 16 && s.n == 16 && s.k == 8, is_double = s.m == 8 && s.n == 8 && s.k == 4;
    return type == "tf32"  ? is_tf32
           : type == "f64" ? is_double
           : type == "f32" ? is_large || is_tf32
                           : is_large && has_word("f16 bf16 s8 u8 s32", type);
}

class Matrices : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    bool translate(std::string* made)
    {
        bool done = take("sync") && take("aligned") &&
                    (name_ == "ldmatrix"    ? load()
                     : name_ == "stmatrix"  ? store()
                     : name_ == "movmatrix" ? transpose()
                     : name_ == "mma"       ? product()
                     : take("mma")          ? fragment_product()
                                            : fragment());
        *made = made_;
        return done && !failed_ && words_.empty();
    }

private:
    // Parses {a, b} or a single register.
    PtxWords registers(size_t i, bool is_target)
    {
        const std::string& text = operands_[i];
        return text[0] == '{' ? vector(text, is_target) : PtxWords{is_target ? target(text) : raw(i)};
    }
    static std::string array(const char* name, const PtxWords& words)
    {
        std::string text;
        for (const std::string& word : words)
            text += (text.empty() ? "" : ", ") + word;
        return std::string("const emu_u64 ") + name + "[] = {" + text + "}; ";
    }
    // A call that fills emu_d, followed by moves from there to the registers.
    void results(const PtxWords& targets, const std::string& call)
    {
        made_ += "emu_u64 emu_d[8] = {}; " + call;
        for (size_t i = 0; i < targets.size(); ++i)
            made_ += " " + targets[i] + " = emu_d[" + std::to_string(i) + "];";
    }
    std::string take_space()
    {
        bool is_shared = take("shared") || take("shared::cta");
        take("global");
        return is_shared ? ", true" : ", false";
    }
    // m16n8k16
    bool take_shape(Shape* shape)
    {
        for (size_t i = 0; i < words_.size(); ++i) {
            int length = 0;
            if (std::sscanf(words_[i].c_str(), "m%un%uk%u%n", &shape->m, &shape->n, &shape->k, &length) != 3 ||
                size_t(length) != words_[i].size())
                continue;
            words_.erase(words_.begin() + int(i));
            return true;
        }
        return false;
    }

    // ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {d...}, [address]; stmatrix has its operands in the other order
    bool take_matrices(size_t address, bool is_target, PtxWords* list, std::string* arguments)
    {
        if (!count(2, 2) || !take("m8n8") || !take("b16"))
            return false;
        std::string size = take_one_of({"x1", "x2", "x4"}), transposes = take("trans") ? ", true" : ", false";
        std::string space = take_space(), at = names_.address(operands_[address]);
        *list = registers(1 - address, is_target);
        *arguments = at + space + ", " + std::to_string(list->size()) + transposes;
        return !at.empty() && !size.empty() && list->size() == size_t(size[1] - '0');
    }
    bool load()
    {
        PtxWords list;
        std::string arguments;
        if (!take_matrices(1, true, &list, &arguments))
            return false;
        results(list, "::emu::ptx::load_matrices(" + arguments + ", emu_d);");
        return true;
    }
    bool store()
    {
        PtxWords list;
        std::string arguments;
        if (!take_matrices(0, false, &list, &arguments))
            return false;
        made_ = array("emu_a", list) + "::emu::ptx::store_matrices(" + arguments + ", emu_a);";
        return true;
    }
    // movmatrix.sync.aligned.m8n8.trans.b16 d, a
    bool transpose()
    {
        if (!count(2, 2) || !take("m8n8") || !take("trans") || !take("b16"))
            return false;
        made_ = target(operands_[0]) + " = ::emu::ptx::transposed_matrix(" + raw(1) + ");";
        return true;
    }

    // Removes d, a, b and c from the end of an instruction, and checks that they are compatible.
    bool take_types(std::string* d, std::string* a, std::string* b, std::string* c)
    {
        if (words_.size() < 4)
            return false;
        *c = words_.back(), *b = words_.end()[-2], *a = words_.end()[-3], *d = words_.end()[-4];
        words_.erase(words_.end() - 4, words_.end());
        auto left = elements.find(*a), right = elements.find(*b);
        return left != elements.end() && right != elements.end() &&
               std::string(left->second.kind) == right->second.kind && has_word(left->second.sums, *c) &&
               has_word(left->second.sums, *d);
    }
    static std::string types(const std::string& a, const std::string& b, const std::string& d, const std::string& c,
                             const std::string& bits)
    {
        std::string left = elements.at(a).reader + bits, right = elements.at(b).reader + bits;
        return "::emu::ptx::" + left + ", ::emu::ptx::" + right + ", " + d + ", " + sum_types.at(c);
    }
    std::string take_sum(const std::string& d)
    {
        return d == "s32" && take("satfinite") ? "::emu::ptx::Clamped" : sum_types.at(d);
    }
    bool multiply(const std::string& call, const size_t (&sizes)[4])
    {
        PtxWords ds = registers(0, true), as = registers(1, false), bs = registers(2, false), cs = registers(3, false);
        if (ds.size() != sizes[0] || as.size() != sizes[1] || bs.size() != sizes[2] || cs.size() != sizes[3])
            return false;
        made_ = array("emu_a", as) + array("emu_b", bs) + array("emu_c", cs);
        results(ds, call + "(emu_a, emu_b, emu_c, emu_d);");
        return true;
    }

    // mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d...}, {a...}, {b...}, {c...}; .xor.popc follows b1
    bool product()
    {
        std::string d, a, b, c, bits = take("popc") ? take_one_of({"and", "xor"}) : "";
        Shape shape;
        if (!count(4, 4) || !take_types(&d, &a, &b, &c) || !take("row") || !take("col") || !take_shape(&shape))
            return false;
        const Element& element = elements.at(a);
        const char* depths = shape.m == 8 ? element.depths8 : shape.m == 16 ? element.depths16 : "";
        if (shape.n != 8 || !has_word(depths, std::to_string(shape.k)) || (a == "b1") == bits.empty())
            return false;
        bits = bits.empty() ? "" : bits == "and" ? "And" : "Xor";
        size_t eights = shape.m / 8, each = shape.k / (4 * element.each);
        auto size = [&](const std::string& type) { return type == "f16" ? eights : 2 * eights; };
        std::string call = "::emu::ptx::multiply<" + types(a, b, take_sum(d), c, bits) + ", " + std::to_string(eights) +
                           ", " + std::to_string(each) + ">";
        return multiply(call, {size(d), eights * each, each, size(c)});
    }

    // wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 d, a, b, c; other types of factors are named between both
    bool fragment_product()
    {
        std::string d, a, b, c;
        Shape shape;
        bool saturates = words_.back() == "satfinite";
        if (!take_shape(&shape) || !count(4, 4))
            return false;
        for (int i = 0; i < 2; ++i) // the layouts, which do not affect the registers here
            if (take_one_of({"row", "col"}).empty())
                return false;
        if (words_.size() == 2 && !saturates)
            words_.insert(words_.begin() + 1, 2, "f16");
        if (saturates)
            words_.insert(words_.begin(), words_.back()), words_.pop_back();
        if (!take_types(&d, &a, &b, &c) || !fits_fragment(shape, a) || a != b)
            return false;
        if (a == "f64")
            take("rn");
        std::string call = "::emu::ptx::multiply_fragments<" + types(a, b, take_sum(d), c, "");
        for (unsigned size : {shape.m, shape.n, shape.k})
            call += ", " + std::to_string(size);
        return multiply(call + ">", {fragment_registers(shape, 'd', d), fragment_registers(shape, 'a', a),
                                     fragment_registers(shape, 'b', b), fragment_registers(shape, 'c', c)});
    }

    // wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {d...}, [address], stride
    // wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [address], {d...}, stride
    bool fragment()
    {
        bool loads = take("load"), by_rows = take("row");
        std::string use = loads ? take_one_of({"a", "b", "c"}) : take("store") ? take_one_of({"d"}) : "";
        Shape shape;
        if (use.empty() || (!by_rows && !take("col")) || !take_shape(&shape) || !count(2, 3) || words_.empty())
            return false;
        std::string type = words_.back(), space, at = names_.address(operands_[loads ? 1 : 0]);
        words_.pop_back();
        bool is_sum = use == "c" || use == "d", has_type = is_sum ? sum_types.count(type) : elements.count(type);
        space = take_space();
        PtxWords list = registers(loads ? 0 : 1, loads);
        if (!has_type || !fits_fragment(shape, type) || at.empty() ||
            list.size() != fragment_registers(shape, use[0], type))
            return false;
        unsigned rows = shape.rows(use[0]), columns = shape.columns(use[0]);
        std::string stride = count(3, 3) ? "(emu_u32)" + raw(2) : std::to_string(by_rows ? columns : rows);
        std::string kind = type == "tf32" ? "b32" : "b" + type.substr(type.find_first_of("0123456789"));
        std::string call = "::emu::ptx::Fragment<" + type_of(kind) + ", " + std::to_string(rows) + ", " +
                           std::to_string(columns) + ">::" + (loads ? "load(" : "store(") + at + space + ", " + stride +
                           (by_rows ? ", true" : ", false");
        if (loads)
            results(list, call + ", emu_d);");
        else
            made_ = array("emu_a", list) + call + ", emu_a);";
        return true;
    }
};

} // namespace

bool is_matrices(const PtxWords& code)
{
    return code[0] == "mma" || code[0] == "wmma" || code[0] == "ldmatrix" || code[0] == "stmatrix" ||
           code[0] == "movmatrix";
}

bool translate_matrices(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    return Matrices(code, operands, names).translate(made);
}

} // namespace emu::front
