// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Complex numbers with operators, under the names used by classic kernels.
#pragma once

extern "C++" {
namespace pycuda {

template <class T> struct complex;

#define PYCUDA_COMPLEX(T, Other)                                                                        \
    template <> struct complex<T> {                                                                     \
        T _M_re, _M_im;                                                                                 \
        typedef T value_type;                                                                           \
        complex() = default;                                                                            \
        __device__ complex(T re, T im = T(0)) : _M_re(re), _M_im(im) {}                                 \
        __device__ inline complex(const complex<Other> &other);                                         \
        __device__ T real() const { return _M_re; }                                                     \
        __device__ T imag() const { return _M_im; }                                                     \
        __device__ complex &operator=(T re) { _M_re = re; _M_im = T(0); return *this; }                 \
        __device__ complex &operator+=(T b) { _M_re += b; return *this; }                               \
        __device__ complex &operator-=(T b) { _M_re -= b; return *this; }                               \
        __device__ complex &operator*=(T b) { _M_re *= b; _M_im *= b; return *this; }                   \
        __device__ complex &operator/=(T b) { _M_re /= b; _M_im /= b; return *this; }                   \
        __device__ complex &operator+=(const complex &b) { _M_re += b._M_re; _M_im += b._M_im; return *this; } \
        __device__ complex &operator-=(const complex &b) { _M_re -= b._M_re; _M_im -= b._M_im; return *this; } \
        __device__ complex &operator*=(const complex &b)                                                \
        {                                                                                               \
            T re = _M_re * b._M_re - _M_im * b._M_im;                                                   \
            _M_im = _M_re * b._M_im + _M_im * b._M_re;                                                  \
            _M_re = re;                                                                                 \
            return *this;                                                                               \
        }                                                                                               \
        __device__ complex &operator/=(const complex &b)                                                \
        {                                                                                               \
            T largest = ::fmax(::fabs(b._M_re), ::fabs(b._M_im));                                       \
            T x = b._M_re / largest, y = b._M_im / largest;                                             \
            T square = (x * x + y * y) * largest;                                                       \
            T re = (_M_re * x + _M_im * y) / square;                                                    \
            _M_im = (_M_im * x - _M_re * y) / square;                                                   \
            _M_re = re;                                                                                 \
            return *this;                                                                               \
        }                                                                                               \
    };

PYCUDA_COMPLEX(float, double)
PYCUDA_COMPLEX(double, float)
#undef PYCUDA_COMPLEX

__device__ inline complex<float>::complex(const complex<double> &other) : _M_re(other._M_re), _M_im(other._M_im) {}
__device__ inline complex<double>::complex(const complex<float> &other) : _M_re(other._M_re), _M_im(other._M_im) {}

// In mixed operations, the real operand converts to T, so `z * 2` and `2.0f * z` work.
template <class T> struct identity { typedef T type; };
#define PYCUDA_OPERATOR(op)                                                                              \
    template <class T> __device__ inline complex<T> operator op(complex<T> a, const complex<T> &b)       \
    {                                                                                                    \
        return a op##= b;                                                                                \
    }                                                                                                    \
    template <class T> __device__ inline complex<T> operator op(complex<T> a, const typename identity<T>::type &b) \
    {                                                                                                    \
        return a op##= b;                                                                                \
    }                                                                                                    \
    template <class T> __device__ inline complex<T> operator op(const typename identity<T>::type &a, const complex<T> &b) \
    {                                                                                                    \
        return complex<T>(a) op##= b;                                                                    \
    }

PYCUDA_OPERATOR(+)
PYCUDA_OPERATOR(-)
PYCUDA_OPERATOR(*)
PYCUDA_OPERATOR(/)
#undef PYCUDA_OPERATOR

template <class T> __device__ inline complex<T> operator+(const complex<T> &z) { return z; }
template <class T> __device__ inline complex<T> operator-(const complex<T> &z) { return complex<T>(-z._M_re, -z._M_im); }

template <class T> __device__ inline bool operator==(const complex<T> &a, const complex<T> &b)
{
    return a._M_re == b._M_re && a._M_im == b._M_im;
}
template <class T> __device__ inline bool operator==(const complex<T> &a, const typename identity<T>::type &b)
{
    return a._M_re == b && a._M_im == T(0);
}
template <class T> __device__ inline bool operator==(const typename identity<T>::type &a, const complex<T> &b) { return b == a; }
template <class T> __device__ inline bool operator!=(const complex<T> &a, const complex<T> &b) { return !(a == b); }
template <class T> __device__ inline bool operator!=(const complex<T> &a, const typename identity<T>::type &b) { return !(a == b); }
template <class T> __device__ inline bool operator!=(const typename identity<T>::type &a, const complex<T> &b) { return !(b == a); }

template <class T> __device__ inline T real(const complex<T> &z) { return z._M_re; }
template <class T> __device__ inline T imag(const complex<T> &z) { return z._M_im; }
template <class T> __device__ inline T abs(const complex<T> &z) { return ::hypot(z._M_re, z._M_im); }
template <class T> __device__ inline T arg(const complex<T> &z) { return ::atan2(z._M_im, z._M_re); }
template <class T> __device__ inline T norm(const complex<T> &z) { return z._M_re * z._M_re + z._M_im * z._M_im; }
template <class T> __device__ inline complex<T> conj(const complex<T> &z) { return complex<T>(z._M_re, -z._M_im); }
template <class T> __device__ inline complex<T> polar(const T &radius, const T &angle)
{
    return complex<T>(radius * ::cos(angle), radius * ::sin(angle));
}
template <class T> __device__ inline complex<T> exp(const complex<T> &z) { return polar(T(::exp(z._M_re)), z._M_im); }
template <class T> __device__ inline complex<T> log(const complex<T> &z)
{
    return complex<T>(::log(abs(z)), arg(z));
}
template <class T> __device__ inline complex<T> log10(const complex<T> &z)
{
    return log(z) * T(0.43429448190325182765);
}
template <class T> __device__ inline complex<T> sqrt(const complex<T> &z)
{
    T size = abs(z);
    if (size == T(0)) return complex<T>(T(0), z._M_im);
    // Computes the part that does not cancel first, and derives the other one from their product.
    T large = ::sqrt((size + ::fabs(z._M_re)) / 2);
    T small = z._M_im / (2 * large);
    if (z._M_re >= T(0)) return complex<T>(large, small);
    return complex<T>(::fabs(small), z._M_im < T(0) ? -large : large);
}
template <class T> __device__ inline complex<T> sin(const complex<T> &z)
{
    return complex<T>(::sin(z._M_re) * ::cosh(z._M_im), ::cos(z._M_re) * ::sinh(z._M_im));
}
template <class T> __device__ inline complex<T> cos(const complex<T> &z)
{
    return complex<T>(::cos(z._M_re) * ::cosh(z._M_im), -::sin(z._M_re) * ::sinh(z._M_im));
}
template <class T> __device__ inline complex<T> sinh(const complex<T> &z)
{
    return complex<T>(::sinh(z._M_re) * ::cos(z._M_im), ::cosh(z._M_re) * ::sin(z._M_im));
}
template <class T> __device__ inline complex<T> cosh(const complex<T> &z)
{
    return complex<T>(::cosh(z._M_re) * ::cos(z._M_im), ::sinh(z._M_re) * ::sin(z._M_im));
}
// Computes tanh from quantities that stay finite where cosh and sinh overflow.
template <class T> __device__ inline complex<T> tanh(const complex<T> &z)
{
    T t = ::tanh(z._M_re), s = T(1) / ::cosh(z._M_re);
    T c = ::cos(z._M_im), d = ::sin(z._M_im);
    T divisor = c * c + t * t * d * d;
    return complex<T>(t / divisor, c * d * s * s / divisor);
}
template <class T> __device__ inline complex<T> tan(const complex<T> &z)
{
    complex<T> turned = tanh(complex<T>(-z._M_im, z._M_re));
    return complex<T>(turned._M_im, -turned._M_re);
}
template <class T> __device__ inline complex<T> pow(const complex<T> &z, int n)
{
    unsigned int count = n < 0 ? 0u - (unsigned int)n : (unsigned int)n;
    complex<T> result(T(1)), square(z);
    for (; count; count >>= 1, square *= square)
        if (count & 1) result *= square;
    return n < 0 ? complex<T>(T(1)) / result : result;
}
template <class T> __device__ inline complex<T> pow(const complex<T> &z, const T &b)
{
    if (b == T(0)) return complex<T>(T(1));  // even if z is NaN, as in NumPy
    if (z._M_im == T(0) && z._M_re > T(0)) return complex<T>(::pow(z._M_re, b));
    if (z._M_re == T(0) && z._M_im == T(0)) return complex<T>(T(0));
    complex<T> power = log(z);
    return polar(T(::exp(b * power._M_re)), T(b * power._M_im));
}
template <class T> __device__ inline complex<T> pow(const complex<T> &a, const complex<T> &b)
{
    if (b._M_re == T(0) && b._M_im == T(0)) return complex<T>(T(1));
    if (a._M_re == T(0) && a._M_im == T(0)) return complex<T>(T(0));
    return exp(b * log(a));
}
template <class T> __device__ inline complex<T> pow(const T &a, const complex<T> &b)
{
    return pow(complex<T>(a), b);
}

}  // namespace pycuda
}  // extern "C++"
