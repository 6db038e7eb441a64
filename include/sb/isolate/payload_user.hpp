// SPDX-License-Identifier: MIT
// The user that payloads run as, and how it is mapped into a sandbox.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sb::isolate {

/// The user that payloads run as, outside.
struct payload_user {
    uid_t uid = 0;
    gid_t gid = 0;
};

/// The caller, unless that is root: then one that owns nothing here.
inline result<payload_user> choose_payload_user() {
    if (::geteuid() != 0) return payload_user{::geteuid(), ::getegid()};
    auto const pick = [](char const* map) -> std::int64_t {
        constexpr std::int64_t wanted = 1'879'100'000; // beyond what distributions and container managers hand out
        auto const text = read_file(map);
        if (text.has_error()) return -1;
        std::int64_t best = -1;
        split(*text, '\n', [&](std::string_view line) {
            std::int64_t inside = 0, outside = 0, count = 0;
            auto const number = [&](std::int64_t& to) {
                while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
                auto const end = std::from_chars(line.data(), line.data() + line.size(), to).ptr;
                line.remove_prefix(static_cast<std::size_t>(end - line.data()));
            };
            number(inside), number(outside), number(count);
            if (count <= 0) return;
            if (inside <= wanted && wanted < inside + count) best = wanted;
            else if (best != wanted) best = std::max(best, inside + count - 1);
        });
        return best;
    };
    auto const uid = pick("/proc/self/uid_map"), gid = pick("/proc/self/gid_map");
    if (uid <= 0 || gid <= 0) return system_error("no user but root is mapped here, and a payload never runs as root");
    return payload_user{static_cast<uid_t>(uid), static_cast<gid_t>(gid)};
}

namespace detail {

/// Makes user ids `inside` (as the process `pid` sees them) stand for ours.
inline result<void> map_ids(pid_t pid, uid_t inside_uid, gid_t inside_gid, payload_user const& outside) {
    auto const at = cat("/proc/", pid, "/");
    if (::geteuid() != 0) SB_CHECK(write_once(at + "setgroups", "deny"));
    SB_CHECK(write_once(at + "uid_map", cat(inside_uid, " ", outside.uid, " 1\n")));
    return write_once(at + "gid_map", cat(inside_gid, " ", outside.gid, " 1\n"));
}

} // namespace detail

/// A user namespace that nobody is in, for map_owners: files of `owner` become those of `user`.
inline result<unique_fd> owner_map(struct stat const& owner, payload_user const& user) {
    SB_TRY(auto ready, make_pipe());
    auto const parent = ::getpid();
    auto const child = ::fork();
    if (child < 0) return last_error("fork");
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(ESRCH); // it died before that
        bool const done = ::unshare(CLONE_NEWUSER) == 0;
        if (!done || ::write(ready.write.get(), "", 1) != 1) ::_exit(done ? EPIPE : errno & 0xff);
        for (;;) ::pause();
    }
    ready.write.reset();
    char said = 0;
    result<unique_fd> made = system_error("a user namespace cannot be made");
    if (retry([&] { return ::read(ready.read.get(), &said, 1); }) == 1) {
        auto const mapped = detail::map_ids(child, owner.st_uid, owner.st_gid, user);
        if (mapped.has_error()) made = mapped.error();
        else made = open_file(cat("/proc/", child, "/ns/user"), O_RDONLY);
    }
    ::kill(child, SIGKILL);
    int status = 0;
    auto const ended = retry([&] { return ::waitpid(child, &status, 0); });
    if (ended == child && WIFEXITED(status)) return errno_error("make a user namespace", {}, WEXITSTATUS(status));
    return made;
}

} // namespace sb::isolate
