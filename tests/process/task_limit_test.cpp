// SPDX-License-Identifier: MIT
// Tests of task_limit.hpp and task_limit_here.hpp.
// A sandbox whose namespaces hold how many processes and threads there may be: to the one, known when it was in the way, and
// without a trace in the program.
#include "support/kernel.hpp"
#include "support/victim.hpp"
#include <sb/files/path.hpp>
#include <sb/process/task_limit.hpp>
#include <sb/process/task_limit_here.hpp>
#include <sb/sandbox/instance.hpp>
#include <csignal>
#include <memory>
#include <string>

using namespace sb::test;
using namespace sb::process;

namespace {

constexpr sb::sandbox::scratch_size small{1 << 20, 1024};

/// One sandbox under a limit; `why` says why there is none.
struct place {
    sb::watch::watcher runs = *sb::watch::watcher::make();
    order_room room = *order_room::make();
    sb::sandbox::template_plan plan;
    sb::sandbox::instance_plan walls{sb::filter::default_level, sb::filter::make_filter(sb::filter::level_of(sb::filter::default_level)).value(), -1};
    std::unique_ptr<sb::sandbox::sandbox_template> origin;
    std::unique_ptr<sb::sandbox::instance> in;
    std::string why;
    std::int64_t refused = -1; ///< forks of the last run; -1: unknown

    explicit place(std::int64_t limit) {
        auto const user = choose_payload_user();
        auto const can = user.has_error() ? sb::result<void>{user.error()} : can_limit_tasks(*user);
        if (can.has_error()) why = can.error().what;
        if (!why.empty()) return;
        plan.user = *user;
        walls.most_tasks = limit;
        auto const victims = victim_path();
        plan.shown.bindings = {{sb::files::real_path(victims.substr(0, victims.rfind('/'))).value(), "/opt/victims", false}};
        origin = std::make_unique<sb::sandbox::sandbox_template>(sb::sandbox::sandbox_template::make(plan, room, nullptr).value());
        in = std::make_unique<sb::sandbox::instance>(sb::sandbox::instance::make(*origin, walls, small).value());
    }
    sb::watch::outcome run(std::vector<std::string> words, std::int64_t wall_ns = 10'000'000'000) {
        REQUIRE_FALSE(in->make_clean(small).has_error());
        sb::watch::job what;
        what.path = words.front() == "sh" ? "/bin/sh" : "/opt/victims/victim";
        what.argv = std::move(words);
        what.environment = {"PATH=/usr/bin:/bin"};
        what.folder = "/tmp";
        what.held.wall_ns = wall_ns, what.held.output_bytes = 1 << 20;
        auto got = runs.run(what, room, in->reaper());
        auto const made = in->tasks_made();
        refused = made && got.processes_made ? *got.processes_made - *made : -1;
        return got;
    }
};
#define NEEDS_A_LIMIT(p) \
    NEEDS_ISOLATION(); \
    if (!kernel::is_at_least(6, 14)) { \
        WARN("SKIPPED: process namespaces have no pid_max of their own before Linux 6.14"); \
        return; \
    } \
    INFO((p).why); \
    REQUIRE((p).why.empty())

bool went_well(sb::watch::outcome const& got) { return got.trouble.empty() && got.copies.size() == 1 && !got.copies.front().failure && got.copies.front().status == 0; }

} // namespace

TEST_CASE("as many processes or threads as the limit are there, and not one more", "[sandbox]") {
    place p{31};
    NEEDS_A_LIMIT(p);
    for (char const* kind : {"processes", "threads"}) {
        INFO(kind);
        CHECK(went_well(p.run({"victim", kind, "30"})));
        CHECK(p.refused == 0);
        CHECK_FALSE(went_well(p.run({"victim", kind, "31"})));
        CHECK(p.refused == 1);
    }
}

TEST_CASE("a limit of one lets a program run, and start none", "[sandbox]") {
    place p{1};
    NEEDS_A_LIMIT(p);
    CHECK(went_well(p.run({"sh", "-c", ":"})));
    CHECK(p.refused == 0);
    CHECK_FALSE(went_well(p.run({"sh", "-c", "/bin/true; :"})));
    CHECK(p.refused == 1);
}

