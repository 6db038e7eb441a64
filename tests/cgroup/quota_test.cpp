// SPDX-License-Identifier: MIT
// What the kernel has so much of for each user, or for the whole host, a payload cannot use up: while it has all that it can get, its
// caller gets more.
#include "support/kernel.hpp"
#include "support/victim.hpp"
#include <sb/core/clock.hpp>
#include <sb/files/path.hpp>
#include <sb/sandbox/instance.hpp>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace sb::test;
using namespace sb::cgroup;

namespace {

/// What a caller could not have, in words; empty: all of it.
std::string refused_here() {
    std::string all;
    sb::unique_fd const watch{::inotify_init1(IN_CLOEXEC)};
    if (!watch) all += "inotify ";
    timer_t timer{};
    sigevent quiet{};
    quiet.sigev_notify = SIGEV_SIGNAL, quiet.sigev_signo = SIGURG;
    if (::timer_create(CLOCK_MONOTONIC, &quiet, &timer) != 0) all += "timer ";
    else ::timer_delete(timer);
    unsigned long requests = 0;
    if (::syscall(SYS_io_setup, 128, &requests) != 0) all += errno == ENOSYS ? "" : "requests ";
    else ::syscall(SYS_io_destroy, requests);
    return all;
}

} // namespace

TEST_CASE("what a payload hoards is not taken from its caller", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const user = sb::process::choose_payload_user();
    auto runs = *sb::watch::watcher::make();
    auto room = *sb::process::order_room::make();
    sb::sandbox::template_plan plan;
    REQUIRE_FALSE(user.has_error());
    plan.user = *user;
    auto const victims = victim_path();
    plan.shown.bindings = {{sb::files::real_path(victims.substr(0, victims.rfind('/'))).value(), "/opt/victims", false}};
    auto origin = sb::sandbox::sandbox_template::make(plan, room, nullptr);
    REQUIRE_FALSE(origin.has_error());
    sb::sandbox::instance_plan const walls{sb::filter::default_level, sb::filter::make_filter(sb::filter::level_of(sb::filter::default_level)).value(), -1};
    auto in = sb::sandbox::instance::make(*origin, walls, sb::sandbox::scratch_size{1 << 20, 1024});
    REQUIRE_FALSE(in.has_error());
    REQUIRE(refused_here().empty());

    sb::watch::job what;
    what.path = "/opt/victims/victim";
    what.argv = {"victim", "hoard", "500"};
    what.environment = {"PATH=/usr/bin:/bin"};
    what.folder = "/tmp";
    what.held.wall_ns = 10'000'000'000, what.held.output_bytes = 1 << 20;
    std::string missed;
    std::atomic<bool> over{false};
    std::thread beside{[&] {
        while (!over && missed.empty()) missed = refused_here(), ::usleep(2000);
    }};
    auto const got = runs.run(what, room, in->reaper());
    over = true;
    beside.join();
    CHECK(missed == "");
    REQUIRE(got.copies.size() == 1);
    CHECK(got.copies.front().status == 0);
    CHECK(got.wall_s > 0.5);
    INFO(got.out.head);
    CHECK(got.out.head.find("inotify 16 24\n") != std::string::npos); // EMFILE
    CHECK(got.out.head.find(" 11\n") != std::string::npos); // EAGAIN
    CHECK(got.out.head.find("requests 0 38\n") != std::string::npos); // ENOSYS
}
