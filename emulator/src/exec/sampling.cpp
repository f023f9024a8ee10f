// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "sampling.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace emu::exec {
namespace {

constexpr int fraction_bits = 8;
constexpr float fraction_steps = 1 << fraction_bits;
constexpr double far = 1e9; // larger coordinates read the same value as this one

int dimensions_of(uint32_t kind)
{
    switch (kind) {
    case EMU_TEXTURE_1D:
    case EMU_TEXTURE_1D_LAYERED: return 1;
    case EMU_TEXTURE_3D: return 3;
    default: return 2;
    }
}

bool is_cube(uint32_t kind)
{
    return kind == EMU_TEXTURE_CUBE || kind == EMU_TEXTURE_CUBE_LAYERED;
}

float from_half(uint16_t half)
{
    uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff;
    if (exponent == 0) {
        float value = std::ldexp(float(fraction), -24);
        return sign ? -value : value;
    }
    uint32_t bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | fraction << 13;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

float from_srgb(float value)
{
    return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

template <class T> T read_as(const std::byte* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// Projects a direction onto the cube: the face, and the position on it, from -1 to 1.
int to_face(const float (&d)[3], float* s, float* t)
{
    float x = std::fabs(d[0]), y = std::fabs(d[1]), z = std::fabs(d[2]);
    if (x >= y && x >= z) {
        *s = (d[0] >= 0 ? -d[2] : d[2]) / x, *t = -d[1] / x;
        return d[0] >= 0 ? 0 : 1;
    }
    if (y >= z) {
        *s = d[0] / y, *t = (d[1] >= 0 ? d[2] : -d[2]) / y;
        return d[1] >= 0 ? 2 : 3;
    }
    *s = (d[2] >= 0 ? d[0] : -d[0]) / z, *t = -d[1] / z;
    return d[2] >= 0 ? 4 : 5;
}

void from_face(int face, float s, float t, float (&d)[3])
{
    const float all[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
    std::copy(all[face], all[face] + 3, d);
}

int64_t clamped(int64_t index, int64_t extent)
{
    return std::min(std::max<int64_t>(index, 0), extent - 1);
}

// Hardware treats the layer index as unsigned, so a negative index means the last layer.
int64_t layer_of(int32_t index, uint32_t count)
{
    return std::min(uint32_t(index), count - 1);
}

// The distance between two adjacent reads, in elements along each axis.
struct Step {
    double by[3] = {0, 0, 0};
    bool leaves_face = false;
};

// Returns the length of a step in elements. Like hardware, approximates it by the longest component plus fixed
// fractions of the shorter ones.
double length_of(const Step& step)
{
    double parts[3] = {std::fabs(step.by[0]), std::fabs(step.by[1]), std::fabs(step.by[2])};
    std::sort(parts, parts + 3, std::greater<double>());
    return parts[0] + parts[1] * 11 / 32 + parts[2] / 4;
}

// Returns the longest of both steps and the two directions halfway between them, which are weighted by 11/16 instead of
// the square root of 1/2.
double reach_of(const Step& x, const Step& y)
{
    Step sum, difference;
    for (int i = 0; i < 3; ++i)
        sum.by[i] = x.by[i] + y.by[i], difference.by[i] = x.by[i] - y.by[i];
    double longest = std::max(length_of(x), length_of(y));
    if (x.leaves_face || y.leaves_face)
        return longest;
    return std::max(longest, std::max(length_of(sum), length_of(difference)) * 11 / 16);
}

// Returns the step on the faces of a cube of `size` elements for a change of direction. If it leaves a face, the next
// face is unfolded beside it.
Step step_on_cube(const float (&at)[3], const float (&change)[3], uint32_t size)
{
    auto longest = [](const double (&d)[3]) {
        int axis = std::fabs(d[0]) >= std::fabs(d[1]) ? 0 : 1;
        return std::fabs(d[axis]) >= std::fabs(d[2]) ? axis : 2;
    };
    double from[3], to[3];
    for (int i = 0; i < 3; ++i)
        from[i] = at[i], to[i] = double(at[i]) + change[i];
    int a = longest(from), b = longest(to);
    double sign_a = from[a] < 0 ? -1 : 1, sign_b = to[b] < 0 ? -1 : 1, scale_a = std::fabs(from[a]),
           scale_b = std::fabs(to[b]);
    for (int i = 0; i < 3; ++i)
        from[i] /= scale_a, to[i] /= scale_b;
    Step out;
    out.leaves_face = a != b || sign_a != sign_b;
    for (int i = 0; i < 3; ++i)
        out.by[i] = i == a || i == b ? 0 : (to[i] - from[i]) * size / 2;
    if (a != b)
        out.by[b] = (2 - sign_b * from[b] - sign_a * to[a]) * size / 2;
    else if (out.leaves_face)
        out.by[a] = 2.0 * size; // a step across a whole face
    return out;
}

} // namespace

Sampler::Sampler(const Texture& texture, EmuTextureCall& call, IsReadable is_readable)
    : texture_(texture), call_(call), is_readable_(is_readable)
{
}

bool Sampler::gives_integers() const
{
    bool number = texture_.format == CU_AD_FORMAT_HALF || texture_.format == CU_AD_FORMAT_FLOAT;
    return !number &&
           (texture_.sampling.flags & CU_TRSF_READ_AS_INTEGER || texture_.element_bytes == 4 * texture_.channels);
}

// Coordinates of mipmapped textures count as normalized, whatever the description says, because levels differ in size.
bool Sampler::is_normalized() const
{
    return texture_.is_mipmapped || texture_.sampling.flags & CU_TRSF_NORMALIZED_COORDINATES;
}

// Wrapping and mirroring exist for normalized coordinates only.
CUaddress_mode Sampler::address_mode(int axis) const
{
    CUaddress_mode mode = texture_.sampling.addressMode[axis];
    bool repeats = mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR;
    bool can_repeat = texture_.sampling.flags & CU_TRSF_NORMALIZED_COORDINATES;
    return repeats && !can_repeat ? CU_TR_ADDRESS_MODE_CLAMP : mode;
}

void Sampler::read()
{
    if (call_.kind == EMU_TEXTURE_FETCH)
        return fetch();
    if (call_.kind == EMU_TEXTURE_GATHER)
        return gather();
    Texel texel = at_levels();
    std::memcpy(call_.words, texel.words, sizeof call_.words);
}

// Reads by integer index. Outside linear memory the result is zero; outside an array the addressing mode decides.
void Sampler::fetch()
{
    const Texels& level = texture_.levels[0];
    Texel texel{};
    if (texture_.shape != TexelShape::linear)
        texel = element(level, {call_.index, 0, 0}, 1);
    else if (uint32_t(call_.index) < level.width)
        texel = load(level, call_.index, 0, 0);
    std::memcpy(call_.words, texel.words, sizeof call_.words);
}

// Reads one channel of the four elements that a linear filter would combine.
void Sampler::gather()
{
    const Texels& level = texture_.levels[0];
    auto first = [&](float coordinate, uint32_t extent) {
        double place = double(coordinate) * (is_normalized() ? extent : 1);
        place = std::isfinite(place) ? std::min(std::max(place, -far), far) : 0;
        return int64_t(std::floor(std::floor(place * fraction_steps + 0.5) / fraction_steps - 0.5));
    };
    int64_t x = first(call_.at[0], level.width), y = first(call_.at[1], level.height);
    const Place places[4] = {{x, y + 1, 0}, {x + 1, y + 1, 0}, {x + 1, y, 0}, {x, y, 0}};
    for (int i = 0; i < 4; ++i)
        call_.words[i] = element(level, places[i], 2).words[call_.index & 3].bits;
}

// --------------------------------------------------------------------------------- levels

float Sampler::level_of_detail() const
{
    float level = call_.level_kind == EMU_LEVEL_GIVEN       ? call_.level
                  : call_.level_kind == EMU_LEVEL_GRADIENTS ? level_of_gradients()
                                                            : 0;
    const CUDA_TEXTURE_DESC& s = texture_.sampling;
    level = std::min(std::max(level + s.mipmapLevelBias, s.minMipmapLevelClamp), s.maxMipmapLevelClamp);
    float last = float(texture_.levels.size() - 1);
    return level > 0 ? std::min(level, last) : 0; // NaN also becomes 0
}

// The ellipse that a pixel covers according to its gradients, in elements of the first level, and its axes.
struct Footprint {
    double longer = 0, shorter = 0;
    float along_x = 1, along_y = 0; // direction of the longer axis, in terms of the two gradients
};

static Footprint footprint(const EmuTextureCall& call, const Texels& base, bool normalized)
{
    const float extents[2] = {float(base.width), float(base.height)};
    double xx = 0, yy = 0, xy = 0;
    for (int i = 0; i < 2; ++i) {
        double scale = normalized ? extents[i] : 1;
        double x = call.dx[i] * scale, y = call.dy[i] * scale;
        xx += x * x, yy += y * y, xy += x * y;
    }
    double middle = (xx + yy) / 2, spread = std::hypot((xx - yy) / 2, xy), angle = std::atan2(2 * xy, xx - yy) / 2;
    Footprint out;
    out.longer = std::sqrt(middle + spread);
    out.shorter = std::sqrt(std::max(middle - spread, 0.0));
    out.along_x = float(std::cos(angle)), out.along_y = float(std::sin(angle));
    return out;
}

float Sampler::level_of_gradients() const
{
    const Texels& base = texture_.levels[0];
    float step;
    if (anisotropic_samples(&step) > 1) {
        Footprint covered = footprint(call_, base, is_normalized());
        return float(std::log2(std::max(covered.shorter, covered.longer / most_samples())));
    }
    if (is_cube(call_.kind))
        return float(std::log2(
            reach_of(step_on_cube(call_.at, call_.dx, base.width), step_on_cube(call_.at, call_.dy, base.width))));
    const double scales[3] = {double(base.width), double(base.height), double(base.depth)};
    Step x, y;
    for (int i = 0; i < dimensions_of(call_.kind); ++i) {
        double scale = is_normalized() ? scales[i] : 1;
        x.by[i] = call_.dx[i] * scale, y.by[i] = call_.dy[i] * scale;
    }
    return float(std::log2(reach_of(x, y)));
}

// The largest power of two up to maxAnisotropy, because hardware rounds down.
uint32_t Sampler::most_samples() const
{
    uint32_t most = 1;
    while (most < 16 && 2 * most <= texture_.sampling.maxAnisotropy)
        most *= 2;
    return most;
}

// Returns the number of samples along the longer axis, and the distance between them as a fraction of it.
int Sampler::anisotropic_samples(float* step) const
{
    *step = 0;
    uint32_t most = most_samples();
    if (most < 2 || call_.level_kind != EMU_LEVEL_GRADIENTS || call_.kind != EMU_TEXTURE_2D)
        return 1;
    Footprint covered = footprint(call_, texture_.levels[0], is_normalized());
    if (!(covered.longer > 0) || !std::isfinite(covered.longer))
        return 1;
    double ratio = covered.shorter > 0 ? std::ceil(covered.longer / covered.shorter) : double(most);
    int count = std::max(int(std::min(ratio, double(most))), 1);
    *step = 1 / float(count);
    return count;
}

Sampler::Texel Sampler::at_levels()
{
    float step;
    int samples = anisotropic_samples(&step);
    float detail = level_of_detail();
    bool mixes = texture_.sampling.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR && !gives_integers();
    size_t first = size_t(mixes ? detail : detail + 0.5f);
    float weight = mixes ? std::floor((detail - float(first)) * fraction_steps) / fraction_steps : 0;
    auto at_sample = [&] {
        if (weight == 0)
            return in_level(texture_.levels[first]);
        Texel sum{};
        add(&sum, in_level(texture_.levels[first]), 1 - weight);
        add(&sum, in_level(texture_.levels[first + 1]), weight);
        return sum;
    };
    if (samples == 1 || gives_integers())
        return at_sample();
    Footprint covered = footprint(call_, texture_.levels[0], is_normalized());
    Texel sum{};
    for (int i = 0; i < samples; ++i) {
        float along = (float(i) + 0.5f) * step - 0.5f;
        for (int axis = 0; axis < 2; ++axis)
            shift_[axis] = (covered.along_x * call_.dx[axis] + covered.along_y * call_.dy[axis]) * along;
        add(&sum, at_sample(), step);
    }
    return sum;
}

// -------------------------------------------------------------------------- within a level

Sampler::Texel Sampler::in_level(const Texels& level)
{
    if (is_cube(call_.kind))
        return in_face(level);
    int dimensions = dimensions_of(call_.kind);
    const uint32_t extents[3] = {level.width, level.height, level.depth};
    Axis axes[3];
    for (int i = 0; i < dimensions; ++i)
        axes[i] = axis(call_.at[i] + shift_[i], extents[i], i);
    bool layered = call_.kind == EMU_TEXTURE_1D_LAYERED || call_.kind == EMU_TEXTURE_2D_LAYERED;
    return filter(level, axes, dimensions, layered ? layer_of(call_.layer, level.depth) : 0);
}

// The first of two adjacent elements (or the only one) along an axis, and the weight of the second.
Sampler::Axis Sampler::axis(float coordinate, uint32_t extent, int number) const
{
    double place = coordinate;
    if (is_normalized()) {
        CUaddress_mode mode = address_mode(number);
        if (mode == CU_TR_ADDRESS_MODE_WRAP)
            place -= std::floor(place);
        else if (mode == CU_TR_ADDRESS_MODE_MIRROR)
            place -= 2 * std::floor(place / 2);
        place *= extent;
    }
    place = std::isnan(place) ? 0 : std::min(std::max(place, -far), far);
    Axis out;
    if (!is_linear()) {
        out.first = int64_t(std::floor(place));
        return out;
    }
    auto fixed = int64_t(std::floor((place - 0.5) * fraction_steps + 0.5));
    out.first = fixed >> fraction_bits;
    out.weight = float(fixed & ((1 << fraction_bits) - 1)) / fraction_steps;
    return out;
}

int64_t Sampler::resolve(int64_t index, uint32_t extent, int number) const
{
    CUaddress_mode mode = address_mode(number);
    int64_t size = extent;
    if (index >= 0 && index < size)
        return index;
    if (mode == CU_TR_ADDRESS_MODE_BORDER)
        return -1;
    if (mode == CU_TR_ADDRESS_MODE_WRAP)
        return (index % size + size) % size;
    if (mode == CU_TR_ADDRESS_MODE_MIRROR) {
        int64_t place = (index % (2 * size) + 2 * size) % (2 * size);
        return place < size ? place : 2 * size - 1 - place;
    }
    return clamped(index, size);
}

// Reads an element of a one-, two- or three-dimensional texture. Coordinates beyond the dimensions, such as a layer,
// are used unchanged.
Sampler::Texel Sampler::element(const Texels& level, Place place, int dimensions)
{
    place.x = resolve(place.x, level.width, 0);
    if (dimensions > 1)
        place.y = resolve(place.y, level.height, 1);
    if (dimensions > 2)
        place.z = resolve(place.z, level.depth, 2);
    if (place.x < 0 || place.y < 0 || place.z < 0)
        return border();
    return load(level, place.x, place.y, place.z);
}

Sampler::Texel Sampler::filter(const Texels& level, const Axis (&axes)[3], int dimensions, int64_t slice)
{
    auto place = [&](int corner) {
        Place out{axes[0].first + (corner & 1), axes[1].first + (corner >> 1 & 1), axes[2].first + (corner >> 2 & 1)};
        if (dimensions < 2)
            out.y = 0;
        if (dimensions < 3)
            out.z = slice;
        return out;
    };
    if (!is_linear())
        return element(level, place(0), dimensions);
    Texel sum{};
    for (int corner = 0; corner < 1 << dimensions; ++corner) {
        float weight = 1;
        for (int i = 0; i < dimensions; ++i)
            weight *= corner >> i & 1 ? axes[i].weight : 1 - axes[i].weight;
        if (weight > 0)
            add(&sum, element(level, place(corner), dimensions), weight);
    }
    return call_.kind == EMU_TEXTURE_1D ? beside_row(sum) : sum;
}

// Hardware reads a one-dimensional texture as an image with one row, at this row's upper edge: half of a linearly
// filtered value comes from the row above, which is the same row unless the second axis uses border addressing.
Sampler::Texel Sampler::beside_row(const Texel& row) const
{
    if (texture_.sampling.addressMode[1] != CU_TR_ADDRESS_MODE_BORDER)
        return row;
    Texel sum{};
    add(&sum, row, 0.5f);
    add(&sum, border(), 0.5f);
    return sum;
}

void Sampler::add(Texel* sum, const Texel& texel, float weight)
{
    for (int i = 0; i < 4; ++i)
        sum->words[i].number += weight * texel.words[i].number;
}

// ------------------------------------------------------------------------------------ cubes

Sampler::Texel Sampler::in_face(const Texels& level)
{
    float s, t;
    int face = to_face(call_.at, &s, &t);
    int64_t size = level.width;
    int64_t first_face = call_.kind == EMU_TEXTURE_CUBE_LAYERED ? 6 * layer_of(call_.layer, level.depth / 6) : 0;
    double place[2] = {(double(s) + 1) / 2 * double(size), (double(t) + 1) / 2 * double(size)};
    for (double& one : place)
        one = std::isfinite(one) ? one : 0;
    if (!is_linear())
        return load(level, clamped(int64_t(place[0]), size), clamped(int64_t(place[1]), size), first_face + face);
    auto x = int64_t(std::floor((place[0] - 0.5) * fraction_steps + 0.5));
    auto y = int64_t(std::floor((place[1] - 0.5) * fraction_steps + 0.5));
    float weights[2] = {float(x & 255) / fraction_steps, float(y & 255) / fraction_steps};
    Texel sum{};
    for (int corner = 0; corner < 4; ++corner) {
        float weight = (corner & 1 ? weights[0] : 1 - weights[0]) * (corner & 2 ? weights[1] : 1 - weights[1]);
        if (weight > 0)
            add(&sum, across_edges(level, face, (x >> 8) + (corner & 1), (y >> 8) + (corner >> 1), first_face), weight);
    }
    return sum;
}

// Reads an element past the edge of a face of a seamless cube, which belongs to the adjacent face. At a corner, where
// three faces meet, the result is the mean of their elements.
Sampler::Texel Sampler::across_edges(const Texels& level, int face, int64_t x, int64_t y, int64_t first_face)
{
    int64_t size = level.width, inner_x = clamped(x, size), inner_y = clamped(y, size);
    bool seamless = texture_.sampling.flags & CU_TRSF_SEAMLESS_CUBEMAP;
    if (!seamless || (x == inner_x && y == inner_y))
        return load(level, inner_x, inner_y, first_face + face);
    if (x != inner_x && y != inner_y) {
        Texel sum{};
        add(&sum, load(level, inner_x, inner_y, first_face + face), 1.0f / 3);
        add(&sum, across_edges(level, face, x, inner_y, first_face), 1.0f / 3);
        add(&sum, across_edges(level, face, inner_x, y, first_face), 1.0f / 3);
        return sum;
    }
    float direction[3], s, t;
    from_face(face, float(2 * x + 1) / float(size) - 1, float(2 * y + 1) / float(size) - 1, direction);
    int other = to_face(direction, &s, &t);
    auto index = [&](float place) { return clamped(int64_t(std::floor((place + 1) / 2 * float(size))), size); };
    return load(level, index(s), index(t), first_face + other);
}

// ---------------------------------------------------------------------------------- elements

Sampler::Texel Sampler::load(const Texels& level, int64_t x, int64_t y, int64_t z)
{
    const std::byte* at =
        level.at + size_t(z) * level.slice + size_t(y) * level.pitch + size_t(x) * texture_.element_bytes;
    Texel out{};
    if (texture_.is_checked && is_readable_ &&
        !is_readable_(texture_.device, reinterpret_cast<uintptr_t>(at), texture_.element_bytes)) {
        unreadable_ = reinterpret_cast<uintptr_t>(at);
        return out;
    }
    for (uint32_t channel = 0; channel < texture_.channels; ++channel)
        out.words[channel] = decode(at, channel);
    return out;
}

Sampler::Word Sampler::decode(const std::byte* at, uint32_t channel) const
{
    Word word{};
    bool raw = gives_integers();
    at += channel * (texture_.element_bytes / texture_.channels);
    auto scaled = [&](int64_t value, float largest) {
        if (raw)
            word.integer = int32_t(value);
        else
            word.number = std::max(float(value) / largest, -1.0f);
        return word;
    };
    switch (texture_.format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        scaled(read_as<uint8_t>(at), 255);
        if (!raw && texture_.sampling.flags & CU_TRSF_SRGB && channel < 3)
            word.number = from_srgb(word.number);
        return word;
    case CU_AD_FORMAT_SIGNED_INT8: return scaled(read_as<int8_t>(at), 127);
    case CU_AD_FORMAT_UNSIGNED_INT16: return scaled(read_as<uint16_t>(at), 65535);
    case CU_AD_FORMAT_SIGNED_INT16: return scaled(read_as<int16_t>(at), 32767);
    case CU_AD_FORMAT_HALF: word.number = from_half(read_as<uint16_t>(at)); return word;
    default: word.bits = read_as<uint32_t>(at); return word;
    }
}

Sampler::Texel Sampler::border() const
{
    Texel out{};
    for (uint32_t channel = 0; channel < texture_.channels; ++channel)
        out.words[channel].number = texture_.sampling.borderColor[channel]; // for integer formats: their bits
    return out;
}

} // namespace emu::exec
