// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/local/plain_backend.hpp>
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

using namespace sb::local;
using namespace sb::run;

namespace {

enforcement enforced(sb::object keys, overrides wins = {}) {
    sb::preset_record preset;
    preset.keys = std::move(keys);
    auto got = plain_backend{}.plan(sb::key::read_any(std::move(preset)).value(), wins);
    REQUIRE_FALSE(got.has_error());
    return std::move(*got);
}

/// A value that each key takes.
sb::value sample(sb::key::definition const& k) {
    using sb::key::unit;
    switch (k.in) {
    case unit::boolean: return true;
    case unit::word:
    case unit::words: return sb::value(k.words.substr(0, k.words.find(' ')));
    case unit::text: return "text";
    case unit::names: return sb::array{"CPU_LIMIT"};
    case unit::map: return sb::object{{"memory", "1Gi"}};
    case unit::fraction: return 0.5;
    default: return static_cast<std::int64_t>(std::clamp(100.0, k.least, k.most));
    }
}

} // namespace

TEST_CASE("every key of a preset is in exactly one of applied, unsupported, informational") {
    sb::object all;
    for (auto const* k : sb::key::list) all[k->name] = sample(*k);
    all["ENV_GREETING"] = "hello";
    all["A_KEY_NOBODY_KNOWS"] = 1;
    auto const got = enforced(all);
    std::map<std::string, int> times;
    for (auto const& each : got.applied) ++times[each.key];
    for (auto const& each : got.unsupported) ++times[each.key];
    for (auto const& each : got.informational) ++times[each];
    for (auto const& [name, v] : all) {
        INFO(name);
        CHECK(times[name] == 1);
    }
    for (auto const& each : got.unsupported) CHECK_FALSE(each.why.empty());
}

TEST_CASE("a key that acts in no backend is informational, and none that acts is") {
    sb::object all;
    for (auto const* k : sb::key::list) all[k->name] = sample(*k);
    std::set<std::string> said;
    for (auto const& each : enforced(all).informational) said.insert(each);
    for (auto const* k : sb::key::list) {
        INFO(k->name);
        CHECK(said.contains(std::string{k->name}) == k->labels());
    }
}

TEST_CASE("the keys that are said to act today are those that act where all can be had") {
    sb::key::host all_there;
    all_there.sandboxed = all_there.tree_memory = all_there.tree_pids = all_there.tree_cores = true;
    all_there.memory_bytes = std::int64_t{8} << 30;
    for (auto const* k : sb::key::list) {
        if (k == &sb::key::os_type) continue; // linux is where it runs in any case, and no other acts
        sb::preset_record preset;
        preset.keys[k->name] = sample(*k);
        auto const got = enforce(sb::key::read_any(std::move(preset)).value(), {}, as_seen_here(all_there));
        REQUIRE_FALSE(got.has_error());
        auto const acted = std::count_if(got->applied.begin(), got->applied.end(), [&](auto const& each) { return each.key == k->name && !each.requested.is_null(); });
        INFO(k->name);
        CHECK((acted == 1) == k->acts());
    }
}

