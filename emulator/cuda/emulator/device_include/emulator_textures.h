// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Texture reads and surface accesses.
#pragma once

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum cudaSurfaceFormatMode { cudaFormatModeForced = 0, cudaFormatModeAuto = 1 };

// Converts the result words to the type that a read returns.
template <class T> struct emu_texel;

template <class T> EMU_INLINE T emu_channel(emu_u32 word) { return (T)word; }
template <> EMU_INLINE float emu_channel<float>(emu_u32 word)
{
    float value;
    __builtin_memcpy(&value, &word, 4);
    return value;
}

#define EMU_TEXEL(scalar, element, base)                                                          \
    template <> struct emu_texel<scalar> {                                                        \
        static EMU_INLINE scalar of(const emu_u32* w) { return emu_channel<scalar>(w[0]); }       \
    };                                                                                            \
    EMU_TEXEL_VECTORS(element, base)
#define EMU_TEXEL_VECTORS(element, base)                                                          \
    template <> struct emu_texel<base##1> {                                                       \
        static EMU_INLINE base##1 of(const emu_u32* w) { return base##1{emu_channel<element>(w[0])}; } \
    };                                                                                            \
    template <> struct emu_texel<base##2> {                                                       \
        static EMU_INLINE base##2 of(const emu_u32* w)                                            \
        {                                                                                         \
            return base##2{emu_channel<element>(w[0]), emu_channel<element>(w[1])};               \
        }                                                                                         \
    };                                                                                            \
    template <> struct emu_texel<base##4> {                                                       \
        static EMU_INLINE base##4 of(const emu_u32* w)                                            \
        {                                                                                         \
            return base##4{emu_channel<element>(w[0]), emu_channel<element>(w[1]),                \
                           emu_channel<element>(w[2]), emu_channel<element>(w[3])};               \
        }                                                                                         \
    };
EMU_TEXEL(signed char, signed char, char)
EMU_TEXEL(unsigned char, unsigned char, uchar)
EMU_TEXEL(short, short, short)
EMU_TEXEL(unsigned short, unsigned short, ushort)
EMU_TEXEL(int, int, int)
EMU_TEXEL(unsigned int, unsigned int, uint)
EMU_TEXEL(float, float, float)
template <> struct emu_texel<char> {
    static EMU_INLINE char of(const emu_u32* w) { return emu_channel<char>(w[0]); }
};
#undef EMU_TEXEL
#undef EMU_TEXEL_VECTORS

// Both forms of a function: one returns the result, the other writes it through the first argument.
#define EMU_LIST(...) __VA_ARGS__
#define EMU_TEXTURE_FUNCTION(name, of_kind, parameters, settings)                                 \
    template <class T> EMU_INLINE T name(cudaTextureObject_t texture, parameters, EMU_LOCATION)      \
    {                                                                                             \
        EmuTextureCall call = {};                                                                 \
        call.texture = texture;                                                                   \
        call.kind = of_kind;                                                                      \
        call.file = file;                                                                         \
        call.line = line;                                                                         \
        settings;                                                                                 \
        emu_texture_read(&call);                                                                  \
        return emu_texel<T>::of(call.words);                                                      \
    }                                                                                             \
    template <class T> EMU_INLINE void name(T* out, cudaTextureObject_t texture, parameters, EMU_LOCATION) \
    {                                                                                             \
        EmuTextureCall call = {};                                                                 \
        call.texture = texture;                                                                   \
        call.kind = of_kind;                                                                      \
        call.file = file;                                                                         \
        call.line = line;                                                                         \
        settings;                                                                                 \
        emu_texture_read(&call);                                                                  \
        *out = emu_texel<T>::of(call.words);                                                      \
    }

#define EMU_AT_1 call.at[0] = x
#define EMU_AT_2 EMU_AT_1, call.at[1] = y
#define EMU_AT_3 EMU_AT_2, call.at[2] = z
#define EMU_AT_LAYER call.layer = layer
#define EMU_AT_LEVEL call.level_kind = EMU_LEVEL_GIVEN, call.level = level
#define EMU_GRADIENTS call.level_kind = EMU_LEVEL_GRADIENTS
#define EMU_GRADIENTS_1 EMU_GRADIENTS, call.dx[0] = dx, call.dy[0] = dy
#define EMU_GRADIENTS_2                                                                           \
    EMU_GRADIENTS, call.dx[0] = dx.x, call.dx[1] = dx.y, call.dy[0] = dy.x, call.dy[1] = dy.y
