// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Texts: search, edit distance, capital letters and printf.

// The number of occurrences of a word, and the first index.
extern "C" __global__ void search(const char* text, int length, const char* word, int size, int* count, int* first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + size > length)
        return;
    for (int k = 0; k < size; ++k)
        if (text[i + k] != word[k])
            return;
    atomicAdd(count, 1);
    atomicMin(first, i);
}

// The Levenshtein distance of two words: the threads compute the table diagonal by diagonal.
extern "C" __global__ void edit_distance(const char* a, int size_a, const char* b, int size_b, int* result)
{
    extern __shared__ int table[]; // three diagonals
    const int i = threadIdx.x, stride = size_a + 1;
    for (int diagonal = 0; diagonal <= size_a + size_b; ++diagonal) {
        int* now = table + diagonal % 3 * stride;
        const int *before = table + (diagonal + 2) % 3 * stride, *earlier = table + (diagonal + 1) % 3 * stride;
        const int j = diagonal - i;
        if (i <= size_a && j >= 0 && j <= size_b) {
            if (i == 0 || j == 0)
                now[i] = i + j;
            else
                now[i] = min(min(before[i - 1], before[i]) + 1, earlier[i - 1] + (a[i - 1] != b[j - 1]));
        }
        __syncthreads();
    }
    if (i == 0)
        *result = table[(size_a + size_b) % 3 * stride + size_a];
}

// Changes letters to capital ones, four at a time.
extern "C" __global__ void capitals(uchar4* text, int words)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    auto capital = [](unsigned char letter) { return (unsigned char)(letter >= 'a' && letter <= 'z' ? letter - 32 : letter); };
    const uchar4 four = text[i];
    text[i] = make_uchar4(capital(four.x), capital(four.y), capital(four.z), capital(four.w));
}

extern "C" __global__ void tell(int number, double fraction)
{
    if (threadIdx.x == 3)
        printf("thread %d of block %d: %5d|%-8.3f|%#x|%s|%c|%llu%%\n", threadIdx.x, blockIdx.x, number, fraction, 255, "text",
               'c', 1ull << 63);
}