TEST_CASE("of a limit beyond the machine what there is is held, unless it was given by hand") {
    sb::key::host small;
    small.sandboxed = small.tree_memory = small.tree_pids = true;
    small.memory_bytes = std::int64_t{2} << 30, small.pids = 32768;
    auto const ask = [&](sb::object keys) {
        sb::preset_record preset;
        preset.keys = std::move(keys);
        return enforce(sb::key::read_any(std::move(preset)).value(), {}, as_seen_here(small));
    };
    auto const most = ask({{"MEMORY_LIMIT", "2Gi"}, {"PIDS_LIMIT", 32768}});
    REQUIRE_FALSE(most.has_error());
    CHECK(most->lowered.empty());
    CHECK(most->setup.tree_memory_bytes == small.memory_bytes);
    auto const beyond = ask({{"MEMORY_LIMIT", "4Gi"}, {"PIDS_LIMIT", 32769}, {"OVERRIDES", sb::array{"CPU_LIMIT"}}});
    REQUIRE_FALSE(beyond.has_error());
    CHECK(beyond->setup.tree_memory_bytes == small.memory_bytes);
    CHECK(beyond->setup.tree_pids == 32768);
    CHECK(beyond->applied[0].requested == sb::value("4Gi"));
    CHECK(beyond->applied[0].achieved == sb::value(small.memory_bytes));
    CHECK(beyond->loose.empty());
    CHECK(beyond->lowered == std::vector<std::string>{"MEMORY_LIMIT 4Gi is more than this machine has; capped at 2.0 GiB",
                                                      "PIDS_LIMIT 32769 is more than this machine has; capped at 32768 processes"});
    auto const by_hand = ask({{"MEMORY_LIMIT", "4Gi"}, {"OVERRIDES", sb::array{"MEMORY_LIMIT"}}});
    REQUIRE(by_hand.has_error());
    CHECK(by_hand.error().on == sb::blame::caller);
    CHECK(by_hand.error().what == "MEMORY_LIMIT 4Gi limits nothing: this machine has only 2.0 GiB");
    small.tree_memory = false; // an address space may well be larger than memory
    auto const alone = ask({{"MEMORY_LIMIT", "4Gi"}});
    REQUIRE_FALSE(alone.has_error());
    CHECK(alone->setup.memory_bytes == std::int64_t{4} << 30);
    CHECK(alone->lowered.empty());
}

TEST_CASE("the files of a workspace follow from its size and the tree's memory, whichever is said first") {
    sb::key::host all_there;
    all_there.sandboxed = all_there.tree_memory = all_there.tree_pids = true;
    all_there.memory_bytes = std::int64_t{8} << 30, all_there.jobs = 1;
    auto const files = [&](sb::object keys) {
        sb::preset_record preset;
        preset.keys = std::move(keys);
        auto const got = enforce(sb::key::read_any(std::move(preset)).value(), {}, as_seen_here(all_there));
        REQUIRE_FALSE(got.has_error());
        auto const disk = std::find_if(got->applied.begin(), got->applied.end(), [](auto const& each) { return each.key == "DISK_LIMIT"; });
        REQUIRE(disk != got->applied.end());
        INFO(disk->by);
        CHECK(disk->by.find(std::to_string(got->setup.scratch_inodes) + " files in it") != std::string::npos);
        return got->setup.scratch_inodes;
    };
    CHECK(files({{"DISK_LIMIT", "256Mi"}}) == 65536);
    CHECK(files({{"DISK_LIMIT", "256Mi"}, {"MEMORY_LIMIT", "64Mi"}}) == 8192);
    CHECK(files({{"MEMORY_LIMIT", "64Mi"}, {"DISK_LIMIT", "256Mi"}}) == 8192);
    CHECK(files({{"MEMORY_LIMIT", "64Mi"}}) == 8192); // half of the machine's memory is the workspace's
    CHECK(files({}) == 1048576);
    all_there.tree_memory = false; // of each process: nothing is known of the tree
    CHECK(files({{"DISK_LIMIT", "256Mi"}, {"MEMORY_LIMIT", "64Mi"}}) == 65536);
}

