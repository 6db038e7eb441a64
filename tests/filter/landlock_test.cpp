// SPDX-License-Identifier: MIT
// Landlock's rules: what no rule grants is refused, at every version that the running kernel can play.
#include "support/kernel.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/victim.hpp"
#include <sb/filter/landlock.hpp>
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

using namespace sb::filter;
using namespace sb::test;

namespace {

/// Two folders with a file each; gone at the end.
struct two_folders {
    sb::test::folder top;
    std::string root = top.path(), open = top / "open", shut = top / "shut";
    two_folders() {
        for (auto const& each : {open, shut}) {
            REQUIRE(::mkdir(each.c_str(), 0700) == 0);
            REQUIRE(sb::open_file(each + "/file", O_WRONLY | O_CREAT, 0700).has_value());
        }
    }
};

long opened(std::string const& path, int flags) { return ::open(path.c_str(), flags | O_CLOEXEC, 0600); }

/// The attempt's errno under these rules.
template <class Attempt>
int under(std::vector<landlock_rule> const& list, Attempt attempt, int most = 7) {
    auto const rules = landlock_rules::make(list, most);
    REQUIRE(rules.has_value());
    return in_child([&] { return rules->restrict_self(); }, attempt);
}
bool absent(int wanted = landlock_rules::oldest) {
    if (kernel::landlock() >= wanted) return false;
    WARN("SKIPPED: the kernel's Landlock has version " << kernel::landlock() << ", not " << wanted);
    return true;
}

} // namespace

TEST_CASE("a folder under a rule can be used as the rule says, and nothing else can") {
    if (absent()) return;
    two_folders const at;
    std::vector<landlock_rule> const reading{{at.open, file_right::reading}}, writing{{at.open, file_right::writing}};
    auto const read_open = [&] { return opened(at.open + "/file", O_RDONLY); };
    auto const read_shut = [&] { return opened(at.shut + "/file", O_RDONLY); };
    auto const write_open = [&] { return opened(at.open + "/file", O_WRONLY); };
    auto const make_open = [&] { return opened(at.open + "/new", O_WRONLY | O_CREAT | O_EXCL); };
    auto const list_shut = [&] { return opened(at.shut, O_RDONLY | O_DIRECTORY); };
    auto const run_open = [&] { return static_cast<long>(::execl((at.open + "/file").c_str(), "file", nullptr)); };

    CHECK(in_child(read_shut) == 0); // without rules
    CHECK(in_child(list_shut) == 0);
    CHECK(in_child(write_open) == 0);
    CHECK(in_child(run_open) == ENOEXEC); // an empty file: it came as far as being looked at

    CHECK(under(reading, read_open) == 0);
    CHECK(under(reading, read_shut) == EACCES);
    CHECK(under(reading, list_shut) == EACCES);
    CHECK(under(reading, write_open) == EACCES);
    CHECK(under(reading, make_open) == EACCES);
    CHECK(under(reading, run_open) == EACCES);
    CHECK(under(writing, write_open) == 0);
    CHECK(under(writing, make_open) == 0);
    CHECK(under(writing, run_open) == EACCES);
    CHECK(under({{at.open, file_right::executing}}, run_open) == ENOEXEC);
    CHECK(under({}, read_open) == EACCES);
}

TEST_CASE("a rule may name a place by its descriptor, and a file as well as a folder") {
    if (absent()) return;
    two_folders const at;
    auto const place = sb::open_file(at.open, O_PATH | O_DIRECTORY);
    REQUIRE(place.has_value());
    CHECK(under({{"the open folder", file_right::reading, place->get()}}, [&] { return opened(at.open + "/file", O_RDONLY); }) == 0);
    // rights that only folders have are left out, not refused
    CHECK(under({{at.open + "/file", file_right::writing}}, [&] { return opened(at.open + "/file", O_RDWR); }) == 0);
    CHECK(under({{at.open + "/file", file_right::writing}}, [&] { return ::unlink((at.open + "/file").c_str()); }) == EACCES);
}

TEST_CASE("a rename from folder to folder works where both may be written, and only there") {
    if (absent()) return;
    two_folders const at;
    auto const move = [&](std::string const& to) {
        auto const from = at.open + "/file";
        long const got = ::rename(from.c_str(), to.c_str());
        if (got == 0) ::rename(to.c_str(), from.c_str());
        return got;
    };
    CHECK(in_child([&] { return move(at.shut + "/moved"); }) == 0);
    CHECK(under({{at.open, file_right::writing}, {at.shut, file_right::writing}}, [&] { return move(at.shut + "/moved"); }) == 0);
    auto const code = under({{at.open, file_right::writing}, {at.shut, file_right::reading}}, [&] { return move(at.shut + "/moved"); });
    CHECK((code == EACCES || code == EXDEV));
}

TEST_CASE("device nodes can be made by nobody") {
    if (absent()) return;
    two_folders const at;
    auto const code = under({{at.root, ~std::uint64_t{0} & ~(file_right::make_char | file_right::make_block)}},
                            [&] { return ::mknod((at.open + "/new").c_str(), S_IFCHR | 0600, makedev(1, 3)); });
    CHECK((code == EACCES || code == EPERM));
    CHECK((file_right::writing & (file_right::make_char | file_right::make_block)) == 0);
}

