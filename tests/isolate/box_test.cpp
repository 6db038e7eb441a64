// SPDX-License-Identifier: MIT
// A box that is used again: whatever a run leaves behind, the next one sees nothing of it. The soiler (tests/victims/)
// leaves it, and says what the next one sees.
#include "support/victim.hpp"
#include <sb/isolate/box.hpp>
#include <sb/isolate/lend_work.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <sys/wait.h>
#include <utility>
#include <vector>

using namespace sb::test;
using namespace sb::isolate;

namespace {

void put(std::string const& path, std::string_view text) {
    auto const file = sb::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    REQUIRE_FALSE(file.has_error());
    REQUIRE(::write(file->get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

/// Why no box can be made here; empty when one can.
std::string const& why_no_box() {
    static std::string const why = [] {
        order_room room = order_room::make().value();
        nursery_plan plan;
        auto const user = choose_payload_user();
        if (user.has_error()) return user.error().what;
        plan.user = *user;
        auto origin = nursery::make(plan, room, nullptr);
        if (origin.has_error()) return origin.error().what;
        auto const made = box::make(*origin, {}, {1 << 20, 1024});
        return made.has_error() ? made.error().what : std::string{};
    }();
    return why;
}
#define NEEDS_A_BOX() \
    if (!why_no_box().empty()) { \
        WARN("SKIPPED: " << why_no_box()); \
        return; \
    }

/// One slot as its owner handles it: a box that is proven clean or put in order before each run, and else replaced.
class slot {
public:
    /// `below`: where the workspace lies in a folder of /tmp.
    explicit slot(int level = default_level, std::string const& below = {})
        : out_{::memfd_create("out", MFD_CLOEXEC)}, runs_{*watcher::make(out_.get())}, room_{*order_room::make()} {
        at_ = work_.path() + below;
        REQUIRE_FALSE(make_folders("", at_).has_error());
        put(at_ + "/file", "original\n");
        REQUIRE(::mkdir((at_ + "/folder").c_str(), 0755) == 0);
        put(at_ + "/folder/inner", "inner\n");
        put(read_ / "file", "read\n");
        REQUIRE(::chmod(read_.path().c_str(), 0777) == 0); // its mode is not what protects it
        REQUIRE(::chmod(write_.path().c_str(), 0777) == 0);
        plan_.shown.work = at_;
        auto const victims = victim_path();
        plan_.shown.bindings = {{real_path(victims.substr(0, victims.rfind('/'))).value(), "/opt/victims", false}, {read_.path(), "/opt/read", false}, {write_.path(), "/opt/write", true}};
        plan_.user = choose_payload_user().value();
        walls_.level = level;
        walls_.filter = make_filter(level_of(level)).value();
        lent_ = lend_work(at_, plan_.user).value();
        plan_.lower = lent_.lower;
        plan_.owners = std::move(lent_.owners);
    }

    /// The soiler's answer. Before it begins, the box is as it should be.
    std::string run(std::vector<std::string> words, std::int64_t wall_ns = 20'000'000'000) {
        make_ready();
        job what;
        what.path = "/opt/victims/soiler";
        what.argv = {"soiler"};
        what.argv.insert(what.argv.end(), words.begin(), words.end());
        what.environment = {"PATH=/usr/bin:/bin", "HOME=/home/sandbox", "TMPDIR=/tmp"};
        what.folder = at_;
        what.held.wall_ns = wall_ns;
        what.held.output_bytes = 1 << 20;
        what.keep_output = true;
        return execute(what);
    }
    std::string shell(std::string const& script, std::int64_t wall_ns = 20'000'000'000) {
        make_ready();
        job what;
        what.path = program;
        what.argv = {"sh", "-c", script};
        what.in = input;
        what.environment = {"PATH=/usr/bin:/bin", "HOME=/home/sandbox", "TMPDIR=/tmp"};
        what.folder = at_;
        what.held.wall_ns = wall_ns;
        what.held.output_bytes = 1 << 20;
        what.keep_output = true;
        return execute(what);
    }
    /// Where the next run would happen.
    void make_ready() {
        was_soiled.clear(), renewed = in_order = false;
        if (box_ && box_->alive()) was_soiled = box_->soiled(room_);
        if (box_ && (!box_->alive() || !was_soiled.empty())) box_.reset();
        if (!box_) {
            renewed = true;
            if (!origin_) origin_ = std::make_unique<nursery>(nursery::make(plan_, room_, nullptr).value());
            auto made = box::make(*origin_, walls_, {4 << 20, 4096});
            INFO((made.has_error() ? made.error().what : std::string{}));
            REQUIRE_FALSE(made.has_error());
            box_ = std::make_unique<box>(std::move(*made));
        }
        auto const anew = box_->make_clean({4 << 20, 4096});
        INFO((anew.has_error() ? anew.error().what : std::string{}));
        REQUIRE_FALSE(anew.has_error());
        in_order = *anew != tidiness::untouched, tidied = *anew == tidiness::tidied;
    }
    outcome const& last() const { return last_; }
    box& place() { return *box_; }
    std::string work(std::string_view name) const { return sb::cat(at_, "/", name); }
    std::string bound(std::string_view name) const { return write_ / name; }

    std::vector<std::string> was_soiled; ///< what the box was discarded for, before the last run
    bool renewed = false, in_order = false, tidied = false; ///< for the last run: made, put in order, the latter by removing a few files
    std::string program = "/bin/sh", input = "/dev/null"; ///< of `shell`
    bool spare = true; ///< nobody else needs the second processor
    bool again = true; ///< a child is cloned ahead of the next run

private:
    std::string execute(job what) {
        what.reports = true;
        REQUIRE(::ftruncate(out_.get(), 0) == 0);
        ::lseek(out_.get(), 0, SEEK_SET);
        last_ = runs_.run(what, room_, box_->reaper(), {{}, {}, spare, again});
        (void)box_->network_bytes();
        if (last_.reaper_lost) box_->end();
        std::string text(1 << 16, '\0');
        auto const n = ::pread(out_.get(), text.data(), text.size(), 0);
        text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
        return text;
    }
    folder work_, read_, write_;
    std::string at_; // the workspace
    sb::unique_fd out_;
    watcher runs_;
    order_room room_;
    nursery_plan plan_;
    box_plan walls_;
    lent_work lent_;
    std::unique_ptr<nursery> origin_;
    std::unique_ptr<box> box_;
    outcome last_;
};

struct way {
    char const* name;
    char const* answer; ///< how the soiler's begins; "": any, for kernels differ
    char const* then; ///< "kept": nothing had to be done; "cleared": files were; else the box was discarded, for this
};

way const ways[] = {
    {"nothing", "done", "kept"},
    {"file-new", "done", "cleared"},
    {"file-changed", "done", "cleared"},
    {"file-truncated", "done", "cleared"},
    {"file-mapped", "done", "cleared"},
    {"file-exchanged", "done", "cleared"},
    {"file-deleted", "done", "cleared"},
    {"file-renamed", "done", "cleared"},
    {"file-linked", "done", "cleared"},
    {"file-mode", "done", "cleared"},
    {"file-times", "done", "cleared"},
    {"file-xattr", "", ""}, // a tmpfs has none before Linux 6.6
    {"folder-below", "done", "cleared"},
    {"folder-removed", "done", "cleared"},
    {"root-mode", "done", "cleared"},
    {"root-xattr", "", ""},
    {"root-acl", "done", "cleared"},
    {"root-removed", "refused: Device or resource busy", "kept"},
    {"made-and-removed", "done", "cleared"},
    {"home", "done", "cleared"},
    {"home-acl", "done", "cleared"},
    {"home-flag", "", ""},
    {"home-mode", "done", "cleared"},
    {"tmp", "done", "cleared"},
    {"tmp-acl", "done", "cleared"},
    {"tmp-removed", "done", "cleared"},
    {"tmp-times", "done", "cleared"},
    {"looked-at", "done", "kept"},
    {"shm-file", "done", "cleared"},
    {"var-tmp", "done", "cleared"},
    {"deep", "done", "cleared"},
    {"closed-folder", "done", "cleared"},
    {"full", "done", "cleared"},
    {"link-out", "done", "cleared"},
    {"read-only-bind", "refused", "kept"},
    {"read-only-bind-times", "refused: Read-only file system", "kept"},
    {"system-file", "refused", "kept"},
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
    {"folder-lost", "done", "cleared"},
    {"pipes", "done", "kept"},
    {"timers", "done", "kept"},
    {"lock", "done", "kept"},
    {"lease", "done", "kept"},
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
    auto const fd = sb::isolate::detail::open_folder(AT_FDCWD, path.c_str());
    auto names = sb::isolate::detail::names_in(fd.get());
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
    auto const fd = sb::isolate::detail::open_folder(AT_FDCWD, folder.c_str());
    return fd ? static_cast<long>(sb::isolate::detail::names_in(fd.get()).size()) : -1;
}

} // namespace

TEST_CASE("whatever a run leaves behind, the next sees nothing of it, and the host's files are as they were", "[box]") {
    NEEDS_A_BOX();
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
        auto const then = !here.was_soiled.empty() ? here.was_soiled[0] : here.renewed ? std::string{"lost"} : here.in_order ? std::string{"cleared"} : std::string{"kept"};
        if (*each.then) CHECK(then == each.then);
        CHECK(difference(first, seen) == "");
        CHECK(told_of(here.work(".")) == files);
    }
}

TEST_CASE("a few files on top are removed; whatever else was written goes with its memory", "[box]") {
    NEEDS_A_BOX();
    slot here;
    auto const after = [&](std::string const& name) {
        (void)here.run({name});
        CHECK(here.run({"nothing"}) == "done\n");
        return here.renewed ? "lost" : here.tidied ? "tidied" : here.in_order ? "renewed" : "untouched";
    };
    for (auto const* name : {"file-new", "made-and-removed", "home", "tmp", "tmp-removed", "tmp-times", "var-tmp", "shm-file", "full"}) {
        INFO(name);
        CHECK(after(name) == std::string_view{"tidied"});
    }
    for (auto const* name : {"file-changed", "file-deleted", "file-renamed", "file-linked", "file-xattr", "link-out", "folder-below", "folder-removed", "root-mode", "root-xattr", "root-acl", "home-acl",
                             "home-flag", "home-mode", "tmp-acl", "deep", "closed-folder"}) {
        INFO(name);
        if (here.run({name}) != "done\n") continue; // not to be had on this kernel
        CHECK(after("nothing") != std::string_view{"lost"});
        CHECK(after(name) == std::string_view{"renewed"});
    }
    auto const empty = here.shell("ls -A . /tmp /home/sandbox /dev/shm");
    CHECK(here.shell("ls -A; for i in $(seq 32); do echo x >new$i; echo x >/tmp/new$i; done").starts_with("file\nfolder\n"));
    CHECK(here.shell("ls -A . /tmp /home/sandbox /dev/shm") == empty);
    CHECK(here.tidied);
    (void)here.shell("for i in $(seq 33); do echo x >new$i; done");
    CHECK(here.shell("ls -A . /tmp /home/sandbox /dev/shm") == empty);
    CHECK_FALSE(here.tidied);
    CHECK(here.in_order);
}

TEST_CASE("the way to a workspace below /tmp is laid anew when a run has bent it", "[box]") {
    NEEDS_A_BOX();
    slot here{default_level, "/way/to/proc"};
    auto const work = here.work(""), top = work.substr(0, work.find('/', 5));
    auto const look = sb::cat("pwd; ls -ld ", top, " ", top, "/way | cut -c1-10; find /tmp -xdev | sort; grep -c . /proc/self/mountinfo; cat /proc/kallsyms | head -1; ls -A; cat file");
    auto const first = here.shell(look);
    CHECK(first.ends_with("file\nfolder\noriginal\n"));
    for (auto const& bend : {sb::cat("mv ", top, " /tmp/elsewhere && mkdir -p ", top, "/way && ln -s / ", top, "/way/to"), // the workspace's name is now that of /proc
                             sb::cat("mv ", top, "/way/to ", top, "/there && ln -s /proc ", top, "/way/to"), sb::cat("mv ", top, " /tmp/elsewhere"),
                             sb::cat("mv ", top, "/way /tmp/x && rmdir ", top, " && mv /tmp/x ", top, " && ln -s . ", top, "/way"), sb::cat("chmod 0 ", top), sb::cat("chmod 0 ", top, "/way"),
                             sb::cat("touch -d 1980-01-01 ", top, "/way"), sb::cat("echo x >", top, "/way/hidden"), sb::cat("mkdir ", top, "/way/hidden")}) {
        INFO(bend);
        CHECK(here.shell(sb::cat("cd /; ", bend, " && echo done")) == "done\n");
        CHECK(here.shell(look) == first);
        CHECK_FALSE(here.tidied);
        (void)here.shell("echo x >new; echo x >/tmp/new");
        CHECK(here.shell(look) == first);
        CHECK(here.tidied);
    }
}

TEST_CASE("what is written to a folder that was bound for writing stays, and nothing else does", "[box]") {
    NEEDS_A_BOX();
    slot here;
    CHECK(here.shell("echo mine >/opt/write/new && echo done; echo no >/opt/read/new || echo refused") == "done\nrefused\n");
    CHECK(here.shell("cat /opt/write/new; ls -A /opt/read") == "mine\nfile\n");
    CHECK(sb::read_file(here.bound("new")).value() == "mine\n");
}

TEST_CASE("the caller's words are not with the process that a payload could ask for them", "[box]") {
    NEEDS_A_BOX();
    slot here;
    CHECK(here.run({"nothing"}) == "done\n");
    auto const at = sb::cat("/proc/", here.place().reaper().pid);
    auto const words = sb::read_file(at + "/cmdline");
    REQUIRE_FALSE(words.has_error());
    CHECK(words->substr(0, words->find('\0')) == "sb-exec zygote");
    CHECK(words->find_first_not_of('\0', std::string_view{"sb-exec zygote"}.size()) == std::string::npos);
    if (auto const variables = sb::read_file(at + "/environ"); !variables.has_error()) // root alone may look
        CHECK(variables->find_first_not_of('\0') == std::string::npos);
    for (auto const* number : {"cmdline", "environ", "stat", "status", "io", "auxv", "maps"}) {
        INFO(number);
        CHECK(here.shell(sb::cat("cat /proc/1/", std::string_view{number}, " 2>/dev/null || echo nothing")) == "nothing\n");
    }
}

TEST_CASE("a box whose keeper or first process died is discarded before the next run", "[box]") {
    NEEDS_A_BOX();
    slot here;
    for (bool const keeper : {true, false}) {
        CHECK(here.run({"nothing"}) == "done\n");
        auto const victim = keeper ? here.place().keeper_pid() : here.place().reaper().pid;
        REQUIRE(::kill(victim, SIGKILL) == 0);
        siginfo_t info{};
        if (keeper) REQUIRE(::waitid(P_PID, static_cast<id_t>(victim), &info, WEXITED | WNOWAIT) == 0);
        else
            while (::kill(victim, 0) == 0 && sb::read_file(sb::cat("/proc/", victim, "/stat")).value().find(") Z ") == std::string::npos) {}
        CHECK(here.run({"nothing"}) == "done\n");
        CHECK(here.was_soiled == std::vector<std::string>{"its own processes"});
    }
}

TEST_CASE("a box that is cleared again and again holds no more than at first", "[box]") {
    NEEDS_A_BOX();
    slot here;
    auto const held = [&] {
        std::string const mounts = here.shell("grep -c . /proc/self/mountinfo");
        return sb::cat(mounts, count_in(sb::cat("/proc/", here.place().keeper_pid(), "/fd")));
    };
    for (int i = 0; i < 3; ++i) CHECK(here.run({"file-new"}) == "done\n");
    auto const before = held();
    for (int i = 0; i < 50; ++i) CHECK(here.run({"file-new"}) == "done\n");
    CHECK(here.in_order);
    CHECK(held() == before);
}

TEST_CASE("a run that had to be ended takes its box with it, and the next sees nothing of it", "[box]") {
    NEEDS_A_BOX();
    slot here;
    auto const first = here.run({"look"});
    CHECK(here.shell("echo x >new; trap '' TERM; sleep 60", 100'000'000).empty());
    CHECK(here.last().killed_by == killer::wall);
    auto const seen = here.run({"look"});
    CHECK(difference(first, seen) == "");
}

TEST_CASE("a run whose time was up before it could begin is ended by its time, and did not fail to start", "[box]") {
    NEEDS_A_BOX();
    slot here;
    here.again = false;
    CHECK(here.run({"nothing"}) == "done\n");
    REQUIRE(::kill(here.place().reaper().pid, SIGSTOP) == 0); // as it would stand still on a starved machine
    CHECK(here.run({"nothing"}, 20'000'000).empty());
    CHECK(here.last().killed_by == killer::wall);
    CHECK(here.last().reaper_lost);
    CHECK_FALSE(here.last().copies.at(0).failure);
    CHECK(here.last().copies.at(0).status == SIGKILL);
    CHECK(here.run({"nothing"}) == "done\n");
}

TEST_CASE("a run is made by a child that was cloned ahead of it", "[box]") {
    NEEDS_A_BOX();
    slot here;
    auto const in_box = [&] { return sb::read_file(sb::cat("/proc/", here.place().reaper().pid, "/task/", here.place().reaper().pid, "/children")).value(); };
    CHECK(here.shell("echo $$") != "");
    auto const until = sb::monotonic_ns() + 10'000'000'000;
    while (in_box().empty() && sb::monotonic_ns() < until) {}
    auto const waiting = static_cast<pid_t>(std::atoi(in_box().c_str()));
    REQUIRE(waiting > 0);

    SECTION("it is that child, and it has what every child has") {
        auto const seen = here.shell("sed -n 's/^NSpid:.*\\t//p' /proc/self/status; echo $$; ls /proc/self/fd; cat; echo report >&3; pwd");
        auto const numbers = sb::read_file(sb::cat("/proc/", waiting, "/status"));
        CHECK(numbers.has_error()); // it has ended
        CHECK(seen.find("\n0\n1\n2\n3\n") != std::string::npos);
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
    SECTION("its reaper stands still: it is ended by its time, with its box") {
        REQUIRE(::kill(here.place().reaper().pid, SIGSTOP) == 0);
        CHECK(here.shell("echo there; sleep 60", 1'000'000'000) == "there\n");
        CHECK(here.last().killed_by == killer::wall);
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
        for (int i = 0; i < 200; ++i) REQUIRE(here.shell(sb::cat("echo ", i)) == sb::cat(i, "\n"));
        CHECK_FALSE(here.renewed);
    }
}

TEST_CASE("mounts that appear in a box discard it", "[box]") {
    NEEDS_A_BOX();
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

TEST_CASE("sandboxes that are asked for at once have processes of their own, whichever is waited for first") {
    NEEDS_A_BOX();
    order_room room = order_room::make().value();
    nursery_plan plan;
    plan.user = *choose_payload_user();
    auto origin = nursery::make(plan, room, nullptr).value();
    auto first = box::begin(origin, {}, {1 << 20, 1024}), second = box::begin(origin, {}, {1 << 20, 1024});
    REQUIRE_FALSE((first.has_error() || second.has_error()));
    REQUIRE_FALSE(second->await().has_error());
    REQUIRE_FALSE(first->await().has_error());
    for (auto const* each : {&*first, &*second}) {
        auto const stat = sb::read_file(sb::cat("/proc/", each->reaper().pid, "/stat")).value();
        CHECK(std::atoi(stat.c_str() + stat.rfind(')') + 4) == each->keeper_pid()); // its parent
    }
}
