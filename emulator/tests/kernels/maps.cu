// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Maps: each element is computed by itself.

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

__constant__ double coefficients[6] = {1.0, -0.5, 0.25, 3.0, -2.0, 0.125};

template <int degree> __device__ double horner(double x)
{
    double value = coefficients[degree];
#pragma unroll
    for (int i = degree - 1; i >= 0; --i)
        value = value * x + coefficients[i];
    return value;
}

// The degree is known when the program is compiled.
template <int degree> __global__ void polynomial(const double* x, double* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = horner<degree>(x[i]);
}

struct Market {
    double strike, years, rate, volatility;
};

__device__ double below(double deviations) { return 0.5 * erfc(-deviations / sqrt(2.0)); }

// The price of an option by the Black-Scholes formula.
extern "C" __global__ void option_price(Market market, const double* spot, double* price, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double spread = market.volatility * sqrt(market.years);
    const double growth = market.rate + market.volatility * market.volatility / 2;
    const double d = (log(spot[i] / market.strike) + growth * market.years) / spread;
    price[i] = spot[i] * below(d) - market.strike * exp(-market.rate * market.years) * below(d - spread);
}

// The number of steps until a point of the plane escapes. No operations are fused, so that the counts are exact.
extern "C" __global__ void mandelbrot(int* steps, int width, int height, int most)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    const double a = -2.0 + column * (3.0 / width), b = -1.5 + row * (3.0 / height);
    double x = 0, y = 0;
    int count = 0;
    for (; count < most; ++count) {
        const double xx = __dmul_rn(x, x), yy = __dmul_rn(y, y);
        if (__dadd_rn(xx, yy) > 4)
            break;
        y = __dadd_rn(__dmul_rn(2 * x, y), b);
        x = __dadd_rn(__dadd_rn(xx, -yy), a);
    }
    steps[row * width + column] = count;
}

// The length of the Collatz sequence of each number; the threads end at very different times.
extern "C" __global__ void collatz(const unsigned long long* start, int* length, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int steps = 0;
    for (unsigned long long value = start[i]; value != 1; ++steps)
        value = value % 2 ? 3 * value + 1 : value / 2;
    length[i] = steps;
}
