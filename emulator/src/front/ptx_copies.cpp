// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// mbarriers, fences, asynchronous copies and stores, and tensor maps.
#include <cstdlib>
#include <map>
#include <set>

#include "ptx_instruction.hpp"
#include "ptx_operands.hpp"

namespace emu::front {
namespace {

class Copies : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    bool translate(std::string* made)
    {
        bool done = name_ == "mbarrier"    ? mbarrier()
                    : name_ == "tensormap" ? tensor_map()
                    : name_ == "cp"        ? (has("reduce") ? reduce_tensor() : has("bulk") ? bulk() : copy())
                    : name_ == "st"        ? store()
                    : name_ == "red"       ? reduce()
                                           : fence();
        *made = made_;
        return done && !failed_;
    }

private:
    bool has(const char* word) const { return std::find(words_.begin(), words_.end(), word) != words_.end(); }
    std::string word(size_t i) const { return i < words_.size() ? words_[i] : ""; }
    std::string address(size_t i)
    {
        std::string at = i < operands_.size() ? names_.address(operands_[i]) : "";
        failed_ = failed_ || at.empty();
        return at;
    }

    // fence.acq_rel.gpu and membar.gl order accesses. Copies are visible immediately, so fences between proxies have
    // no effect.
    bool fence()
    {
        bool is_other = false;
        for (const std::string& word : words_)
            is_other = is_other || word.compare(0, 5, "proxy") == 0 || word == "mbarrier_init";
        made_ = is_other ? ";" : has("cta") ? "::__threadfence_block();" : "::__threadfence();";
        return is_other || operands_.empty();
    }

    bool mbarrier()
    {
        const std::string what = word(0);
        bool arrives = what == "arrive" || what == "arrive_drop", is_remote = has("shared::cluster");
        bool gives = arrives || what == "try_wait" || what == "test_wait";
        if (what == "pending_count" && count(2, 2)) {
            made_ = target(operands_[0]) + " = " + raw(1) + " >> 1;";
            return true;
        }
        // An arrival at another block's barrier returns nothing.
        if (is_remote && what != "expect_tx" && (!arrives || operands_.empty() || operands_[0] != "_"))
            return false;
        if (operands_.size() < (gives ? 2u : 1u))
            return false;
        std::string to = gives ? target(operands_[0]) : "emu_sink", at = address(gives ? 1 : 0);
        std::string number = operands_.size() > (gives ? 2u : 1u) ? raw(gives ? 2 : 1) : "";
        std::string arrivals = number.empty() ? "1" : number;
        if (what == "init" && !number.empty())
            made_ = "emu_mbarrier_init(" + at + ", (emu_u32)" + number + ");";
        else if (what == "inval")
            made_ = "emu_mbarrier_end(" + at + ");";
        else if (what == "expect_tx" && !number.empty())
            made_ = "emu_mbarrier_arrive(" + at + ", 0, (emu_u32)" + number + ");";
        else if (what == "arrive" && has("expect_tx") && !number.empty())
            made_ = to + " = emu_mbarrier_arrive(" + at + ", 1, (emu_u32)" + number + ");";
        else if (what == "arrive_drop" && !has("expect_tx"))
            made_ = to + " = emu_mbarrier_drop(" + at + ", (emu_u32)" + arrivals + ");";
        else if (what == "arrive" && !has("expect_tx"))
            made_ = to + " = emu_mbarrier_arrive(" + at + ", (emu_u32)" + arrivals + ", 0);";
        else if ((what == "try_wait" || what == "test_wait") && !number.empty())
            made_ = to + " = emu_mbarrier_test(" + at + ", " + number + ");";
        return !made_.empty();
    }

    // cp.async.ca.shared.global [to], [from], 16, bytes; the rest of the 16 bytes becomes zero.
    bool copy()
    {
        const std::string what = word(1);
        if (what == "commit_group")
            made_ = "emu_async_commit();";
        if (what == "wait_all")
            made_ = "emu_async_wait(0, 1);";
        if (what == "wait_group" && count(1, 1))
            made_ = "emu_async_wait((emu_u32)" + raw(0) + ", 0);";
        if (!made_.empty())
            return true;
        if (what == "mbarrier" && has("arrive") && count(1, 1)) {
            // Without "noinc", the pending count is raised before the arrival lowers it again.
            made_ = "emu_async_wait(0, 1); ";
            made_ += has("noinc") ? "emu_mbarrier_arrive(" + address(0) + ", 1, 0);" : "(void)" + address(0) + ";";
            return true;
        }
        size_t given = operands_.size() - (has("L2::cache_hint") && operands_.size() > 3); // without a policy
        bool is_copy = (what == "ca" || what == "cg") && has("global") && (has("shared") || has("shared::cta"));
        if (!is_copy || given < 3 || given > 4)
            return false;
        made_ = "::emu::ptx::copy(" + address(0) + ", " + address(1) + ", " + raw(2) + ", " + raw(given - 1) + ");";
        return true;
    }

