// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Texture and surface references, which CUDA 12 removed, as variables that hold a texture or surface object.
#pragma once

extern "C++" {

#ifndef cudaTextureType1D
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#endif
#ifndef cudaSurfaceType1D
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#endif

template <class T, int type = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct driver_texture {
    cudaTextureObject_t object;
};

template <class T, int type = cudaSurfaceType1D>
struct driver_surface {
    cudaSurfaceObject_t object;
};

// The result of a read.
template <class T, cudaTextureReadMode mode> struct driver_texture_read { typedef T type; };
#define DRIVER_NORMALIZED(T, result) \
    template <> struct driver_texture_read<T, cudaReadModeNormalizedFloat> { typedef result type; };
DRIVER_NORMALIZED(char, float)
DRIVER_NORMALIZED(signed char, float)
DRIVER_NORMALIZED(unsigned char, float)
DRIVER_NORMALIZED(short, float)
DRIVER_NORMALIZED(unsigned short, float)
DRIVER_NORMALIZED(char1, float1)
DRIVER_NORMALIZED(char2, float2)
DRIVER_NORMALIZED(char4, float4)
DRIVER_NORMALIZED(uchar1, float1)
DRIVER_NORMALIZED(uchar2, float2)
DRIVER_NORMALIZED(uchar4, float4)
DRIVER_NORMALIZED(short1, float1)
DRIVER_NORMALIZED(short2, float2)
DRIVER_NORMALIZED(short4, float4)
DRIVER_NORMALIZED(ushort1, float1)
DRIVER_NORMALIZED(ushort2, float2)
DRIVER_NORMALIZED(ushort4, float4)
#undef DRIVER_NORMALIZED

#define DRIVER_TEXTURE(function, kind, parameters, arguments)                                                   \
    template <class T, cudaTextureReadMode mode>                                                                \
    __device__ inline typename driver_texture_read<T, mode>::type function(driver_texture<T, kind, mode> t, parameters) \
    {                                                                                                           \
        return ::function<typename driver_texture_read<T, mode>::type>(t.object, arguments);                    \
    }
#define DRIVER_LIST(...) __VA_ARGS__
// Defines functions that read textures, from the function name, the kind of texture, and the coordinates.
#define DRIVER_EACH_TEXTURE(define)                                                                              \
    define(tex1Dfetch, cudaTextureType1D, int x, x)                                                              \
    define(tex1D, cudaTextureType1D, float x, x)                                                                 \
    define(tex2D, cudaTextureType2D, DRIVER_LIST(float x, float y), DRIVER_LIST(x, y))                           \
    define(tex3D, cudaTextureType3D, DRIVER_LIST(float x, float y, float z), DRIVER_LIST(x, y, z))               \
    define(tex1DLayered, cudaTextureType1DLayered, DRIVER_LIST(float x, int layer), DRIVER_LIST(x, layer))       \
    define(                                                                                                      \
        tex2DLayered, cudaTextureType2DLayered, DRIVER_LIST(float x, float y, int layer), DRIVER_LIST(x, y, layer))
DRIVER_EACH_TEXTURE(DRIVER_TEXTURE)
#undef DRIVER_TEXTURE

#define DRIVER_SURFACE(name, kind, parameters, arguments)                                                        \
    template <class V>                                                                                           \
    __device__ inline void name##read(                                                                           \
        V *value, driver_surface<void, kind> s, parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)        \
    {                                                                                                            \
        ::name##read(value, s.object, arguments, mode);                                                          \
    }                                                                                                            \
    template <class V>                                                                                           \
    __device__ inline V name##read(                                                                              \
        driver_surface<void, kind> s, parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                  \
    {                                                                                                            \
        V value;                                                                                                 \
        ::name##read(&value, s.object, arguments, mode);                                                         \
        return value;                                                                                            \
    }                                                                                                            \
    template <class V>                                                                                           \
    __device__ inline void name##write(                                                                          \
        V value, driver_surface<void, kind> s, parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)         \
    {                                                                                                            \
        ::name##write(value, s.object, arguments, mode);                                                         \
    }
DRIVER_SURFACE(surf1D, cudaSurfaceType1D, int x, x)
DRIVER_SURFACE(surf2D, cudaSurfaceType2D, DRIVER_LIST(int x, int y), DRIVER_LIST(x, y))
DRIVER_SURFACE(surf3D, cudaSurfaceType3D, DRIVER_LIST(int x, int y, int z), DRIVER_LIST(x, y, z))
DRIVER_SURFACE(surf2DLayered, cudaSurfaceType2DLayered, DRIVER_LIST(int x, int y, int layer), DRIVER_LIST(x, y, layer))
#undef DRIVER_SURFACE

}  // extern "C++"

// A variable at file scope must be a device variable.
#define texture __device__ driver_texture
#define surface __device__ driver_surface
