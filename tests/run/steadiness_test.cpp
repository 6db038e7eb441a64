// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/steadiness.hpp>
#include <cmath>
#include <string>
#include <vector>

using sb::run::steadiness;
using numbers = std::vector<double>;
using lines = std::vector<std::string>;

namespace {
sb::run_record run_of(double wall_s) {
    sb::run_record r;
    r.scenario = "normal", r.preset_id = "p", r.wall_s = wall_s, r.host.cpus = 2;
    return r;
}
lines remarks(numbers const& walls, steadiness::circumstances in = {}) {
    steadiness all{in};
    for (double const each : walls) all.add(run_of(each));
    return all.remarks();
}
/// Around one second, to and fro, never twice the same: no order and no outlier.
numbers quiet(std::size_t n) {
    numbers all;
    for (std::size_t i = 0; i < n; ++i) all.push_back(1 + 0.01 * std::sin(2.4 * static_cast<double>(i)));
    return all;
}
bool says(std::string const& line, std::string_view part) { return line.find(part) != std::string::npos; }
} // namespace

TEST_CASE("quiet, constant and too few times raise no doubt") {
    CHECK(remarks({}).empty());
    CHECK(remarks({1}).empty());
    CHECK(remarks({5, 1}).empty());
    CHECK(remarks({5, 1, 1, 1, 1}).empty());
    CHECK(remarks(numbers(40, 0.5)).empty());
    CHECK(remarks(numbers(40, 0)).empty());
    CHECK(remarks(quiet(7)).empty());
    CHECK(remarks(quiet(200)).empty());
}

TEST_CASE("a slow first run asks for a warm-up") {
    auto times = quiet(9);
    times.insert(times.begin(), 3);
    auto const said = remarks(times);
    REQUIRE(said.size() == 1);
    CHECK(says(said[0], "normal: the first run took 3.00 s, the 9 after it 1.00 s (median)"));
    CHECK(says(said[0], "--warmup 1 leaves it out"));
    CHECK(says(remarks(times, {true, 1}).at(0), "a larger --warmup"));
}

TEST_CASE("a first run that is faster is an outlier, not a cold start") {
    auto times = quiet(9);
    times.insert(times.begin(), 0.2);
    auto const said = remarks(times);
    REQUIRE(said.size() == 1);
    CHECK(says(said[0], "1 of 10 runs is an outlier: 200 ms in run 1, against a median of "));
}

TEST_CASE("outliers are counted on both sides, and the worst is named by its number") {
    auto times = quiet(30);
    times[4] = 0.5, times[20] = 2;
    auto const said = remarks(times);
    REQUIRE(said.size() == 1);
    CHECK(says(said[0], "2 of 30 runs are outliers: 2.00 s in the worst, run 21, against a median of 1.0"));
    times[0] = 4; // numbers go on counting from the first
    auto const more = remarks(times);
    REQUIRE(more.size() == 2);
    CHECK(says(more[1], "2 of 29 runs are outliers: 2.00 s in the worst, run 21,"));
}

TEST_CASE("one wild time among equal ones is an outlier; one that is a little off is not") {
    numbers times(12, 1.0);
    times[6] = 1.05;
    CHECK(remarks(times).empty());
    times[6] = 1.5;
    REQUIRE(remarks(times).size() == 1);
}

TEST_CASE("a drift is told with its test, when it is sure and large enough to matter") {
    numbers times;
    for (int i = 0; i < 30; ++i) times.push_back(1 + 0.01 * i);
    std::swap(times[4], times[24]); // squares of the distances of ranks: 2 * 400; rho = 1 - 6 * 800 / (30 * 899)
    auto const up = remarks(times);
    REQUIRE(up.size() == 1);
    CHECK(says(up[0], "normal: the time rises with the order of runs"));
    CHECK(says(up[0], "Spearman's rho 0.82, p "));
    CHECK(says(up[0], "n 30)"));
    CHECK(says(remarks({times.rbegin(), times.rend()}).at(0), "the time falls"));
    auto slight = quiet(0);
    for (int i = 0; i < 30; ++i) slight.push_back(1 + 0.0005 * i); // sure, and less than a twentieth
    CHECK(remarks(slight).empty());
    times.resize(9);
    CHECK(remarks(times).empty());
}

TEST_CASE("runs of other presets and other ends are not compared") {
    steadiness all{{}};
    for (int i = 0; i < 20; ++i) {
        auto quick = run_of(0.1), slow = run_of(10), late = run_of(30);
        slow.preset_id = "q", slow.severity = "high";
        late.end.class_ = sb::end_class::timeout;
        all.add(quick), all.add(slow), all.add(late);
    }
    CHECK(all.remarks().empty());
    auto odd = run_of(20);
    odd.preset_id = "q", odd.severity = "high";
    all.add(odd);
    auto const said = all.remarks();
    REQUIRE(said.size() == 1);
    CHECK(says(said[0], "normal (high): 1 of 21 runs"));
}

TEST_CASE("a machine with other work is told with figures, and an idle or unknown one is not") {
    auto const beside = [](double steal, double others, int jobs) {
        steadiness all{{false, jobs}};
        for (int i = 0; i < 4; ++i) {
            auto r = run_of(0.5);
            if (steal >= 0) r.noise = sb::run_noise{0.5, steal, others};
            all.add(r);
        }
        return all.remarks();
    };
    CHECK(beside(-1, 0, 1).empty());
    CHECK(beside(0, 0.05, 1).empty());
    auto const loaded = beside(0, 0.5, 1);
    REQUIRE(loaded.size() == 1);
    CHECK(loaded[0] == "other processes used 1.00 of 2 processors while runs were made (2.0 s in 2.0 s)");
    CHECK(says(beside(0, 0.5, 2).at(0), "including other runs of --jobs"));
    auto const stolen = beside(0.05, 0, 1);
    REQUIRE(stolen.size() == 1);
    CHECK(stolen[0] == "a hypervisor took 5.0 % of the processors' time while runs were made (steal, 0.20 s of 4.0 s)");
}

TEST_CASE("a governor that lets the frequency follow the load is named") {
    steadiness all{{}};
    auto r = run_of(1);
    r.host.governor = "powersave";
    all.add(r);
    REQUIRE(all.remarks().size() == 1);
    CHECK(says(all.remarks()[0], "governor powersave"));
    r.host.governor = "performance";
    all.add(r);
    CHECK(all.remarks().empty());
}
