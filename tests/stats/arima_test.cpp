// SPDX-License-Identifier: MIT
#include <sb/core/random.hpp>
#include <sb/stats/arima.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <string>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using series = std::vector<double>;

namespace {

series differenced(series x, std::size_t d) {
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

std::vector<series> regressors_of(sb::value const& c) {
    std::vector<series> all;
    for (auto const& each : *member(c, "exog")->if_array()) all.push_back(numbers(*member(each, "values")));
    return all;
}
std::vector<std::span<double const>> views(std::vector<series> const& all, std::size_t from = 0, std::size_t many = std::dynamic_extent) {
    std::vector<std::span<double const>> got;
    for (auto const& each : all) got.push_back(std::span<double const>{each}.subspan(from, many));
    return got;
}
/// What the model says of the differenced series without its mean.
series remainder(arima_answer const& model, series const& x, std::vector<series> const& regressors) {
    auto left = differenced(x, model.order.d);
    for (std::size_t c = 0; c < regressors.size(); ++c) {
        auto const column = differenced(regressors[c], model.order.d);
        for (std::size_t t = 0; t < left.size(); ++t) left[t] -= model.coefficients[c] * column[t];
    }
    for (double& each : left) each -= model.constant;
    return left;
}
arima_order order_of(sb::value const& c) {
    auto const all = numbers(*member(c, "order"));
    return {static_cast<std::size_t>(all[0]), static_cast<std::size_t>(all[1]), static_cast<std::size_t>(all[2])};
}
arima_request plain(std::size_t p, std::size_t d, std::size_t q) {
    arima_request asked;
    asked.order = {p, d, q};
    return asked;
}

} // namespace

TEST_CASE("the likelihood at given coefficients is that of fifty digits", "[arma_likelihood:oracle][arima:oracle]") {
    auto const file = oracle("arma_llf.json");
    double worst = 0;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto x = all_series().at(text(c, "series"));
        for (double& each : x) each -= number(c, "minus");
        x = differenced(x, static_cast<std::size_t>(number(c, "d")));
        auto const ar = numbers(*member(c, "ar")), ma = numbers(*member(c, "ma"));
        INFO(text(c, "series") << " " << ar.size() << " " << ma.size() << " " << text(c, "what"));
        auto const got = arma_log_likelihood(x, ar, ma, number(c, "deviation"));
        REQUIRE(got);
        double const want = number(c, "llf"), off = std::abs(*got - want) / std::abs(want);
        CHECK(off < 1e-9);
        worst = std::max(worst, off);
    }
    CAPTURE(worst);
    CHECK(worst < 1e-9);
}

TEST_CASE("no likelihood is below the best that is known, nor below what statsmodels and R find", "[arima:oracle][arma_search:oracle]") {
    auto const file = oracle("arima.json");
    arima_room room;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const& values = all_series().at(text(c, "series"));
        auto asked = plain(0, 0, 0);
        asked.order = order_of(c);
        INFO(text(c, "series") << " " << asked.order.p << asked.order.d << asked.order.q);
        auto const got = arima(values, asked, room);
        REQUIRE(got);
        auto const& best = *member(c, "best_known");
        CHECK(got.llf >= number(best, "llf") - 1e-3);
        for (auto const* tool : {"sm", "R"})
            if (double const theirs = number(*member(c, "exact_llf_at_each_tools_estimate"), tool); !std::isnan(theirs)) CHECK(got.llf >= theirs - 1e-5);
        CHECK(got.parameters == static_cast<std::size_t>(number(best, "k_params")));
        CHECK(got.used == static_cast<std::size_t>(number(best, "nobs_effective")));
        CHECK(got.has_constant == (text(c, "trend") == "c"));
        // what is told is what the coefficients have
        auto const left = remainder(got, values, {});
        dense const whole{got, left.size()};
        CHECK(got.llf == Approx(whole.llf(left, got.deviation)).epsilon(1e-7));
        CHECK(got.aic == Approx(2.0 * static_cast<double>(got.parameters) - 2 * got.llf));
        if (std::abs(got.llf - number(best, "llf")) > 1e-6) continue; // another hill, or a better place
        CHECK(got.aic == Approx(number(best, "aic")).epsilon(1e-7));
        CHECK(got.bic == Approx(number(best, "bic")).epsilon(1e-7));
        CHECK(got.deviation * got.deviation == Approx(number(best, "sigma2")).epsilon(1e-2));
    }
}
