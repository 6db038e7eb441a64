// SPDX-License-Identifier: MIT
// session, session_loop, lane and backend: a session on lanes that run nothing.
#include "support/catch.hpp"
#include "support/fake_backend.hpp"
#include <sb/run/session.hpp>
#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace sb::run;

namespace {

struct made_session {
    sb::result<session_result> end;
    std::vector<sb::run_record> records;
};

made_session run_on(fake_backend with, int jobs, int repeat, double patience_s = 60) {
    std::vector<sb::key::preset> presets(2);
    presets[0].id = "first", presets[1].id = "second";
    std::vector<output_metric> metrics;
    session_options options;
    options.command = {"/bin/true"};
    options.repeat = repeat;
    options.base = {{"PATH", "/bin"}};
    options.patience_s = patience_s;
    session one{with, std::move(options), presets, metrics};
    std::vector<sb::run_record> records;
    auto end = one.run(with.open(jobs).value(), {}, [&](run_seen const& seen) { return records.push_back(seen.record), true; });
    return {std::move(end), std::move(records)};
}
int answers_once(std::size_t, int) { return 1; }

/// A lane whose runs are short, and which counts those that it has.
class quick_lane final : public lane {
public:
    explicit quick_lane(std::size_t& most) : inner_{0, answers_once}, most_{&most} {}
    sb::result<void> start(std::vector<job> const& what) override {
        *most_ = std::max(*most_, has_ += what.size());
        return inner_.start(what);
    }
    int descriptor() const override { return inner_.descriptor(); }
    sb::result<std::optional<outcome>> take() override {
        auto made = inner_.take();
        if (made.has_value() && *made) (*made)->wall_s = 0.0001, --has_;
        return made;
    }
    void stop() override { inner_.stop(); }

private:
    fake_lane inner_;
    std::size_t* most_;
    std::size_t has_ = 0;
};
/// The most runs that such a lane had at once, for a command with so many bytes.
std::size_t most_queued(std::size_t bytes) {
    fake_backend with{answers_once};
    std::vector<sb::key::preset> presets(1);
    std::vector<output_metric> metrics;
    session_options options;
    options.command = {"/bin/true", std::string(bytes, 'x')}, options.repeat = 100, options.base = {{"PATH", "/bin"}};
    session one{with, std::move(options), presets, metrics};
    std::size_t most = 0;
    lanes only;
    only.push_back(std::make_unique<quick_lane>(most));
    auto const end = one.run(std::move(only), {}, [](run_seen const&) { return true; });
    REQUIRE_FALSE(end.has_error());
    CHECK(end->made == 100);
    return most;
}

} // namespace

TEST_CASE("a session makes each planned run once, whatever its backend is") {
    for (int const jobs : {1, 2, 5}) {
        auto const got = run_on(fake_backend{answers_once}, jobs, 20);
        REQUIRE_FALSE(got.end.has_error());
        CHECK(got.end->made == 40);
        CHECK(got.end->left == 0);
        std::set<std::string> ids;
        std::map<std::string, int> runs_of;
        for (auto const& each : got.records) ids.insert(each.run_id), ++runs_of[each.preset_id];
        CHECK(ids.size() == 40);
        CHECK(runs_of == std::map<std::string, int>{{"first", 20}, {"second", 20}});
        CHECK(got.records.front().backend == "fake");
        CHECK(got.records.front().wall_s == 0.25);
    }
}

TEST_CASE("a lane that dies ends the session with its reason, and what was recorded stays") {
    auto const got = run_on(fake_backend{[](std::size_t, int job) { return job == 3 ? -1 : 1; }}, 1, 10);
    REQUIRE(got.end.has_error());
    CHECK(got.end.error().what == "lane died");
    CHECK(got.end.error().on == sb::blame::system);
    CHECK(got.records.size() == 3);
}

TEST_CASE("a lane that never answers is given up after its run's time limit") {
    fake_backend with{[](std::size_t lane, int job) { return lane == 1 && job == 0 ? 0 : 1; }};
    with.held.setup.wall_ns = 20'000'000;
    auto const got = run_on(std::move(with), 2, 3, 0.05);
    REQUIRE(got.end.has_error());
    CHECK(got.end.error().what.find("lane 1 did not answer within 0.05 s of the time limit of run ") == 0);
    CHECK(got.records.size() == 5); // the other lane made the rest
}

TEST_CASE("a lane that answers twice is not believed") {
    auto const got = run_on(fake_backend{[](std::size_t, int job) { return job == 2 ? 2 : 1; }}, 1, 10);
    REQUIRE(got.end.has_error());
    CHECK(got.end.error().what == "lane 0 answered job 3 when job 4 was asked for");
    CHECK(got.records.size() == 3);
}

TEST_CASE("a session that may record no more starts no more runs") {
    fake_backend with{answers_once};
    std::vector<sb::key::preset> presets(1);
    std::vector<output_metric> metrics;
    session_options options;
    options.command = {"/bin/true"}, options.repeat = 1000, options.base = {{"PATH", "/bin"}};
    session one{with, std::move(options), presets, metrics};
    int recorded = 0;
    auto const end = one.run(with.open(1).value(), {}, [&](run_seen const&) { return ++recorded < 5; });
    REQUIRE_FALSE(end.has_error());
    CHECK(end->made < 1000);
    CHECK(end->left == 1000 - end->made);
}

TEST_CASE("short runs are queued, but never so many bytes that a lane that is busy could keep the session waiting") {
    CHECK(most_queued(10) == 8);
    CHECK(most_queued(40'000) == 3);
    CHECK(most_queued(200'000) == 1);
}

TEST_CASE("signals are heard until the backend has closed") {
    fake_backend with{answers_once};
    struct sigaction before {}, meanwhile {}, after {};
    ::sigaction(SIGTERM, nullptr, &before);
    with.closing = [&] { ::sigaction(SIGTERM, nullptr, &meanwhile); };
    run_on(std::move(with), 1, 1);
    ::sigaction(SIGTERM, nullptr, &after);
    CHECK(meanwhile.sa_handler != before.sa_handler);
    CHECK(after.sa_handler == before.sa_handler);
}
