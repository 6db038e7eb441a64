// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include <csignal>
#include <sb/sandbox/instance.hpp>
#include <sb/sandbox/sandbox_template.hpp>
#include <string>
#include <sys/resource.h>
#include <utility>

using namespace sb::test;
using namespace sb::sandbox;

namespace {

constexpr scratch_size small{1 << 20, 1024};

/// What a template needs that outlives it.
struct ground {
    sb::process::order_room room = sb::process::order_room::make().value();
    template_plan plan;
    ground() { plan.user = sb::process::choose_payload_user().value(); }
    sandbox_template make() { return sandbox_template::make(plan, room, nullptr).value(); }
    std::string refused() {
        auto const made = sandbox_template::make(plan, room, nullptr);
        return made.has_error() ? made.error().what : std::string{};
    }
};

} // namespace

TEST_CASE("sandboxes that are asked for at once have processes of their own, whichever is waited for first", "[sandbox]") {
    NEEDS_ISOLATION();
    sb::process::order_room room = sb::process::order_room::make().value();
    template_plan plan;
    plan.user = *sb::process::choose_payload_user();
    auto origin = sandbox_template::make(plan, room, nullptr).value();
    auto first = instance::begin(origin, {}, {1 << 20, 1024}), second = instance::begin(origin, {}, {1 << 20, 1024});
    REQUIRE_FALSE((first.has_error() || second.has_error()));
    REQUIRE_FALSE(second->await().has_error());
    REQUIRE_FALSE(first->await().has_error());
    for (auto const* each : {&*first, &*second}) {
        auto const stat = sb::read_file(sb::cat("/proc/", each->reaper().pid, "/stat")).value();
        CHECK(std::atoi(stat.c_str() + stat.rfind(')') + 4) == each->supervisor_pid()); // its parent
    }
}

TEST_CASE("a sandbox outlives its template, and from a template that is gone none can be had", "[sandbox]") {
    NEEDS_ISOLATION();
    ground here;
    auto origin = here.make();
    REQUIRE(origin.pid() > 0);
    auto born = instance::make(origin, {}, small).value();
    origin.end();
    CHECK(origin.pid() == -1);
    CHECK(born.alive());
    CHECK(born.soiled(here.room).empty());
    CHECK(::kill(born.supervisor_pid(), 0) == 0);
    auto const renewed = born.make_clean({2 << 20, 1024});
    REQUIRE_FALSE(renewed.has_error());
    CHECK(*renewed == tidiness::renewed);
    auto const late = instance::make(origin, {}, small);
    REQUIRE(late.has_error());
    CHECK((late.error().what.starts_with("ask the template of a sandbox: ") || late.error().what == "the template of a sandbox died"));
    origin.end(); // twice does nothing
}

TEST_CASE("a template that is killed from outside is an error for who waits", "[sandbox]") {
    NEEDS_ISOLATION();
    ground here;
    auto origin = here.make();
    REQUIRE(::kill(origin.pid(), SIGKILL) == 0);
    siginfo_t info{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(origin.pid()), &info, WEXITED | WNOWAIT) == 0);
    CHECK(instance::make(origin, {}, small).has_error());
}

TEST_CASE("a template that was moved is the one that ends it", "[sandbox]") {
    NEEDS_ISOLATION();
    ground here;
    auto first = here.make();
    auto const pid = first.pid();
    {
        auto const second = std::move(first);
        CHECK(first.pid() == -1);
        CHECK(second.pid() == pid);
        first.end();
        CHECK(::kill(pid, 0) == 0);
    }
    CHECK(::kill(pid, 0) == -1);
}

TEST_CASE("what is to be shown and is not there is refused with its name", "[sandbox]") {
    NEEDS_ISOLATION();
    folder const at;
    ground here;
    here.plan.shown.bindings = {{at / "missing", "/opt/x", false}};
    CHECK(here.refused().find(at / "missing") != std::string::npos);
    here.plan.shown.bindings.clear();
    here.plan.shown.work = at / "gone";
    CHECK(here.refused().find(at / "gone") != std::string::npos);
    here.plan.shown.work.clear();
    CHECK(here.refused().empty());
}

TEST_CASE("the workspace that a template shows is known where there is one, and a copy where that was asked for", "[sandbox]") {
    NEEDS_ISOLATION();
    folder const at;
    ground here;
    {
        auto const bare = here.make();
        CHECK(bare.work() == -1);
        CHECK_FALSE(bare.copies_work());
    }
    here.plan.copies_work = true;
    CHECK_FALSE(here.make().copies_work()); // of what?
    here.plan.shown.work = at.path();
    REQUIRE(::chmod(at.path().c_str(), 0755) == 0);
    auto lent = lend_work(sb::files::pinned::open(at.path()).value(), here.plan.user).value();
    here.plan.lower = lent.lower, here.plan.owners = std::move(lent.owners);
    auto const with = here.make();
    CHECK(with.work() >= 0);
    CHECK(with.copies_work());
}

TEST_CASE("each sandbox of a template has the level that it was asked for with", "[sandbox]") {
    NEEDS_ISOLATION();
    ground here;
    auto origin = here.make();
    for (int const level : {1, 5}) {
        auto made = instance::make(origin, {level, sb::filter::make_filter(sb::filter::level_of(level)).value(), -1}, small);
        INFO(level);
        REQUIRE_FALSE(made.has_error());
        auto const mounts = sb::read_file(sb::cat("/proc/", made->reaper().pid, "/mountinfo"));
        if (mounts.has_error()) continue; // only root may look
        CHECK((mounts->find("subset=pid") != std::string::npos) == (level == 5));
    }
}

TEST_CASE("making a template leaves our limits as they were", "[sandbox]") {
    NEEDS_ISOLATION();
    rlimit signals{}, queues{}, after{};
    REQUIRE((::getrlimit(RLIMIT_SIGPENDING, &signals) == 0 && ::getrlimit(RLIMIT_MSGQUEUE, &queues) == 0));
    ground here;
    auto const origin = here.make();
    REQUIRE(::getrlimit(RLIMIT_SIGPENDING, &after) == 0);
    CHECK((after.rlim_cur == signals.rlim_cur && after.rlim_max == signals.rlim_max));
    REQUIRE(::getrlimit(RLIMIT_MSGQUEUE, &after) == 0);
    CHECK((after.rlim_cur == queues.rlim_cur && after.rlim_max == queues.rlim_max));
}

TEST_CASE("a part of a limit holds while its owner lives, and is never nothing") {
    rlimit before{}, now{};
    REQUIRE(::getrlimit(RLIMIT_SIGPENDING, &before) == 0);
    {
        sb::sandbox::detail::quota_part const part{RLIMIT_SIGPENDING, 8};
        REQUIRE(::getrlimit(RLIMIT_SIGPENDING, &now) == 0);
        if (before.rlim_cur != RLIM_INFINITY) CHECK(now.rlim_cur == std::max<rlim_t>(before.rlim_cur / 8, 1));
        CHECK(now.rlim_max == before.rlim_max);
    }
    {
        sb::sandbox::detail::quota_part const part{RLIMIT_SIGPENDING, before.rlim_cur == RLIM_INFINITY ? 1 : before.rlim_cur + 1};
        REQUIRE(::getrlimit(RLIMIT_SIGPENDING, &now) == 0);
        CHECK(now.rlim_cur >= 1);
    }
    REQUIRE(::getrlimit(RLIMIT_SIGPENDING, &now) == 0);
    CHECK(now.rlim_cur == before.rlim_cur);
}
