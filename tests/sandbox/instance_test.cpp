// SPDX-License-Identifier: MIT
// A sandbox that is used again: whatever a run leaves behind, the next one sees nothing of it. The soiler (tests/victims/)
// leaves it, and says what the next one sees.
#include "support/sandbox_slot.hpp"
#include "support/child.hpp"
#include <sb/files/folder.hpp>
#include <sb/sandbox/instance.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <sys/wait.h>
#include <utility>
#include <vector>

using namespace sb::test;
using namespace sb::sandbox;

namespace {

struct way {
    char const* name;
    char const* answer; ///< how the soiler's begins; "": any, for kernels differ
    char const* then; ///< "kept": nothing had to be done; "tidied": files were removed; "renewed": with all their memory; else the sandbox was discarded, for this
};

way const ways[] = {
    {"nothing", "done", "kept"},
    {"file-new", "done", "tidied"},
    {"file-changed", "done", "renewed"},
    {"file-truncated", "done", "renewed"},
    {"file-mapped", "done", "renewed"},
    {"file-exchanged", "done", "renewed"},
    {"file-deleted", "done", "renewed"},
    {"file-renamed", "done", "renewed"},
    {"file-linked", "done", "renewed"},
    {"file-mode", "done", "renewed"},
    {"file-times", "done", "renewed"},
    {"file-xattr", "", ""}, // a tmpfs has none before Linux 6.6
    {"folder-below", "done", "renewed"},
    {"folder-removed", "done", "renewed"},
    {"root-mode", "done", "renewed"},
    {"root-xattr", "", ""},
    {"root-acl", "done", "renewed"},
    {"root-removed", "refused: Device or resource busy", "kept"},
    {"made-and-removed", "done", "tidied"},
    {"home", "done", "tidied"},
    {"home-acl", "done", "renewed"},
    {"home-flag", "", ""},
    {"home-mode", "done", "renewed"},
    {"tmp", "done", "tidied"},
    {"tmp-acl", "done", "renewed"},
    {"tmp-removed", "done", "tidied"},
    {"tmp-times", "done", "tidied"},
    {"looked-at", "done", "kept"},
    {"shm-file", "done", "tidied"},
    {"var-tmp", "done", "tidied"},
    {"deep", "done", "renewed"},
    {"closed-folder", "done", "renewed"},
    {"full", "done", "tidied"},
    {"link-out", "done", "renewed"},
    {"read-only-bind", "refused", "kept"},
    {"read-only-bind-times", "refused: Read-only file system", "kept"},
    {"system-file", "refused", "kept"},
    {"masked-folder", "refused", "kept"}, // all runs see the same
    {"device-times", "refused: Read-only file system", "kept"},
    {"device-made", "refused", "kept"},
    {"shm", "done", "ipc objects"},
    {"semaphore", "done", "ipc objects"},
    {"message", "done", "ipc objects"},
    {"queue", "done", "message queues"},
    {"key", "refused: Function not implemented", "kept"},
    {"time-wait", "done", "kept"},
    {"time-wait6", "done", "kept"},
    {"listening", "done", "kept"},
    {"listening6", "done", "kept"},
    {"datagram", "done", "kept"},
    {"abstract", "done", "kept"},
    {"in-flight", "done", ""}, // discarded for "sockets", unless the kernel has collected them by then
    {"flow-label", "refused: Operation not permitted", "kept"},
    {"daemon", "done", "kept"},
    {"many", "done", "kept"},
    {"stopped", "done", "kept"},
    {"traced", "refused: Operation not permitted", "kept"},
    {"vfork", "done", "kept"},
    {"sibling", "done", "kept"},
    {"silent-child", "done", "kept"},
    {"own-ways", "done", "kept"},
    {"folder-lost", "done", "tidied"},
    {"pipes", "done", "kept"},
    {"pipes-marked", "", "kept"}, // root's pipes are not the payload's
    {"pipes-touched", "", "kept"},
    {"pipes-locked", "done", "kept"},
    {"timers", "done", "kept"},
    {"lock", "done", "kept"},
    {"lease", "refused", "kept"}, // who opens the file would wait, outside too
    {"session-priority", "", ""}, // not every kernel schedules by session
    {"first-limit", "refused: Operation not permitted", "kept"},
    {"first-processor", "refused: Operation not permitted", "kept"},
    {"first-policy", "refused: Operation not permitted", "kept"},
    {"first-priority", "refused: Operation not permitted", "kept"},
    {"first-priority-group", "refused: Operation not permitted", "kept"},
    {"first-priority-user", "refused: Operation not permitted", "kept"},
    {"first-joined", "refused: Operation not permitted", "kept"},
    {"first-io", "refused: Operation not permitted", "kept"},
    {"first-io-group", "refused: Operation not permitted", "kept"},
    {"first-io-user", "refused: Operation not permitted", "kept"},
    {"first-signals", "", "kept"}, // from Landlock 6 on refused, before without effect
    {"first-queue", "", "kept"},
    {"first-traced", "refused: Operation not permitted", "kept"},
    {"first-memory", "refused: No such file or directory", "kept"},
    {"first-files", "refused: No such file or directory", "kept"},
    {"first-words", "refused: No such file or directory", "kept"},
    {"first-oom", "refused: No such file or directory", "kept"},
    {"kill-all", "", "kept"}, // the soiler too
    {"host-name", "refused: Operation not permitted", "kept"},
    {"mount", "refused: Operation not permitted", "kept"},
    {"namespace", "refused: Operation not permitted", "kept"},
    {"kernel-knob", "refused", "kept"},
    {"last-pid", "refused", "kept"},
    {"control-group", "refused: No such file or directory", "kept"},
};

std::string difference(std::string_view before, std::string_view after) {
    std::string all;
    auto const lines = [](std::string_view text) {
        std::vector<std::string_view> each;
        sb::split(text, '\n', [&](std::string_view line) { each.push_back(line); });
        return each;
    };
    auto const a = lines(before), b = lines(after);
    for (auto const& line : a)
        if (std::find(b.begin(), b.end(), line) == b.end()) all += sb::cat("- ", line, "\n");
    for (auto const& line : b)
        if (std::find(a.begin(), a.end(), line) == a.end()) all += sb::cat("+ ", line, "\n");
    return all;
}

/// What a person would see of the files: names, modes, contents, moments of change.
std::string told_of(std::string const& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) return sb::cat(path, ": ", std::strerror(errno), "\n");
    auto text = sb::cat(path, ": ", facts.st_mode, " ", facts.st_uid, " ", facts.st_nlink, " ", facts.st_mtim.tv_sec, ".", facts.st_mtim.tv_nsec, " ", facts.st_ctim.tv_sec, ".",
                        facts.st_ctim.tv_nsec, "\n");
    if (S_ISREG(facts.st_mode)) text += sb::read_file(path).value();
    if (!S_ISDIR(facts.st_mode)) return text;
    auto const fd = sb::files::open_folder(AT_FDCWD, path.c_str());
    auto names = sb::files::names_in(fd.get()).value();
    std::sort(names.begin(), names.end());
    for (auto const& each : names) text += told_of(path + "/" + each);
    return text;
}

