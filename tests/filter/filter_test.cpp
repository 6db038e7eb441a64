// SPDX-License-Identifier: MIT
// The filter of system calls: each refusal tried on the running kernel, the whole program worked out number by number.
#include "support/child.hpp"
#include "support/filter.hpp"
#include <sb/core/fd.hpp>
#include <sb/filter/filter.hpp>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <linux/audit.h>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <sys/mman.h>

using namespace sb::filter;
using namespace sb::test;

namespace {

/// Something that would reach the kernel with arguments that it turns down itself, or that does no harm.
struct denied {
    char const* name;
    long number;
    int expected;
    long (*attempt)();
};
void* const nowhere = reinterpret_cast<void*>(1);

denied const at_every_level[] = {
    {"acct", SYS_acct, EPERM, [] { return call(SYS_acct, nowhere); }},
    {"add_key", SYS_add_key, ENOSYS, [] { return call(SYS_add_key, "user", "sb-test", "x", 1, -3); }},
    {"adjtimex", SYS_adjtimex, EPERM, [] { return call(SYS_adjtimex, nowhere); }},
    {"bpf", SYS_bpf, EPERM, [] { return call(SYS_bpf, 0x7fff, nullptr, 0); }},
    {"chroot", SYS_chroot, EPERM, [] { return call(SYS_chroot, nowhere); }},
    {"clock_adjtime", SYS_clock_adjtime, EPERM, [] { return call(SYS_clock_adjtime, 0, nowhere); }},
    {"clock_settime", SYS_clock_settime, EPERM, [] { return call(SYS_clock_settime, 0, nowhere); }},
    {"clone3", SYS_clone3, ENOSYS, [] { return call(SYS_clone3, nullptr, 0); }},
    {"delete_module", SYS_delete_module, EPERM, [] { return call(SYS_delete_module, nowhere, 0); }},
    {"fanotify_init", SYS_fanotify_init, ENOSYS, [] { return call(SYS_fanotify_init, 0, 0); }},
    {"finit_module", SYS_finit_module, EPERM, [] { return call(SYS_finit_module, -1, "", 0); }},
    {"fsconfig", SYS_fsconfig, EPERM, [] { return call(SYS_fsconfig, -1, 0, nullptr, nullptr, 0); }},
    {"fsmount", SYS_fsmount, EPERM, [] { return call(SYS_fsmount, -1, 0, 0); }},
    {"fsopen", SYS_fsopen, EPERM, [] { return call(SYS_fsopen, nowhere, 0); }},
    {"fspick", SYS_fspick, EPERM, [] { return call(SYS_fspick, -1, nowhere, 0); }},
    {"init_module", SYS_init_module, EPERM, [] { return call(SYS_init_module, nowhere, 1, ""); }},
    {"io_setup", SYS_io_setup, ENOSYS, [] { return call(SYS_io_setup, 1, nowhere); }},
    {"io_uring_setup", SYS_io_uring_setup, ENOSYS, [] { return call(SYS_io_uring_setup, 1, nowhere); }},
    {"kexec_load", SYS_kexec_load, EPERM, [] { return call(SYS_kexec_load, 0, 99, nullptr, ~0ul); }},
    {"keyctl", SYS_keyctl, ENOSYS, [] { return call(SYS_keyctl, 0, -3, 0); }},
    {"lookup_dcookie", SYS_lookup_dcookie, ENOSYS, [] { return call(SYS_lookup_dcookie, 0, nullptr, 0); }},
    {"mount", SYS_mount, EPERM, [] { return call(SYS_mount, nowhere, nowhere, nowhere, 0, nullptr); }},
    {"mount_setattr", SYS_mount_setattr, EPERM, [] { return call(SYS_mount_setattr, -1, "", 0, nullptr, 0); }},
    {"move_mount", SYS_move_mount, EPERM, [] { return call(SYS_move_mount, -1, "x", -1, "x", 0); }},
    {"name_to_handle_at", SYS_name_to_handle_at, EPERM, [] { return call(SYS_name_to_handle_at, -1, "x", nullptr, nullptr, 0); }},
    {"nfsservctl", SYS_nfsservctl, ENOSYS, [] { return call(SYS_nfsservctl, 0, nullptr, nullptr); }},
    {"open_by_handle_at", SYS_open_by_handle_at, EPERM, [] { return call(SYS_open_by_handle_at, -1, nullptr, 0); }},
    {"open_tree", SYS_open_tree, EPERM, [] { return call(SYS_open_tree, -100, "/", 0); }},
    {"perf_event_open", SYS_perf_event_open, EPERM, [] { return call(SYS_perf_event_open, nullptr, 0, -1, -1, 0); }},
    {"pivot_root", SYS_pivot_root, EPERM, [] { return call(SYS_pivot_root, nowhere, nowhere); }},
    {"quotactl", SYS_quotactl, EPERM, [] { return call(SYS_quotactl, -1, nullptr, 0, nullptr); }},
    {"reboot", SYS_reboot, EPERM, [] { return call(SYS_reboot, 0, 0, 0, nullptr); }},
    {"request_key", SYS_request_key, ENOSYS, [] { return call(SYS_request_key, "user", "sb-test-none", nullptr, 0); }},
    {"setdomainname", SYS_setdomainname, EPERM, [] { return call(SYS_setdomainname, "", -1); }},
    {"sethostname", SYS_sethostname, EPERM, [] { return call(SYS_sethostname, "", -1); }},
    {"setns", SYS_setns, EPERM, [] { return call(SYS_setns, -1, 0); }},
    {"settimeofday", SYS_settimeofday, EPERM, [] { return call(SYS_settimeofday, nowhere, nullptr); }},
    {"swapoff", SYS_swapoff, EPERM, [] { return call(SYS_swapoff, nowhere); }},
    {"swapon", SYS_swapon, EPERM, [] { return call(SYS_swapon, nowhere, 0); }},
    {"syslog", SYS_syslog, EPERM, [] { return call(SYS_syslog, 99, nullptr, 0); }},
    {"umount2", SYS_umount2, EPERM, [] { return call(SYS_umount2, nowhere, 0); }},
    {"userfaultfd", SYS_userfaultfd, ENOSYS, [] { return call(SYS_userfaultfd, 1); }},
    {"vhangup", SYS_vhangup, EPERM, [] { return call(SYS_vhangup); }}, // the child has a session without a terminal
#ifdef __x86_64__
    {"ioperm", SYS_ioperm, EPERM, [] { return call(SYS_ioperm, 70000, 1, 0); }},
    {"iopl", SYS_iopl, EPERM, [] { return call(SYS_iopl, 99); }},
    {"modify_ldt", SYS_modify_ldt, ENOSYS, [] { return call(SYS_modify_ldt, 0, nullptr, 0); }},
#endif
    {"a new user namespace", SYS_unshare, EPERM, [] { return call(SYS_unshare, 0x10000000); }},
    {"a new namespace for mounts by clone", SYS_clone, EPERM, [] { return call(SYS_clone, 0x00020000 | 0x10000000 | SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0 ? (::_exit(0), 0L) : -(errno != 0); }},
    {"typing at a terminal", SYS_ioctl, EPERM, [] { return call(SYS_ioctl, -1, 0x5412, ""); }},
    {"typing at a terminal, with a higher bit", SYS_ioctl, EPERM, [] { return call(SYS_ioctl, -1, beyond | 0x5412, ""); }},
    {"pasting at a console", SYS_ioctl, EPERM, [] { return call(SYS_ioctl, -1, 0x541c, ""); }},
    {"pasting at a console, with the highest bit", SYS_ioctl, EPERM, [] { return call(SYS_ioctl, -1, (std::uint64_t{1} << 63) | 0x541c, ""); }},
    {"a line discipline", SYS_ioctl, EPERM, [] { return call(SYS_ioctl, -1, 0x5423, nullptr); }},
    {"a lease", SYS_fcntl, EPERM, [] { return call(SYS_fcntl, -1, F_SETLEASE, F_RDLCK); }},
    {"notices of a folder", SYS_fcntl, EPERM, [] { return call(SYS_fcntl, -1, F_NOTIFY, 1); }},
    {"readable memory that is executable", SYS_personality, EPERM, [] { return call(SYS_personality, 0x0400000); }},
    {"mincore", SYS_mincore, ENOSYS, [] { return call(SYS_mincore, nullptr, 0, nullptr); }},
    {"cachestat", 451, ENOSYS, [] { return call(451, -1, nullptr, nullptr, 0); }},
    {"a socket filter", SYS_setsockopt, EPERM, [] { return call(SYS_setsockopt, -1, SOL_SOCKET, SO_ATTACH_FILTER, nullptr, 0); }},
    {"a group of receivers", SYS_setsockopt, ENODEV, [] { return call(SYS_setsockopt, -1, IPPROTO_IP, 35, nullptr, 0); }},
    {"the host's count of sockets", SYS_getsockopt, ENOPROTOOPT, [] { return call(SYS_getsockopt, -1, SOL_SOCKET, 57, nullptr, nullptr); }},
    {"a long attribute", SYS_setxattr, E2BIG, [] { return call(SYS_setxattr, nowhere, nowhere, nowhere, 1025, 0); }},
    {"a large pipe", SYS_fcntl, EPERM, [] { return call(SYS_fcntl, -1, F_SETPIPE_SZ, (64 << 10) + 1); }},
    {"huge pages", SYS_memfd_create, EINVAL, [] { return call(SYS_memfd_create, "x", 4 | 1) < 0 ? -1L : 0L; }},
    {"reading only what is in memory", SYS_preadv2, EOPNOTSUPP, [] { return call(SYS_preadv2, -1, nullptr, 0, 0, 0, 8); }},
    {"memory made old", SYS_madvise, EINVAL, [] { return call(SYS_madvise, nullptr, 0, 20); }},
    {"a whiteout", SYS_renameat2, EPERM, [] { return call(SYS_renameat2, -1, nowhere, -1, nowhere, 4); }},
    {"a device", SYS_mknodat, EPERM, [] { return call(SYS_mknodat, -1, nowhere, S_IFCHR | 0600, 0); }},
    {"another limit of cores", SYS_prlimit64, 0, [] { return call(SYS_prlimit64, 0, RLIMIT_CORE, nowhere, nullptr); }},
    {"AF_PACKET", SYS_socket, EAFNOSUPPORT, [] { return call(SYS_socket, 17, SOCK_RAW, 0); }},
    {"a pair of internet sockets", SYS_socketpair, EAFNOSUPPORT, [] { return call(SYS_socketpair, AF_INET, SOCK_STREAM, 0, nullptr); }},
};

denied const at_the_default_level[] = {
    {"a raw socket", SYS_socket, EPERM, [] { return call(SYS_socket, AF_INET, SOCK_RAW, IPPROTO_ICMP); }},
    {"a raw socket of IPv6", SYS_socket, EPERM, [] { return call(SYS_socket, AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6); }},
    {"a raw socket, with a higher bit", SYS_socket, EPERM, [] { return call(SYS_socket, beyond | AF_INET, beyond | SOCK_RAW, beyond | IPPROTO_UDP); }},
    {"UDP-Lite", SYS_socket, EPROTONOSUPPORT, [] { return call(SYS_socket, AF_INET, SOCK_DGRAM, 136); }},
    {"ptrace", SYS_ptrace, EPERM, [] { return call(SYS_ptrace, 0, 0, 0, 0); }},
    {"process_vm_readv", SYS_process_vm_readv, EPERM, [] { return call(SYS_process_vm_readv, ::getpid(), nullptr, 0, nullptr, 0, 0); }},
    {"process_vm_writev", SYS_process_vm_writev, EPERM, [] { return call(SYS_process_vm_writev, ::getpid(), nullptr, 0, nullptr, 0, 0); }},
    {"kcmp", SYS_kcmp, EPERM, [] { return call(SYS_kcmp, ::getpid(), ::getpid(), 0, 0, 1); }},
    {"pidfd_getfd", SYS_pidfd_getfd, EPERM, [] { return call(SYS_pidfd_getfd, -1, 0, 0); }},
};

/// Refused with the errno it should be, and with another fate where nothing filters; `alike` collects where a user without
/// rights, or a kernel without the call, gets the same word anyway: there the program itself must say it.
void check(denied const& each, syscall_filter const& filter, std::string& alike) {
    CAPTURE(each.name);
    CHECK(in_child([&] { return install(filter); }, each.attempt) == each.expected);
    if (in_child(each.attempt) == each.expected) alike += std::string{alike.empty() ? "" : ", "} + each.name;
}

} // namespace

TEST_CASE("what no payload may do is refused at every level, and is not without the filter") {
    std::string alike;
    for (int level = 1; level <= 5; ++level) {
        auto const filter = filter_of(level);
        CAPTURE(level);
        for (auto const& each : at_every_level) {
            CAPTURE(each.name);
            if (level == default_level) check(each, filter, alike);
            else CHECK(in_child([&] { return install(filter); }, each.attempt) == each.expected);
        }
    }
    auto const standard = filter_of(default_level);
    for (auto const& each : at_the_default_level) check(each, standard, alike);
    if (!alike.empty()) WARN("this host answers the same without a filter, so only the program is asked: " << alike);
    if (::geteuid() == 0) CHECK(std::count(alike.begin(), alike.end(), ',') < 6); // root is refused little else
}

TEST_CASE("the program itself gives each answer, whoever asks") {
    for (int level = 1; level <= 5; ++level) {
        auto const filter = filter_of(level);
        CAPTURE(level);
        for (auto const& each : at_every_level) {
            if (each.number == SYS_setsockopt || each.number == SYS_getsockopt || each.number == SYS_setxattr || each.number == SYS_memfd_create || each.number == SYS_preadv2 ||
                each.number == SYS_madvise || each.number == SYS_renameat2 || each.number == SYS_mknodat || each.number == SYS_prlimit64) continue; // argument_rules_test.cpp
            if (each.number == SYS_ioctl || each.number == SYS_personality || each.number == SYS_socket || each.number == SYS_socketpair ||
                each.number == SYS_unshare || each.number == SYS_clone || each.number == SYS_fcntl) continue; // below, or there
            CAPTURE(each.name);
            CHECK(answered(filter, each.number) == no(each.expected));
            CHECK(answered(filter, each.number, {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull}) == no(each.expected));
        }
        CHECK(answered(filter, SYS_sync) == no(EPERM));
        CHECK(answered(filter, SYS_syncfs) == no(ENOSYS));
        CHECK(answered(filter, SYS_read) == allow);
        CHECK(answered(filter, SYS_execve) == allow);
        CHECK(answered(filter, SYS_exit_group, {~0ull}) == allow);
        CHECK(answered(filter, 9999) == no(ENOSYS));
        for (std::uint64_t const flag : {0x00020000u, 0x02000000u, 0x04000000u, 0x08000000u, 0x10000000u, 0x20000000u, 0x40000000u, 0x80u}) { // <linux/sched.h>
            CHECK(answered(filter, SYS_clone, {flag}) == no(EPERM));
            CHECK(answered(filter, SYS_clone, {beyond | flag | SIGCHLD}) == no(EPERM));
            CHECK(answered(filter, SYS_unshare, {flag | 0x200}) == no(EPERM));
        }
        CHECK(answered(filter, SYS_clone, {0x01200000 | SIGCHLD}) == allow); // fork, as glibc does it
        CHECK(answered(filter, SYS_clone, {0x003d0f00}) == allow); // a thread
        CHECK(answered(filter, SYS_clone, {0x4111}) == allow); // vfork
        CHECK(answered(filter, SYS_unshare, {0x200}) == allow); // CLONE_FS
        for (unsigned const what : {F_SETLEASE + 0u, F_NOTIFY + 0u, 1040u}) CHECK(answered(filter, SYS_fcntl, {3, beyond | what}) == no(EPERM));
        for (unsigned const what : {F_DUPFD_CLOEXEC + 0u, F_SETFL + 0u, F_SETLK + 0u, F_GETLEASE + 0u}) CHECK(answered(filter, SYS_fcntl, {3, what}) == allow);
    }
}

namespace {

/// The same answers as libseccomp compiles them: one number after the other, no argument looked at.
std::vector<sock_filter> list_of(std::map<std::uint32_t, std::uint32_t> const& answers) {
    std::unique_ptr<void, void (*)(void*)> const rules{::seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), ::seccomp_release};
    REQUIRE(::seccomp_attr_set(rules.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0);
    for (auto const& [number, answer] : answers)
        REQUIRE(::seccomp_rule_add_array(rules.get(), answer == SECCOMP_RET_ALLOW ? SCMP_ACT_ALLOW : answer, static_cast<int>(number), 0, nullptr) == 0);
    sb::unique_fd const file{::memfd_create("filter", MFD_CLOEXEC)}; // libseccomp 2.5 writes to descriptors only
    REQUIRE(::seccomp_export_bpf(rules.get(), file.get()) == 0);
    std::vector<sock_filter> program(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)) / sizeof(sock_filter));
    auto const bytes = static_cast<ssize_t>(program.size() * sizeof(sock_filter));
    REQUIRE(::pread(file.get(), program.data(), program.size() * sizeof(sock_filter), 0) == bytes);
    return program;
}

} // namespace

