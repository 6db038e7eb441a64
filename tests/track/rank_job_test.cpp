// SPDX-License-Identifier: MIT
// Tests of rank_job.hpp, rank_reader.hpp, rank_table.hpp and roi_history.hpp.
#include <sb/core/fd.hpp>
#include <sb/json/parse.hpp>
#include <sb/track/rank_job.hpp>
#include <sb/track/rank_reader.hpp>
#include <sb/track/rank_table.hpp>
#include <sb/track/roi_history.hpp>
#include <cstdlib>
#include <string>
#include <vector>
#include "support/catch.hpp"
#include "support/files.hpp"

namespace {

namespace track = sb::track;

std::string oracle(std::string const& name) { return std::string{SB_SOURCE_DIR} + "/tests/oracles/" + name; }

struct answer {
    std::vector<sb::rank_record> rows;
    std::vector<sb::partial_record> states;
    track::rank_counts counts;
    std::string faults;
};

answer ask(std::vector<std::string> const& paths, track::rank_question const& question = {}, int threads = 1, std::string const& baseline = "normal",
           track::rank_order order = track::rank_order::total) {
    answer a;
    auto const sums = track::read_ranks(paths, question, threads, [&](std::string const&, std::int64_t line, std::size_t byte, std::string_view what) {
        a.faults += sb::cat(line, ":", byte, " ", what, "\n");
    });
    a.rows = track::rank_rows(sums.value().table, question, baseline, order);
    a.states = track::rank_states(sums.value().table, question);
    a.counts = sums.value().counts;
    return a;
}
answer ask_text(std::string_view text, track::rank_question const& question = {}, std::string const& baseline = "normal", track::rank_order order = track::rank_order::total) {
    sb::test::scratch_file const file{text};
    return ask({file.path()}, question, 1, baseline, order);
}
std::string totals(answer const& a) {
    std::string all;
    for (auto const& r : a.rows) {
        all += sb::cat(r.name, "=");
        sb::json::append_real(all, r.total);
        all += sb::cat("/", r.n, " ");
    }
    return all;
}
std::string text_of(answer const& a) {
    std::string all;
    for (auto const& r : a.rows) all += sb::json::line(r);
    return all;
}

void check_oracle(answer const& a) {
    auto const path = oracle("groupby_expected.json");
    auto const want = sb::json::parse_document(sb::read_file(path).value(), path).value();
    auto const& rows = *want.if_object()->if_contains("expected")->if_array();
    REQUIRE(a.rows.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto const& o = *rows[i].if_object();
        CHECK(a.rows[i].name == sb::string_or(*o.if_contains("scenario"), "?"));
        CHECK(a.rows[i].total == sb::number_or(*o.if_contains("sum"), 0));
        CHECK(a.rows[i].n == *o.if_contains("n")->if_int64());
        CHECK(a.rows[i].last_security_score == sb::number_or(*o.if_contains("last"), 0));
    }
}

} // namespace

TEST_CASE("the awkward lines of the predecessor give the exact sums, with any instructions and threads") {
    for (auto const* cpu : {"plain", "avx2", "avx512"}) {
        ::setenv("SB_CPU", cpu, 1);
        for (int const threads : {1, 4}) check_oracle(ask({oracle("groupby.jsonl")}, {}, threads));
        check_oracle(ask({oracle("groupby.jsonl")}, {.strict = true}));
    }
    ::unsetenv("SB_CPU");
}

TEST_CASE("states of parts add up to the ranking of the whole, bit by bit") {
    auto const text = sb::read_file(oracle("groupby.jsonl")).value();
    auto const whole = text_of(ask({oracle("groupby.jsonl")}));
    for (std::size_t const parts : {2u, 7u}) {
        std::string states;
        for (std::size_t i = 0, from = 0; i < parts; ++i) {
            auto to = i + 1 == parts ? text.size() : text.find('\n', text.size() * (i + 1) / parts) + 1;
            for (auto const& s : ask_text(text.substr(from, to - from)).states) states += sb::json::line(s);
            from = to;
        }
        auto const merged = ask_text(states);
        CHECK((text_of(merged) == whole));
        // states of states, too
        std::string again;
        for (auto const& s : merged.states) again += sb::json::line(s);
        CHECK((text_of(ask_text(again)) == whole));
    }
}

