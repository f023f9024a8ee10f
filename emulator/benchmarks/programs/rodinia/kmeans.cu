// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Clusters points: the device finds the nearest center of each, the host moves the centers.
#include "../common/check.h"
#include <float.h>

#define NPOINTS 1500
#define NFEATURES 6
#define NCLUSTERS 5
#define THREADS 128
#define LOOPS 6

__constant__ float c_clusters[NCLUSTERS * NFEATURES];

__global__ void invert_mapping(const float *input, float *output, int npoints, int nfeatures)
{
    int point_id = threadIdx.x + blockDim.x * blockIdx.x;
    if (point_id < npoints)
        for (int i = 0; i < nfeatures; i++) output[point_id + npoints * i] = input[point_id * nfeatures + i];
}

__global__ void kmeansPoint(const float *features, int nfeatures, int npoints, int nclusters, int *membership)
{
    const unsigned int block_id = gridDim.x * blockIdx.y + blockIdx.x;
    const unsigned int point_id = block_id * blockDim.x * blockDim.y + threadIdx.x;
    int index = -1;
    if (point_id < npoints) {
        float min_dist = FLT_MAX;
        for (int i = 0; i < nclusters; i++) {
            float ans = 0.0;
            for (int j = 0; j < nfeatures; j++) {
                float diff = features[point_id + j * npoints] - c_clusters[i * nfeatures + j];
                ans += diff * diff;
            }
            if (ans < min_dist) min_dist = ans, index = i;
        }
        membership[point_id] = index;
    }
}

static float distance(const float *a, const float *b)
{
    float sum = 0;
    for (int j = 0; j < NFEATURES; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

int main()
{
    static float points[NPOINTS][NFEATURES], centers[NCLUSTERS][NFEATURES];
    static int membership[NPOINTS];
    float *features_d, *flipped_d = to_device(&points[0][0], NPOINTS * NFEATURES);
    int *membership_d, mismatches = 0;
    fill(&points[0][0], NPOINTS * NFEATURES, 51);
    gpuErrchk(cudaMemcpy(flipped_d, points, sizeof(points), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMalloc((void **)&features_d, sizeof(points)));
    gpuErrchk(cudaMalloc((void **)&membership_d, sizeof(membership)));
    memcpy(centers, points, sizeof(centers));
    unsigned int num_blocks = DIVIDE_UP(NPOINTS, THREADS), side = (unsigned int)ceil(sqrt((double)num_blocks));
    invert_mapping<<<num_blocks, THREADS>>>(flipped_d, features_d, NPOINTS, NFEATURES);

    dim3 grid(side, side), threads(THREADS);
    for (int loop = 0; loop < LOOPS; loop++) {
        gpuErrchk(cudaMemcpyToSymbol(c_clusters, centers, sizeof(centers)));
        kmeansPoint<<<grid, threads>>>(features_d, NFEATURES, NPOINTS, NCLUSTERS, membership_d);
        gpuErrchk(cudaMemcpy(membership, membership_d, sizeof(membership), cudaMemcpyDeviceToHost));
        float sums[NCLUSTERS][NFEATURES] = {{0}};
        int members[NCLUSTERS] = {0};
        for (int i = 0; i < NPOINTS; i++) {
            if (membership[i] < 0 || membership[i] >= NCLUSTERS) return report("kmeans", 1);
            float best = FLT_MAX;
            for (int k = 0; k < NCLUSTERS; k++) best = fminf(best, distance(points[i], centers[k]));
            mismatches += !(distance(points[i], centers[membership[i]]) <= best * 1.0001f);
            members[membership[i]]++;
            for (int j = 0; j < NFEATURES; j++) sums[membership[i]][j] += points[i][j];
        }
        for (int k = 0; k < NCLUSTERS; k++)
            for (int j = 0; j < NFEATURES; j++)
                if (members[k]) centers[k][j] = sums[k][j] / members[k];
    }
    return report("kmeans", mismatches);
}
