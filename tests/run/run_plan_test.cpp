// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/run_plan.hpp>
#include <set>
#include <string>
#include <vector>

using namespace sb::run;

namespace {
run_plan plan(std::vector<std::string> ids, int repeat, int warmup, run_order order, run_identity identity = {{"true"}, "/dev/null", "", "", 0}) {
    return {std::move(ids), std::move(identity), repeat, warmup, order};
}
std::string sequence(run_plan const& p) {
    std::string all;
    for (std::size_t i = 0; i < p.size(); ++i) {
        auto const run = p.at(i);
        all += static_cast<char>('A' + static_cast<char>(run.preset));
        all += run.rep < 0 ? "w" : std::to_string(run.rep);
        all += ' ';
    }
    return all;
}
} // namespace

TEST_CASE("interleaved runs go round all presets, grouped ones finish each first") {
    CHECK(sequence(plan({"a", "b"}, 2, 0, run_order::interleaved)) == "A0 B0 A1 B1 ");
    CHECK(sequence(plan({"a", "b"}, 2, 0, run_order::grouped)) == "A0 A1 B0 B1 ");
    CHECK(sequence(plan({"a", "b"}, 2, 1, run_order::interleaved)) == "Aw Bw A0 B0 A1 B1 ");
    CHECK(sequence(plan({"a", "b"}, 1, 2, run_order::grouped)) == "Aw Aw A0 Bw Bw B0 ");
}

TEST_CASE("keys depend on what is run and not on the order or on how often") {
    auto const keys = [](run_plan const& p) {
        std::set<std::string> all;
        for (std::size_t i = 0; i < p.size(); ++i)
            if (p.at(i).rep >= 0) all.insert(p.at(i).run_id);
        return all;
    };
    auto const round = keys(plan({"a", "b", "c"}, 4, 1, run_order::interleaved)), one_by_one = keys(plan({"a", "b", "c"}, 4, 0, run_order::grouped));
    CHECK(round.size() == 12);
    CHECK(round == one_by_one);
    auto const more = keys(plan({"a", "b", "c"}, 5, 0, run_order::grouped));
    for (auto const& each : round) CHECK(more.contains(each));
}

TEST_CASE("another command, input, limit, check or seed is another run") {
    std::set<std::string> ids;
    for (auto const& identity : {run_identity{{"true"}, "/dev/null", "", "", 0}, run_identity{{"true", ""}, "/dev/null", "", "", 0},
                                 run_identity{{"true"}, "file", "", "", 0}, run_identity{{"true"}, "/dev/null", "2.0", "", 0},
                                 run_identity{{"true"}, "/dev/null", "", "grep x", 0}, run_identity{{"true"}, "/dev/null", "", "", 1}})
        ids.insert(plan({"a"}, 1, 0, run_order::grouped, identity).at(0).run_id);
    CHECK(ids.size() == 6);
}

TEST_CASE("equal presets share no key: the second goes on counting") {
    auto const p = plan({"a", "a"}, 2, 0, run_order::grouped);
    CHECK(sequence(p) == "A0 A1 B2 B3 ");
    CHECK(p.at(0).run_id != p.at(2).run_id);
}

TEST_CASE("seeds depend on base, preset and repetition, and are exact in every reader") {
    std::set<std::int64_t> seeds;
    for (std::uint64_t base = 0; base < 10; ++base)
        for (auto const* id : {"a", "b"})
            for (int rep = 0; rep < 50; ++rep) {
                auto const seed = derive_seed(base, id, rep);
                CHECK(seed == derive_seed(base, id, rep));
                CHECK(seed >= 0);
                CHECK(seed < std::int64_t{1} << 53);
                seeds.insert(seed);
            }
    CHECK(seeds.size() == 1000);
}