TEST_CASE("the last score is the last in the input, whatever gave it") {
    auto const state = ask_text("{\"scenario\":\"a\",\"roi\":1,\"security_score\":5}\n").states;
    REQUIRE(state.size() == 1);
    auto const partial = sb::json::line(state[0]), line = std::string{"{\"scenario\":\"a\",\"roi\":1,\"security_score\":6e0}\n"};
    CHECK(ask_text(line + partial).rows[0].last_security_score == 5.0);
    CHECK(ask_text(partial + line).rows[0].last_security_score == 6.0);
    CHECK(ask_text(line + "{\"scenario\":\"a\",\"roi\":1,\"security_score\":null}\n").rows[0].last_security_score == 6.0);
    CHECK(ask_text("{\"scenario\":\"a\",\"roi\":1,\"security_score\":6x}\n").faults == "1:42 not a value\n");
}

TEST_CASE("a state that cannot be one is a bad line") {
    auto const bad = [](std::string const& sum, std::string const& n = "1") {
        return ask_text(sb::cat(R"({"kind":"partial","v":1,"by":"scenario","name":"a","metric":"roi","n":)", n, R"(,"sum":)", sum,
                                R"(,"squares":[],"last_security_score":null})")).faults;
    };
    CHECK(bad("[[1,0]]").empty());
    CHECK(bad("[[1,0,2]]") == "1:1 not a valid state of a sum\n");
    CHECK(bad("[[9007199254740992,0]]") == "1:1 not a valid state of a sum\n");
    CHECK(bad("[[1,99999]]") == "1:1 not a valid state of a sum\n");
    CHECK(bad("[[1,0]]", "-1") == "1:1 not a valid state of a sum\n");
    auto const other = ask_text(R"({"kind":"partial","v":1,"by":"module","name":"a","metric":"roi","n":1,"sum":[],"squares":[],"last_security_score":null})");
    CHECK(other.rows.empty());
    CHECK(other.counts.other_partial == 1);
}

TEST_CASE("states of more values than anybody has give no row, with any threads") {
    std::string lines = "{\"scenario\":\"b\",\"roi\":1}\n";
    for (int i = 0; i < 1025; ++i) // 1024 of them are 2^63
        lines += R"({"kind":"partial","v":1,"by":"scenario","name":"a","metric":"roi","n":9007199254740992,"sum":[[1,0]],"squares":[[1,0]],"last_security_score":null})" "\n";
    lines += "{\"scenario\":\"a\",\"roi\":1}\n";
    lines += std::string(600'000, ' ') + "\n"; // chunks enough for several threads
    sb::test::scratch_file const file{lines};
    for (int const threads : {1, 4}) {
        auto const sums = track::read_ranks({file.path()}, {}, threads, [](auto const&...) {});
        CHECK((sums.value().overfull == std::vector<std::string>{"a"}));
        auto const a = ask({file.path()}, {}, threads);
        CHECK(totals(a) == "b=1.0/1 ");
        CHECK(a.states.size() == 1);
    }
}

TEST_CASE("each kind gives its value, others are passed over") {
    std::string const lines = R"({"kind":"run","v":1,"scenario":"a","module":"m1","severity":"low","workload":"w","preset_id":"p1","arm":"on","roi":1,"value":0.5,"metrics":{"latency":3,"security_score":7}}
{"kind":"run","v":1,"scenario":"a","module":null,"severity":"high","workload":"w","preset_id":"p2","arm":"off","roi":100,"value":0.5,"metrics":{}}
{"kind":"sample","v":1,"scenario":"b","metric":"latency","value":4,"roi":null}
{"kind":"delta","v":1,"scenario":"b","roi":2,"roi_delta":0.25}
{"kind":"synergy","v":1,"scenario":"c","synergy_roi":8}
{"kind":"synergy","v":1,"scenario":"c","metric":"roi","value":16}
{"kind":"preset","v":1,"id":"x","SCENARIO_NAME":"a"}
{"scenario":"d","preset":{"name":"p3"},"roi":5,"module":"m2"}
{"scenario":"d"}
)";
    CHECK(totals(ask_text(lines)) == "c=24.0/2 d=5.0/1 b=2.0/1 a=1.0/1 ");
    CHECK(totals(ask_text(lines, {.metric = "synergy_roi"})) == "c=24.0/2 ");
    CHECK(totals(ask_text(lines, {.metric = "latency"})) == "b=4.0/1 a=3.0/1 ");
    CHECK(totals(ask_text(lines, {.metric = "roi_delta"})) == "b=0.25/1 ");
    CHECK(totals(ask_text(lines, {.metric = "value"})) == "a=0.5/1 ");
    CHECK(totals(ask_text(lines, {.by = "preset"})) == "p3=5.0/1 p1=1.0/1 ");
    CHECK(totals(ask_text(lines, {.by = "module"})) == "m2=5.0/1 m1=1.0/1 ");
    CHECK(totals(ask_text(lines, {.by = "workload"})) == "w=1.0/1 ");
    CHECK(totals(ask_text(lines, {.by = "severity"})) == "low=1.0/1 ");
    auto const counts = ask_text(lines).counts;
    CHECK(counts.other_kind == 2);
    CHECK(counts.off_arm == 1);
    CHECK(counts.without_metric == 1);
    CHECK(ask_text(lines).rows[3].last_security_score == 7.0);
}

