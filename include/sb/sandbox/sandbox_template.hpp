// SPDX-License-Identifier: MIT
// A sandbox template: the process from which the sandboxes of one worker are cloned.
//
// How it works: the template is in the worker's control group, in its own user, mount and cgroup namespaces, where the
// payload's root has been built once (template_root.hpp). A sandbox's supervisor is cloned from it. So it is born in the
// right group, with the right user and a copy of the template root; a process made from nothing would need milliseconds to
// get there. The supervisor is the owner's child, not the template's (CLONE_PARENT). The template works while its owner does
// something else: a sandbox is requested now and taken when it is needed.
#pragma once
#include <sb/core/channel.hpp>
#include <sb/cgroup/cgroup.hpp>
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/sole.hpp>
#include <sb/filter/filter.hpp>
#include <sb/machine/home_cpu.hpp>
#include <sb/process/payload_user.hpp>
#include <sb/process/privileges.hpp>
#include <sb/process/signals.hpp>
#include <sb/sandbox/mount_supervisor.hpp>
#include <sb/sandbox/template_root.hpp>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <utility>
#include <vector>

namespace sb::sandbox {

/// What all sandboxes of a template have in common. The plan outlives the template.
struct template_plan {
    view shown;
    process::payload_user user;
    files::pinned lower = {}; ///< where the workspace is taken from; empty: from its own place
    unique_fd owners; ///< user namespace that maps the workspace's owner to the payload's user; -1: none
    bool copies_work = false; ///< see supervisor_plan
};

/// What differs from one sandbox to another. Small enough for a message.
struct birth_wish {
    int level = filter::default_level;
    std::int64_t most_tasks = -1; ///< see init_plan
    scratch_size size;
};

namespace detail {

/// The template's messages: one about itself, then one for each birth.
struct template_reply {
    pid_t supervisor = -1;
    char wrong[248] = {}; ///< empty: success
};

inline constexpr std::size_t most_filter = 4096; // instructions; the kernel's limit

/// What is used in a user namespace also counts for its maker on the host, and its sum is limited by the maker's soft limit
/// at the time the namespace was made. So for that moment we set our limit to a part, and the rest stays for the caller.
class quota_part {
public:
    quota_part(__rlimit_resource which, rlim_t parts) noexcept : which_{which} {
        if (::getrlimit(which_, &whole_) < 0) return;
        auto part = whole_;
        part.rlim_cur = std::max<rlim_t>(whole_.rlim_cur / parts, 1);
        if (whole_.rlim_cur != RLIM_INFINITY) changed_ = ::setrlimit(which_, &part) == 0;
    }
    ~quota_part() {
        if (changed_) ::setrlimit(which_, &whole_);
    }
    quota_part(quota_part const&) = delete;
    quota_part& operator=(quota_part const&) = delete;

private:
    __rlimit_resource which_;
    rlimit whole_{};
    bool changed_ = false;
};

/// The template process itself.
class template_process {
public:
    template_process(template_plan const& plan, unique_fd lower, std::vector<unique_fd> sources, unique_fd socket, process::order_room& room, pid_t owner, bool drops_groups)
        : plan_{&plan}, lower_{std::move(lower)}, sources_{std::move(sources)}, socket_{std::move(socket)}, room_{&room}, owner_{owner}, drops_groups_{drops_groups} {}