    bool bulk()
    {
        if (word(2) == "commit_group")
            made_ = "emu_bulk_commit();";
        if (word(2) == "wait_group" && count(1, 1)) // also with .read
            made_ = "emu_bulk_wait((emu_u32)" + raw(0) + ");";
        if (!made_.empty() || word(2) == "prefetch")
            return true;
        if (has("multicast::cluster") || has("cta_group::1") || has("cta_group::2"))
            return false;
        if (word(2) == "tensor")
            return words_.size() > 4 && tensor();
        bool to_block = word(2) == "shared::cluster" && word(3) == "shared::cta"; // in the same cluster
        bool loads =
            to_block || ((word(2) == "shared::cluster" || word(2) == "shared::cta") && word(3) == "global");
        bool stores = word(2) == "global" && word(3) == "shared::cta";
        if ((!loads && !stores) || operands_.size() < (loads ? 4u : 3u))
            return false;
        std::string from = address(1);
        if (to_block)
            from = "(emu_u64)__cvta_shared_to_generic(" + from + ")";
        made_ = "emu_bulk_copy(" + address(0) + ", " + from + ", (emu_u32)" + raw(2) + ", " +
                (loads ? address(3) : "0") + ", " + (loads ? "1" : "0") + ");";
        return true;
    }

    // Returns the vector {%2, %3} as members of an array; `size` becomes its length.
    std::string numbers(const std::string& text, size_t* size)
    {
        std::string list;
        PtxWords values = vector(text, false);
        for (const std::string& value : values)
            list += (list.empty() ? "(emu_i32)" : ", (emu_i32)") + value;
        *size = values.size();
        return list;
    }

    // cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [to], [map, {x, y}], [barrier]
    bool tensor()
    {
        const std::string axes = word(3);
        if (axes.size() != 2 || axes[1] != 'd' || axes[0] < '1' || axes[0] > '5' || operands_.size() < 2)
            return false;
        bool loads = (word(4) == "shared::cluster" || word(4) == "shared::cta") && has("global");
        bool stores = word(4) == "global" && has("shared::cta");
        for (const std::string& word : words_)
            if (word.compare(0, 4, "tile") == 0 ? word != "tile"
                                                : word.compare(0, 6, "im2col") == 0 && word != "im2col")
                return false;
        bool columns = has("im2col");
        if (stores && columns)
            return false;
        size_t size = 0, more = 0;
        const std::string& named = operands_[stores ? 0 : 1];
        size_t comma = named.find(',');
        if (named.empty() || named.back() != ']' || comma == named.npos)
            return false;
        std::string map = names_.address(named.substr(0, comma) + "]");
        std::string place = numbers(trimmed(named.substr(comma + 1, named.size() - comma - 2)), &size);
        std::string shared = address(stores ? 1 : 0);
        if (map.empty() || size != size_t(axes[0] - '0'))
            return false;
        made_ = "const emu_i32 emu_place[] = {" + place + "}; ";
        std::string number = axes.substr(0, 1) + "u, ";
        if (stores) {
            made_ += operation_.empty() ? "emu_tensor_store(" + number + map + ", emu_place, " + shared + ");"
                                        : "emu_tensor_reduce(" + number + map + ", emu_place, " + shared +
                                              ", ::emu::ptx::reduce_element<'" + operation_ + "'>);";
            return true;
        }
        if (!operation_.empty())
            return false;
        std::string barrier = address(2), offsets = columns && operands_.size() > 3 ? numbers(operands_[3], &more) : "";
        if (!loads || (columns && more + 2 != size))
            return false;
        if (columns)
            made_ += "const emu_i32 emu_offsets[] = {" + offsets + "}; ";
        made_ += "emu_tensor_load(" + number + shared + ", " + map + ", emu_place, " + barrier + ", " +
                 (columns ? "emu_offsets" : "nullptr") + ");";
        return true;
    }

    // cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [map, {x, y}], [from]
    bool reduce_tensor()
    {
        static const auto& operations = *new std::map<std::string, const char*>{
            {"add", "+"}, {"min", "<"}, {"max", ">"}, {"inc", "i"}, {"dec", "d"}, {"and", "&"}, {"or", "|"}, {"xor", "^"}};
        take("reduce");
        std::string word = take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
        operation_ = word.empty() ? "" : operations.at(word);
        return !word.empty() && words_.size() > 4 && tensor();
    }

    // Removes the words of an asynchronous store or reduction, and returns its type.
    std::string take_async()
    {
        for (const char* word : {"async", "weak", "relaxed", "cluster", "shared::cluster"})
            take(word);
        return take("mbarrier::complete_tx::bytes") && count(3, 3) ? take_type() : "";
    }