#define EMU_GRADIENTS_3 EMU_GRADIENTS_2, call.dx[2] = dx.z, call.dy[2] = dy.z

EMU_TEXTURE_FUNCTION(tex1Dfetch, EMU_TEXTURE_FETCH, int x, call.index = x)
EMU_TEXTURE_FUNCTION(tex1D, EMU_TEXTURE_1D, float x, EMU_AT_1)
EMU_TEXTURE_FUNCTION(tex1DLod, EMU_TEXTURE_1D, EMU_LIST(float x, float level), (EMU_AT_1, EMU_AT_LEVEL))
EMU_TEXTURE_FUNCTION(tex1DGrad, EMU_TEXTURE_1D, EMU_LIST(float x, float dx, float dy), (EMU_AT_1, EMU_GRADIENTS_1))
EMU_TEXTURE_FUNCTION(tex2D, EMU_TEXTURE_2D, EMU_LIST(float x, float y), (EMU_AT_2))
EMU_TEXTURE_FUNCTION(tex2DLod, EMU_TEXTURE_2D, EMU_LIST(float x, float y, float level), (EMU_AT_2, EMU_AT_LEVEL))
EMU_TEXTURE_FUNCTION(tex2DGrad, EMU_TEXTURE_2D, EMU_LIST(float x, float y, float2 dx, float2 dy),
                     (EMU_AT_2, EMU_GRADIENTS_2))
EMU_TEXTURE_FUNCTION(tex2Dgather, EMU_TEXTURE_GATHER, EMU_LIST(float x, float y, int component = 0),
                     (EMU_AT_2, call.index = component))
EMU_TEXTURE_FUNCTION(tex3D, EMU_TEXTURE_3D, EMU_LIST(float x, float y, float z), (EMU_AT_3))
EMU_TEXTURE_FUNCTION(tex3DLod, EMU_TEXTURE_3D, EMU_LIST(float x, float y, float z, float level),
                     (EMU_AT_3, EMU_AT_LEVEL))
EMU_TEXTURE_FUNCTION(tex3DGrad, EMU_TEXTURE_3D, EMU_LIST(float x, float y, float z, float4 dx, float4 dy),
                     (EMU_AT_3, EMU_GRADIENTS_3))
EMU_TEXTURE_FUNCTION(tex1DLayered, EMU_TEXTURE_1D_LAYERED, EMU_LIST(float x, int layer), (EMU_AT_1, EMU_AT_LAYER))
EMU_TEXTURE_FUNCTION(tex1DLayeredLod, EMU_TEXTURE_1D_LAYERED, EMU_LIST(float x, int layer, float level),
                     (EMU_AT_1, EMU_AT_LAYER, EMU_AT_LEVEL))
EMU_TEXTURE_FUNCTION(tex1DLayeredGrad, EMU_TEXTURE_1D_LAYERED, EMU_LIST(float x, int layer, float dx, float dy),
                     (EMU_AT_1, EMU_AT_LAYER, EMU_GRADIENTS_1))
EMU_TEXTURE_FUNCTION(tex2DLayered, EMU_TEXTURE_2D_LAYERED, EMU_LIST(float x, float y, int layer),
                     (EMU_AT_2, EMU_AT_LAYER))
EMU_TEXTURE_FUNCTION(tex2DLayeredLod, EMU_TEXTURE_2D_LAYERED, EMU_LIST(float x, float y, int layer, float level),
                     (EMU_AT_2, EMU_AT_LAYER, EMU_AT_LEVEL))
EMU_TEXTURE_FUNCTION(tex2DLayeredGrad, EMU_TEXTURE_2D_LAYERED,
                     EMU_LIST(float x, float y, int layer, float2 dx, float2 dy),
                     (EMU_AT_2, EMU_AT_LAYER, EMU_GRADIENTS_2))
EMU_TEXTURE_FUNCTION(texCubemap, EMU_TEXTURE_CUBE, EMU_LIST(float x, float y, float z), (EMU_AT_3))
EMU_TEXTURE_FUNCTION(texCubemapLod, EMU_TEXTURE_CUBE, EMU_LIST(float x, float y, float z, float level),
                     (EMU_AT_3, EMU_AT_LEVEL))
