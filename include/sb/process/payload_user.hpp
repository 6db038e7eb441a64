// SPDX-License-Identifier: MIT
// The user that payloads run as, and how it is mapped into a sandbox.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace sb::process {

/// The payload's user and group as the payload sees them.
inline constexpr unsigned sandbox_id = 1000;

/// Becomes the payload's user. The kernel's order to die with the parent, which a change of user resets, is given again.
inline result<void> become_payload() {
    if (::setresgid(sandbox_id, sandbox_id, sandbox_id) < 0 || ::setresuid(sandbox_id, sandbox_id, sandbox_id) < 0) return last_error("change user");
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return {};
}

/// The user that payloads run as, outside the sandbox.
struct payload_user {
    uid_t uid = 0;
    gid_t gid = 0;
};

/// Users for root's payloads, outside the ranges that distributions and container managers hand out. Sessions that leave
/// files behind (an `rw` binding) share the first, so that the next session can go on with those files. Every other session
/// has a user of its own. So it does not share with another session what the kernel counts per user: descriptors under way
/// in sockets, pages of pipes, epoll watches.
inline constexpr std::int64_t first_payload_id = 1'879'100'000, payload_ids = 1'000'000;

/// `count` user numbers from `first` on.
struct id_range {
    std::int64_t first = -1, count = 0;
    bool contains(std::int64_t id) const noexcept { return first <= id && id < first + count; }
};
inline constexpr id_range all_payload_ids{first_payload_id, payload_ids};

/// The part of the range above that a map of user numbers (like /proc/self/uid_map) contains. If it contains none of it,
/// only the map's last number. Empty when the map has no number but root's.
inline id_range mapped_payload_ids(std::string_view map) {
    id_range best;
    std::int64_t last = 0;
    split(map, '\n', [&](std::string_view line) {
        auto const inside = take_number(line).value_or(0);
        (void)take_number(line); // outside
        auto const count = take_number(line).value_or(0);
        if (count <= 0) return;
        last = std::max(last, inside + count - 1);
        auto const begin = std::max(inside, first_payload_id), end = std::min(inside + count, first_payload_id + payload_ids);
        if (end - begin > best.count) best = {begin, end - begin};
    });
    if (best.count == 0 && last > 0) best = {last, 1};
    return best;
}

/// Which of these users the caller wants.
struct user_wish {
    bool leaves_files = false; ///< use the shared one
    std::vector<std::int64_t> taken = {}; ///< used by other sessions
};

/// The caller's user. For root: a user that owns nothing here, chosen at random.
inline result<payload_user> choose_payload_user(user_wish const& wish = {}) {
    if (::geteuid() != 0) return payload_user{::geteuid(), ::getegid()};
    auto const range = [](char const* map) {
        auto const text = read_file(map);
        return text.has_error() ? id_range{} : mapped_payload_ids(*text);
    };
    auto const users = range("/proc/self/uid_map"), groups = range("/proc/self/gid_map");
    if (users.count == 0 || groups.count == 0) return system_error("only root is mapped in this user namespace, and a payload never runs as root");
    // for a user without processes the kernel answers at once that it finds none
    auto const is_free = [&](std::int64_t id) {
        errno = 0;
        return std::find(wish.taken.begin(), wish.taken.end(), id) == wish.taken.end() && ::getpriority(PRIO_USER, static_cast<id_t>(id)) == -1 && errno == ESRCH;
    };
    auto uid = users.first;
    constexpr int most_tries = 64; // if all are taken, one is shared
    for (int i = 0; users.count > 1 && !wish.leaves_files && i < most_tries; ++i) {
        std::uint64_t chance = 0;
        if (::getrandom(&chance, sizeof chance, 0) != sizeof chance) return last_error("getrandom");
        uid = users.first + 1 + static_cast<std::int64_t>(chance % static_cast<std::uint64_t>(users.count - 1));
        if (is_free(uid)) break;
    }
    return payload_user{static_cast<uid_t>(uid), static_cast<gid_t>(groups.contains(uid) ? uid : groups.first)};
}

/// Supplementary groups of the caller that its payloads have too: in a user namespace of their own only root may drop them.
inline std::vector<gid_t> kept_groups() {
    if (::geteuid() == 0) return {};
    auto const count = ::getgroups(0, nullptr);
    std::vector<gid_t> groups(count > 0 ? static_cast<std::size_t>(count) : 0);
    auto const read = ::getgroups(static_cast<int>(groups.size()), groups.data());
    groups.resize(read > 0 ? static_cast<std::size_t>(read) : 0);
    std::erase(groups, ::getegid());
    return groups;
}
/// The names of the groups, in one line: "adm (4), video (44)".
inline std::string groups_line(std::vector<gid_t> const& groups) {
    auto const accounts = read_file("/etc/group");
    std::string line;
    for (auto const group : groups) {
        std::string name;
        if (!accounts.has_error())
            split(*accounts, '\n', [&](std::string_view account) { // name:password:number:members
                auto const first = account.find(':'), second = account.find(':', first + 1), third = account.find(':', second + 1);
                if (third != std::string_view::npos && account.substr(second + 1, third - second - 1) == cat(group)) name = account.substr(0, first);
            });
        line += name.empty() ? cat(line.empty() ? "" : ", ", group) : cat(line.empty() ? "" : ", ", name, " (", group, ")");
    }
    return line;
}

/// Maps user and group ids `inside` (as the process `pid` sees them) to `outside`.
inline result<void> map_ids(pid_t pid, uid_t inside_uid, gid_t inside_gid, payload_user const& outside) {
    auto const at = cat("/proc/", pid, "/");
    if (::geteuid() != 0) SB_CHECK(write_once(at + "setgroups", "deny"));
    SB_CHECK(write_once(at + "uid_map", cat(inside_uid, " ", outside.uid, " 1\n")));
    return write_once(at + "gid_map", cat(inside_gid, " ", outside.gid, " 1\n"));
}

/// A user namespace without processes, for map_owners: files of `owner` appear as files of `user`. A child makes the namespace
/// and reports it through a pipe. The parent maps the ids, opens the namespace, kills the child and waits for it.
inline result<unique_fd> owner_map(struct stat const& owner, payload_user const& user) {
    SB_TRY(auto ready, make_pipe());
    auto const parent = ::getpid();
    auto const child = ::fork();
    if (child < 0) return last_error("fork");
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(ESRCH); // the parent died before that
        bool const done = ::unshare(CLONE_NEWUSER) == 0;
        if (!done || ::write(ready.write.get(), "", 1) != 1) ::_exit(done ? EPIPE : errno & 0xff);
        for (;;) ::pause();
    }
    ready.write.reset();
    char said = 0;
    result<unique_fd> made = system_error("cannot make a user namespace");
    if (retry([&] { return ::read(ready.read.get(), &said, 1); }) == 1) {
        auto const mapped = map_ids(child, owner.st_uid, owner.st_gid, user);
        if (mapped.has_error()) made = mapped.error();
        else made = open_file(cat("/proc/", child, "/ns/user"), O_RDONLY);
    }
    ::kill(child, SIGKILL);
    int status = 0;
    auto const ended = retry([&] { return ::waitpid(child, &status, 0); });
    if (ended == child && WIFEXITED(status)) return errno_error("make a user namespace", {}, WEXITSTATUS(status));
    return made;
}

} // namespace sb::process
