// SPDX-License-Identifier: MIT
// The control group of one worker: its limits, its figures, its removal.
//
// How it works: on v1 there is a folder in each hierarchy that counts or limits, and the worker's own processes are in it
// together with the payload. On v2 there is one folder with two below it: "supervisor-side" for the worker's own processes,
// and "run" for the payload, which is cloned into it (CLONE_INTO_CGROUP, run_leaf()). Limits and figures are those of "run"
// alone. A hybrid host has both: v1 limits and counts, and the v2 folder, without controllers, is there for its cgroup.kill
// and cgroup.events.
// Moving a process into a group costs milliseconds when no other was moved just before. So the worker's processes are moved
// once, and the payload is born in its group.
#pragma once
#include <sb/cgroup/cgroup_figures.hpp>
#include <sb/cgroup/cgroup_host.hpp>
#include <sb/cgroup/cgroup_limiter.hpp>
#include <sb/cgroup/cgroup_limits.hpp>
#include <sb/cgroup/cgroup_remove.hpp>
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/sole.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::cgroup {

/// Owns the folders. The process that made them removes them; a forked child does not.
class cgroup {
public:
    /// `word` distinguishes the groups of one session.
    static result<cgroup> make(cgroup_host const& host, std::string_view word) {
        cgroup made;
        made.name_ = host.group_name(word);
        made.here_ = machine_size::read();
        made.owner_ = ::getpid(); // if we fail from here on, everything that was made is removed
        for (auto const& base : host.v1_bases()) SB_CHECK(made.add_folder(base, 1));
        if (!host.v2_base().empty()) SB_CHECK(made.add_folder(host.v2_base(), 2));
        for (auto const c : all_controllers) {
            if (!host.has(c)) continue;
            auto const in = std::find_if(made.folders_.begin(), made.folders_.end(), [&](auto const& f) { return f.base == host.base(c); });
            made.places_[at(c)] = {in->fd.get(), host.version(c)};
            if (host.version(c) != 2) continue;
            made.leafy_ = true;
            if (c != controller::cpuacct) made.hands_down_.push_back(cat("+", name_of(c)));
        }
        if (!made.leafy_) made.open_files();
        return made;
    }
    cgroup(cgroup&&) noexcept = default;
    cgroup& operator=(cgroup&& from) noexcept { return take_over(*this, std::move(from)); }
    ~cgroup() {
        if (owner_ == ::getpid()) (void)remove();
    }

    /// Moves a process into the worker's folder itself. On v2 this is the place for a process that is about to make a cgroup
    /// namespace: the namespace's root is then the worker's folder, with both folders below it.
    result<void> enter(pid_t pid) {
        meter_.forget();
        if (divided_) SB_CHECK(join());
        for (auto const& f : folders_) SB_CHECK(move(f.fd.get(), f.path, pid));
        return {};
    }
    /// Moves it to "supervisor-side"; makes the two folders on v2. No other process may be left in the worker's folder.
    result<void> settle(pid_t pid) {
        if (!leafy_) return {};
        SB_CHECK(make_sides());
        SB_CHECK(move(supervisor_.get(), v2().path + "/supervisor-side", pid));
        return divide();
    }
    /// Lets processes of `uid` clone others from "supervisor-side" into "run". Needs the right to change owners.
    result<void> give_to(uid_t uid) {
        given_ = uid;
        if (!leafy_) return {};
        SB_CHECK(make_sides());
        SB_CHECK(give(v2().fd.get(), v2().path));
        SB_CHECK(give(supervisor_.get(), v2().path + "/supervisor-side"));
        return give(run_.get(), run_path());
    }
    /// Folder for CLONE_INTO_CGROUP on v2; -1 where the payload is born in its group anyway. `begin` may change it.
    int run_leaf() const noexcept { return run_.get(); }

    /// Sets exactly these limits and returns what the kernel accepted. A limit that no group can enforce here is missing
    /// from the answer. A limit that no machine can provide is refused.
    result<limits_in_force> hold(group_limits const& asked) {
        if (held_ && *held_ == asked) return limiter_.in_force();
        SB_CHECK(check(asked, here_));
        held_.reset(); // until all is written: nothing is known of a half
        SB_CHECK(limiter_.impose(asked, meter_));
        held_ = asked;
        return limiter_.in_force();
    }

    /// Call it just before a run, when nothing of the last one is alive. True when run_leaf() is another folder than before.
    result<bool> begin() {
        bool renew = leafy_ && used_ && !meter_.peak_begins_anew();
        if (renew) SB_CHECK(renew_leaf());
        used_ = true;
        meter_.watch(held_ && held_->memory_bytes >= 0, held_ && held_->cores >= 0);
        meter_.begin();
        if (leafy_ && left_over() > most_left()) {
            SB_CHECK(renew_leaf());
            meter_.watch(held_ && held_->memory_bytes >= 0, held_ && held_->cores >= 0);
            meter_.begin();
            renew = true;
        }
        if (!residents_bytes_) residents_bytes_ = leafy_ ? 0 : meter_.base(), residents_kernel_bytes_ = leafy_ ? 0 : meter_.kernel_now();
        return renew;
    }
    /// Bytes charged at begin(), without those of the residents at the first begin(): page cache of files that earlier runs
    /// read or wrote. A run that pushes them out can use as much again before its peak shows it. So a group that holds much
    /// of it must not be used again: what is cached stays charged to that group, and later runs find it cached.
    std::int64_t left_over() const noexcept { return meter_.base().value_or(0) - residents_bytes_.value_or(leafy_ ? 0 : meter_.base().value_or(0)); }
    /// The same without the kernel's own memory, where that is counted separately; the current value.
    std::optional<std::int64_t> cached_left() const noexcept {
        auto const kernel = meter_.kernel_now();
        if (!kernel || !residents_kernel_bytes_) return std::nullopt;
        return left_over() - (*kernel - *residents_kernel_bytes_);
    }
    /// The amount that is tolerated: the kernel charges in steps of 256 KiB per processor, and keeps small things of its own
    /// for a while.
    static std::int64_t most_left() noexcept {
        static std::int64_t const bytes = (std::int64_t{2} << 20) + (std::int64_t{256} << 10) * ::sysconf(_SC_NPROCESSORS_ONLN); // sysconf opens a file each time
        return bytes;
    }
    /// Processes other than the payload came or went: the next limits and figures must be read anew.
    void recount() noexcept { meter_.forget(), limiter_.forget_pids(), held_.reset(); }
    /// Call it when the tree is dead.
    group_figures end() noexcept { return meter_.end(); }
    group_charges charged() noexcept { return meter_.charged(); }
    /// Where sockets are counted separately: a file with what they hold now; else -1.
    int socket_count() const noexcept { return meter_.socket_count(); }
    /// The most that TCP and UDP sockets held since begin(), where it is counted separately.
    std::optional<std::int64_t> socket_peak() noexcept { return meter_.socket_peak(); }

    /// Kills everything in the group, the worker's own processes too, and waits until all have ended. False when that took
    /// longer than `patience_ns`.
    bool kill_all(std::int64_t patience_ns = removal_patience_ns) {
        auto const until = monotonic_ns() + patience_ns;
        for (std::int64_t wait = 50'000;; wait = std::min<std::int64_t>(wait * 2, 5'000'000)) {
            for (auto const& f : folders_) (void)detail::kill_group(f.fd.get(), name_);
            if (wait_empty(wait)) break;
            if (monotonic_ns() > until) return false;
        }
        // meanwhile a v1 group was forbidden to fork
        limiter_.forget_pids();
        return !limiter_.impose_pids(held_ ? held_->pids : process::limits::none, meter_).has_error();
    }
    /// True when no process is left, within `patience_ns`.
    bool wait_empty(std::int64_t patience_ns) const {
        auto const until = monotonic_ns() + patience_ns;
        for (std::int64_t wait = 50'000;; wait = std::min<std::int64_t>(wait * 2, 5'000'000)) {
            if (is_empty()) return true;
            auto const left = until - monotonic_ns();
            if (left <= 0) return false;
            detail::group_file const events{group_place{v2_folder(), 2}, "cgroup.events"};
            if (!events) {
                nap(std::min(wait, left));
                continue;
            }
            if (is_empty()) return true; // it may have become empty between the check above and the opening
            pollfd change{events.fd(), POLLPRI, 0};
            timespec const time{0, static_cast<long>(std::min<std::int64_t>(std::max(wait, std::int64_t{1'000'000}), left))};
            (void)::ppoll(&change, 1, &time, nullptr);
        }
    }
    /// Kills what is left and removes every folder.
    result<void> remove() {
        if (owner_ != ::getpid()) return {};
        owner_ = -1;
        meter_ = {};
        run_.reset(), supervisor_.reset();
        result<void> removed{};
        for (auto& f : folders_) {
            auto one = remove_groups(f.base, std::string_view{name_}.substr(group_prefix.size()));
            if (one.has_error() && !removed.has_error()) removed = std::move(one);
        }
        folders_.clear();
        return removed;
    }

    /// The end of the line in /proc/PID/cgroup of every process in it.
    std::string const& name() const noexcept { return name_; }
    std::vector<std::string> paths() const {
        std::vector<std::string> paths;
        for (auto const& f : folders_) paths.push_back(f.path);
        return paths;
    }

private:
    struct folder {
        std::string base, path;
        int version;
        unique_fd fd;
    };

    cgroup() = default;
    static constexpr std::size_t at(controller c) noexcept { return static_cast<std::size_t>(c); }
    result<void> add_folder(std::string const& base, int version) {
        folder f{base, cat(base, "/", name_), version, unique_fd{}};
        if (::mkdir(f.path.c_str(), 0755) != 0) return last_error("make group", f.path);
        f.fd = files::open_folder(AT_FDCWD, f.path.c_str());
        bool const opened = bool{f.fd};
        auto const error = last_error("open", f.path);
        folders_.push_back(std::move(f)); // added first: so it is removed with the rest
        if (!opened) return error;
        return {};
    }
    folder const& v2() const noexcept { return folders_.back(); } // only if leafy_
    int v2_folder() const noexcept { return !folders_.empty() && folders_.back().version == 2 ? folders_.back().fd.get() : -1; }
    std::string run_path() const { return v2().path + "/run"; }

    static result<void> move(int group, std::string const& path, pid_t pid) {
        auto const moved = detail::write_at(group, "cgroup.procs", cat(pid));
        if (moved.has_error()) return system_error(cat("move process ", pid, " to ", path, ": ", moved.error().what));
        return {};
    }
    result<void> give(int group, std::string const& path) const {
        if (::fchownat(group, "cgroup.procs", *given_, static_cast<gid_t>(-1), 0) != 0) return last_error("change owner of", path + "/cgroup.procs");
        return {};
    }
    result<unique_fd> make_side(char const* name) const {
        if (::mkdirat(v2().fd.get(), name, 0755) != 0) return last_error("make group", cat(v2().path, "/", name));
        auto made = files::open_folder(v2().fd.get(), name);
        if (!made) return last_error("open", cat(v2().path, "/", name));
        return made;
    }
    result<void> make_sides() {
        if (supervisor_) return {};
        SB_TRY(supervisor_, make_side("supervisor-side"));
        SB_TRY(run_, make_side("run"));
        return {};
    }
    result<void> hand_down(std::string const& controllers) const {
        auto const done = detail::write_at(v2().fd.get(), "cgroup.subtree_control", controllers);
        if (done.has_error()) return system_error(cat(v2().path, ": ", done.error().what));
        return {};
    }
    /// Takes the controllers back from the two folders, which are empty: a group that hands down controllers cannot hold
    /// processes.
    result<void> join() {
        SB_CHECK(hand_down(joined(hands_down_, " ", [](std::string const& each) { return cat("-", each.substr(1)); })));
        divided_ = false;
        held_.reset(); // limits disappear with the controllers
        return {};
    }
    /// Hands the controllers down to the two folders.
    result<void> divide() {
        if (divided_) return {};
        if (!hands_down_.empty()) SB_CHECK(hand_down(joined(hands_down_, " ")));
        divided_ = !hands_down_.empty();
        open_files();
        return {};
    }
    result<void> renew_leaf() {
        run_.reset();
        if (::unlinkat(v2().fd.get(), "run", AT_REMOVEDIR) != 0) return last_error("remove group", run_path());
        SB_TRY(run_, make_side("run"));
        if (given_) SB_CHECK(give(run_.get(), run_path()));
        open_files();
        if (auto const asked = std::exchange(held_, std::nullopt)) {
            SB_CHECK(limiter_.impose(*asked, meter_));
            held_ = asked;
        }
        return {};
    }

    /// Opens the files that each run reads and writes, once.
    void open_files() {
        auto in = places_;
        for (auto& place : in)
            if (place.version == 2) place.folder = run_.get();
        meter_ = group_meter{in};
        limiter_ = {in, name_};
    }

    bool is_empty() const {
        if (v2_folder() >= 0 && detail::read_at(v2_folder(), "cgroup.events").find("populated 0") == std::string::npos) return false;
        return std::all_of(folders_.begin(), folders_.end(), [](folder const& f) {
            return f.version == 2 || detail::read_at(f.fd.get(), "cgroup.procs").empty();
        });
    }

    std::string name_;
    std::vector<folder> folders_; // the v2 folder is the last
    std::vector<std::string> hands_down_;
    group_places places_{}; // on v2, those of the worker's folder
    unique_fd run_, supervisor_;
    group_meter meter_;
    cgroup_limiter limiter_;
    std::optional<std::int64_t> residents_bytes_, residents_kernel_bytes_; // charged before the first run; the kernel's own part of it
    std::optional<group_limits> held_; // as last requested
    std::optional<uid_t> given_;
    machine_size here_;
    bool leafy_ = false, divided_ = false, used_ = false;
    sole<pid_t, -1> owner_;
};

} // namespace sb::cgroup
