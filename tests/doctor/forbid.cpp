// SPDX-License-Identifier: MIT
// forbid WHAT[,WHAT…] COMMAND…: runs COMMAND under a filter that answers EPERM, as a container's does.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace {

struct word {
    std::string_view name;
    std::vector<unsigned> calls;
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) return std::fputs("usage: forbid WHAT[,WHAT...] COMMAND...\n", stderr), 2;
    std::vector<word> const words{{"seccomp", {SYS_seccomp}},
                                  {"namespaces", {SYS_unshare}},
                                  {"mounts", {SYS_open_tree, SYS_fsopen, SYS_move_mount, SYS_mount_setattr}},
                                  {"mount_setattr", {SYS_mount_setattr}},
                                  {"loopback", {}},
                                  {"pidfd", {SYS_pidfd_open}},
                                  {"landlock", {SYS_landlock_create_ruleset}}};
    std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    auto const refuse = [&] { program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)); };
    std::string_view rest{argv[1]};
    while (!rest.empty()) {
        auto const name = rest.substr(0, rest.find(','));
        rest.remove_prefix(name.size() == rest.size() ? rest.size() : name.size() + 1);
        bool known = false;
        for (auto const& each : words) {
            if (each.name != name) continue;
            known = true;
            for (auto const call : each.calls) program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1)), refuse();
        }
        if (!known) return std::fprintf(stderr, "forbid: no such word: %s\n", argv[1]), 2;
        // one call with certain arguments: the low half of an argument, on a little-endian machine
        auto const refuse_some = [&](unsigned call, unsigned argument, std::uint16_t how, unsigned bits) {
            program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4));
            program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, args)) + 8 * argument));
            program.push_back({static_cast<std::uint16_t>(BPF_JMP | how | BPF_K), 0, 1, bits});
            refuse();
            program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
        };
        if (name == "namespaces") refuse_some(SYS_clone, 0, BPF_JSET, CLONE_NEWUSER);
        if (name == "loopback") refuse_some(SYS_ioctl, 1, BPF_JEQ, SIOCSIFFLAGS);
    }
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    sock_fprog const all{static_cast<unsigned short>(program.size()), program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0) return std::perror("forbid"), 4;
    ::execvp(argv[2], argv + 2);
    std::perror(argv[2]);
    return 127;
}