TEST_CASE("spellings of one name are one row") {
    CHECK(totals(ask_text("{\"scenario\":\"\xc3\xa9\",\"roi\":1}\n{\"scenario\":\"\\u00e9\",\"roi\":2}\n{\"sc\\u0065nario\":\"\\u00E9\",\"roi\":4}\n")) == "\xc3\xa9=7.0/3 ");
}

TEST_CASE("a bad line is told with its place and the rest is ranked; strict ends there") {
    std::string lines;
    for (int i = 0; i < 40000; ++i) lines += i == 7 || i == 39000 ? "{\"scenario\":\"a\",\"roi\":1.}\r\n" : "{\"scenario\":\"a\",\"roi\":1}\r\n";
    lines += "\n{\"scenario\":\"a\",\"roi\":1e999}\n{\"scenario\":\"\xff\",\"roi\":1}";
    sb::test::scratch_file const file{lines};
    for (int const threads : {1, 3}) {
        auto const a = ask({file.path()}, {}, threads);
        CHECK(a.faults == "8:23 not a value\n39001:23 not a value\n40002:23 a number too large for a double\n40003:14 not UTF-8\n");
        CHECK(totals(a) == "a=39998.0/39998 ");
        CHECK(a.counts.blank == 1);
        CHECK(ask({file.path()}, {.strict = true}, threads).faults == "8:23 not a value\n");
    }
}

TEST_CASE("rows carry interval, effect, ties and overlaps") {
    auto const a = ask_text(R"({"scenario":"normal","roi":1}
{"scenario":"normal","roi":2}
{"scenario":"normal","roi":3}
{"scenario":"tie","roi":6}
{"scenario":"far","roi":-10}
{"scenario":"far","roi":-10.5}
)");
    REQUIRE(a.rows.size() == 3);
    CHECK(a.rows[0].name == "normal");
    CHECK(a.rows[0].mean == 2.0);
    // t(0.975, 2) = 4.30265272974946, over the square root of 3
    CHECK(*a.rows[0].hi == Approx(2 + 4.302652729749464 / std::sqrt(3.0)).epsilon(1e-13));
    CHECK(a.rows[0].tie == true);
    CHECK(a.rows[1].tie == true);
    CHECK(a.rows[2].tie == false);
    CHECK(a.rows[0].effect == 0.0);
    CHECK(a.rows[1].effect == 4.0);
    CHECK(a.rows[2].effect == -12.25);
    CHECK_FALSE(a.rows[1].lo.has_value());
    CHECK_FALSE(a.rows[0].overlaps_next.has_value()); // the next has no interval
    CHECK(a.rows[2].overlaps_baseline == false);
    CHECK_FALSE(ask_text("{\"scenario\":\"a\",\"roi\":1}").rows[0].effect.has_value());
}

TEST_CASE("rows are ordered by total or by mean, and what is not settled is told of the same") {
    std::string lines; // normal: 5 of worth 1; often: 10 of worth 0.6
    for (int i = 0; i < 5; ++i) lines += "{\"scenario\":\"normal\",\"roi\":1}\n";
    for (int i = 0; i < 10; ++i) lines += i < 6 ? "{\"scenario\":\"often\",\"roi\":1}\n" : "{\"scenario\":\"often\",\"roi\":0}\n";
    auto const by_total = ask_text(lines).rows, by_mean = ask_text(lines, {}, "normal", track::rank_order::mean).rows;
    CHECK(by_total[0].name == "often");
    CHECK(by_mean[0].name == "normal");
    // 0.6 +- t(0.975, 9) * sqrt(2.4 / 9 / 10) is 0.23 .. 0.97: off 1; times ten it is 2.3 .. 9.7: around 5
    CHECK(by_mean[0].overlaps_next == false);
    CHECK(by_total[0].overlaps_next == true);
    CHECK(by_total[0].overlaps_baseline == false); // the effect is of means in either
    CHECK(by_mean[1].overlaps_baseline == false);
    CHECK(by_mean[1].effect == by_total[0].effect);

    auto const same = ask_text("{\"scenario\":\"a\",\"roi\":1}\n{\"scenario\":\"b\",\"roi\":1}\n{\"scenario\":\"b\",\"roi\":1}\n", {}, "normal", track::rank_order::mean);
    CHECK(totals(same) == "b=2.0/2 a=1.0/1 ");
    CHECK(same.rows[0].tie == true);
    CHECK(ask_text("{\"scenario\":\"a\",\"roi\":1}\n{\"scenario\":\"b\",\"roi\":1}\n{\"scenario\":\"b\",\"roi\":1}\n").rows[0].tie == false);
}

