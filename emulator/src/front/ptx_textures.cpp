// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Texture reads, surface accesses, and queries of both. The objects are 64-bit numbers.
#include <map>

#include "ptx_instruction.hpp"
#include "ptx_operands.hpp"

namespace emu::front {
namespace {

// A geometry: its name in EmuTextureKind, its axes, and the number of values in a coordinate vector, the first of which
// may be a layer.
struct Geometry {
    const char* kind;
    size_t axes, numbers;
    bool has_layer;
};
const std::map<std::string, Geometry> geometries = {{"1d", {"1D", 1, 1, false}},
                                                    {"2d", {"2D", 2, 2, false}},
                                                    {"3d", {"3D", 3, 4, false}},
                                                    {"a1d", {"1D_LAYERED", 1, 2, true}},
                                                    {"a2d", {"2D_LAYERED", 2, 4, true}},
                                                    {"cube", {"CUBE", 3, 4, false}},
                                                    {"acube", {"CUBE_LAYERED", 3, 4, true}}};

class Images : PtxInstruction {
public:
    using PtxInstruction::PtxInstruction;

    bool translate(std::string* made)
    {
        bool done = name_ == "txq" || name_ == "suq"    ? query()
                    : name_ == "tex" || name_ == "tld4" ? read()
                                                        : (name_ == "suld" || name_ == "sust") && surface();
        *made = made_;
        return done && !failed_ && words_.empty();
    }

private:
    const Geometry* take_geometry()
    {
        for (const auto& [word, geometry] : geometries)
            if (take(word))
                return &geometry;
        return nullptr;
    }
    // {x, y} or x
    PtxWords list(const std::string& text, bool is_target = false)
    {
        if (!text.empty() && text[0] == '{')
            return vector(text, is_target);
        std::string one = is_target ? target(text) : names_.value(text);
        failed_ = failed_ || one.empty();
        return {one};
    }
    // [object, {x, y}]
    bool take_place(const std::string& text, size_t count, std::string* object, PtxWords* place)
    {
        if (text.size() < 2 || text[0] != '[')
            return false;
        PtxWords parts = split_operands(text.substr(1, text.size() - 2));
        if (parts.size() != 2)
            return false;
        *object = names_.value(parts[0]);
        *place = list(parts[1]);
        return !object->empty() && place->size() == count;
    }
    static std::string number(const std::string& bits) { return "::emu::ptx::as<float>(" + bits + ")"; }

    // tex.level.2d.v4.f32.f32 {d...}, [t, {x, y}], level; tld4.r.2d.v4.f32.f32 {d...}, [t, {x, y}]
    bool read()
    {
        bool gathers = name_ == "tld4", has_level = take("level"), has_gradients = !has_level && take("grad");
        std::string component = gathers ? take_one_of({"r", "g", "b", "a"}) : "";
        if (!has_level && !has_gradients)
            take("base");
        const Geometry* geometry = take_geometry();
        std::string by = take_type(), type = take_type(), object;
        size_t expected = has_gradients ? 4 : has_level ? 3 : 2;
        bool fetches = by == "s32" && geometry && geometry->numbers == 1 && expected == 2 && !gathers;
        PtxWords place, ds;
        if (!geometry || !take("v4") || (by != "f32" && !fetches) ||
            (type != "f32" && type != "s32" && type != "u32") || !count(expected, expected) ||
            gathers != !component.empty() || (gathers && geometry->axes != 2) ||
            !take_place(operands_[1], geometry->numbers, &object, &place))
            return false;
        ds = list(operands_[0], true);
        made_ = "EmuTextureCall emu_call = {}; emu_call.texture = " + object + "; emu_call.kind = EMU_TEXTURE_" +
                (fetches   ? "FETCH"
                 : gathers ? "GATHER"
                           : geometry->kind) +
                "; ";
        if (gathers)
            made_ += "emu_call.index = " + std::to_string(std::string("rgba").find(component)) + "; ";
        if (fetches)
            made_ += "emu_call.index = (emu_i32)" + place[0] + "; ";
        else
            coordinates(*geometry, place);
        if (has_level)
            made_ += "emu_call.level_kind = EMU_LEVEL_GIVEN; emu_call.level = " + number(raw(2)) + "; ";
        if (has_gradients && (!gradients(*geometry, 2, "dx") || !gradients(*geometry, 3, "dy")))
            return false;
        made_ += "emu_call.file = __builtin_FILE(); emu_call.line = __builtin_LINE(); emu_texture_read(&emu_call);";
        for (size_t i = 0; i < ds.size(); ++i)
            made_ += " " + ds[i] + " = emu_call.words[" + std::to_string(i) + "];";
        return ds.size() == 4;
    }
    void coordinates(const Geometry& geometry, const PtxWords& place)
    {
        if (geometry.has_layer)
            made_ += "emu_call.layer = (emu_i32)" + place[0] + "; ";
        for (size_t i = 0; i < geometry.axes; ++i)
            made_ += "emu_call.at[" + std::to_string(i) + "] = " + number(place[i + geometry.has_layer]) + "; ";
    }
    bool gradients(const Geometry& geometry, size_t operand, const std::string& name)
    {
        PtxWords steps = list(operands_[operand]);
        made_ += "emu_call.level_kind = EMU_LEVEL_GRADIENTS; ";
        for (size_t i = 0; i < geometry.axes && i < steps.size(); ++i)
            made_ += "emu_call." + name + "[" + std::to_string(i) + "] = " + number(steps[i]) + "; ";
        return steps.size() == (geometry.axes == 3 ? 4 : geometry.axes);
    }

