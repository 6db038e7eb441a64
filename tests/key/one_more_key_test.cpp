// SPDX-License-Identifier: MIT
// A key is a definition in a file of its own and a line in a list: nothing else has to know it.
#include "key/spare_cores.hpp"
#include "support/catch.hpp"
#include <sb/key/limits_manual.hpp>
#include <sb/run/preset_to_limits.hpp>

using namespace sb;

namespace {

constexpr auto with_one_more = [] {
    std::array<key::definition const*, key::list.size() + 1> all{&key::spare_cores};
    std::copy(key::list.begin(), key::list.end(), all.begin() + 1);
    return all;
}();
constexpr auto with_one_more_by_name = key::sorted(with_one_more);
constexpr key::key_list more_keys{with_one_more, with_one_more_by_name};

result<run::enforcement> ask(object keys, key::key_list const& known = more_keys, key::host const& can = {.cpus = 4}) {
    preset_record preset;
    preset.keys = std::move(keys);
    SB_TRY(auto const asked, key::read_any(std::move(preset), known));
    return run::enforce(asked, {}, can, known);
}

} // namespace

TEST_CASE("a key of a longer list is read, planned, set up and told in the record") {
    auto const got = ask({{"SPARE_CORES", "0"}, {"FILE_LIMIT", "1Mi"}});
    REQUIRE_FALSE(got.has_error());
    CHECK(got->setup.cpus == 4);
    CHECK(got->setup.file_bytes == 1 << 20);
    REQUIRE(got->applied.size() >= 2);
    CHECK(got->applied[0].key == "SPARE_CORES");
    CHECK(got->applied[0].requested == value("0"));
    CHECK(got->applied[0].achieved == value(0));
    CHECK(got->applied[0].by == "sched_setaffinity");
    CHECK(got->unsupported.empty());
}

TEST_CASE("where it cannot act the reason is told, and since it is a limit that it does not hold") {
    auto const got = ask({{"SPARE_CORES", 1024}}).value();
    auto const why = cat("this machine has ", 4, " processors");
    REQUIRE(got.unsupported.size() == 1);
    CHECK(got.unsupported[0].why == why);
    CHECK(got.loose == std::vector<std::string>{"SPARE_CORES cannot be enforced: " + why});
    CHECK(got.setup.cpus == key::setup::none);
    CHECK(ask({{"SPARE_CORES", 0}}, more_keys, {.limits = false})->unsupported[0].why == "--isolate none limits only time and output");
}

TEST_CASE("its plan follows from the host alone") {
    key::setup to;
    CHECK(key::spare_cores.plan(key::integer{3}, {.cpus = 8}, to).achieved == value(3));
    CHECK(to.cpus == 5);
    CHECK_FALSE(key::spare_cores.plan(key::integer{8}, {.cpus = 8}, to).achieved);
}

TEST_CASE("its values are checked, and the manual has its row") {
    CHECK(ask({{"SPARE_CORES", -1}}).error().what == "SPARE_CORES: -1 is not valid; it takes a whole number from 0 to 1024");
    CHECK(key::limits_table(more_keys).find("| SPARE_CORES | sched_setaffinity | the tree shares the others |\n") != std::string::npos);
    CHECK(key::limits_table().find("SPARE_CORES") == std::string::npos);
}

TEST_CASE("to the list as it is the key is a name that nobody knows") {
    CHECK(ask({{"SPARE_CORES", 1}}, key::all_keys)->informational == std::vector<std::string>{"SPARE_CORES"});
}