TEST_CASE("the program answers as libseccomp's does, but for what the arguments decide") {
    std::mt19937_64 chance{7};
    for (auto const& level : security_levels) for (bool const host_writable : {false, true}) {
        CAPTURE(&level - security_levels.data(), host_writable);
        filter_place const at{99, host_writable};
        auto const names = sb::filter::detail::answers_of(level, at);
        auto const rules = sb::filter::detail::rules_for_arguments(level, at);
        auto const program = names.program(rules), list = list_of(names.answers());
        auto const expected = [&](seccomp_data const& data) {
            auto const own = rules.of_calls().find(static_cast<std::uint32_t>(data.nr));
            if (own == rules.of_calls().end() || data.arch != here) return answer(list, data);
            constexpr std::uint32_t passed = 0x1234;
            auto code = own->second;
            code.push_back({BPF_RET | BPF_K, 0, 0, passed});
            auto const said = answer(code, data);
            return said == passed ? answer(list, data) : said;
        };
        std::int64_t steps = 0, list_steps = 0, different = 0, looks = 0, passed = 0;
        auto const compare = [&](std::uint32_t number, std::uint32_t arch) {
            seccomp_data data{};
            data.nr = static_cast<int>(number);
            data.arch = arch;
            for (auto& argument : data.args) argument = chance() % 3 == 0 ? chance() : chance() % 64;
            int taken = 0, in_list = 0;
            auto const said = answer(program, data, &taken);
            different += said != expected(data);
            (void)answer(list, data, &in_list);
            steps += taken, list_steps += in_list, ++looks, passed += said == allow;
        };
        for (std::uint32_t number = 0; number < 1200; ++number)
            for (int times = 0; times < 20; ++times) {
                compare(number, here);
                compare(0x40000000 + number, here);
                compare(number, AUDIT_ARCH_I386);
            }
        for (std::uint32_t const edge : {0x3fffffffu, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) compare(edge, here);
        for (int times = 0; times < 100000; ++times) compare(static_cast<std::uint32_t>(chance()), here);
        CHECK(different == 0);
        CHECK(passed > looks / 50); // else little was compared but refusals
        CHECK(steps < list_steps / 4);
        CAPTURE(program.size());
        CHECK(program.size() < 700);
    }
}

TEST_CASE("another architecture's calls end the process") {
    auto const filter = filter_of(default_level);
    for (std::uint32_t const arch : {0x40000003u, 0x40000028u, 0x80000016u, 0u}) // i386, ARM, s390x, none
        CHECK(answered(filter, SYS_getppid, {}, arch) == kill_process);
    // also where a number is that of a call whose arguments are looked at here
    for (long const number : {SYS_clone, SYS_unshare, SYS_ioctl, SYS_personality, SYS_socket, SYS_socketpair})
        CHECK(answered(filter, number, {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull}, 0x40000003u) == kill_process);
#ifdef __x86_64__
    CHECK(answered(filter, 0x40000000 + SYS_getppid) == kill_process);
    auto const x32 = [] { return call(0x40000000 + SYS_getppid); };
    auto const i386 = [] {
        long number = 64; // getppid
        asm volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
        return number;
    };
    auto const under = [&](auto attempt) { return in_child([&] { return install(filter); }, attempt); };
    CHECK((in_child(x32) == 0 || in_child(x32) == ENOSYS));
    CHECK(under(x32) == -SIGSYS);
    if (int const bare = in_child(i386); bare == -SIGSEGV) WARN("skipped: this kernel runs no i386 calls");
    else {
        CHECK(bare == 0);
        CHECK(under(i386) == -SIGSYS);
    }
#endif
}

TEST_CASE("a filtered process has no new privileges, and its children neither") {
    auto const filter = filter_of(default_level);
    auto const got = say([&] { return install(filter); }, "grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status | tr '\\t\\n' '  '");
    CHECK(got.text == "NoNewPrivs: 1 Seccomp: 2 ");
}

TEST_CASE("ordinary programs run at every level") {
    struct program {
        char const *needs, *script, *expected;
        int up_to = 5; ///< the strictest level that it can run at
    };
    program const all[] = {
        {"sh", "x=$(echo a | tr a b); echo $x; (exit 3); echo $?", "b\n3\n"},
        {"bash", "bash -c 'diff <(echo 1) <(echo 1) && echo same; wait'", "same\n"},
        {"ls", "ls -ld / | cut -c1", "d\n"},
        {"tar", "tar -C /etc -cf - hostname 2>/dev/null | tar -tf -", "hostname\n"},
        {"perl", "perl -e 'my $p = fork; if (!$p) { exit 4 } waitpid $p, 0; print $? >> 8, \"\\n\"'", "4\n"},
        {"python3", "python3 -c '\nimport threading, subprocess, asyncio\nt = threading.Thread(target=lambda: print(1, flush=True)); t.start(); t.join()\n"
                    "print(subprocess.run([\"echo\", \"2\"], capture_output=True, text=True).stdout.strip())\n"
                    "async def f():\n  await asyncio.sleep(0)\n  return 3\nprint(asyncio.run(f()))'", "1\n2\n3\n"},
        {"python3", "python3 -c '\nimport multiprocessing as m\nwith m.Pool(2) as p: print(sum(p.map(abs, range(10))))'", "45\n"},
        {"python3", "python3 -c '\nimport socket\ns = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen()\nc = socket.create_connection(s.getsockname()); c.send(b\"x\")\n"
                    "print(s.accept()[0].recv(1))'", "b'x'\n", 4},
        {"sqlite3", "sqlite3 :memory: 'create table t(x); insert into t values (7); select x from t'", "7\n"},
        {"git", "d=$(mktemp -d) && cd $d && git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --format=%s; rm -rf $d", "x\n"},
        {"gcc", "d=$(mktemp -d) && echo 'int main(void){return 0;}' >$d/a.c && gcc $d/a.c -o $d/a && $d/a && echo built; rm -rf $d", "built\n"},
        {"make", "printf 'a: b\\n\\t@echo a\\nb:\\n\\t@echo b\\n' | make -s -j2 -f -", "b\na\n"},
        {"node", "node -e 'require(\"child_process\").execFile(\"echo\", [\"5\"], (e, out) => console.log(out.trim()))'", "5\n", 4},
    };
    for (auto const& each : all) {
        CAPTURE(each.needs, each.script);
        if (auto const found = say([] { return 0; }, each.script); found.text != each.expected) {
            WARN(each.needs << ": skipped: not here, or not at work: " << found.text);
            continue;
        }
        for (int level = 1; level <= each.up_to; ++level) {
            auto const filter = filter_of(level);
            CAPTURE(level);
            CHECK(say([&] { return install(filter); }, each.script).text == each.expected);
        }
        if (each.up_to < 5) {
            auto const filter = filter_of(each.up_to + 1);
            CHECK(say([&] { return install(filter); }, each.script).text != each.expected);
        }
    }
}
