// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stress/keywords.hpp>

using namespace sb;
using namespace sb::stress;

namespace {
using list = std::vector<std::string>;
} // namespace

TEST_CASE("words of a path are parted at every hump and mark") {
    CHECK(words_in("src/HTTPServer_v2/apiClient.py") == list{"src", "http", "server", "v", "api", "client", "py"});
    CHECK(words_in("").empty());
}

TEST_CASE("modules get the profiles of their words, and only of whole words") {
    keyword_map const words;
    auto const suggest = [&](std::string_view path, bool misuse = true) { return words.suggest(path, {}, misuse); };
    list const six{"high_latency_api", "hostile_input", "user_misuse", "concurrency_spike", "schema_drift",
        "flaky_upstream"};
    CHECK(suggest("src/api/users.py") == list{"high_latency_api"});
    CHECK(suggest("lib/capital.py") == six); // no "api" in it
    CHECK(suggest("db/database.c") == list{"high_latency_api", "concurrency_spike", "schema_drift"});
    CHECK(suggest("JsonParser.cpp") == list{"hostile_input", "user_misuse"});
    CHECK(suggest("json_parsers.cpp", false) == list{"hostile_input"});
    CHECK(suggest("auth/login.go") == list{"user_misuse", "hostile_input"});
    CHECK(suggest("legacy/schema.py") == list{"schema_drift"});
    CHECK(suggest("utils.py") == six);
    CHECK(suggest("utils.py", false).size() == 5);
    CHECK(suggest("upstream_cache.rs") == list{"flaky_upstream", "high_latency_api"});
}

TEST_CASE("a module's source is asked after its path") {
    keyword_map const words;
    CHECK(words.suggest("job.py", "import threading\nfrom app.cache import get\nx = 1\n",
        true) == list{"high_latency_api"});
    CHECK(words.suggest("job.c", "#include \"net/upstream.h\"\nint api;\n", true) == list{"flaky_upstream"});
    CHECK(words.suggest("job.py", "@auth.required\ndef f(): pass\n", false) == list{"hostile_input"});
    CHECK(words.suggest("job.py", "SCHEMA_VERSION = 3\n", true) == list{"schema_drift"});
    CHECK(words.suggest("api.py", "import parser\n", false) == list{"high_latency_api", "hostile_input"});
}

TEST_CASE("keyword_profiles of the settings replace keyword by keyword") {
    profile_set const known;
    keyword_map words;
    REQUIRE(words.merge(value(object{{"api", "schema_drift"},
        {"Billing", value(array{"flaky_upstream", "high_latency"})}}), known).has_value());
    CHECK(words.suggest("api.py", {}, true) == list{"schema_drift"});
    CHECK(words.suggest("billing.py", {}, true) == list{"flaky_upstream", "high_latency_api"});
    CHECK(words.suggest("cache.py", {}, true) == list{"high_latency_api"});
    CHECK(words.merge(value(3),
        known).error().what == "settings: keyword_profiles: must be a map of keywords to profiles");
    CHECK(words.merge(value(object{{"x", 3}}),
        known).error().what == "settings: keyword_profiles: x: must be a profile or a list of profiles");
    CHECK(words.merge(value(object{{"x", "schema_drfit"}}),
        known).error().what.find("settings: keyword_profiles: x: unknown profile \"schema_drfit\"; did you mean") == 0);
}