    /// `enclose`, then `begin`, then births, each when requested.
    void serve() {
        process::signals_blocked const always;
        if (!hear() || !say(-1, enclose()) || !hear() || !say(-1, begin())) return;
        std::vector<char> text(sizeof(birth_wish) + most_filter * sizeof(sock_filter));
        for (;;) {
            passed_files ends;
            auto const n = receive_packet(socket_.get(), text, ends);
            if (n < static_cast<ssize_t>(sizeof(birth_wish)) || ends.left() != 2) return;
            auto const to_supervisor = ends.take(), to_reaper = ends.take();
            birth_wish wish;
            std::memcpy(&wish, text.data(), sizeof wish);
            filter::syscall_filter filter;
            if (auto const count = (static_cast<std::size_t>(n) - sizeof wish) / sizeof(sock_filter); count > 0) {
                filter.program.resize(count);
                std::memcpy(filter.program.data(), text.data() + sizeof wish, count * sizeof(sock_filter));
            }
            auto const born = bear(wish, filter, to_supervisor.get(), to_reaper.get());
            if (!say(born.has_error() ? -1 : *born, born.has_error() ? result<void>{born.error()} : result<void>{})) return;
        }
    }

private:
    bool hear() {
        char go = 0;
        return retry([&] { return ::recv(socket_.get(), &go, 1, 0); }) == 1;
    }
    bool say(pid_t supervisor, result<void> const& done) {
        template_reply reply{supervisor, {}};
        if (done.has_error()) done.error().what.copy(reply.wrong, sizeof reply.wrong - 1);
        return send_packet(socket_.get(), {bytes_of(reply)});
    }
    /// Makes our control group the root of everything that any payload will see.
    static result<void> enclose() {
        SB_CHECK(process::give_up_privileges()); // before the change of user, which takes away access to our own files in /proc
        if (::unshare(CLONE_NEWCGROUP) < 0) return last_error("make a cgroup namespace");
        return {};
    }
    result<void> begin() {
        // the kernel refuses this before ids are mapped, and always refuses it to a user who is not root
        if (drops_groups_ && ::syscall(SYS_setgroups, 0, nullptr) < 0) return last_error("drop supplementary groups");
        SB_CHECK(process::become_payload());
        ::umask(022);
        // for all that are born from here, who unblock signals when they are ready
        SB_CHECK(forget_words());
        take_name("sb-exec parent");
        process::let_be(~process::signal_bits{0});
        if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) return last_error("make mounts private");
        SB_TRY(auto built, template_root::build(plan_->shown, std::move(lower_), std::move(sources_)));
        root_.emplace(std::move(built));
        return {};
    }
    result<pid_t> bear(birth_wish const& wish, filter::syscall_filter const& filter, int to_supervisor, int to_reaper) {
        int const own_numbers = wish.most_tasks >= 0 ? CLONE_NEWPID : 0;
        auto const clone = [&] {
            return static_cast<pid_t>(::syscall(SYS_clone, own_numbers | CLONE_PARENT | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | SIGCHLD, nullptr,
                                                nullptr, nullptr, nullptr));
        };
        auto pid = clone();
        // the kernel removes the networks of dead sandboxes later, and until then they count
        auto const until = monotonic_ns() + most_patience_ns;
        while (pid < 0 && errno == ENOSPC && monotonic_ns() < until) ::usleep(5000), pid = clone();
        if (pid < 0) return last_error("make namespaces");
        if (pid > 0) return pid;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        take_name("sb-exec mounts");
        if (::getppid() != (own_numbers ? 0 : owner_)) ::_exit(0); // 0: the parent is outside our process namespace
        socket_.reset();
        supervisor_plan plan;
        plan.from = &*root_, plan.size = wish.size, plan.copies_work = plan_->copies_work;
        plan.init.level = &filter::level_of(wish.level), plan.init.most_tasks = wish.most_tasks;
        plan.init.filter = filter.program.empty() ? nullptr : &filter;
        mount_supervisor{std::move(plan), to_supervisor, to_reaper, *room_}.serve();
        ::_exit(0);
    }

    static constexpr std::int64_t most_patience_ns = 3'000'000'000;

