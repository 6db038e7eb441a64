// SPDX-License-Identifier: MIT
// Tests of backend.hpp and lane.hpp.
#include "support/catch.hpp"
#include "support/fake_backend.hpp"
#include <sb/run/backend.hpp>
#include <sb/run/lane.hpp>
#include <poll.h>

using namespace sb::run;

namespace {
bool readable(lane const& one) {
    pollfd at{one.descriptor(), POLLIN, 0};
    return ::poll(&at, 1, 0) == 1;
}
} // namespace

TEST_CASE("a backend need say nothing of its files, what it keeps and how it closes") {
    fake_backend with{[](std::size_t, int) { return 1; }};
    backend& one = with;
    auto const seen = one.seen();
    CHECK(seen.folder.empty());
    CHECK_FALSE(seen.hidden);
    CHECK_FALSE(seen.host_path);
    CHECK_FALSE(seen.outlasts_a_run);
    CHECK(one.leave_kept().empty());
    CHECK(one.open(0).value().empty());
    CHECK(one.open(3).value().size() == 3);
    CHECK(find_program("/bin/sh", {}, seen).value() == "/bin/sh");
}

TEST_CASE("a lane need have no process and no output, and keeps nothing") {
    fake_lane made{0, [](std::size_t, int) { return 1; }};
    lane& one = made;
    CHECK(one.process() == -1);
    CHECK(one.output() == -1);
    auto const kept = one.keep("run-7");
    REQUIRE(kept.has_error());
    CHECK(kept.error().on == sb::blame::caller);
    CHECK(kept.error().what == "--keep run-7: this backend keeps nothing");
}

TEST_CASE("a lane's descriptor is readable as long as there are outcomes to take, in the order of the jobs") {
    fake_lane made{0, [](std::size_t, int job) { return job == 2 ? -1 : 1; }};
    lane& one = made;
    CHECK_FALSE(readable(one));
    CHECK_FALSE(one.take().value());
    job what;
    for (what.number = 7; what.number < 10; ++what.number) REQUIRE_FALSE(one.start({what}).has_error());
    for (std::uint64_t const number : {7u, 8u}) {
        REQUIRE(readable(one));
        CHECK(one.take().value()->number == number);
    }
    REQUIRE(readable(one));
    CHECK(one.take().error().what == "lane died");
}

TEST_CASE("an outcome that nobody filled in says that nothing was measured") {
    outcome const none;
    CHECK(none.copies == 0);
    CHECK(none.end.class_ == sb::end_class::ok);
    CHECK_FALSE(none.fresh);
    CHECK_FALSE(none.used.cpu_user_s);
    CHECK_FALSE(none.used.max_pids);
    CHECK(none.lost.empty());
    job const silent;
    CHECK(silent.in == "/dev/null");
    CHECK(silent.setup.copies == 1);
    CHECK_FALSE(silent.is_check);
}
