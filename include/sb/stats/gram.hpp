// SPDX-License-Identifier: MIT
// A matrix of the products of columns that grows by a row of them at a time, and what each column explains of the last.
//
// How it works: only what is on the diagonal or right of it counts, row by row, each row padded to whole vectors. Every number is
// made by the same fused multiply-adds whatever the vectors' width, so all processors give the same bytes.
#pragma once
#include <sb/core/cpu.hpp>
#include <sb/stats/dot.hpp>
#include <cmath>
#include <cstddef>

namespace sb::stats {

namespace detail {
inline constexpr std::size_t gram_lanes = 4;
}

/// A shape of such matrices: `stride` numbers a row, of which `columns` count.
struct gram_shape {
    std::size_t columns = 0, stride = 0;
    gram_shape() = default;
    explicit gram_shape(std::size_t count) noexcept : columns{count}, stride{(count + detail::gram_lanes - 1) / detail::gram_lanes * detail::gram_lanes} {}
    std::size_t size() const noexcept { return stride * columns; }
};

namespace detail {

/// Below it products of small numbers have lost digits to the end of the scale.
inline constexpr double gram_tiny = 0x1p-400;

inline void gram_sum_plain(double* to, double const* a, double const* b, gram_shape shape) noexcept {
    for (std::size_t i = 0; i < shape.size(); ++i) to[i] = a[i] + b[i];
}

inline void gram_add_plain(double* gram, double const* rows, std::size_t count, gram_shape shape) noexcept {
    for (std::size_t i = 0; i < shape.columns; ++i)
        for (std::size_t j = i; j < shape.columns; ++j)
            for (std::size_t row = 0; row < count; ++row) {
                double const* const from = rows + row * shape.stride;
                gram[i * shape.stride + j] = std::fma(from[i], from[j], gram[i * shape.stride + j]);
            }
}
/// `subtract(to, factor, pivot, from)`: to[j] -= factor * pivot[j] for every column from `from` on.
template <class Subtract>
__attribute__((always_inline)) inline bool gram_eliminate(double* gram, double* inverse, double* error, gram_shape shape, double most, double least, Subtract subtract) noexcept {
    for (std::size_t i = 0; i < shape.columns; ++i) error[i] = gram[i * shape.stride + i];
    for (std::size_t i = 0; i < shape.columns; ++i)
        if (!(error[i] > least)) return false;
    for (std::size_t k = 0; k < shape.columns; ++k) {
        double const* const pivot = gram + k * shape.stride;
        if (!(pivot[k] * most > error[k])) return false;
        inverse[k] = 1 / pivot[k];
        for (std::size_t i = k + 1; i < shape.columns; ++i) {
            double const factor = pivot[i] * inverse[k];
            error[i] = std::fma(factor * factor, error[k], error[i]);
            subtract(gram + i * shape.stride, factor, pivot, i);
        }
    }
    return true;
}
inline bool gram_eliminate_plain(double* gram, double* inverse, double* error, gram_shape shape, double most, double least) noexcept {
    return gram_eliminate(gram, inverse, error, shape, most, least, [&](double* to, double factor, double const* pivot, std::size_t from) {
        for (std::size_t j = from; j < shape.columns; ++j) to[j] = std::fma(-factor, pivot[j], to[j]);
    });
}

#if SB_X86
__attribute__((target("avx2,fma"))) inline void gram_sum_avx2(double* to, double const* a, double const* b, gram_shape shape) noexcept {
    for (std::size_t i = 0; i < shape.size(); i += gram_lanes) _mm256_storeu_pd(to + i, _mm256_add_pd(_mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i)));
}
__attribute__((target("avx2,fma"))) inline void gram_add_avx2(double* gram, double const* rows, std::size_t count, gram_shape shape) noexcept {
    for (std::size_t i = 0; i < shape.columns; ++i)
        for (std::size_t j = i / gram_lanes * gram_lanes; j < shape.stride; j += gram_lanes) {
            double* const at = gram + i * shape.stride + j;
            auto sum = _mm256_loadu_pd(at);
            for (double const *from = rows, *const end = rows + count * shape.stride; from != end; from += shape.stride)
                sum = _mm256_fmadd_pd(_mm256_set1_pd(from[i]), _mm256_loadu_pd(from + j), sum);
            _mm256_storeu_pd(at, sum);
        }
}
__attribute__((target("avx2,fma"), flatten)) inline bool gram_eliminate_avx2(double* gram, double* inverse, double* error, gram_shape shape, double most, double least) noexcept {
    return gram_eliminate(gram, inverse, error, shape, most, least, [&](double* to, double factor, double const* pivot, std::size_t from) __attribute__((target("avx2,fma"))) {
        auto const factors = _mm256_set1_pd(factor);
        for (std::size_t j = from / gram_lanes * gram_lanes; j < shape.stride; j += gram_lanes)
            _mm256_storeu_pd(to + j, _mm256_fnmadd_pd(factors, _mm256_loadu_pd(pivot + j), _mm256_loadu_pd(to + j)));
    });
}
#endif

} // namespace detail

/// The operations on such matrices, with one set of vector instructions.
class gram_unit {
public:
    explicit gram_unit(instruction_set with) noexcept {
#if SB_X86
        if (with != instruction_set::plain && detail::fuses()) sum_ = &detail::gram_sum_avx2, add_ = &detail::gram_add_avx2, eliminate_ = &detail::gram_eliminate_avx2;
#else
        (void)with;
#endif
    }
    /// This machine's best, or what SB_CPU says.
    static gram_unit const& chosen() noexcept {
        static gram_unit const one{chosen_instruction_set()};
        return one;
    }
    /// Adds the matrices of two sets of rows.
    void sum(double* to, double const* a, double const* b, gram_shape shape) const noexcept { sum_(to, a, b, shape); }
    /// Adds so many rows, which stand one behind the other and are padded as the matrix is.
    void add(double* gram, double const* rows, std::size_t count, gram_shape shape) const noexcept { add_(gram, rows, count, shape); }
    /// Takes each column out of those behind it: what is then at [k][j], squared and divided by the pivot at [k][k], is what
    /// column k explains of column j beyond those before it; the last pivot is what nothing explains. `inverse` takes one of each
    /// pivot, `error` how many times its own rounding each pivot may be off. False, and the rest not to be relied on, where that is
    /// `most` times the pivot, or where a column had no more than `least`.
    bool eliminate(double* gram, double* inverse, double* error, gram_shape shape, double most, double least) const noexcept { return eliminate_(gram, inverse, error, shape, most, least); }

private:
    void (*sum_)(double*, double const*, double const*, gram_shape) noexcept = &detail::gram_sum_plain;
    void (*add_)(double*, double const*, std::size_t, gram_shape) noexcept = &detail::gram_add_plain;
    bool (*eliminate_)(double*, double*, double*, gram_shape, double, double) noexcept = &detail::gram_eliminate_plain;
};

} // namespace sb::stats
