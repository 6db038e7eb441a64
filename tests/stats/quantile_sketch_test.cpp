// SPDX-License-Identifier: MIT
#include <sb/core/random.hpp>
#include <sb/stats/quantile_sketch.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using column = std::vector<double>;

namespace {

quantile_sketch of(column const& values, int bits = 7) {
    quantile_sketch made{bits};
    for (double const x : values) made.push(x);
    return made;
}
constexpr double smallest = std::numeric_limits<double>::min(), largest = std::numeric_limits<double>::max();

/// What is hard on buckets: their edges, all sizes at once, both signs, next to nothing, and much of one value.
std::vector<column> hard_samples() {
    sb::random_stream chance{99};
    normal_values values{7};
    std::vector<column> all(8);
    for (int i = 0; i < 2000; ++i) {
        double const edge = std::ldexp(1 + static_cast<double>(i % 128) / 128, i % 30 - 15);
        all[0].push_back(i % 3 == 0 ? edge : i % 3 == 1 ? std::nextafter(edge, 0) : -edge);
        all[1].push_back(std::ldexp(chance.unit() + 0.5, static_cast<int>(chance.below(2040)) - 1020) * (chance.chance(0.5) ? 1 : -1));
        all[2].push_back(i % 10 == 0 ? values.next() * 1e-300 : i % 7 == 0 ? 0 : values.next());
        all[3].push_back(i < 1900 ? 5 : i % 2 ? 1e-200 : 1e200);
        all[4].push_back(std::exp(i * 0.02 - 20)); // rising
        all[5].push_back(-std::exp(20 - i * 0.02));
        all[6].push_back(1e9 + values.next());
        all[7].push_back(i % 5 == 0 ? smallest * chance.unit() : i % 5 == 1 ? -smallest : i % 5 == 2 ? largest : i % 5 == 3 ? -largest : smallest);
    }
    return all;
}

} // namespace

TEST_CASE("a sketch's quantiles are what its definition makes them in fractions", "[quantile_sketch:oracle]") {
    auto const file = oracle("quantile_sketch.json");
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const values = numbers(*member(c, "values"));
        auto const sketch = of(values, static_cast<int>(number(c, "bits")));
        INFO(text(c, "kind") << " " << number(c, "bits"));
        CHECK(sketch.count() == values.size());
        CHECK(sketch.state().bits == static_cast<int>(number(c, "left")));
        for (auto const& each : *member(c, "quantiles")->if_array()) {
            auto const row = numbers(each);
            auto const got = sketch.quantile(row[0]);
            REQUIRE(got);
            CHECK(got.value == Approx(row[2]).epsilon(4e-16));
            CHECK(std::abs(got.value - row[1]) <= sketch.relative_error() * std::abs(row[1]) * (1 + 1e-14) + smallest);
        }
    }
}

TEST_CASE("every quantile lies within the stated share of itself, whatever the values", "[quantile_sketch:property]") {
    column room;
    for (auto const& values : hard_samples())
        for (int const bits : {0, 3, 7, 10}) {
            auto const sketch = of(values, bits);
            auto const& left = sketch.state();
            CHECK(left.negative.counts.size() + left.positive.counts.size() <= quantile_sketch::most_buckets);
            CHECK(sketch.relative_error() == 1 / (std::pow(2, left.bits + 1) + 1));
            for (int i = 0; i <= 50; ++i) {
                double const p = i / 50.0, want = quantile(values, p, quantile_rule::step, room).value;
                INFO(bits << " bits, then " << left.bits << ", p " << p << ", " << want);
                CHECK(std::abs(sketch.quantile(p).value - want) <= sketch.relative_error() * std::abs(want) * (1 + 1e-14) + smallest);
            }
            CHECK(sketch.quantile(0).value == *std::min_element(values.begin(), values.end()));
            CHECK(sketch.quantile(1).value == *std::max_element(values.begin(), values.end()));
        }
}

TEST_CASE("parts merge to the same state in whatever order, and to that of all values", "[quantile_sketch:property]") {
    sb::random_stream chance{5};
    for (auto const& values : hard_samples()) {
        auto const whole = of(values);
        for (int round = 0; round < 6; ++round) {
            std::vector<quantile_sketch> parts(1 + chance.below(9));
            for (double const x : values) parts[chance.below(parts.size())].push(x);
            while (parts.size() > 1) { // any two, either into the other
                auto const a = chance.below(parts.size()), b = (a + 1 + chance.below(parts.size() - 1)) % parts.size();
                parts[a].merge(parts[b]);
                parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(b));
            }
            CHECK(parts[0] == whole);
        }
        auto shuffled = values;
        for (auto i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[chance.below(i)]);
        CHECK(of(shuffled) == whole);
        // where one began with fewer bits all end with no more
        auto fine = of(values, 10), coarse = of(values, 4);
        auto const bits = std::min(fine.state().bits, coarse.state().bits);
        auto other = coarse;
        other.merge(fine), fine.merge(coarse);
        CHECK(fine == other);
        CHECK(fine.state().bits == bits);
        CHECK(fine.count() == 2 * values.size());
        auto twice = whole;
        twice.merge(twice);
        auto also = whole;
        also.merge(whole);
        CHECK(twice == also);
        CHECK(twice.quantile(0.3).value == Approx(whole.quantile(0.3).value).epsilon(0.01).margin(smallest));
    }
    quantile_sketch many, one;
    many.push(3, 5), many.push(-2, 0);
    for (int i = 0; i < 5; ++i) one.push(3);
    CHECK(many == one);
}

