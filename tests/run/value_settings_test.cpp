// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/json/parse.hpp>
#include <sb/run/value_settings.hpp>
#include <string>
#include <string_view>

using namespace sb;

namespace {

struct worth {
    metric::value_weights weights;
    metric::prices prices;
    /// What is wrong with these settings; empty: nothing.
    std::string read(std::string_view settings) {
        value v;
        REQUIRE_FALSE(json::parse(settings, v));
        auto const done = run::read_worth(*v.if_object(), weights, prices);
        return done.has_error() ? done.error().what : "";
    }
};

} // namespace

TEST_CASE("weights and prices are what the settings say, and others keep their defaults") {
    worth w;
    metric::value_weights const before;
    CHECK(w.read(R"({"value_weights":{"time":2,"memory":0.5},"prices":{"cpu_s":3}})").empty());
    CHECK((w.weights.time == 2 && w.weights.memory == 0.5));
    CHECK((w.weights.success == before.success && w.weights.output == before.output));
    CHECK(w.prices.cpu_s == 3);
    CHECK(w.read("{}").empty());
    CHECK(w.read(R"({"value_weights":null,"another":1})").empty());
    CHECK(w.weights.time == 2);
}

TEST_CASE("settings that are no weights or prices are refused, with the name that was meant") {
    worth w;
    CHECK(w.read(R"({"value_weights":[1]})") == "settings: value_weights: must be a map");
    CHECK(w.read(R"({"prices":{"cpu_s":-1}})") == "settings: prices.cpu_s: must be a number, 0 or more");
    CHECK(w.read(R"({"prices":{"cpu_s":"1"}})") == "settings: prices.cpu_s: must be a number, 0 or more");
    CHECK(w.read(R"({"value_weights":{"tine":1}})").find("time") != std::string::npos);
    CHECK(w.read(R"({"prices":{"zzzzzzzz":1}})") == "settings: prices: unknown name \"zzzzzzzz\"; known names: cpu_s, gib_s, gib_out");
}
