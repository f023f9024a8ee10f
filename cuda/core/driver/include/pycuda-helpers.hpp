// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Floating-point and complex elements of textures and surfaces. Types that textures do not support are split into
// 32-bit channels, as arranged by np_to_array(), gpuarray_to_array() and bind_to_texref_ext().
#pragma once
#include <pycuda-complex.hpp>
#include <driver_textures.h>

extern "C++" {

typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

// Splits a value into channels.
__device__ inline float driver_packed(float value) { return value; }
__device__ inline int2 driver_packed(double value)
{
    return make_int2(__double2loint(value), __double2hiint(value));
}
__device__ inline uint2 driver_packed(const pycuda::complex<float> &value)
{
    return make_uint2(__float_as_uint(value._M_re), __float_as_uint(value._M_im));
}
__device__ inline int4 driver_packed(const pycuda::complex<double> &value)
{
    return make_int4(
        __double2loint(value._M_re), __double2hiint(value._M_re), __double2loint(value._M_im),
        __double2hiint(value._M_im));
}

// Combines channels into a value.
__device__ inline float driver_unpacked(float channels) { return channels; }
__device__ inline double driver_unpacked(int2 channels) { return __hiloint2double(channels.y, channels.x); }
__device__ inline pycuda::complex<float> driver_unpacked(uint2 channels)
{
    return pycuda::complex<float>(__uint_as_float(channels.x), __uint_as_float(channels.y));
}
__device__ inline pycuda::complex<double> driver_unpacked(int4 channels)
{
    return pycuda::complex<double>(
        __hiloint2double(channels.y, channels.x), __hiloint2double(channels.w, channels.z));
}

template <class T> struct driver_value;
template <> struct driver_value<float> { typedef float type; };
template <> struct driver_value<int2> { typedef double type; };
template <> struct driver_value<uint2> { typedef pycuda::complex<float> type; };
template <> struct driver_value<int4> { typedef pycuda::complex<double> type; };

#define DRIVER_FP_TEXTURE(function, kind, parameters, arguments)                                              \
    template <class T, cudaTextureReadMode mode>                                                              \
    __device__ inline typename driver_value<T>::type fp_##function(driver_texture<T, kind, mode> t, parameters) \
    {                                                                                                         \
        return driver_unpacked(function(t, arguments));                                                       \
    }
DRIVER_EACH_TEXTURE(DRIVER_FP_TEXTURE)
#undef DRIVER_FP_TEXTURE

// The first index counts elements, whereas in surf2Dread() it counts bytes.
#define DRIVER_FP_SURFACE(name, kind, parameters, arguments)                                                   \
    template <class V>                                                                                        \
    __device__ inline void fp_##name##read(                                                                   \
        V *value, driver_surface<void, kind> s, parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)   \
    {                                                                                                         \
        decltype(driver_packed(*value)) channels;                                                             \
        name##read(&channels, s, arguments, mode);                                                            \
        *value = driver_unpacked(channels);                                                                   \
    }                                                                                                         \
    template <class V>                                                                                        \
    __device__ inline void fp_##name##write(                                                                  \
        V value, driver_surface<void, kind> s, parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)    \
    {                                                                                                         \
        name##write(driver_packed(value), s, arguments, mode);                                                \
    }
DRIVER_FP_SURFACE(surf1D, cudaSurfaceType1D, int i, int(i * sizeof(V)))
DRIVER_FP_SURFACE(surf2D, cudaSurfaceType2D, DRIVER_LIST(int i, int j), DRIVER_LIST(int(i * sizeof(V)), j))
DRIVER_FP_SURFACE(
    surf3D, cudaSurfaceType3D, DRIVER_LIST(int i, int j, int k), DRIVER_LIST(int(i * sizeof(V)), j, k))
DRIVER_FP_SURFACE(
    surf2DLayered, cudaSurfaceType2DLayered, DRIVER_LIST(int i, int j, int layer),
    DRIVER_LIST(int(i * sizeof(V)), j, layer))
#undef DRIVER_FP_SURFACE

}  // extern "C++"