TEST_CASE("what a version does not know it does not hold, and what it knows it holds") {
    two_folders const at;
    auto const shorten = [&] { return ::truncate((at.open + "/file").c_str(), 0); };
    if (absent(3)) return;
    CHECK(under({{at.open, file_right::reading}}, shorten, 2) == 0);
    CHECK(under({{at.open, file_right::reading}}, shorten, 3) == EACCES);
    CHECK(under({{at.open, file_right::writing}}, shorten, 3) == 0);

    if (absent(5)) return;
    auto const ask = [] { // of a device that has no such request: refused before it is asked
        int const null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        return ::ioctl(null, TCGETS, &errno);
    };
    CHECK(in_child(ask) == ENOTTY);
    CHECK(under({{"/dev/null", file_right::reading}}, ask, 4) == ENOTTY);
    CHECK(under({{"/dev/null", file_right::reading}}, ask, 5) == EACCES);
    CHECK(under({{"/dev/null", file_right::devices}}, ask, 5) == ENOTTY);
}

TEST_CASE("signals and abstract sockets stay within the run") {
    if (absent(6)) return;
    auto const parent = ::getpid();
    auto const signal = [&] { return static_cast<long>(::kill(parent, 0)); };
    CHECK(in_child(signal) == 0);
    CHECK(under({}, signal, 5) == 0);
    CHECK(under({}, signal, 6) == EPERM);
    CHECK(under({}, signal) == EPERM);
    CHECK(under({}, [] { return static_cast<long>(::kill(::getpid(), 0)); }) == 0);

    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "sb-test-%d", static_cast<int>(parent));
    auto const length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(name.sun_path + 1));
    sb::unique_fd const listening{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    REQUIRE(::bind(listening.get(), reinterpret_cast<sockaddr*>(&name), length) == 0);
    REQUIRE(::listen(listening.get(), 4) == 0);
    auto const connect = [&] { return static_cast<long>(::connect(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), reinterpret_cast<sockaddr*>(&name), length)); };
    CHECK(in_child(connect) == 0);
    CHECK(under({}, connect, 5) == 0);
    CHECK(under({}, connect) == EPERM);
}

TEST_CASE("the rules of a level let programs work, hold back what the level does, and guard what is not to be written") {
    if (absent()) return;
    two_folders const at;
    std::vector<std::string> programs;
    for (auto const* each : {"/usr", "/bin", "/lib", "/lib64"})
        if (::access(each, F_OK) == 0) programs.emplace_back(each);
    auto const script = at.open + "/file";
    auto const memory = [] { return opened("/proc/self/mem", O_RDWR); };
    auto const own_program = [&] { return static_cast<long>(::execl(script.c_str(), "file", nullptr)); };
    CHECK(in_child(memory) == 0);
    for (auto const& level : security_levels) {
        CAPTURE(level.number);
        auto const list = rules_for_files(level, programs, {at.open});
        CHECK(under(list, memory) == (level.makes_code ? 0 : EACCES));
        CHECK(under(list, own_program) == (level.runs_what_it_made ? ENOEXEC : EACCES));
        CHECK(under(list, [&] { return opened(script, O_RDWR | O_CREAT | O_TRUNC); }) == 0);
        CHECK(under(list, [&] { return opened(at.shut + "/file", O_RDWR); }) == EACCES);
        CHECK(under(list, [&] { return opened("/etc/hostname", O_RDONLY); }) == 0);
        auto const rules = landlock_rules::make(list);
        REQUIRE(rules.has_value());
        auto const work = "cd " + at.open + " && mkdir sub && echo hello >sub/file && mv sub/file new && cat new >/dev/null && ls | sort | tr '\\n' ' ' && rm -r sub new && echo >/dev/stdout";
        CHECK(say([&] { return rules->restrict_self(); }, work.c_str()).text == "file new sub \n");
    }
}

TEST_CASE("rules are put on again and again") {
    if (absent()) return;
    two_folders const at;
    auto const rules = landlock_rules::make({{at.open, file_right::reading}});
    REQUIRE(rules.has_value());
    CHECK(rules->version() == std::min(landlock_version(), 7));
    for (int i = 0; i < 3; ++i) CHECK(in_child([&] { return rules->restrict_self(); }, [&] { return opened(at.shut, O_RDONLY); }) == EACCES);
    CHECK(in_child([&] { return opened(at.shut, O_RDONLY); }) == 0); // we ourselves are free
}

TEST_CASE("where there is no Landlock nothing is held, and that is said") {
    two_folders const at;
    auto const rules = landlock_rules::make({{at.open, file_right::reading}}, 1);
    REQUIRE(rules.has_value());
    CHECK(rules->version() == 0);
    CHECK(!rules->holds_signals());
    CHECK(in_child([&] { return rules->restrict_self(); }, [&] { return opened(at.shut + "/file", O_RDONLY); }) == 0);
}

TEST_CASE("a rule for what is not there names it") {
    if (absent()) return;
    auto const rules = landlock_rules::make({{"/nonexistent/folder", file_right::reading}});
    REQUIRE(rules.has_error());
    CHECK(rules.error().what == "open /nonexistent/folder: No such file or directory");
}