TEST_CASE("what has ended makes room, run after run", "[sandbox]") {
    place p{4};
    NEEDS_A_LIMIT(p);
    for (int i = 0; i < 20; ++i) {
        CHECK(went_well(p.run({"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; done; /bin/true & /bin/true & /bin/true & wait"})));
        CHECK(p.refused == 0);
    }
}

TEST_CASE("every refusal is counted, also of who gives up and of who is killed", "[sandbox]") {
    place p{3};
    NEEDS_A_LIMIT(p);
    CHECK_FALSE(went_well(p.run({"victim", "processes", "9"})));
    CHECK(p.refused >= 1);
    place bomb{40};
    auto const got = bomb.run({"sh", "-c", "bomb() { bomb & bomb & wait; }; bomb"}, 300'000'000);
    CHECK(got.wall_s < 1);
    if (got.reaper_lost) return;
    CHECK(bomb.refused >= 1);
    CHECK(went_well(bomb.run({"victim", "processes", "5"})));
    CHECK(bomb.refused == 0);
}

TEST_CASE("such a sandbox ends as a whole when its supervisor is killed, and by itself", "[sandbox]") {
    for (int attempt = 0; attempt < 20; ++attempt) {
        place p{8};
        NEEDS_A_LIMIT(p);
        CHECK(p.in->reaper().pid == p.in->supervisor_pid());
        auto const supervisor = p.in->supervisor_pid();
        auto const stopped = p.run({"sh", "-c", "sleep 60 & sleep 60"}, 50'000'000);
        CHECK(stopped.killed_by == sb::watch::killer::wall);
        if (stopped.reaper_lost) continue; // it had no processor for some milliseconds: the sandbox ends with it, and a run needs another
        CHECK(went_well(p.run({"sh", "-c", "/bin/true; :"})));
        p.in->end();
        CHECK(::kill(supervisor, 0) == -1);
        return;
    }
    FAIL("no reaper answers in time");
}

TEST_CASE("whether namespaces can hold the limit is found out by trying, and the kernel's version agrees", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const user = choose_payload_user().value();
    auto const can = can_limit_tasks(user);
    INFO((can.has_error() ? can.error().what : std::string{"they can"}));
    CHECK(can.has_error() == !kernel::is_at_least(6, 14));
    if (can.has_error()) CHECK_THAT(can.error().what, Catch::Matchers::Contains("pid_max"));
    // in a namespace where nobody may mount, map or clone, it is the reason that is told
    auto const nobody = can_limit_tasks({static_cast<uid_t>(-1), static_cast<gid_t>(-1)});
    CHECK(nobody.has_error());
}

TEST_CASE("the trial changes nothing of the machine's own numbers, also when root asks for itself", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const largest = [] { return kernel::text_of("/proc/sys/kernel/pid_max"); };
    auto const before = largest();
    (void)can_limit_tasks({::geteuid(), ::getegid()});
    CHECK(largest() == before);
}

TEST_CASE("numbers that were given are counted by the caller's namespace, each once", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const said = tried_inside(choose_payload_user().value(), CLONE_NEWPID, []() -> sb::result<std::string> {
        int status = -1;
        auto const first = ::fork(); // process 1 of the namespace
        if (first == 0) {
            ::mount("proc", "/proc", "proc", 0, nullptr);
            auto const before = numbers_given();
            for (int i = 0; i < 3; ++i) {
                auto const child = ::fork();
                if (child == 0) ::_exit(0);
                ::waitpid(child, nullptr, 0);
            }
            auto const after = numbers_given();
            ::_exit(before < 0 ? 100 : static_cast<int>(after - before));
        }
        ::waitpid(first, &status, 0);
        return sb::cat(WEXITSTATUS(status));
    });
    INFO((said.has_error() ? said.error().what : std::string{}));
    REQUIRE_FALSE(said.has_error());
    if (::access("/proc/sys/kernel/ns_last_pid", R_OK) != 0) CHECK(*said == "100");
    else CHECK(*said == "3");
}