TEST_CASE("a million equal steps far from zero keep their interval") {
    std::string lines;
    for (int i = 0; i < 1000; ++i) lines += sb::cat("{\"scenario\":\"a\",\"roi\":", i % 2 == 0 ? "1000000000.25" : "1000000000.75", "}\n");
    auto const a = ask_text(lines);
    // deviation 0.25 * sqrt(1000 / 999), t(0.975, 999) = 1.962341461133449
    CHECK(*a.rows[0].hi - *a.rows[0].mean == Approx(1.962341461133449 * 0.25 / std::sqrt(999.0)).epsilon(1e-4));
    CHECK(a.rows[0].mean == 1000000000.5);
}

TEST_CASE("histories of the predecessor are ranked by folder, module and scenario") {
    char folder[] = "/tmp/sb-history-XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    std::string const run = std::string{folder} + "/run1", history = run + "/roi_history.json", list = std::string{folder} + "/old.json";
    ::mkdir(run.c_str(), 0700);
    auto const put = [](std::string const& path, std::string_view text) {
        auto const fd = sb::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600).value();
        REQUIRE(::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    };
    std::string const one_line = R"({"roi_history":[1,2,3.5],"module_deltas":{"m":[1,2],"n":[0.5]},"metrics_history":{"security_score":[70,80],"x":[1,1]},)"
                                 R"("scenario_synergy":{"s1":[{"synergy_roi":0.25},{"synergy_roi":0.5}],"s2":[{"synergy_roi":-1}]},)"
                                 R"("scenario_roi_deltas":{"s1":0.125},"scenario_raroi":{"s1":7},"scenario_raroi_delta":{"s1":-0.5,"s2":2}})";
    auto pretty = one_line;
    for (std::size_t i = 0; (i = pretty.find_first_of("{,", i)) != std::string::npos; i += 2) pretty.insert(i + 1, "\n");
    for (auto const& text : {one_line, pretty}) {
        put(history, text);
        auto const a = ask({history});
        CHECK(totals(a) == "run1=6.5/3 ");
        REQUIRE(a.rows.size() == 1);
        CHECK(a.rows[0].last_security_score == 80.0);
        CHECK(totals(ask({history}, {.by = "module"})) == "m=3.0/2 n=0.5/1 ");
        CHECK(totals(ask({history}, {.metric = "synergy_roi"})) == "s1=0.75/2 s2=-1.0/1 ");
        CHECK(totals(ask({history}, {.metric = "roi_delta"})) == "s1=0.125/1 ");
        CHECK(totals(ask({history}, {.metric = "raroi_delta"})) == "s2=2.0/1 s1=-0.5/1 ");
        CHECK(totals(ask({history}, {.metric = "x"})) == "run1=2.0/2 ");
        put(list, "[1, 2,\n 4]\n");
        CHECK(totals(ask({history, list})) == "old=7.0/3 run1=6.5/3 ");
    }
    put(history, R"({"scenario_raroi_delta":{"s1":0.5}})"); // alone it makes a history too
    CHECK(totals(ask({history}, {.metric = "raroi_delta"})) == "s1=0.5/1 ");
    put(list, "[\n {\"scenario\":\"a\",\"roi\":1},\n {\"scenario\":\"a\",\"roi\":2}\n]");
    CHECK(totals(ask({list})) == "a=3.0/2 ");
    put(list, "{\n \"scenario\":\"a\",\n");
    CHECK(ask({list}).faults == "1:2 an object without its closing brace\n2:2 not an object\n");
    for (auto const& path : {history, list}) ::unlink(path.c_str());
    ::rmdir(run.c_str()), ::rmdir(folder);
}
