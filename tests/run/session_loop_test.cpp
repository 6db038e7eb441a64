// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/session_loop.hpp>
#include <fcntl.h>
#include <unistd.h>

using sb::run::session_loop;

namespace {

/// Two pipes that nobody writes to: a lane, and signals.
struct quiet_pipes {
    int lane[2], signals[2];
    quiet_pipes() { REQUIRE((::pipe2(lane, O_CLOEXEC) == 0 && ::pipe2(signals, O_CLOEXEC) == 0)); }
    ~quiet_pipes() {
        for (int const fd : {lane[0], lane[1], signals[0], signals[1]}) ::close(fd);
    }
};

} // namespace

TEST_CASE("an answer that has come is taken before its lane is called late") {
    quiet_pipes const at;
    bool busy = true;
    int looks = 0;
    session_loop::calls use;
    use.busy = [&](std::size_t) { return busy; };
    use.due_ns = [due = sb::monotonic_ns() - 1](std::size_t) { return std::optional{due}; }; // as after a long stop of this process
    use.ready = [&](std::size_t) { return ++looks, busy = false, sb::result<void>{}; };
    use.overdue = [](std::size_t) { return sb::system_error("late"); };
    CHECK_FALSE(session_loop::run({at.lane[0]}, at.signals[0], use).has_error());
    CHECK(looks == 1);
}

TEST_CASE("a lane that is late and has no answer ends the loop") {
    quiet_pipes const at;
    session_loop::calls use;
    use.busy = [](std::size_t) { return true; };
    use.due_ns = [due = sb::monotonic_ns()](std::size_t) { return std::optional{due}; };
    use.ready = [](std::size_t) { return sb::result<void>{}; };
    use.overdue = [](std::size_t) { return sb::system_error("late"); };
    auto const end = session_loop::run({at.lane[0]}, at.signals[0], use);
    REQUIRE(end.has_error());
    CHECK(end.error().what == "late");
}

TEST_CASE("a loop with nothing to wait for, or after a signal, ends at once and closes no descriptor") {
    quiet_pipes const at;
    session_loop::calls use;
    bool busy = false;
    use.busy = [&](std::size_t) { return busy; };
    use.due_ns = [](std::size_t) { return std::optional<std::int64_t>{}; };
    use.ready = [](std::size_t) { return sb::result<void>{}; };
    use.overdue = [](std::size_t) { return sb::system_error("late"); };
    CHECK_FALSE(session_loop::run({at.lane[0]}, at.signals[0], use).has_error());
    busy = true;
    REQUIRE(::write(at.signals[1], "x", 1) == 1);
    CHECK_FALSE(session_loop::run({at.lane[0]}, at.signals[0], use).has_error());
    CHECK(::fcntl(at.lane[0], F_GETFD) >= 0);
    CHECK(::fcntl(at.signals[0], F_GETFD) >= 0);
}