/// What hides a folder that lies below an overlay is a user attribute of one in memory: of tmpfs since Linux 6.6.
bool tmpfs_keeps_marks() {
    sb::unique_fd const file{::memfd_create("marks", MFD_CLOEXEC)};
    return ::fsetxattr(file.get(), "user.marks", "y", 1, 0) == 0;
}

long count_in(std::string const& folder) {
    auto const fd = sb::files::open_folder(AT_FDCWD, folder.c_str());
    return fd ? static_cast<long>(sb::files::names_in(fd.get())->size()) : -1;
}

} // namespace

TEST_CASE("whatever a run leaves behind, the next sees nothing of it, and the host's files are as they were", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    auto const first = here.run({"look"});
    REQUIRE(first.size() > 1000);
    auto const files = told_of(here.work("."));
    std::string known = here.run({}); // names of ways, one a line
    CHECK(std::count(known.begin(), known.end(), '\n') == static_cast<long>(std::size(ways)));
    for (auto const& each : ways) {
        INFO("way: " << each.name);
        (void)here.run({"look"});
        auto const answer = here.run({each.name});
        std::string_view const wanted = std::string_view{each.name} == "folder-removed" && !tmpfs_keeps_marks() ? "refused: Input/output error" : each.answer;
        CHECK(answer.substr(0, wanted.size()) == wanted);
        auto const seen = here.run({"look"});
        auto const then = !here.was_soiled.empty() ? here.was_soiled[0] : here.renewed ? std::string{"lost"} : here.tidied ? std::string{"tidied"} : here.in_order ? std::string{"renewed"} : std::string{"kept"};
        if (*each.then) CHECK(then == each.then);
        CHECK(difference(first, seen) == "");
        CHECK(told_of(here.work(".")) == files);
    }
}

TEST_CASE("up to thirty-two files in a folder are removed; more go with their memory", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    auto const empty = here.shell("ls -A . /tmp /home/sandbox /dev/shm");
    CHECK(here.shell("ls -A; for i in $(seq 32); do echo x >new$i; echo x >/tmp/new$i; done").starts_with("file\nfolder\n"));
    CHECK(here.shell("ls -A . /tmp /home/sandbox /dev/shm") == empty);
    CHECK(here.tidied);
    (void)here.shell("for i in $(seq 33); do echo x >new$i; done");
    CHECK(here.shell("ls -A . /tmp /home/sandbox /dev/shm") == empty);
    CHECK_FALSE(here.tidied);
    CHECK(here.in_order);
}