TEST_CASE("a sketch is its state, and what cannot be one's is refused", "[quantile_sketch:property][quantile_sketch:degenerate]") {
    for (auto const& values : hard_samples()) {
        auto const whole = of(values);
        auto const again = quantile_sketch::of(whole.state());
        REQUIRE(again);
        CHECK(*again == whole);
        CHECK(again->quantile(0.7).value == whole.quantile(0.7).value);
    }
    REQUIRE(quantile_sketch::of(sketch_state{}));
    CHECK(quantile_sketch::of(sketch_state{})->count() == 0);
    auto const whole = of({-4, -1, 0, 2, 3, 3});
    auto const refused = [&](auto change) {
        auto state = whole.state();
        change(state);
        return !quantile_sketch::of(std::move(state));
    };
    CHECK_FALSE(refused([](sketch_state&) {}));
    CHECK(refused([](sketch_state& s) { s.bits = 11; }));
    CHECK(refused([](sketch_state& s) { s.bits = -1; }));
    CHECK(refused([](sketch_state& s) { s.bits = 6; })); // the numbers are those of seven
    CHECK(refused([](sketch_state& s) { s.least = 1; }));
    CHECK(refused([](sketch_state& s) { s.least = NAN; }));
    CHECK(refused([](sketch_state& s) { s.most = 4; }));
    CHECK(refused([](sketch_state& s) { s.most = INFINITY; }));
    CHECK(refused([](sketch_state& s) { s.positive.counts.clear(); }));
    CHECK(refused([](sketch_state& s) { s.positive.counts.push_back(0); }));
    CHECK(refused([](sketch_state& s) { s.positive.counts.front() = ~std::uint64_t{0}; }));
    CHECK(refused([](sketch_state& s) { s.positive.counts.resize(5000, 1); }));
    CHECK(refused([](sketch_state& s) { s.negative.first = 5; }));
    CHECK(refused([](sketch_state& s) { s.negative = {}; }));
    CHECK(refused([](sketch_state& s) { s = {}, s.zeros = 1; }));
    CHECK_FALSE(refused([](sketch_state& s) { s = {}, s.zeros = 1, s.least = s.most = 0; }));
}

TEST_CASE("a sketch of nothing, of one value, of what is not finite", "[quantile_sketch:degenerate]") {
    quantile_sketch none;
    CHECK(none.quantile(0.5).why == no_answer::too_short);
    CHECK(std::isnan(none.quantile(0.5).value));
    none.merge(quantile_sketch{});
    CHECK(none.count() == 0);
    auto const one = of({0.1}), same = of(column(50, 0.1)), zeros = of({0.0, -0.0, 0.0}), two = of({1, 2});
    for (double const p : {0.0, 0.3, 1.0}) {
        CHECK(one.quantile(p).value == 0.1);
        CHECK(same.quantile(p).value == 0.1); // between the least and the most there is nothing else
        CHECK(zeros.quantile(p).value == 0);
        CHECK_FALSE(std::signbit(zeros.quantile(p).value));
    }
    CHECK(of({-0.0}) == of({0.0}));
    CHECK(two.quantile(0.5).value == 1);
    CHECK(two.quantile(0.51).value == 2);
    CHECK(one.quantile(-0.1).why == no_answer::bad_request);
    CHECK(one.quantile(1.1).why == no_answer::bad_request);
    CHECK(one.quantile(NAN).why == no_answer::bad_request);
    auto broken = of({1, NAN, INFINITY, 2});
    CHECK(broken.quantile(0.5).why == no_answer::not_finite);
    CHECK(broken.count() == 2);
    CHECK(broken.state().not_finite == 2);
    auto other = of({3});
    other.merge(broken);
    CHECK(other.quantile(0.5).why == no_answer::not_finite);
    CHECK(quantile_sketch{-5}.state().bits == 0);
    CHECK(quantile_sketch{50}.state().bits == quantile_sketch::most_bits);
    auto const ends = of({largest, -largest, smallest, -smallest, 5e-324}, 10);
    CHECK(ends.state().bits == 0);
    CHECK(ends.quantile(0.5).value == 0);
    CHECK(std::abs(ends.quantile(0.75).value - smallest) <= smallest / 3 * (1 + 1e-14));
}
