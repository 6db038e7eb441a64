// SPDX-License-Identifier: MIT
#include <sb/analysis/test_list.hpp>
#include <sb/core/random.hpp>
#include "support/catch.hpp"
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace sb;
using namespace sb::analysis;

namespace {

std::vector<double> walk(std::size_t n, std::uint64_t seed, double pull) {
    random_stream chance{seed};
    std::vector<double> values;
    double x = 0;
    for (std::size_t i = 0; i < n; ++i) values.push_back(x = pull * x + chance.unit() - 0.5);
    return values;
}

bool fits(value const& v, test_member::type is) {
    switch (is) {
    case test_member::type::number: return v.is_null() || v.is_number();
    case test_member::type::integer: return v.if_int64() != nullptr;
    case test_member::type::text: return v.if_string() != nullptr;
    case test_member::type::truth: return v.is_null() || v.if_bool();
    case test_member::type::numbers: return v.if_object() != nullptr;
    case test_member::type::list: return v.if_array() != nullptr;
    }
    return false;
}

bool is_of(test_member const& member, std::string const& test) { return (std::string{" "} + member.of + " ").find(" " + test + " ") != std::string::npos; }

} // namespace

TEST_CASE("what a test has besides is what its record's description says, no more and no less") {
    std::vector<columns> const all{
        {{"a", walk(40, 1, 0.5)}, {"b", walk(40, 2, 0.5)}},
        {{"a", walk(60, 3, 0.99)}, {"b", walk(60, 4, 0)}},
        {{"flat", std::vector<double>(30, 2)}, {"flat", std::vector<double>(30, 2)}},
        {{"line", {1, 2, 3, 4, 5, 6}}, {"line", {2, 4, 6, 8, 10, 12}}},
        {{"few", {1, 5}}, {"few", {2, 3}}},
        {{"none", {}}, {"none", {}}},
        {{"with holes", {1, 2, 4, 3, 5, 7}, {1, 2}}, {"with holes", {3, 2, 4, 5, 5, 9}, {0, 2}}},
        {{"no numbers", {NAN, 1, 2}}, {"no numbers", {INFINITY, 3, 4}}},
    };
    std::set<std::pair<std::string, std::string>> seen;
    for (auto const& test : test_list)
        for (auto const& samples : all)
            for (auto const* method : {"t", "bootstrap", "anytime", "paired"}) {
                test_question asked;
                asked.test = test.name, asked.margin = 0.1;
                if (method == std::string{"paired"}) asked.paired = true;
                else asked.method = method;
                REQUIRE_FALSE(asked.check().has_error());
                auto const said = answered(samples, asked, false);
                REQUIRE_FALSE(said.has_error());
                for (auto const& each : *said)
                    for (auto const& [key, v] : each.besides) {
                        INFO(test.name << " of " << samples[0].name << ": " << key);
                        auto const* const member = std::find_if(std::begin(test_members), std::end(test_members), [&key = key](test_member const& m) { return m.name == key; });
                        REQUIRE(member != std::end(test_members));
                        CHECK(is_of(*member, test.name));
                        CHECK(fits(v, member->is));
                        seen.emplace(test.name, key);
                    }
            }
    for (auto const& member : test_members)
        for (auto const& test : test_list)
            if (is_of(member, test.name)) {
                INFO(test.name << ": " << member.name);
                CHECK(seen.count({test.name, member.name}) == 1);
            }
}
