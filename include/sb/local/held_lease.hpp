// SPDX-License-Identifier: MIT
// What a session has in use on the host, written to a file that outlives it. So nothing stays when the session is killed.
//
// How it works: the file is written completely under another name and locked (flock). Only then does it get its own name. So
// no other process ever sees a lease in part, or unlocked while its owner lives. Forked workers share the open description
// and with it the lock: it is free exactly when all of them are dead. A later session takes the lock, clears up, and removes
// the file. A crash before the file gets its name leaves only a file ".ID.MACHINE.new", because everything else is made
// after the lease. Machines may share a home, and a lock may be visible to only one of them: each machine handles its own
// leases.
#pragma once
#include <sb/cgroup/cgroup_remove.hpp>
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/sha256.hpp>
#include <sb/core/sole.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/own_folder.hpp>
#include <sb/files/remove_tree.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/json/dispatch.hpp>
#include <sb/record/lease.hpp>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::local {

namespace detail {

inline std::string this_boot() {
    auto const text = read_file("/proc/sys/kernel/random/boot_id");
    return text.has_error() ? std::string{} : std::string{trim(*text)};
}

/// Distinguishes this machine from others that may see the same files.
inline std::string this_machine() {
    auto const text = read_file("/etc/machine-id");
    utsname names{};
    ::uname(&names);
    return sha256_hex(cat(text.has_error() ? std::string_view{} : trim(*text), "\n", std::string_view{names.nodename})).substr(0, 12);
}

inline bool same_file(int fd, int folder, char const* name) noexcept {
    struct stat a {}, b {};
    return ::fstat(fd, &a) == 0 && ::fstatat(folder, name, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

} // namespace detail

/// A lease for this process: `temp_folder` and `cgroups` are filled in later.
inline lease_record new_lease(std::string id) {
    lease_record made;
    made.id = std::move(id);
    made.pid = ::getpid();
    made.started = utc_stamp(wall_ns());
    made.boot_id = detail::this_boot();
    made.machine = detail::this_machine();
    return made;
}

/// The lease of a session. The process that took it gives it back; a forked worker does not.
class held_lease {
public:
    /// Call it before anything that `terms` names is made.
    static result<held_lease> take(std::string const& data_dir, lease_record const& terms) {
        if (!cgroup::is_session_id(terms.id)) return caller_error(cat("not a valid name of a lease: \"", terms.id, "\""));
        held_lease made;
        SB_TRY(auto const folder, files::own_folder::make(data_dir + "/leases", files::for_data));
        made.folder_ = files::open_folder(folder.fd(), ".");
        if (!made.folder_) return last_error("open", folder.path());
        made.path_ = cat(folder.path(), "/", terms.id);
        made.name_ = terms.id;
        SB_CHECK(made.write(terms));
        return made;
    }
    held_lease(held_lease&&) noexcept = default;
    held_lease& operator=(held_lease&& from) noexcept { return take_over(*this, std::move(from)); }
    ~held_lease() {
        if (owner_ == ::getpid()) (void)give_back();
    }

    /// Replaces the terms under the same name, in one step. Call it before more is made than the lease says, and before
    /// workers are forked, because they hold the lock of the file from before.
    result<void> change(lease_record const& terms) { return terms.id == name_ ? write(terms) : result<void>{caller_error("the name of a lease cannot change")}; }
    /// Call it when everything that it names is gone.
    result<void> give_back() {
        owner_ = -1;
        if (::unlinkat(folder_.get(), name_.c_str(), 0) != 0 && errno != ENOENT) return last_error("remove", path_);
        file_.reset();
        return {};
    }
    /// For when not everything that it names could be removed: a later session tries again.
    void leave() noexcept { owner_ = -1; }
    std::string const& path() const noexcept { return path_; }
    /// Holds the lock; a process that must not hold it closes this.
    int fd() const noexcept { return file_.get(); }

private:
    held_lease() = default;
    result<void> write(lease_record const& terms) {
        auto const line = json::line(terms);
        auto const unnamed = cat(".", name_, ".", detail::this_machine(), ".new");
        for (int attempt = 0; attempt < 16; ++attempt) {
            unique_fd made{::openat(folder_.get(), unnamed.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
            if (!made) return last_error("make", cat(path_, " (", unnamed, ")"));
            // a sweep may have run in between and taken it for a dead one
            if (retry([&] { return ::flock(made.get(), LOCK_EX); }) != 0) return last_error("lock", path_);
            if (!detail::same_file(made.get(), folder_.get(), unnamed.c_str())) continue;
            if (auto const written = write_all(made.get(), line, path_); written.has_error()) {
                ::unlinkat(folder_.get(), unnamed.c_str(), 0);
                return written.error();
            }
            if (::renameat(folder_.get(), unnamed.c_str(), folder_.get(), name_.c_str()) != 0) return last_error("rename to", path_);
            file_ = std::move(made); // the lock on the previous file ends with its last holder
            owner_ = ::getpid();
            return {};
        }
        return system_error(cat("make ", path_, ": somebody keeps removing it"));
    }

    unique_fd folder_, file_;
    std::string path_, name_;
    sole<pid_t, -1> owner_;
};

namespace detail {

/// The lease in an open file; the error says what the file is instead.
inline result<lease_record> read_lease(int file, std::string_view name) {
    std::string text(std::size_t{64} << 10, '\0');
    auto const n = retry([&] { return ::pread(file, text.data(), text.size(), 0); });
    if (n < 0) return last_error("read");
    text.resize(static_cast<std::size_t>(n));
    lease_record terms;
    using line_is = json::dispatched::line_is;
    auto const got = json::dispatch(trim(text), json::on<lease_record>([&](lease_record there) { terms = std::move(there); }));
    if (got.is == line_is::broken) return input_error(cat("byte ", got.at + 1, ": ", got.what));
    if (got.is == line_is::misfit) return input_error(got.what);
    if (got.is != line_is::taken) return input_error("not a lease");
    if (terms.id != name) return input_error("the lease has another name");
    return terms;
}

/// Removes what a dead session left; what could not be removed is named in `stuck`.
inline bool clear_away(lease_record const& terms, std::vector<std::string>& stuck) {
    auto const before = stuck.size();
    for (auto const& base : terms.cgroups)
        if (auto const gone = cgroup::remove_groups(base, terms.id); gone.has_error()) stuck.push_back(gone.error().what);
    // while another session needs what this one switched on, the lease stays
    bool const done = stuck.size() != before || terms.switched_on.empty() || terms.cgroups.empty() || cgroup::switch_off(terms.cgroups.back(), terms.switched_on);
    if (auto const slash = terms.temp_folder.rfind('/'); slash != std::string::npos) {
        // it checks every folder there in the same way: label, owner, lock
        files::sweep_dead_folders(slash ? terms.temp_folder.substr(0, slash) : std::string{"/"}, stuck);
    }
    return done && stuck.size() == before;
}

} // namespace detail

/// Users that leases in `data_dir` name. Files that are not leases are skipped; the sweep reports them.
inline std::vector<std::int64_t> leased_users(std::string const& data_dir) {
    std::vector<std::int64_t> users;
    auto const folder = files::own_folder::open(data_dir + "/leases", files::for_data);
    if (!folder) return users;
    auto const names = files::names_in(folder->fd(), folder->path());
    if (!names) return users;
    for (auto const& name : *names) {
        if (!cgroup::is_session_id(name)) continue;
        unique_fd const file{::openat(folder->fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
        struct stat facts {};
        if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
        if (auto const terms = detail::read_lease(file.get(), name); !terms.has_error() && terms->uid) users.push_back(*terms->uid);
    }
    return users;
}

/// Removes what dead sessions of this user left, according to their leases in `data_dir`; returns the number of finished
/// leases. Everything that stays is named in `stuck`, one line each: what could not be removed, and files that are not our
/// leases. In a folder that others could replace nothing is trusted; a session that takes a lease there gets an error.
inline int sweep_leases(std::string const& data_dir, std::vector<std::string>& stuck) {
    auto const folder = files::own_folder::open(data_dir + "/leases", files::for_data);
    if (!folder) return 0;
    auto const& path = folder->path();
    auto const boot = detail::this_boot(), machine = detail::this_machine();
    int swept = 0;
    auto const names = files::names_in(folder->fd(), path);
    if (!names) return stuck.push_back(cat("cannot list ", path, ": ", names.error().what)), 0;
    for (auto const& name : *names) {
        auto const leave = [&](std::string_view why) { stuck.push_back(cat(path, "/", name, ": ", why, "; not removed")); };
        std::string_view id = name;
        bool const unnamed = id.starts_with('.') && id.ends_with(".new");
        if (unnamed) id = id.substr(1, id.size() - 5);
        std::string_view maker; // an older version does not write it
        if (auto const dot = id.find('.'); unnamed && dot != id.npos) maker = id.substr(dot + 1), id = id.substr(0, dot);
        if (!cgroup::is_session_id(id) || (!maker.empty() && !cgroup::is_session_id(maker))) {
            leave("not a lease");
            continue;
        }
        if (!maker.empty() && maker != machine) continue;
        unique_fd const file{::openat(folder->fd(), name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
        if (!file && errno == ENOENT) continue; // given back meanwhile
        struct stat facts {};
        if (!file || ::fstat(file.get(), &facts) != 0) leave(std::strerror(errno));
        else if (!S_ISREG(facts.st_mode)) leave("not a file");
        else if (facts.st_uid != ::geteuid()) leave("belongs to another user");
        else if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue; // its session is alive
        else if (!detail::same_file(file.get(), folder->fd(), name.c_str())) continue; // it was changed, or another sweep removed it
        else if (unnamed) ::unlinkat(folder->fd(), name.c_str(), 0);
        else if (auto const terms = detail::read_lease(file.get(), id); terms.has_error()) leave(terms.error().what);
        else {
            if (terms->boot_id != boot && terms->machine.value_or(machine) != machine) continue; // only that machine can see whether its session is alive
            // groups do not survive a reboot, and folders from before are found by their own label
            if (terms->boot_id == boot && !detail::clear_away(*terms, stuck)) continue;
            if (::unlinkat(folder->fd(), name.c_str(), 0) == 0) ++swept;
            else leave(std::strerror(errno));
        }
    }
    return swept;
}

} // namespace sb::local
