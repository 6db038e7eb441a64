// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include "support/child.hpp"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <elf.h>
#include <sb/process/tried.hpp>
#include <sb/sandbox/sandbox_init.hpp>
#include <string>
#include <sys/prctl.h>

using namespace sb::test;
using namespace sb::sandbox;

namespace {

constexpr int get_memory_rules = 66; // PR_GET_MDWE

/// The soiler, whose data are code too.
void put_soiler_with_writable_code(std::string const& to) {
    auto program = sb::read_file(victim_path().substr(0, victim_path().rfind('/')) + "/soiler").value();
    Elf64_Ehdr head;
    REQUIRE(program.size() > sizeof head);
    std::memcpy(&head, program.data(), sizeof head);
    int changed = 0;
    for (std::size_t i = 0; i < head.e_phnum; ++i) {
        Elf64_Phdr segment;
        auto* const at = program.data() + head.e_phoff + i * sizeof segment;
        std::memcpy(&segment, at, sizeof segment);
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_W)) continue;
        segment.p_flags |= PF_X, ++changed;
        std::memcpy(at, &segment, sizeof segment);
    }
    REQUIRE(changed > 0);
    put(to, program);
    REQUIRE(::chmod(to.c_str(), 0755) == 0);
}

} // namespace

TEST_CASE("at level 5 no program begins whose file brings writable code", "[sandbox]") {
    NEEDS_ISOLATION();
    if (::prctl(get_memory_rules, 0, 0, 0, 0) < 0) {
        WARN("SKIPPED: this kernel (before Linux 6.3) does not refuse it");
        return;
    }
    for (int const level : {4, 5}) {
        CAPTURE(level);
        slot one{level};
        put_soiler_with_writable_code(one.read_only("program"));
        CHECK(one.shell("/opt/victims/soiler nothing") == "done\n");
        CHECK(one.shell("/opt/read/program nothing 2>&1 || echo ended by $?").starts_with(level == 4 ? "done\n" : "Segmentation fault"));
    }
}

TEST_CASE("the caller's words are not with the process that a payload could ask for them", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    CHECK(here.run({"nothing"}) == "done\n");
    auto const at = sb::cat("/proc/", here.place().reaper().pid);
    auto const words = sb::read_file(at + "/cmdline");
    REQUIRE_FALSE(words.has_error());
    CHECK(words->substr(0, words->find('\0')) == "sb-exec init");
    CHECK(words->find_first_not_of('\0', std::string_view{"sb-exec init"}.size()) == std::string::npos);
    if (auto const variables = sb::read_file(at + "/environ"); !variables.has_error()) // root alone may look
        CHECK(variables->find_first_not_of('\0') == std::string::npos);
    for (auto const* number : {"cmdline", "environ", "stat", "status", "io", "auxv", "maps"}) {
        INFO(number);
        CHECK(here.shell(sb::cat("cat /proc/1/", std::string_view{number}, " 2>/dev/null || echo nothing")) == "nothing\n");
    }
}

TEST_CASE("a payload has no right, can gain none, and is filtered", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    auto const said = here.shell("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d '\\t'");
    CHECK(said == "CapInh:0000000000000000\nCapPrm:0000000000000000\nCapEff:0000000000000000\nCapBnd:0000000000000000\nCapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n");
    CHECK(here.shell("cat /proc/sys/user/max_user_namespaces /proc/sys/user/max_inotify_instances") == "0\n16\n");
    CHECK(here.shell("id -u; id -g") == "1000\n1000\n");
}

TEST_CASE("what /proc tells of the host is empty, and none of its knobs can be written", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    std::string files, folders;
    for (auto const* each : sb::sandbox::detail::hidden_files) files += sb::cat(" ", std::string_view{each});
    for (auto const* each : sb::sandbox::detail::hidden_folders) folders += sb::cat(" ", std::string_view{each});
    CHECK(sb::read_file("/proc/cmdline").value() != "");
    CHECK(here.shell("cat" + files + " 2>/dev/null") == "");
    CHECK(here.shell("ls -A" + folders + " 2>/dev/null | grep -v -e '^/proc' -e '^$'") == "");
    CHECK(here.shell("for f in kernel/hostname vm/swappiness net/ipv4/ip_forward kernel/core_pattern; do (echo 1 >/proc/sys/$f) 2>/dev/null && echo wrote $f; done; echo done") == "done\n");
    CHECK(here.shell("test -r /proc/meminfo && test -r /proc/cpuinfo && echo there") == "there\n");
}

TEST_CASE("a strict level sees processes in /proc and nothing else", "[sandbox]") {
    NEEDS_ISOLATION();
    slot strict{4};
    CHECK(strict.shell("ls /proc | grep -v '^[0-9]'") == "self\nthread-self\n");
}

TEST_CASE("a payload sees its own processes alone, and its first process not at all", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    CHECK(here.shell("for p in /proc/[0-9]*; do read pid name rest <$p/stat && echo $name; done") == "(sh)\n");
    CHECK(here.shell("sleep 60 & for p in /proc/[0-9]*; do echo there; done") == "there\nthere\n");
}

