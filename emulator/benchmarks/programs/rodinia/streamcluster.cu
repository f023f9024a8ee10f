// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// The gain of opening another center: a thread for each point, sums for each open center in a table of the block.
#include "../common/check.h"

#define THREADS_PER_BLOCK 64
#define POINTS 500
#define DIM 8
#define CENTERS 5

typedef struct {
    float weight;
    float *coord;
    long assign; /* number of the point that is the center of this one */
    float cost;
} Point;

typedef struct {
    long num;
    int dim;
    Point *p;
} Points;

__device__ float d_dist(int p1, int p2, int num, int dim, float *coord_d)
{
    float retval = 0.0;
    for (int i = 0; i < dim; i++) {
        float tmp = coord_d[(i * num) + p1] - coord_d[(i * num) + p2];
        retval += tmp * tmp;
    }
    return retval;
}

__global__ void kernel_compute_cost(int num, int dim, long x, Point *p, int K, int stride, float *coord_d,
                                    float *work_mem_d, int *center_table_d, bool *switch_membership_d)
{
    const int bid = blockIdx.x + gridDim.x * blockIdx.y;
    const int tid = blockDim.x * bid + threadIdx.x;
    if (tid < num) {
        float *lower = &work_mem_d[tid * stride];
        float x_cost = d_dist(tid, x, num, dim, coord_d) * p[tid].weight;
        if (x_cost < p[tid].cost) {
            switch_membership_d[tid] = 1;
            lower[K] += x_cost - p[tid].cost;
        } else {
            lower[center_table_d[p[tid].assign]] += p[tid].cost - x_cost;
        }
    }
}

static float dist(const Point &a, const Point &b, int dim)
{
    float result = 0;
    for (int i = 0; i < dim; i++) result += (a.coord[i] - b.coord[i]) * (a.coord[i] - b.coord[i]);
    return result;
}

int main(int argc, char **argv)
{
    Points points = {POINTS, DIM, (Point *)malloc(POINTS * sizeof(Point))};
    static float coord[DIM * POINTS], block[POINTS * DIM];
    static int center_table[POINTS];
    fill(block, POINTS * DIM, 81);
    for (int i = 0; i < POINTS; i++) {
        points.p[i] = Point{1.0f + i % 3, block + i * DIM, 0, 1e30f};
        for (int k = 0; k < DIM; k++) coord[k * POINTS + i] = block[i * DIM + k];
    }
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < CENTERS; k++) {
            float cost = dist(points.p[i], points.p[k * 7], DIM) * points.p[i].weight;
            if (cost < points.p[i].cost) points.p[i].cost = cost, points.p[i].assign = k * 7;
        }
    for (int k = 0; k < CENTERS; k++) center_table[k * 7] = k;

    const int stride = CENTERS + 1;
    static float work_mem[stride * POINTS];
    static bool switch_membership[POINTS];
    float *work_mem_d, *coord_d = to_device(coord, DIM * POINTS);
    bool *switch_membership_d;
    int *center_table_d = to_device(center_table, POINTS), mismatches = 0;
    Point *p = to_device(points.p, POINTS);
    gpuErrchk(cudaMalloc((void **)&work_mem_d, sizeof(work_mem)));
    gpuErrchk(cudaMalloc((void **)&switch_membership_d, sizeof(switch_membership)));
    for (long x = 1; x < 60; x += 19) {  // no center, whose costs would be equal
        gpuErrchk(cudaMemset(switch_membership_d, 0, sizeof(switch_membership)));
        gpuErrchk(cudaMemset(work_mem_d, 0, sizeof(work_mem)));
        int num_blocks = (int)((float)(POINTS + THREADS_PER_BLOCK - 1) / (float)THREADS_PER_BLOCK);
        int num_blocks_y = (int)((float)(num_blocks + 4 - 1) / (float)4), num_blocks_x = 4;
        dim3 grid_size(num_blocks_x, num_blocks_y, 1);
        kernel_compute_cost<<<grid_size, THREADS_PER_BLOCK>>>(POINTS, DIM, x, p, CENTERS, stride, coord_d, work_mem_d,
                                                              center_table_d, switch_membership_d);
        cudaThreadSynchronize();
        gpuErrchk(
            cudaMemcpy(switch_membership, switch_membership_d, sizeof(switch_membership), cudaMemcpyDeviceToHost));
        gpuErrchk(cudaMemcpy(work_mem, work_mem_d, sizeof(work_mem), cudaMemcpyDeviceToHost));
        float expected[stride] = {0}, found[stride] = {0};
        for (int i = 0; i < POINTS; i++) {
            const Point &point = points.p[i];
            float cost = dist(point, points.p[x], DIM) * point.weight;
            mismatches += switch_membership[i] != (cost < point.cost);
            expected[cost < point.cost ? CENTERS : center_table[point.assign]] -= fabsf(cost - point.cost);
            for (int k = 0; k < stride; k++) found[k] += work_mem[i * stride + k];
        }
        mismatches += count_mismatches(expected, found, stride, 0.001f);
    }
    return report("streamcluster", mismatches);
}