EMU_TEXTURE_FUNCTION(texCubemapGrad, EMU_TEXTURE_CUBE, EMU_LIST(float x, float y, float z, float4 dx, float4 dy),
                     (EMU_AT_3, EMU_GRADIENTS_3))
EMU_TEXTURE_FUNCTION(texCubemapLayered, EMU_TEXTURE_CUBE_LAYERED, EMU_LIST(float x, float y, float z, int layer),
                     (EMU_AT_3, EMU_AT_LAYER))
EMU_TEXTURE_FUNCTION(texCubemapLayeredLod, EMU_TEXTURE_CUBE_LAYERED,
                     EMU_LIST(float x, float y, float z, int layer, float level),
                     (EMU_AT_3, EMU_AT_LAYER, EMU_AT_LEVEL))
EMU_TEXTURE_FUNCTION(texCubemapLayeredGrad, EMU_TEXTURE_CUBE_LAYERED,
                     EMU_LIST(float x, float y, float z, int layer, float4 dx, float4 dy),
                     (EMU_AT_3, EMU_AT_LAYER, EMU_GRADIENTS_3))

#undef EMU_TEXTURE_FUNCTION
#undef EMU_AT_1
#undef EMU_AT_2
#undef EMU_AT_3
#undef EMU_AT_LAYER
#undef EMU_AT_LEVEL
#undef EMU_GRADIENTS
#undef EMU_GRADIENTS_1
#undef EMU_GRADIENTS_2
#undef EMU_GRADIENTS_3

EMU_INLINE void emu_access_surface(cudaSurfaceObject_t surface, emu_u32 kind, cudaSurfaceBoundaryMode mode, int x, int y,
                                   int z, void* data, emu_u32 size, emu_u32 store, const char* file, emu_u32 line)
{
    EmuSurfaceCall call = {surface, kind, (emu_u32)mode, x, y, z, size, data, store, line, file};
    emu_surface_access(&call);
}

#define EMU_SURFACE_FUNCTIONS(name, kind, parameters, y, z)                                       \
    template <class T>                                                                            \
    EMU_INLINE T name##read(cudaSurfaceObject_t surface, parameters,                              \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, EMU_LOCATION)       \
    {                                                                                             \
        T value;                                                                                  \
        emu_access_surface(surface, kind, mode, x, y, z, &value, sizeof(T), 0, file, line);       \
        return value;                                                                             \
    }                                                                                             \
    template <class T>                                                                            \
    EMU_INLINE void name##read(T* out, cudaSurfaceObject_t surface, parameters,                   \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, EMU_LOCATION)    \
    {                                                                                             \
        emu_access_surface(surface, kind, mode, x, y, z, out, sizeof(T), 0, file, line);          \
    }                                                                                             \
    template <class T>                                                                            \
    EMU_INLINE void name##write(T value, cudaSurfaceObject_t surface, parameters,                 \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, EMU_LOCATION)   \
    {                                                                                             \
        emu_access_surface(surface, kind, mode, x, y, z, &value, sizeof(T), 1, file, line);       \
    }

EMU_SURFACE_FUNCTIONS(surf1D, EMU_SURFACE_1D, int x, 0, 0)
EMU_SURFACE_FUNCTIONS(surf2D, EMU_SURFACE_2D, EMU_LIST(int x, int y), y, 0)
EMU_SURFACE_FUNCTIONS(surf3D, EMU_SURFACE_3D, EMU_LIST(int x, int y, int z), y, z)
EMU_SURFACE_FUNCTIONS(surf1DLayered, EMU_SURFACE_1D_LAYERED, EMU_LIST(int x, int layer), 0, layer)
EMU_SURFACE_FUNCTIONS(surf2DLayered, EMU_SURFACE_2D_LAYERED, EMU_LIST(int x, int y, int layer), y, layer)
EMU_SURFACE_FUNCTIONS(surfCubemap, EMU_SURFACE_CUBE, EMU_LIST(int x, int y, int face), y, face)
EMU_SURFACE_FUNCTIONS(surfCubemapLayered, EMU_SURFACE_CUBE_LAYERED, EMU_LIST(int x, int y, int layerFace), y, layerFace)

#undef EMU_SURFACE_FUNCTIONS
#undef EMU_LIST