TEST_CASE("the files of a whole run are counted where its processes could have more than its part of the machine's") {
    sb::key::host here;
    here.sandboxed = here.tree_pids = true;
    here.files = 2'000'000, here.mappings = 65'530;
    auto const ask = [&](sb::object keys) {
        sb::preset_record preset;
        preset.keys = std::move(keys);
        return enforce(sb::key::read_any(std::move(preset)).value(), {}, as_seen_here(here)).value();
    };
    auto const told = [](auto const& got) {
        for (auto const& each : got.applied)
            if (each.key == "OPEN_FILES_LIMIT") return each.by;
        return std::string{};
    };
    auto const silent = ask({});
    CHECK(silent.setup.open_files == 1024);
    CHECK(silent.setup.all_files == 200'000);
    CHECK(told(silent) == "RLIMIT_NOFILE, each process, by default; counted, fewer than 200000 for all runs together");
    CHECK(ask({{"PIDS_LIMIT", 3}}).setup.all_files == sb::key::setup::none); // 3 x (1024 + 65530) are 199,662
    CHECK(told(ask({{"PIDS_LIMIT", 3}})) == "RLIMIT_NOFILE, each process, by default");
    CHECK(ask({{"PIDS_LIMIT", 3}, {"OPEN_FILES_LIMIT", 1200}}).setup.all_files == 200'000);
    CHECK(ask({{"OPEN_FILES_LIMIT", 1048576}}).setup.open_files == 50'000); // a quarter: it bounds what cannot be counted
    CHECK(silent.setup.file_shares == 1);
    here.jobs = 4;
    CHECK(ask({}).setup.all_files == 200'000);
    CHECK(ask({}).setup.file_shares == 4);
    CHECK(ask({{"PIDS_LIMIT", 1}}).setup.all_files == 200'000); // four times 66,554 are 266,216
    here.files = std::numeric_limits<std::int64_t>::max(); // as where an init system has lifted it
    CHECK(ask({}).setup.all_files == sb::key::setup::none);
    here.files = 0; // unknown
    CHECK(ask({}).setup.all_files == sb::key::setup::none);
    CHECK(enforced({}).setup.all_files == sb::key::setup::none); // without walls
}

TEST_CASE("limits carry their values in bytes, seconds and counts") {
    auto const got = enforced({{"TIMEOUT", "1500ms"}, {"OUTPUT_LIMIT", "64Ki"}, {"FILE_LIMIT", "1Mi"}, {"OPEN_FILES_LIMIT", 32},
                               {"MEMORY_LIMIT", "128Mi"}, {"CPU_SECONDS", 3}, {"CONCURRENCY_LEVEL", 5}, {"CPU_LIMIT", "1"}});
    CHECK(got.setup.wall_ns == 1'500'000'000);
    CHECK(got.setup.output_bytes == 65536);
    CHECK(got.setup.file_bytes == 1048576);
    CHECK(got.setup.open_files == 32);
    CHECK(got.setup.memory_bytes == 134217728);
    CHECK(got.setup.cpu_seconds == 3);
    CHECK(got.setup.cpus == 1);
    CHECK(got.setup.copies == 5);
}

TEST_CASE("a silent preset gets thirty seconds, 8 MiB a stream and 1024 open files a process, and the record says that nobody asked") {
    auto const got = enforced({});
    CHECK(got.setup.wall_ns == 30'000'000'000);
    CHECK(got.setup.output_bytes == 8388608);
    CHECK(got.setup.memory_bytes == sb::key::setup::none);
    CHECK(got.setup.open_files == 1024);
    REQUIRE(got.applied.size() == 3);
    for (auto const& each : got.applied) CHECK(each.requested.is_null());
}

TEST_CASE("a timeout given by hand wins, and what was asked stays to be seen") {
    auto const got = enforced({{"TIMEOUT", 10}}, {.timeout_s = 2.0});
    CHECK(got.setup.wall_ns == 2'000'000'000);
    REQUIRE(got.applied.front().key == "TIMEOUT");
    CHECK(got.applied.front().requested == sb::value(10));
    CHECK(got.applied.front().achieved == sb::value(2.0));
}

TEST_CASE("half a processor is not rounded but refused, with the reason") {
    auto const got = enforced({{"CPU_LIMIT", "0.5"}});
    CHECK(got.setup.cpus == sb::key::setup::none);
    REQUIRE(got.unsupported.size() == 1);
    CHECK(got.unsupported.front().key == "CPU_LIMIT");
}

TEST_CASE("more processors than there are: what is achieved is what there is") {
    auto const got = enforced({{"CPU_LIMIT", "64"}});
    REQUIRE(got.applied.front().key == "CPU_LIMIT");
    CHECK(got.applied.front().requested == sb::value("64"));
    CHECK(got.applied.front().achieved == sb::value(std::int64_t{sb::machine::usable_cpus()}));
}

TEST_CASE("a variable of the workload's own is set under its own name") {
    auto const got = enforced({{"ENV_GREETING", "hello"}});
    CHECK(got.variables.at("GREETING") == "hello");
}