    // suld.b.2d.v2.b32.trap {d, e}, [s, {x, y}]; sust.b.2d.v2.b32.clamp [s, {x, y}], {a, b}
    bool surface()
    {
        bool loads = name_ == "suld";
        take_one_of({"ca", "cg", "cs", "cv", "wb", "wt"});
        std::string limit = take_one_of({"trap", "clamp", "zero"}), size = take_one_of({"v2", "v4"}), object;
        const Geometry* geometry = take_geometry();
        bool is_right = geometry && geometry->kind[0] != 'C' && take("b") && count(2, 2);
        PtxWords place;
        std::string type = take_type();
        size_t count = size.empty() ? 1 : size_t(size[1] - '0');
        if (!is_right || type.empty() || type[0] != 'b' || count * std::stoul(type.substr(1)) > 128 ||
            !take_place(operands_[loads ? 1 : 0], geometry->numbers, &object, &place))
            return false;
        PtxWords values = list(operands_[loads ? 0 : 1], loads);
        auto coordinate = [&](size_t i) { return "(emu_i32)" + place[i + geometry->has_layer]; };
        std::string mode = limit == "zero" ? "Zero" : limit == "clamp" ? "Clamp" : "Trap";
        std::string call = "emu_access_surface(" + object + ", EMU_SURFACE_" + geometry->kind + ", cudaBoundaryMode" +
                           mode + ", " + coordinate(0) + ", " + (geometry->axes > 1 ? coordinate(1) : "0") + ", " +
                           (geometry->has_layer  ? "(emu_i32)" + place[0]
                            : geometry->axes > 2 ? coordinate(2)
                                                 : "0") +
                           ", emu_v, sizeof emu_v, " + (loads ? "0" : "1") + ", __builtin_FILE(), __builtin_LINE());";
        made_ = type_of(type) + " emu_v[" + std::to_string(count) + "]; " + (loads ? call : "");
        for (size_t i = 0; i < values.size(); ++i) {
            std::string element = "emu_v[" + std::to_string(i) + "]";
            made_ += loads ? " " + values[i] + " = " + element + ";"
                           : element + " = (" + type_of(type) + ")" + values[i] + "; ";
        }
        made_ += loads ? "" : call;
        return values.size() == count;
    }

    // txq.width.b32 d, [t]; txq.level.width.b32 d, [t], level; suq.height.b32 d, [s]
    bool query()
    {
        bool is_texture = name_ == "txq", has_level = is_texture && take("level");
        PtxWords known = {"width", "height", "depth", "array_size"};
        if (is_texture && !has_level)
            known.push_back("num_mipmap_levels");
        std::string what = take_one_of(known), at = operands_.size() > 1 ? operands_[1] : "";
        if (what.empty() || !take("b32") || !count(has_level ? 3 : 2, has_level ? 3 : 2) || at.size() < 3 ||
            at[0] != '[')
            return false;
        std::string object = names_.value(trimmed(at.substr(1, at.size() - 2)));
        std::string level = has_level ? "(emu_u32)" + raw(2) : "0";
        std::transform(what.begin(), what.end(), what.begin(), ::toupper);
        made_ = target(operands_[0]) + " = emu_image_query(" + object + ", " + (is_texture ? "0" : "1") +
                ", EMU_IMAGE_" + what + ", " + level + ");";
        return !object.empty();
    }
};

} // namespace

bool is_image(const PtxWords& code)
{
    static const auto& names = *new PtxWords{"tex", "tld4", "txq", "suld", "sust", "suq", "sured"};
    return std::find(names.begin(), names.end(), code[0]) != names.end();
}

bool translate_image(const PtxWords& code, const PtxWords& operands, const PtxNames& names, std::string* made)
{
    return Images(code, operands, names).translate(made);
}

} // namespace emu::front