TEST_CASE("rights are dropped for good", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const said = sb::process::tried_inside(sb::process::choose_payload_user().value(), 0, []() -> sb::result<std::string> {
        SB_CHECK(sb::sandbox::detail::drop_rights());
        auto const status = kernel::text_of("/proc/self/status");
        std::string rights;
        sb::split(status, '\n', [&](std::string_view line) {
            if (line.starts_with("Cap")) rights += line.substr(line.find_first_not_of('\t', 7));
        });
        if (::sethostname("x", 1) == 0 || ::prctl(PR_SET_SECUREBITS, 0) == 0 || ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 0, 0, 0) == 0) return sb::system_error("a right is left");
        return std::string{rights.find_first_not_of('0') == std::string::npos ? "none" : rights};
    });
    INFO((said.has_error() ? said.error().what : std::string{}));
    REQUIRE_FALSE(said.has_error());
    CHECK(*said == "none");
}

TEST_CASE("a process without rights cannot drop them, and says so") {
    if (::geteuid() == 0) {
        CHECK(in_child([] { return ::setresuid(65534, 65534, 65534); }, [] {
            errno = EDOM;
            return sb::sandbox::detail::drop_rights().has_error() ? 0 : -1;
        }) == 0);
        return;
    }
    CHECK(in_child([] {
        auto const dropped = sb::sandbox::detail::drop_rights();
        errno = EDOM;
        return dropped.has_error() && dropped.error().what.starts_with("drop a capability: ") ? 0 : -1;
    }) == 0);
}

TEST_CASE("no signal stays ignored, blocked or handled") {
    CHECK(in_child([] {
        std::signal(SIGUSR1, SIG_IGN);
        std::signal(SIGUSR2, [](int) {});
        sigset_t all;
        sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, nullptr);
        sb::process::let_be(~sb::process::signal_bits{0});
        sb::sandbox::detail::unblock_signals();
        sigset_t now;
        ::sigprocmask(SIG_SETMASK, nullptr, &now);
        int blocked = 0;
        for (int s = 1; s < NSIG; ++s) blocked += sigismember(&now, s) == 1;
        errno = EDOM;
        return blocked == 0 && sb::process::ignored_signals() == 0 ? 0 : -1;
    }) == 0);
    CHECK(in_child([] {
        std::signal(SIGUSR2, [](int) {});
        sb::process::let_be(~sb::process::signal_bits{0});
        sb::sandbox::detail::unblock_signals();
        return std::raise(SIGUSR2);
    }) == -SIGUSR2);
}

TEST_CASE("memory that is written becomes no code where it is refused") {
    if (::prctl(get_memory_rules, 0, 0, 0, 0) < 0) {
        WARN("SKIPPED: this kernel (before Linux 6.3) does not refuse it");
        return;
    }
    auto const to_code = [] {
        void* const at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return at == MAP_FAILED ? -1 : ::mprotect(at, 4096, PROT_READ | PROT_EXEC);
    };
    CHECK(in_child(to_code) == 0);
    CHECK(in_child([] { return sb::sandbox::detail::refuse_writable_code(), 0; }, to_code) == EACCES);
}

TEST_CASE("words are forgotten where the kernel shows them, with variables or without") {
    CHECK(in_child([] {
        auto const before = kernel::text_of("/proc/self/cmdline");
        auto const done = sb::sandbox::detail::forget_words();
        sb::sandbox::detail::take_name("sb-exec init");
        auto const words = kernel::text_of("/proc/self/cmdline"), variables = kernel::text_of("/proc/self/environ");
        auto const own = words.substr(0, words.find('\0'));
        errno = EDOM;
        return !done.has_error() && !before.empty() && std::string_view{"sb-exec init"}.starts_with(own) && words.find_first_not_of('\0', own.size()) == std::string::npos &&
                       variables.find_first_not_of('\0') == std::string::npos
                   ? 0
                   : -1;
    }) == 0);
}

TEST_CASE("the first process is heard once it has sent its mounts, and its death before that is an error") {
    auto between = sb::make_channel().value();
    sandbox_init heard{1, sb::unique_fd{}, std::move(between.ours)};
    auto theirs = std::move(between.theirs);
    auto const mounts = sb::open_file("/proc/self/ns/mnt", O_RDONLY).value();
    int const sent[] = {mounts.get()};
    REQUIRE(sb::process::send_message(theirs.get(), {sb::process::word::done, 0}, sent));
    REQUIRE_FALSE(heard.hear().has_error());
    CHECK(heard.mounts);
    CHECK_FALSE(heard.greeting);
    CHECK_FALSE(heard.hear().has_error()); // it is known already

    for (bool const speaks : {false, true}) {
        auto other = sb::make_channel().value();
        sandbox_init dead{1, sb::unique_fd{}, sb::unique_fd{std::move(other.ours)}};
        theirs = sb::unique_fd{std::move(other.theirs)};
        if (speaks) REQUIRE(sb::process::send_message(theirs.get(), {sb::process::word::done, 0})); // without its mounts
        theirs.reset();
        auto const failed = dead.hear();
        REQUIRE(failed.has_error());
        CHECK(failed.error().what == "the first process of a sandbox died");
    }
}
