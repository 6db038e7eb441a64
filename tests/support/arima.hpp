// SPDX-License-Identifier: MIT
// What tests of ARIMA models share: the slow way to a likelihood, and series as the models see them.
#pragma once
#include "support/catch.hpp"
#include "support/oracle.hpp"
#include <sb/stats/arima.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

namespace sb::test {

using namespace sb::stats;
using series = std::vector<double>;

inline series differenced(series x, std::size_t d) {
    for (; d > 0; --d) {
        for (std::size_t t = 0; t + 1 < x.size(); ++t) x[t] = x[t + 1] - x[t];
        x.pop_back();
    }
    return x;
}

/// The slow way: the whole matrix of covariances, solved as it stands.
struct dense {
    std::size_t n;
    std::vector<long double> lower;

    static std::vector<long double> solved(std::vector<long double> a, std::vector<long double> b) {
        auto const n = b.size();
        for (std::size_t c = 0; c < n; ++c) {
            auto pivot = c;
            for (std::size_t r = c; r < n; ++r)
                if (std::abs(a[r * n + c]) > std::abs(a[pivot * n + c])) pivot = r;
            for (std::size_t k = 0; k < n; ++k) std::swap(a[c * n + k], a[pivot * n + k]);
            std::swap(b[c], b[pivot]);
            for (std::size_t r = c + 1; r < n; ++r) {
                auto const factor = a[r * n + c] / a[c * n + c];
                for (std::size_t k = c; k < n; ++k) a[r * n + k] -= factor * a[c * n + k];
                b[r] -= factor * b[c];
            }
        }
        for (std::size_t r = n; r-- > 0;) {
            for (std::size_t k = r + 1; k < n; ++k) b[r] -= a[r * n + k] * b[k];
            b[r] /= a[r * n + r];
        }
        return b;
    }
    static std::vector<long double> covariances(arima_answer const& model, std::size_t n) {
        auto const p = model.order.p, q = model.order.q;
        std::vector<long double> psi{1}, average{1};
        for (std::size_t j = 1; j <= q; ++j) {
            average.push_back(model.ma[j - 1]);
            psi.push_back(average[j]);
            for (std::size_t i = 0; i < std::min(p, j); ++i) psi[j] += model.ar[i] * psi[j - 1 - i];
        }
        std::vector<long double> right(n + p + 1, 0), a((p + 1) * (p + 1), 0);
        for (std::size_t k = 0; k <= q; ++k)
            for (std::size_t j = k; j <= q; ++j)
                if (k < right.size()) right[k] += average[j] * psi[j - k];
        for (std::size_t k = 0; k <= p; ++k) {
            a[k * (p + 1) + k] += 1;
            for (std::size_t i = 1; i <= p; ++i) a[k * (p + 1) + (k > i ? k - i : i - k)] -= model.ar[i - 1];
        }
        auto all = solved(a, {right.begin(), right.begin() + static_cast<std::ptrdiff_t>(p + 1)});
        for (std::size_t k = p + 1; k < n; ++k) {
            all.push_back(right[k]);
            for (std::size_t i = 0; i < p; ++i) all[k] += model.ar[i] * all[k - 1 - i];
        }
        return all;
    }
    dense(arima_answer const& model, std::size_t many) : n{many}, lower(many * many) {
        auto const g = covariances(model, n);
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t c = 0; c <= r; ++c) {
                long double sum = g[r - c];
                for (std::size_t k = 0; k < c; ++k) sum -= lower[r * n + k] * lower[c * n + k];
                lower[r * n + c] = r == c ? std::sqrt(sum) : sum / lower[c * n + c];
            }
    }
    std::vector<long double> whitened(series const& x) const {
        std::vector<long double> e(x.begin(), x.end());
        for (std::size_t r = 0; r < x.size(); ++r) {
            for (std::size_t k = 0; k < r; ++k) e[r] -= lower[r * n + k] * e[k];
            e[r] /= lower[r * n + r];
        }
        return e;
    }
    double llf(series const& x, double deviation) const {
        long double sum = 0;
        auto const e = whitened(x);
        for (std::size_t r = 0; r < x.size(); ++r) sum += e[r] * e[r] / deviation / deviation + 2 * std::log(lower[r * n + r]);
        auto const count = static_cast<double>(x.size());
        return static_cast<double>(-sum / 2) - count * (std::log(deviation) + 0.5 * std::log(2 * std::numbers::pi));
    }
};

inline std::vector<series> regressors_of(sb::value const& c) {
    std::vector<series> all;
    for (auto const& each : *member(c, "exog")->if_array()) all.push_back(numbers(*member(each, "values")));
    return all;
}
inline std::vector<std::span<double const>> views(std::vector<series> const& all, std::size_t from = 0, std::size_t many = std::dynamic_extent) {
    std::vector<std::span<double const>> got;
    for (auto const& each : all) got.push_back(std::span<double const>{each}.subspan(from, many));
    return got;
}
/// What the model says of the differenced series without its mean.
inline series remainder(arima_answer const& model, series const& x, std::vector<series> const& regressors) {
    auto left = differenced(x, model.order.d);
    for (std::size_t c = 0; c < regressors.size(); ++c) {
        auto const column = differenced(regressors[c], model.order.d);
        for (std::size_t t = 0; t < left.size(); ++t) left[t] -= model.coefficients[c] * column[t];
    }
    for (double& each : left) each -= model.constant;
    return left;
}
inline arima_order order_of(sb::value const& c) {
    auto const all = numbers(*member(c, "order"));
    return {static_cast<std::size_t>(all[0]), static_cast<std::size_t>(all[1]), static_cast<std::size_t>(all[2])};
}
inline arima_request plain(std::size_t p, std::size_t d, std::size_t q) {
    arima_request asked;
    asked.order = {p, d, q};
    return asked;
}

/// Calls `use(case, answer)` for each model that the oracle has.
template <class Use>
void each_oracle_model(Use use) {
    auto const file = oracle("arima.json");
    arima_room room;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto asked = plain(0, 0, 0);
        asked.order = order_of(c);
        INFO(text(c, "series") << " " << asked.order.p << asked.order.d << asked.order.q);
        auto const got = arima(all_series().at(text(c, "series")), asked, room);
        REQUIRE(got);
        use(c, got);
    }
}

} // namespace sb::test
