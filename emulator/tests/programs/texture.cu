// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Reads images through textures of an array, of linear memory and of rows, and writes a surface.
#include <cstdio>
#include <cstring>

__global__ void magnify(cudaTextureObject_t image, float* out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float>(image, (x + 0.5f) / width, (y + 0.5f) / height);
}
__global__ void gather(cudaTextureObject_t list, cudaTextureObject_t rows, cudaTextureObject_t box, int4* out)
{
    int i = threadIdx.x;
    out[i] = tex1Dfetch<int4>(list, 3 - i);
    out[i].w = (int)(255.0f * tex2D<float>(rows, i, 1) + 0.5f) + (int)tex3D<float>(box, 0, 1, i);
}
__global__ void invert(cudaSurfaceObject_t image)
{
    uchar4 pixel;
    surf2Dread(&pixel, image, threadIdx.x * sizeof(uchar4), threadIdx.y);
    pixel.x = 255 - pixel.x;
    surf2Dwrite(pixel, image, threadIdx.x * sizeof(uchar4), threadIdx.y);
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureReadMode mode, bool normalized)
{
    cudaTextureDesc how;
    memset(&how, 0, sizeof how);
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = normalized ? cudaFilterModeLinear : cudaFilterModePoint;
    how.readMode = mode;
    how.normalizedCoords = normalized;
    cudaTextureObject_t made = 0;
    cudaError_t error = cudaCreateTextureObject(&made, &resource, &how, NULL);
    if (error)
        printf("%s\n", cudaGetErrorString(error));
    return made;
}

int main()
{
    float image[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}}, big[4][8], *d_big;
    cudaChannelFormatDesc one = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaArray_t array;
    cudaMallocArray(&array, &one, 4, 2);
    cudaMemcpy2DToArray(array, 0, 0, image, sizeof image[0], sizeof image[0], 2, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureObject_t object = texture_of(resource, cudaReadModeElementType, true);
    cudaMalloc(&d_big, sizeof big);
    magnify<<<dim3(1, 1), dim3(8, 4)>>>(object, d_big, 8, 4);
    cudaMemcpy(big, d_big, sizeof big, cudaMemcpyDeviceToHost);

    int4 list[4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}, *d_list, found[4], *d_found;
    cudaMalloc(&d_list, sizeof list);
    cudaMalloc(&d_found, sizeof found);
    cudaMemcpy(d_list, list, sizeof list, cudaMemcpyHostToDevice);
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = d_list;
    linear.res.linear.desc = cudaCreateChannelDesc<int4>();
    linear.res.linear.sizeInBytes = sizeof list;

    unsigned char bytes[2][4] = {{1, 2, 3, 4}, {50, 60, 70, 80}}, *d_bytes;
    size_t pitch;
    cudaMallocPitch(&d_bytes, &pitch, 4, 2);
    cudaMemcpy2D(d_bytes, pitch, bytes, 4, 4, 2, cudaMemcpyHostToDevice);
    cudaResourceDesc rows = {};
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D.devPtr = d_bytes;
    rows.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
    rows.res.pitch2D.width = 4, rows.res.pitch2D.height = 2, rows.res.pitch2D.pitchInBytes = pitch;

    float cube[4][2][1] = {{{1000}, {2000}}, {{3000}, {4000}}, {{5000}, {6000}}, {{7000}, {8000}}};
    cudaExtent extent = make_cudaExtent(1, 2, 4);
    cudaArray_t volume;
    cudaMalloc3DArray(&volume, &one, extent);
    cudaMemcpy3DParms copy = {0};
    copy.srcPtr = make_cudaPitchedPtr(cube, sizeof(float), 1, 2);
    copy.dstArray = volume;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    printf("%d ", cudaMemcpy3D(&copy));
    cudaResourceDesc box = {};
    box.resType = cudaResourceTypeArray;
    box.res.array.array = volume;
    gather<<<1, 4>>>(texture_of(linear, cudaReadModeElementType, false),
                     texture_of(rows, cudaReadModeNormalizedFloat, false),
                     texture_of(box, cudaReadModeElementType, false), d_found);
    cudaMemcpy(found, d_found, sizeof found, cudaMemcpyDeviceToHost);

    uchar4 pixels[2][2] = {{{1, 2, 3, 4}, {5, 6, 7, 8}}, {{9, 10, 11, 12}, {13, 14, 15, 16}}};
    cudaChannelFormatDesc four = cudaCreateChannelDesc<uchar4>(), told;
    cudaArray_t canvas;
    cudaMallocArray(&canvas, &four, 2, 2, cudaArraySurfaceLoadStore);
    cudaMemcpyToArray(canvas, 0, 0, pixels, sizeof pixels, cudaMemcpyHostToDevice);
    cudaResourceDesc target = {};
    target.resType = cudaResourceTypeArray;
    target.res.array.array = canvas;
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &target);
    invert<<<1, dim3(2, 2)>>>(surface);
    cudaMemcpy2DFromArray(pixels, sizeof pixels[0], canvas, 0, 0, sizeof pixels[0], 2, cudaMemcpyDeviceToHost);
    cudaExtent size;
    unsigned flags;
    cudaArrayGetInfo(&told, &size, &flags, canvas);

    printf("%g %g %g, %d %d %d, %d %d, ", big[0][0], big[1][4], big[3][7], found[0].x, found[0].w, found[3].w,
           pixels[0][0].x, pixels[1][1].x);
    printf("%d %d %d %d\n", told.w, told.f, (int)size.width, (int)flags);
    cudaDestroySurfaceObject(surface);
    cudaDestroyTextureObject(object);
    cudaFreeArray(array);
    return cudaDeviceSynchronize();
}
