// SPDX-License-Identifier: MIT
// Tests of plain_site.hpp and site.hpp.
#include "support/child.hpp"
#include "support/victim.hpp"
#include <sb/local/plain_site.hpp>
#include <sb/local/site.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace sb::local;

namespace {

/// The claims that did not hold, told by a process of its own, because the end of a plain site is the end of all children.
template <class Work>
std::string wrong_in_child(Work work) {
    return sb::test::told_by_child([&] {
        std::string text;
        work([&](bool holds, std::string_view claim) {
            if (!holds) text += sb::cat(claim, "\n");
        });
        return text;
    });
}

struct plain_place {
    sb::files::session_folder session = sb::files::session_folder::make().value();
    sb::process::order_room room = sb::process::order_room::make().value();
    std::unique_ptr<site> made = plain_site::make(session, 4, room).value();
};
std::string value_of(sb::watch::job const& job, std::string_view name) {
    for (auto const& each : job.environment)
        if (each.starts_with(name) && each.size() > name.size() && each[name.size()] == '=') return each.substr(name.size() + 1);
    return {};
}
bool exists(std::string const& path) { return ::access(path.c_str(), F_OK) == 0; }

} // namespace

TEST_CASE("a place without a sandbox gives a run folders of its own in the session, and a living reaper") {
    CHECK(wrong_in_child([](auto const& claim) {
        plain_place at;
        sb::watch::job job;
        claim(!at.made->prepare(5).has_error(), "it needs no preparation");
        claim(!at.made->make_ready(job).has_error(), "it is made ready");
        claim(value_of(job, "HOME") == at.session.path() + "/worker4/home", "HOME is in the session");
        claim(value_of(job, "TMPDIR") == at.session.path() + "/worker4/tmp", "TMPDIR is in the session");
        claim(exists(value_of(job, "HOME")) && exists(value_of(job, "TMPDIR")), "both are there");
        claim(job.folder.empty(), "the current folder stays");
        claim(at.made->reaper().pid > 0 && ::kill(at.made->reaper().pid, 0) == 0, "there is a reaper");
        claim(at.made->helpers_cpu_ns() >= 0, "its time is known");
        claim(!at.made->again(), "it promises nothing about the next run");
        at.made->close();
    }) == "");
}

TEST_CASE("what a run left is there for its check and gone for the next run") {
    CHECK(wrong_in_child([](auto const& claim) {
        plain_place at;
        sb::watch::job run, check, next;
        claim(!at.made->make_ready(run).has_error(), "it is made ready");
        auto const left = value_of(run, "HOME") + "/left";
        std::ofstream{left} << "word";
        auto const reaper = at.made->reaper().pid;
        claim(!at.made->look(check).has_error() && exists(left), "a check sees it");
        claim(value_of(check, "HOME") == value_of(run, "HOME"), "in the same place");
        claim(!at.made->make_ready(next).has_error() && !exists(left), "the next run does not");
        claim(at.made->reaper().pid == reaper, "the reaper is the same");
        at.made->close();
    }) == "");
}

TEST_CASE("after a run that took the reaper with it there is another reaper") {
    CHECK(wrong_in_child([](auto const& claim) {
        plain_place at;
        sb::watch::job job;
        claim(!at.made->make_ready(job).has_error(), "it is made ready");
        auto const first = at.made->reaper().pid;
        sb::watch::outcome got;
        at.made->finish(got);
        claim(at.made->reaper().pid == first, "a usual end changes nothing");
        got.reaper_lost = true;
        at.made->finish(got);
        claim(::kill(first, 0) < 0 && errno == ESRCH, "the first is gone");
        claim(!at.made->look(job).has_error() && at.made->reaper().socket, "there is another");
        claim(::kill(at.made->reaper().pid, 0) == 0, "and it lives");
        at.made->close();
    }) == "");
}

TEST_CASE("what a dead reaper left is killed, and so is all that lives when the place is closed") {
    for (bool const lost : {true, false}) {
        CHECK(wrong_in_child([&](auto const& claim) {
            plain_place at;
            sb::watch::job job;
            claim(!at.made->make_ready(job).has_error(), "it is made ready");
            auto const orphan = ::fork(); // as one that was adopted
            if (orphan == 0) {
                ::setsid();
                ::syscall(SYS_close_range, 3u, ~0u, 0); // as after exec: the reaper waits for the end of its socket
                for (;;) ::pause();
            }
            sb::watch::outcome got;
            got.reaper_lost = true;
            if (lost) at.made->finish(got);
            else at.made->close();
            claim(::kill(orphan, 0) < 0 && errno == ESRCH, "it is gone");
            at.made->close();
        }) == "");
    }
}

TEST_CASE("a place can be kept once under each name, and begins anew") {
    CHECK(wrong_in_child([](auto const& claim) {
        plain_place at;
        sb::watch::job job, next;
        claim(!at.made->make_ready(job).has_error(), "it is made ready");
        std::ofstream{value_of(job, "TMPDIR") + "/left"} << "word";
        claim(!at.made->keep(at.session, "run-1").has_error(), "it is kept");
        claim(exists(at.session.path() + "/run-1/tmp/left") && exists(at.session.path() + "/run-1/home"), "with all that was there");
        claim(!exists(value_of(job, "TMPDIR") + "/left") && exists(value_of(job, "TMPDIR")), "and is empty now");
        claim(at.made->keep(at.session, "run-1").has_error(), "the same name is taken");
        claim(!at.made->make_ready(next).has_error(), "runs go on");
        at.made->close();
    }) == "");
}

TEST_CASE("a closed place has left nothing in the session") {
    CHECK(wrong_in_child([](auto const& claim) {
        plain_place at;
        sb::watch::job job;
        claim(!at.made->make_ready(job).has_error(), "it is made ready");
        std::ofstream{value_of(job, "HOME") + "/left"} << "word";
        auto const reaper = at.made->reaper().pid;
        at.made->close();
        claim(!exists(at.session.path() + "/worker4"), "its folder is gone");
        claim(::kill(reaper, 0) < 0 && errno == ESRCH, "its reaper is gone");
    }) == "");
}

TEST_CASE("a place whose name is taken is not made") {
    CHECK(wrong_in_child([](auto const& claim) {
        auto session = sb::files::session_folder::make();
        auto room = sb::process::order_room::make();
        claim(::mkdir((session->path() + "/worker4").c_str(), 0700) == 0, "the name is taken");
        claim(plain_site::make(*session, 4, *room).has_error(), "it is refused");
    }) == "");
}
