// SPDX-License-Identifier: MIT
// Tests of delta.hpp, event.hpp, lease.hpp, partial.hpp, preset.hpp, rank.hpp, run.hpp, sample.hpp, synergy.hpp and test.hpp.
#include "support/catch.hpp"
#include <sb/json/record.hpp>
#include <sb/record/delta.hpp>
#include <sb/record/event.hpp>
#include <sb/record/lease.hpp>
#include <sb/record/partial.hpp>
#include <sb/record/preset.hpp>
#include <sb/record/rank.hpp>
#include <sb/record/run.hpp>
#include <sb/record/sample.hpp>
#include <sb/record/synergy.hpp>
#include <sb/record/test.hpp>
#include <set>
#include <string>

TEST_CASE("a record's line begins with its kind and version and has its members in the order of its definition") {
    sb::event_record event{"doctor", "full", "ok", "x", {}};
    CHECK(sb::json::line(event) == "{\"kind\":\"event\",\"v\":1,\"topic\":\"doctor\",\"name\":\"full\",\"status\":\"ok\",\"what\":\"x\",\"mend\":null}\n");
    sb::lease_record lease;
    lease.id = "0123456789ab", lease.pid = 7, lease.cgroups = {"/a", "/b"}, lease.uid = 0;
    CHECK(sb::json::line(lease) == "{\"kind\":\"lease\",\"v\":1,\"id\":\"0123456789ab\",\"pid\":7,\"started\":\"\",\"boot_id\":\"\",\"machine\":null,\"temp_folder\":\"\","
                                   "\"cgroups\":[\"/a\",\"/b\"],\"switched_on\":[],\"uid\":0}\n");
    sb::partial_record partial;
    partial.by = "scenario", partial.name = "a", partial.metric = "roi", partial.n = 1, partial.sum = {{3, -1}}, partial.squares = {{9, -2}};
    CHECK(sb::json::line(partial) == "{\"kind\":\"partial\",\"v\":1,\"by\":\"scenario\",\"name\":\"a\",\"metric\":\"roi\",\"n\":1,\"sum\":[[3,-1]],\"squares\":[[9,-2]],"
                                     "\"last_security_score\":null}\n");
    sb::rank_record rank;
    rank.by = "scenario", rank.name = "a", rank.metric = "roi", rank.total = 1.5, rank.n = 1, rank.tie = true;
    CHECK(sb::json::line(rank) == "{\"kind\":\"rank\",\"v\":1,\"by\":\"scenario\",\"name\":\"a\",\"metric\":\"roi\",\"total\":1.5,\"mean\":null,\"lo\":null,\"hi\":null,\"n\":1,"
                                  "\"last_security_score\":null,\"effect\":null,\"tie\":true,\"overlaps_next\":null,\"overlaps_baseline\":null}\n");
    sb::run_record run;
    run.run_id = "0", run.end = {sb::end_class::timeout, std::nullopt, 9, "30 s"};
    auto const line = sb::json::line(run);
    CHECK(line.starts_with("{\"kind\":\"run\",\"v\":1,\"run_id\":\"0\",\"ts\":\"\",\"workload\":\"\",\"module\":null,"));
    CHECK(line.find("\"end\":{\"class\":\"timeout\",\"code\":null,\"signal\":9,\"reason\":\"30 s\"}") != std::string::npos);
    CHECK(line.find("\"stdout\":{\"bytes\":0,") != std::string::npos); // without the mark that C++ needs
}

TEST_CASE("of a sample, a delta or a synergy every member may be missing, and what is there comes back") {
    auto const read = []<class Record>(Record, std::string const& line) {
        sb::value v;
        REQUIRE_FALSE(sb::json::parse(line, v));
        Record made;
        REQUIRE(sb::json::read_record(v, made).has_value());
        return sb::json::line(made);
    };
    CHECK(read(sb::sample_record{}, R"({"kind":"sample","scenario":"a","arm":"off","roi":1.5,"metrics":{"x":2,"b":null}})") ==
          "{\"kind\":\"sample\",\"v\":1,\"scenario\":\"a\",\"preset_id\":null,\"module\":null,\"workload\":null,\"severity\":null,\"arm\":\"off\",\"roi\":1.5,\"raroi\":null,"
          "\"metric\":null,\"value\":null,\"metrics\":{\"b\":null,\"x\":2.0}}\n");
    CHECK(read(sb::delta_record{}, R"({"kind":"delta","roi_delta":-1,"raroi_delta":2})") ==
          "{\"kind\":\"delta\",\"v\":1,\"scenario\":null,\"preset_id\":null,\"module\":null,\"workload\":null,\"severity\":null,\"roi\":null,\"raroi\":null,"
          "\"roi_delta\":-1.0,\"raroi_delta\":2.0,\"metric\":null,\"value\":null,\"metrics\":null}\n");
    CHECK(read(sb::synergy_record{}, R"({"kind":"synergy","synergy_roi":0.25,"metric":"x","value":3})") ==
          "{\"kind\":\"synergy\",\"v\":1,\"scenario\":null,\"preset_id\":null,\"module\":null,\"workload\":null,\"severity\":null,\"roi\":null,\"synergy_roi\":0.25,"
          "\"metric\":\"x\",\"value\":3.0,\"metrics\":null}\n");
    sb::value v;
    REQUIRE_FALSE(sb::json::parse(R"({"kind":"sample","roi":"much"})", v));
    sb::sample_record wrong;
    CHECK(sb::json::read_record(v, wrong).error().what == "\"roi\" is not a number");
}

TEST_CASE("a preset's keys stand beside its id, and come back") {
    sb::preset_record preset;
    preset.id = "00000000000000aa", preset.keys = {{"SCENARIO_NAME", "hot"}, {"SEED", 3}};
    CHECK(sb::json::line(preset) == "{\"kind\":\"preset\",\"v\":1,\"id\":\"00000000000000aa\",\"SCENARIO_NAME\":\"hot\",\"SEED\":3}\n");
    auto const back = sb::preset_record::from_object(preset.to_object());
    REQUIRE(back.has_value());
    CHECK(back->id == preset.id);
    CHECK(back->scenario() == "hot");
    CHECK(back->text("SEVERITY", "high") == "high");
    CHECK(sb::preset_record::from_object({{"id", 7}}).error().what == "\"id\" is not a string");
    CHECK(sb::preset_record::from_object({{"SEED", 7}})->id.empty());
}

TEST_CASE("a test's own members stand behind what all tests have, and come back") {
    sb::test_record test;
    test.test = "kpss", test.statistic = 0.5, test.p = 0.1, test.p_bound = ">=", test.n = 9, test.besides["lag"] = 2;
    CHECK(sb::json::line(test) == "{\"kind\":\"test\",\"v\":1,\"test\":\"kpss\",\"statistic\":0.5,\"p\":0.1,\"p_bound\":\">=\",\"n\":9,\"reason\":null,\"lag\":2}\n");
    auto const back = sb::test_record::from_object(test.to_object());
    REQUIRE(back.has_value());
    CHECK(sb::json::line(*back) == sb::json::line(test));
    CHECK(sb::test_record::from_object({{"n", 1}}).error().what == "no \"test\"");
}

TEST_CASE("each member of a test's description has a name of its own") {
    std::set<std::string> names;
    for (auto const& each : sb::test_members) CHECK(names.insert(each.name).second);
    for (auto const* common : {"kind", "v", "test", "name", "statistic", "p", "p_bound", "n", "reason"}) CHECK_FALSE(names.contains(common));
}