TEST_CASE("a sandbox whose supervisor or first process died is discarded before the next run", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    for (bool const supervisor : {true, false}) {
        CHECK(here.run({"nothing"}) == "done\n");
        auto const victim = supervisor ? here.place().supervisor_pid() : here.place().reaper().pid;
        REQUIRE(::kill(victim, SIGKILL) == 0);
        siginfo_t info{};
        if (supervisor) REQUIRE(::waitid(P_PID, static_cast<id_t>(victim), &info, WEXITED | WNOWAIT) == 0);
        else
            while (::kill(victim, 0) == 0 && sb::read_file(sb::cat("/proc/", victim, "/stat")).value().find(") Z ") == std::string::npos) {}
        CHECK(here.run({"nothing"}) == "done\n");
        CHECK(here.was_soiled == std::vector<std::string>{"its own processes"});
    }
}

TEST_CASE("a sandbox that is cleared again and again holds no more than at first", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    auto const held = [&] {
        std::string const mounts = here.shell("grep -c . /proc/self/mountinfo");
        return sb::cat(mounts, count_in(sb::cat("/proc/", here.place().supervisor_pid(), "/fd")));
    };
    for (int i = 0; i < 3; ++i) CHECK(here.run({"file-new"}) == "done\n");
    auto const before = held();
    for (int i = 0; i < 50; ++i) CHECK(here.run({"file-new"}) == "done\n");
    CHECK(here.in_order);
    CHECK(held() == before);
}

TEST_CASE("a run that had to be ended takes its sandbox with it, and the next sees nothing of it", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    auto const first = here.run({"look"});
    CHECK(here.shell("echo x >new; trap '' TERM; sleep 60", 100'000'000).empty());
    CHECK(here.last().killed_by == sb::watch::killer::wall);
    auto const seen = here.run({"look"});
    CHECK(difference(first, seen) == "");
}

TEST_CASE("whoever ends a run is put before those it ends, and back for the next", "[sandbox]") {
    NEEDS_ISOLATION();
    if (in_child([] { return ::setpriority(PRIO_PROCESS, 0, -20); }) != 0 || ::geteuid() != 0) {
        WARN("SKIPPED: nobody may be put before others here");
        return;
    }
    slot here;
    auto const rank = [&] { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(here.place().reaper().pid)); };
    int const usual = ::getpriority(PRIO_PROCESS, 0);
    CHECK(here.run({"nothing"}) == "done\n");
    CHECK(rank() == usual);
    do here.shell("sleep 60", 100'000'000); // on a starved machine the slot ends the sandbox itself
    while (here.last().reaper_lost);
    CHECK(here.last().killed_by == sb::watch::killer::wall);
    CHECK(rank() == -20);
    CHECK(here.shell("nice") == std::to_string(usual) + "\n");
    CHECK_FALSE(here.renewed);
    CHECK(rank() == usual);
}

TEST_CASE("a run whose time was up before it could begin is ended by its time, and did not fail to start", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    here.again = false;
    CHECK(here.run({"nothing"}) == "done\n");
    REQUIRE(::kill(here.place().reaper().pid, SIGSTOP) == 0); // as it would stand still on a starved machine
    CHECK(here.run({"nothing"}, 20'000'000).empty());
    CHECK(here.last().killed_by == sb::watch::killer::wall);
    CHECK(here.last().reaper_lost);
    CHECK_FALSE(here.last().copies.at(0).failure);
    CHECK(here.last().copies.at(0).status == SIGKILL);
    CHECK(here.run({"nothing"}) == "done\n");
}

TEST_CASE("mounts that appear in a sandbox discard it", "[sandbox]") {
    NEEDS_ISOLATION();
    if (::geteuid() != 0) {
        WARN("SKIPPED: no payload can make one; root is needed to do it from outside");
        return;
    }
    slot here;
    CHECK(here.run({"nothing"}) == "done\n");
    auto const tree = sb::open_file(sb::cat("/proc/", here.place().reaper().pid, "/ns/mnt"), O_RDONLY);
    REQUIRE_FALSE(tree.has_error());
    auto const child = ::fork();
    if (child == 0) ::_exit(::setns(tree->get(), CLONE_NEWNS) == 0 && ::mount("none", "/home", "tmpfs", 0, nullptr) == 0 ? 0 : 1);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    CHECK(here.run({"nothing"}) == "done\n");
    CHECK(here.was_soiled == std::vector<std::string>{"mounts"});
}
