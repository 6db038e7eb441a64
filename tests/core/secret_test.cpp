// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/secret.hpp>
#include <cstddef>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_CASE("secrets differ and are never 0") {
    auto const one = sb::make_secret(), other = sb::make_secret();
    REQUIRE_FALSE(one.has_error());
    REQUIRE_FALSE(other.has_error());
    CHECK(*one != *other);
    CHECK(*one != 0);
}

TEST_CASE("without the kernel's randomness there is no secret, rather than a fixed one") {
    auto const child = ::fork();
    if (child == 0) {
        sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        sock_fprog const filter{4, program};
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) ::_exit(2);
        ::_exit(sb::make_secret().has_error() ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}