    template_plan const* plan_;
    unique_fd lower_;
    std::vector<unique_fd> sources_;
    unique_fd socket_;
    process::order_room* room_;
    pid_t owner_;
    bool drops_groups_;
    std::optional<template_root> root_;
};

/// The same as files::pinned::open, with the path in an error.
inline result<files::pinned> open_shown(std::string const& path) {
    auto place = files::pinned::open(path);
    if (place.has_error()) return error{place.error().on, cat(path, ": ", place.error().what)};
    return place;
}

/// The workspace as it is before anybody writes to it.
inline result<files::pinned> work_of(template_plan const& plan) {
    if (plan.lower) return plan.lower;
    if (plan.shown.work_place) return plan.shown.work_place;
    return open_shown(plan.shown.work);
}

/// A privileged caller opens what it may see and the payload's user may not.
inline result<void> take_sources(template_plan const& plan, unique_fd& lower, std::vector<unique_fd>& sources) {
    auto const& shown = plan.shown;
    if (!shown.work.empty()) {
        SB_TRY(auto const place, work_of(plan));
        SB_TRY(lower, place.copy(false));
        if (plan.owners) SB_CHECK(files::map_owners(lower.get(), plan.owners.get()));
        SB_CHECK(files::change_mount(lower.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
    }
    for (auto const& each : shown.bindings) {
        auto place = each.place;
        if (!place) {
            SB_TRY(place, open_shown(each.source));
        }
        SB_TRY(auto copy, place.copy(true));
        sources.push_back(std::move(copy));
    }
    return {};
}

} // namespace detail

/// The owner's side of a template.
class sandbox_template {
public:
    /// `plan` and `room` outlive the template; `group` may be null. All reapers of a template take their orders from one
    /// room.
    static result<sandbox_template> make(template_plan const& plan, process::order_room& room, cgroup::cgroup* group) {
        SB_TRY(auto between, make_channel());
        sandbox_template made;
        made.socket_ = std::move(between.ours);
        made.copies_work_ = plan.copies_work && !plan.shown.work.empty();
        if (!plan.shown.work.empty()) {
            SB_TRY(made.work_, detail::work_of(plan));
        }
        bool const root = ::geteuid() == 0;
        unique_fd lower;
        std::vector<unique_fd> sources;
        if (root) SB_CHECK(detail::take_sources(plan, lower, sources));
        auto const owner = ::getpid();
        detail::quota_part const pending{RLIMIT_SIGPENDING, 8}, queues{RLIMIT_MSGQUEUE, 4};
        made.pid_ = static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
        if (made.pid_ < 0) return last_error("make a user namespace");
        if (made.pid_ == 0) {
            made.pid_ = -1;
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::prctl(PR_SET_NAME, "sb-exec parent");
            machine::home_cpu::leave(); // work during the build runs wherever there is room
            made.socket_.reset();
            if (::getppid() == owner) detail::template_process{plan, std::move(lower), std::move(sources), std::move(between.theirs), room, owner, root}.serve();
            ::_exit(0);
        }
        between.theirs.reset();
        SB_CHECK(process::map_ids(made.pid_, process::sandbox_id, process::sandbox_id, plan.user));
        SB_CHECK(process::give_up_real_time(made.pid_));
        SB_CHECK(process::give_up_being_spared(made.pid_));
        if (group) SB_CHECK(group->enter(made.pid_));
        SB_CHECK(made.tell());
        if (group) SB_CHECK(group->settle(made.pid_));
        SB_CHECK(made.tell());
        return made;
    }
    sandbox_template(sandbox_template&&) noexcept = default;
    sandbox_template& operator=(sandbox_template&&) = delete;
    ~sandbox_template() { end(); }

    pid_t pid() const noexcept { return pid_; }
    bool copies_work() const noexcept { return copies_work_; }
    /// The workspace as it is before anybody writes to it; -1 if there is none.
    int work() const noexcept { return work_.fd(); }

    /// Requests a sandbox. The two ends become its supervisor's and its reaper's. `hear` reports on it, by the number that
    /// this returns.
    result<std::uint64_t> ask(birth_wish const& wish, filter::syscall_filter const& filter, unique_fd to_supervisor, unique_fd to_reaper) {
        int const passed[2] = {to_supervisor.get(), to_reaper.get()};
        iovec const program{const_cast<sock_filter*>(filter.program.data()), filter.program.size() * sizeof(sock_filter)};
        if (!send_packet(socket_.get(), {bytes_of(wish), program}, passed)) return last_error("ask the template of a sandbox");
        return asked_++;
    }
    /// The pid of the supervisor. Answers come in the order of the requests; answers that nobody has waited for yet are
    /// kept.
    result<pid_t> hear(std::uint64_t number) {
        for (;; ++heard_) {
            if (auto const early = unheard_.find(number); early != unheard_.end()) return supervisor_in(unheard_.extract(early).mapped());
            detail::template_reply reply;
            if (retry([&] { return ::recv(socket_.get(), &reply, sizeof reply, 0); }) != static_cast<ssize_t>(sizeof reply))
                return system_error("the template of a sandbox died");
            unheard_[heard_] = reply;
        }
    }

    /// Sandboxes that were born stay alive.
    void end() noexcept {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
        pid_ = -1;
    }

private:
    sandbox_template() = default;
    static result<pid_t> supervisor_in(detail::template_reply reply) {
        reply.wrong[sizeof reply.wrong - 1] = '\0';
        if (reply.wrong[0] != '\0') return system_error(std::string{reply.wrong});
        return reply.supervisor;
    }
    /// Tells it to go on, and waits for the answer.
    result<void> tell() {
        if (::send(socket_.get(), "", 1, MSG_NOSIGNAL) != 1) return last_error("tell the template of a sandbox");
        SB_TRY([[maybe_unused]] auto const none, hear(asked_++));
        return {};
    }

    unique_fd socket_;
    sole<pid_t, -1> pid_;
    bool copies_work_ = false;
    files::pinned work_;
    std::uint64_t asked_ = 0, heard_ = 0;
    std::map<std::uint64_t, detail::template_reply> unheard_;
};

} // namespace sb::sandbox
