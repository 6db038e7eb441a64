// SPDX-License-Identifier: MIT
// The process of a run that waits for it: cloned ahead, called, let go, lost.
#include "support/sandbox_slot.hpp"
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

using namespace sb::test;
using namespace sb::process;

TEST_CASE("a run is made by a child that was cloned ahead of it", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    auto const in_box = [&] { return sb::read_file(sb::cat("/proc/", here.place().reaper().pid, "/task/", here.place().reaper().pid, "/children")).value(); };
    CHECK(here.shell("echo $$") != "");
    auto const until = sb::monotonic_ns() + 10'000'000'000;
    while (in_box().empty() && sb::monotonic_ns() < until) {}
    auto const waiting = static_cast<pid_t>(std::atoi(in_box().c_str()));
    REQUIRE(waiting > 0);

    SECTION("it is that child, and it has what every child has") {
        auto const numbers = sb::read_file(sb::cat("/proc/", waiting, "/status")).value();
        auto const at = numbers.find("NSpid:"), end = numbers.find('\n', at);
        auto const inside = numbers.substr(numbers.rfind('\t', end) + 1, end - numbers.rfind('\t', end));
        auto const seen = here.shell("echo $$; ls /proc/self/fd; cat; echo report >&3");
        CHECK(seen == inside + "0\n1\n2\n3\n4\n"); // the last is the folder that ls reads
        CHECK(here.last().called);
        CHECK(here.last().reports == std::vector<std::string>{"report\n"});
        CHECK(here.last().processes_made > 1);
        CHECK(here.last().copies.at(0).used.known);
    }
    SECTION("killed before its time it is replaced") {
        REQUIRE(::kill(waiting, SIGKILL) == 0);
        while (!in_box().empty() && sb::monotonic_ns() < until) {}
        CHECK(here.shell("echo there") == "there\n");
        CHECK_FALSE(here.renewed);
        CHECK(here.last().copies.at(0).status == 0);
    }
    SECTION("it is let go") {
        here.place().reaper().let_go();
        CHECK(in_box().empty());
        CHECK(here.place().reaper().ahead.number == 0);
        here.place().reaper().let_go();
        CHECK(here.shell("echo there") == "there\n");
        CHECK_FALSE(here.renewed);
    }
    SECTION("a run that it does not suit is made by another") {
        here.input = "/etc/hostname";
        CHECK(here.shell("wc -l") == "1\n");
        CHECK_FALSE(here.last().called);
        CHECK(::kill(waiting, 0) != 0);
        here.input = "/dev/null";
        CHECK(here.shell("wc -l") == "0\n");
    }
    SECTION("it takes the program's failure with it") {
        here.program = "/no/such/program";
        CHECK(here.shell("").empty());
        CHECK(here.last().copies.at(0).failure.step == spawn_step::exec);
        CHECK(here.last().copies.at(0).failure.code == ENOENT);
        here.program = "/bin/sh";
        CHECK(here.shell("echo there") == "there\n");
        CHECK_FALSE(here.renewed);
    }
    SECTION("its reaper stands still: it is ended by its time, with its sandbox") {
        REQUIRE(::kill(here.place().reaper().pid, SIGSTOP) == 0);
        CHECK(here.shell("echo there; sleep 60", 1'000'000'000) == "there\n");
        CHECK(here.last().killed_by == sb::watch::killer::wall);
        CHECK(here.last().reaper_lost);
        CHECK_FALSE(here.last().copies.at(0).failure);
        CHECK(here.last().copies.at(0).status == SIGKILL);
        CHECK(here.shell("echo there") == "there\n");
        CHECK(here.renewed);
    }
    SECTION("its pipes were replaced") {
        CHECK(here.run({"pipes"}) == "done\n");
        CHECK(here.shell("echo there") == "there\n");
    }
    SECTION("again and again") {
        for (int i = 0; i < 200; ++i) {
            REQUIRE(here.shell(sb::cat("echo ", i)) == sb::cat(i, "\n"));
            CHECK(here.last().called);
        }
        CHECK_FALSE(here.renewed);
    }
    SECTION("a reaper that stands still is not waited for long, and its sandbox is discarded") {
        REQUIRE(::kill(here.place().reaper().pid, SIGSTOP) == 0);
        auto const before = sb::monotonic_ns();
        here.place().reaper().let_go();
        CHECK(sb::monotonic_ns() - before < 5'000'000'000);
        CHECK(here.shell("echo there") == "there\n");
        CHECK(here.renewed);
        CHECK(here.was_soiled == std::vector<std::string>{"its own processes"});
    }
    SECTION("runs that could not begin take no pipe with them") {
        here.input = "/no/such/input";
        for (int i = 0; i < 20; ++i) {
            CHECK(here.shell("echo there").empty());
            CHECK(here.last().trouble.starts_with("open /no/such/input"));
        }
        here.input = "/dev/null";
        CHECK(here.shell("echo there") == "there\n");
        CHECK(here.shell("echo there") == "there\n");
        CHECK(here.last().called);
    }
    SECTION("a run that said too much and ended well ends no other") {
        for (int i = 0; i < 50; ++i) {
            (void)here.shell("head -c 1100000 /dev/zero"); // the limit is a mebibyte
            REQUIRE(here.shell("echo there") == "there\n");
            REQUIRE(here.last().killed_by == sb::watch::killer::nobody);
        }
    }
}
