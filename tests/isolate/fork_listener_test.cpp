// SPDX-License-Identifier: MIT
// A box whose forks wait for the watcher: the limit holds to the one, it is known to have been reached, and a watcher that
// says nothing delays no end.
#include "support/victim.hpp"
#include <sb/isolate/box.hpp>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <thread>

using namespace sb::test;
using namespace sb::isolate;

namespace {

constexpr std::uint64_t key = 0x1234567'89abcdefu;
constexpr scratch_size small{1 << 20, 1024};

/// One box with or without forks that wait; `why` says why there is none.
struct place {
    watcher runs = *watcher::make();
    order_room room = *order_room::make();
    nursery_plan plan;
    box_plan walls{default_level, make_filter(level_of(default_level), key).value(), key};
    std::unique_ptr<nursery> origin;
    std::unique_ptr<box> in;
    std::string why;

    place() {
        auto const wait = can_make_forks_wait();
        auto const user = choose_payload_user();
        why = wait.has_error() ? wait.error().what : user.has_error() ? user.error().what : "";
        if (!why.empty()) return;
        plan.user = *user;
        auto const victims = victim_path();
        plan.shown.bindings = {{real_path(victims.substr(0, victims.rfind('/'))).value(), "/opt/victims", false}};
        auto made = nursery::make(plan, room, nullptr);
        if (made.has_error()) return void(why = made.error().what);
        origin = std::make_unique<nursery>(std::move(*made));
        auto first = box::make(*origin, walls, small);
        if (first.has_error()) return void(why = first.error().what);
        in = std::make_unique<box>(std::move(*first));
    }
    /// With RLIMIT_NPROC far away: only the watcher is in its way.
    outcome run(std::vector<std::string> words, std::int64_t limit, std::int64_t wall_ns = 10'000'000'000) {
        REQUIRE_FALSE(in->make_clean(small).has_error());
        job what;
        bool const shell = words.front() == "sh";
        what.path = shell ? "/bin/sh" : "/opt/victims/victim";
        what.argv = std::move(words);
        what.environment = {"PATH=/usr/bin:/bin"};
        what.folder = "/tmp";
        what.clone_key = key;
        what.held.wall_ns = wall_ns, what.held.output_bytes = 1 << 20, what.held.counted_pids = limit;
        return runs.run(what, room, in->reaper());
    }
};
#define NEEDS_FORKS_THAT_WAIT(p) \
    if (!(p).why.empty()) { \
        WARN("SKIPPED: " << (p).why); \
        return; \
    }

bool went_well(outcome const& got) { return got.trouble.empty() && got.copies.size() == 1 && !got.copies.front().failure && got.copies.front().status == 0; }

} // namespace

TEST_CASE("as many processes or threads as the limit are there, and not one more", "[box]") {
    place p;
    NEEDS_FORKS_THAT_WAIT(p);
    for (char const* kind : {"processes", "threads"}) {
        INFO(kind);
        auto const fits = p.run({"victim", kind, "30"}, 31);
        CHECK(went_well(fits));
        CHECK(fits.refused_forks == 0);
        CHECK(fits.most_tasks == 31);
        auto const not_quite = p.run({"victim", kind, "30"}, 30);
        CHECK_FALSE(went_well(not_quite));
        CHECK(not_quite.refused_forks == 1);
        CHECK(not_quite.most_tasks == 30);
    }
}

TEST_CASE("a run that is not counted, in a box whose forks wait, is let alone", "[box]") {
    place p;
    NEEDS_FORKS_THAT_WAIT(p);
    auto const got = p.run({"victim", "processes", "30"}, limits::none);
    CHECK(went_well(got));
    CHECK(got.refused_forks == 0);
    CHECK_FALSE(got.most_tasks);
}

TEST_CASE("what has ended makes room, run after run", "[box]") {
    place p;
    NEEDS_FORKS_THAT_WAIT(p);
    for (int i = 0; i < 3; ++i) {
        auto const got = p.run({"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; done; /bin/true & /bin/true & wait"}, 3);
        CHECK(went_well(got));
        CHECK(got.refused_forks == 0);
        REQUIRE(got.most_tasks);
        CHECK(*got.most_tasks >= 2);
        CHECK(*got.most_tasks <= 3);
        CHECK_FALSE(got.reaper_lost);
    }
}

TEST_CASE("time is up for a bomb too, and the box lives on", "[box]") {
    place p;
    NEEDS_FORKS_THAT_WAIT(p);
    auto const got = p.run({"sh", "-c", "bomb() { bomb & bomb & wait; }; bomb"}, 40, 200'000'000);
    CHECK(got.refused_forks == 1);
    CHECK(got.most_tasks == 40);
    CHECK(got.wall_s < 1);
    if (p.in->alive() && !got.reaper_lost) CHECK(went_well(p.run({"victim", "processes", "5"}, 10)));
}

TEST_CASE("forks that wait for a watcher that never answers end with their sandbox", "[box]") {
    place p;
    NEEDS_FORKS_THAT_WAIT(p);
    auto const& by = p.in->reaper();
    REQUIRE_FALSE(p.in->make_clean(small).has_error());
    std::thread end{[&] {
        pollfd asked{by.forks.descriptor(), POLLIN, 0};
        if (::poll(&asked, 1, 5000) == 1) ::usleep(50'000);
        ::kill(by.pid, SIGKILL);
    }};
    job what;
    what.path = "/opt/victims/victim", what.argv = {"victim", "processes", "5"}, what.folder = "/tmp", what.clone_key = key;
    reaper_link deaf; // to all but the reaper
    deaf.socket = sb::unique_fd{::fcntl(by.socket.get(), F_DUPFD_CLOEXEC, 3)};
    deaf.pid = by.pid, deaf.alone = true;
    auto const got = p.runs.run(what, p.room, deaf);
    end.join();
    CHECK(got.reaper_lost);
    CHECK(got.wall_s < 5);
}