    // st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [at], {a, b}, [barrier]
    bool store()
    {
        std::string type = take_async(), size = take_one_of({"v2", "v4"});
        size_t width = type.size() == 3 ? size_t(std::stoi(type.substr(1)) / 8) : 0;
        if ((width != 4 && width != 8) || !words_.empty() || (width == 8 && size == "v4"))
            return false;
        size_t parts = size.empty() ? 1 : size_t(size[1] - '0');
        PtxWords values = size.empty() ? PtxWords{raw(1)} : vector(operands_[1], false);
        std::string list;
        for (const std::string& value : values)
            list += (list.empty() ? "" : ", ") + value;
        made_ = "const emu_u64 emu_v[] = {" + list + "}; ::emu::ptx::store<" + type_of(type) + ", " +
                std::to_string(parts) + ">(" + address(0) + ", true, emu_v); " + complete(parts * width);
        return values.size() == parts;
    }
    std::string complete(size_t bytes)
    {
        return "emu_mbarrier_complete(" + address(2) + ", " + std::to_string(bytes) + ");";
    }

    // red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [at], value, [barrier]
    bool reduce()
    {
        static const auto& operations = *new std::map<std::string, std::pair<const char*, const char*>>{
            {"add", {"Add", "u32 s32 u64"}}, {"min", {"Min", "u32 s32"}}, {"max", {"Max", "u32 s32"}},
            {"inc", {"Inc", "u32"}},         {"dec", {"Dec", "u32"}},     {"and", {"And", "b32"}},
            {"or", {"Or", "b32"}},           {"xor", {"Xor", "b32"}}};
        std::string type = take_async(), operation = take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
        if (operation.empty() || !has_word(operations.at(operation).second, type) || !words_.empty())
            return false;
        made_ = std::string("::atomic") + operations.at(operation).first + "(::emu::ptx::pointer<" + type_of(type) +
                ">(" + address(0) + ", true), " + as(1, type) + "); " + complete(type == "u64" ? 8 : 4);
        return true;
    }

    // tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 0, value
    // tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [to], [from], 128
    bool tensor_map()
    {
        static const auto& fields = *new std::map<std::string, const char*>{
            {"global_address", "EMU_MAP_ADDRESS"}, {"rank", "EMU_MAP_RANK"},
            {"box_dim", "EMU_MAP_TILE"},           {"global_dim", "EMU_MAP_EXTENT"},
            {"global_stride", "EMU_MAP_PITCH"},    {"element_stride", "EMU_MAP_STEP"},
            {"elemtype", "EMU_MAP_TYPE"},          {"interleave_layout", "EMU_MAP_INTERLEAVE"},
            {"swizzle_mode", "EMU_MAP_SWIZZLE"},   {"fill_mode", "EMU_MAP_FILL"}};
        if (word(0) == "cp_fenceproxy") {
            made_ = "::emu::ptx::copy_tensor_map(" + address(0) + ", " + address(1) + ");";
            return has("global") && has("shared::cta") && has("aligned") && count(3, 3) &&
                   std::strtoul(operands_[2].c_str(), nullptr, 0) == 128;
        }
        auto field = fields.find(word(2));
        if (word(0) != "replace" || word(1) != "tile" || field == fields.end() || !has("b1024") || !count(2, 3))
            return false;
        bool is_pitch = word(2) == "global_stride", is_shared = has("shared::cta");
        // Compilers pass pitches in units of 16 bytes to the assembler of PTX 8.5 and earlier, which did not divide them.
        bool is_divided = is_pitch && names_.version && names_.version < 86;
        made_ = "emu_tensor_map_replace((emu_u64)::emu::ptx::pointer<char>(" + address(0) +
                (is_shared ? ", true), " : ", false), ") + field->second + ", " +
                (count(3, 3) ? "(emu_u32)" + raw(1) : "0") + ", " + raw(operands_.size() - 1) +
                (is_divided ? " << 4" : "") + ");";
        return true;
    }

    std::string operation_; // of a reduction
};

} // namespace

bool is_reduction_of_tensor(const PtxWords& code)
{
    return code.size() > 4 && code[1] == "reduce" && code[4] == "tensor";
}

bool is_copies(const PtxWords& code)
{
    static const auto& names = *new std::set<std::string>{"mbarrier", "fence", "membar", "tensormap"};
    bool is_async = code.size() > 1 && code[1] == "async";
    bool reduces = code[0] == "cp" && is_reduction_of_tensor(code);
    return reduces || names.count(code[0]) || (is_async && (code[0] == "cp" || code[0] == "st" || code[0] == "red"));
}

bool translate_copies(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    return Copies(code, operands, names).translate(made);
}

} // namespace emu::front
