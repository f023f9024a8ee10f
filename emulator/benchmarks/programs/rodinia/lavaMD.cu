// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Forces between particles in boxes: one block for each box, which visits the neighbor boxes.
#include "../common/check.h"

#define fp double
#define NUMBER_PAR_PER_BOX 24
#define NUMBER_THREADS 32
#define BOXES1D 3
#define DOT(A, B) ((A.x) * (B.x) + (A.y) * (B.y) + (A.z) * (B.z))

typedef struct {
    fp x, y, z;
} THREE_VECTOR;
typedef struct {
    fp v, x, y, z;
} FOUR_VECTOR;
typedef struct nei_str {
    int x, y, z, number;
    long offset;
} nei_str;
typedef struct box_str {
    int number;
    long offset;
    int nn;
    nei_str nei[26];
} box_str;
typedef struct par_str {
    fp alpha;
} par_str;

__host__ __device__ inline void interact(fp a2, const FOUR_VECTOR &a, const FOUR_VECTOR &b, fp charge,
                                         FOUR_VECTOR &force)
{
    fp r2 = a.v + b.v - DOT(a, b), u2 = a2 * r2, vij = exp(-u2), fs = 2 * vij;
    THREE_VECTOR d = {a.x - b.x, a.y - b.y, a.z - b.z};
    force.v += charge * vij;
    force.x += charge * fs * d.x;
    force.y += charge * fs * d.y;
    force.z += charge * fs * d.z;
}

__global__ void kernel_gpu_cuda(par_str par, int number_boxes, const box_str *boxes, const FOUR_VECTOR *rv,
                                const fp *qv, FOUR_VECTOR *fv)
{
    int bx = blockIdx.x, tx = threadIdx.x;
    if (bx >= number_boxes) return;
    __shared__ FOUR_VECTOR rA_shared[NUMBER_PAR_PER_BOX], rB_shared[NUMBER_PAR_PER_BOX];
    __shared__ double qB_shared[NUMBER_PAR_PER_BOX];
    fp a2 = 2.0 * par.alpha * par.alpha;
    long first_i = boxes[bx].offset;
    for (int wtx = tx; wtx < NUMBER_PAR_PER_BOX; wtx += NUMBER_THREADS) rA_shared[wtx] = rv[first_i + wtx];
    __syncthreads();
    for (int k = 0; k < (1 + boxes[bx].nn); k++) {
        int pointer = k == 0 ? bx : boxes[bx].nei[k - 1].number;
        long first_j = boxes[pointer].offset;
        for (int wtx = tx; wtx < NUMBER_PAR_PER_BOX; wtx += NUMBER_THREADS) {
            rB_shared[wtx] = rv[first_j + wtx];
            qB_shared[wtx] = qv[first_j + wtx];
        }
        __syncthreads();
        for (int wtx = tx; wtx < NUMBER_PAR_PER_BOX; wtx += NUMBER_THREADS)
            for (int j = 0; j < NUMBER_PAR_PER_BOX; j++)
                interact(a2, rA_shared[wtx], rB_shared[j], qB_shared[j], fv[first_i + wtx]);
        __syncthreads();
    }
}

int main()
{
    const int boxes = BOXES1D * BOXES1D * BOXES1D, space = boxes * NUMBER_PAR_PER_BOX;
    static box_str box[boxes];
    static FOUR_VECTOR rv[space], fv[space], found[space];
    static fp qv[space];
    unsigned seed = 3;
    for (int i = 0; i < space; i++) {
        fp *parts = &rv[i].v;
        for (int k = 0; k < 4; k++) parts[k] = (next_random(&seed) % 10 + 1) / 10.0;
        qv[i] = (next_random(&seed) % 10 + 1) / 10.0;
    }
    for (int n = 0; n < boxes; n++) {
        box[n].number = n, box[n].offset = n * NUMBER_PAR_PER_BOX;
        for (int m = 0; m < boxes; m++) {
            int dx = abs(n % BOXES1D - m % BOXES1D), dy = abs(n / BOXES1D % BOXES1D - m / BOXES1D % BOXES1D),
                dz = abs(n / 9 - m / 9);
            if (m != n && dx <= 1 && dy <= 1 && dz <= 1) box[n].nei[box[n].nn++].number = m;
        }
    }
    par_str par = {0.5};
    FOUR_VECTOR *d_fv = to_device(fv, space);
    kernel_gpu_cuda<<<boxes, NUMBER_THREADS>>>(par, boxes, to_device(box, boxes), to_device(rv, space),
                                               to_device(qv, space), d_fv);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(found, d_fv, sizeof(found), cudaMemcpyDeviceToHost));
    int mismatches = 0;
    for (int n = 0; n < boxes; n++)
        for (int k = 0; k <= box[n].nn; k++) {
            long other = k ? box[box[n].nei[k - 1].number].offset : box[n].offset;
            for (int i = 0; i < NUMBER_PAR_PER_BOX; i++)
                for (int j = 0; j < NUMBER_PAR_PER_BOX; j++)
                    interact(2 * par.alpha * par.alpha, rv[box[n].offset + i], rv[other + j], qv[other + j],
                             fv[box[n].offset + i]);
        }
    for (int i = 0; i < space; i++)
        mismatches += !(fabs(fv[i].v - found[i].v) + fabs(fv[i].x - found[i].x) < 1e-6 * (1 + fabs(fv[i].v)));
    return report("lavaMD", mismatches);
}
