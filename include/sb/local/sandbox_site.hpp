// SPDX-License-Identifier: MIT
// Runs in sandboxes: one for each security level and each limit that its namespaces enforce. A sandbox is used again if it
// is provably clean.
//
// How it works: a run_group is a control group together with the template of its sandboxes. It is made anew when its group
// contains files that a run has read or written, because they would hide what the next run uses. One group is enough for
// sandboxes that are used again. Where each run gets a new sandbox there are three groups, used in turn: while a run is
// measured in one, the sandboxes of the next two runs are born in the others, so that no run is charged for their birth.
#pragma once
#include <sb/files/large_file.hpp>
#include <sb/local/keep_files.hpp>
#include <sb/local/site.hpp>
#include <sb/machine/process_cpu.hpp>
#include <sb/sandbox/instance.hpp>
#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <utility>

namespace sb::local {

/// What the sandboxes of a session share; made before the workers are forked.
struct sandbox_session {
    sandbox::view shown;
    process::payload_user user;
    cgroup::cgroup_host* groups = nullptr; ///< null: no control group can be made here
    unique_fd owners = unique_fd{}; ///< see template_plan
    files::pinned lower = {}; ///< see template_plan
    std::uint64_t clone_key = 0;
    bool fresh = false; ///< a new sandbox for each run
    bool copies_work = false; ///< see supervisor_plan
    machine::socket_share sockets = {}; ///< one run's share of the host's memory for sockets
};

class sandbox_site final : public site {
public:
    static result<std::unique_ptr<site>> make(sandbox_session const& session, std::size_t number, process::order_room& room) {
        SB_CHECK(process::adopt_orphans()); // when a supervisor is dead, its init becomes our child
        std::unique_ptr<sandbox_site> made{new sandbox_site{session, number, room}};
        for (std::size_t i = 0; i < (session.fresh ? fresh_groups : 1); ++i) {
            if (session.groups) SB_CHECK(made->found(made->groups_[i]));
        }
        return std::unique_ptr<site>{std::move(made)};
    }

    result<void> prepare(int level) override {
        for (std::size_t i = 1; all_->fresh && i < fresh_groups; ++i) SB_CHECK(open(groups_[i]));
        SB_TRY([[maybe_unused]] auto* const place, instance_in(groups_[0], {level, -1}, {}));
        return {};
    }
    result<void> make_ready(watch::job& job) override {
        if (all_->fresh && current_ && current_->used) {
            retire(*here_, this_.as);
            here_ = &after(*here_);
        }
        SB_CHECK(take_place(job));
        if (is_laden(*here_)) {
            SB_TRY(bool const light, gets_light(*here_));
            if (!light) {
                SB_CHECK(renew(*here_));
                SB_CHECK(take_place(job));
            }
        }
        renewed_ = !std::exchange(current_->used, true);
        if (all_->copies_work && job.held.file_bytes >= 0) files::large_file_search::await_tick(); // what was copied must be older than what the run makes
        this_ = {{job.held.level, job.held.numbered_pids}, {job.held.scratch_bytes, job.held.scratch_inodes}, job.held.file_bytes, files::large_file_search::now_ns()};
        return look(job);
    }
    /// Meanwhile the sandbox of the next run is born. The next run is assumed to be like this one.
    void under_way() override {
        if (!all_->fresh) return;
        for (auto* other = &after(*here_); other != here_; other = &after(*other))
            if (other->template_ && !other->instances.contains(this_.as)) (void)begin_in(*other, this_.as, this_.size); // an error returns when it is needed
    }
    result<void> look(watch::job& job) override {
        job.environment.push_back(cat("HOME=", sandbox::sandbox_home));
        job.environment.push_back("TMPDIR=/tmp");
        job.folder = all_->shown.work.empty() ? std::string{sandbox::sandbox_home} : all_->shown.work;
        if (here_->group) job.group = here_->group->run_leaf(), job.clone_key = all_->clone_key;
        job.scratch = current_->instance.scratch();
        job.sockets = current_->instance.sockets(all_->sockets, here_->held.memory_bytes);
        if (here_->group && socket_count_ >= 0) job.sockets.group = socket_count_, job.sockets.most = here_->held.socket_bytes;
        if (!current_->instance.alive()) return system_error("the sandbox of the run had to be destroyed, so there is nothing to check");
        return {};
    }
    process::reaper_link& reaper() override { return current_->instance.reaper(); }
    bool again() const override { return !all_->fresh && !renewed_scratch_; }
    void release() override {
        // all processors instead of no limit: removing the last CPU quota of a machine makes the kernel patch its own code
        auto const& held = here_->held;
        if (here_->group && held.cores >= 0) (void)here_->group->hold({held.memory_bytes, held.pids, static_cast<double>(machine::usable_cpus()), held.socket_bytes});
    }
    void finish(watch::outcome& got) override {
        auto& group = here_->group;
        auto& instance = current_->instance;
        got.file_limit_reached = reached_file_limit(got);
        if (group) {
            // the reaper is beside the payload's group or in it, and may have worked for the next run already
            if (group->run_leaf() >= 0) got.reaper_cpu_ns = 0;
            else if (instance.reaper().pid != instance.supervisor_pid()) got.reaper_cpu_ns = std::max<std::int64_t>(machine::process_cpu_ns(instance.reaper().pid) - reaper_cpu_ns_, 0);
            got.group = group->end();
            // memory is counted in steps of a quarter of a mebibyte, so a small peak has no parts; and reading them costs
            // more than all the rest
            auto const &peak = got.group->memory_peak_bytes, &base = got.group->memory_base_bytes;
            if (peak && base && *peak - *base >= least_split) got.charged = group->charged();
        }
        got.renewed = renewed_;
        if (auto const made = instance.tasks_made(); made && got.processes_made) { // the requested processes and those that were made
            got.refused_forks = std::max<std::int64_t>(*got.processes_made - *made, 0);
            got.processes_made = *made;
        }
        if (auto const bytes = instance.network_bytes()) got.net_rx_bytes = bytes->first, got.net_tx_bytes = bytes->second;
        if (group && got.net_rx_bytes.value_or(1) > 0) got.group->socket_peak_bytes = group->socket_peak(); // everything that sockets hold went over the loopback
        got.scratch_full = got.scratch_full || instance.is_full();
        if (got.reaper_lost) retired_cpu_ns_ += cpu_ns_of(instance), instance.end(); // what it wrote stays until the next run
    }
    std::int64_t helpers_cpu_ns() const override {
        auto used_ns = retired_cpu_ns_;
        for (auto const& each_group : groups_) {
            if (each_group.template_) used_ns += machine::process_cpu_ns(each_group.template_->pid());
            for (auto const& [as, each] : each_group.instances) used_ns += cpu_ns_of(each->instance);
        }
        return used_ns;
    }
    result<void> keep(files::session_folder const& in, std::string const& run) override { return keep_files(current_->instance, in, run); }
    void close() override {
        current_ = nullptr;
        for (auto& each_group : groups_) {
            each_group.instances.clear(), each_group.dying.clear();
            each_group.template_.reset();
            if (each_group.group) (void)each_group.group->remove();
            each_group.group.reset();
        }
    }

private:
    static constexpr std::size_t fresh_groups = 3;
    static constexpr std::int64_t more_boxes_bytes = std::int64_t{4} << 20; // the most that each sandbox after the first takes
    static constexpr int most_looks = 16, looks_at_cached = 4;
    static constexpr std::int64_t looks_apart_ns = 500'000;
    static constexpr std::int64_t kernels_bytes = std::int64_t{8} << 20; // the kernel itself keeps this for some time after thousands of runs a second
    // time in which runs can leave little: where the kernel reports its own memory separately, and where it does not
    static constexpr std::int64_t trusted_ns = 50'000'000, trusted_blindly_ns = 5'000'000;
    static constexpr std::int64_t least_split = std::int64_t{2} << 20;

    /// Properties that cannot change after a sandbox is made.
    struct birth {
        int level;
        std::int64_t most_tasks;
        auto operator<=>(birth const&) const = default;
    };
    struct kept_instance {
        sandbox::instance instance;
        bool used = false;
    };
    struct run_group {
        std::optional<cgroup::cgroup> group;
        std::unique_ptr<sandbox::sandbox_template> template_;
        std::map<birth, std::unique_ptr<kept_instance>> instances;
        std::vector<std::unique_ptr<kept_instance>> dying;
        cgroup::group_limits held = {};
        std::int64_t light_ns = 0, looked_ns = 0; // when its group was last seen with little memory; when it was last checked
    };

    sandbox_site(sandbox_session const& session, std::size_t number, process::order_room& room) : all_{&session}, number_{number}, room_{&room} {
        plan_.shown = session.shown, plan_.user = session.user, plan_.lower = session.lower, plan_.copies_work = session.copies_work;
        if (session.owners) plan_.owners = unique_fd{::fcntl(session.owners.get(), F_DUPFD_CLOEXEC, 3)};
    }

    /// After an end by the signal of the file size limit, which any process can send: was there such a file?
    bool reached_file_limit(watch::outcome const& got) const {
        auto const signalled = [](watch::copy_end const& each) { return WIFSIGNALED(each.status) && WTERMSIG(each.status) == SIGXFSZ; };
        if (this_.file_bytes < 0 || (!got.orphan_broke_file_limit && std::none_of(got.copies.begin(), got.copies.end(), signalled))) return false;
        // files in memory belong to the run, except in a copied workspace
        if (files::large_file_search{this_.file_bytes, all_->copies_work ? this_.begun_ns : 0}.find_in(current_->instance.scratch())) return true;
        files::large_file_search search{this_.file_bytes, this_.begun_ns};
        return std::any_of(all_->shown.bindings.begin(), all_->shown.bindings.end(), [&](sandbox::binding const& each) {
            if (!each.writable) return false;
            if (each.place) return search.is_at(each.place.fd());
            unique_fd const place{::open(each.source.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
            return search.is_at(place.get());
        });
    }
    /// Prepares a clean sandbox for the run, and sets its group to the start of a run.
    result<void> take_place(watch::job const& job) {
        sandbox::scratch_size const size{job.held.scratch_bytes, job.held.scratch_inodes};
        SB_TRY(auto* place, instance_in(*here_, {job.held.level, job.held.numbered_pids}, size));
        if (all_->copies_work) SB_CHECK(relax(*here_)); // the run does not pay for the copying
        auto found = place->instance.make_clean(size);
        if (found.has_error() && place->used) { // whatever the last run did to it
            current_ = nullptr;
            retire(*here_, {job.held.level, job.held.numbered_pids});
            SB_TRY(place, instance_in(*here_, {job.held.level, job.held.numbered_pids}, size));
            found = place->instance.make_clean(size);
        }
        if (found.has_error()) return found.error();
        renewed_scratch_ = *found == sandbox::tidiness::renewed;
        if (auto& group = here_->group) {
            here_->held = {job.held.tree_memory_bytes, job.held.tree_pids, job.held.tree_cores, all_->sockets.beside(job.held.tree_memory_bytes)};
            SB_TRY(auto const in_force, group->hold(here_->held));
            socket_count_ = in_force.socket_bytes ? group->socket_count() : -1;
            reaper_cpu_ns_ = machine::process_cpu_ns(place->instance.reaper().pid); // its processor time also counts in the group
            SB_TRY([[maybe_unused]] bool const moved, group->begin());
        }
        return {};
    }
    run_group& after(run_group const& one) noexcept { return groups_[static_cast<std::size_t>(&one - groups_ + 1) % fresh_groups]; }
    result<sandbox::instance_plan*> plan_of(birth const& as) {
        auto& plan = plans_[as];
        if (plan) return plan.get();
        auto made = std::make_unique<sandbox::instance_plan>(sandbox::instance_plan{as.level, {}, as.most_tasks});
        SB_TRY(made->filter, filter::make_filter(filter::level_of(as.level), {all_->clone_key, all_->shown.host_writable()}));
        plan = std::move(made);
        return plan.get();
    }
    static std::int64_t most_left(run_group const& in) noexcept {
        return cgroup::cgroup::most_left() + more_boxes_bytes * (std::max<std::int64_t>(std::ssize(in.instances), 1) - 1);
    }
    /// Its group may hold more memory than the sandboxes in it. The kernel frees the memory of many short runs a moment
    /// later, some megabytes at a time. So the group counts as laden only when that memory stays, or when the previous run
    /// was long enough to leave as much.
    static bool is_laden(run_group& in) {
        if (!in.group) return false;
        auto const now = monotonic_ns();
        if (in.group->left_over() <= most_left(in)) return in.light_ns = in.looked_ns = now, false;
        if (now - in.looked_ns < looks_apart_ns) return false; // too little time passed to leave much
        in.looked_ns = now;
        auto const cached = in.group->cached_left();
        if (!cached) return now - in.light_ns > trusted_blindly_ns;
        if (*cached > most_left(in)) return true;
        if (in.group->left_over() <= most_left(in) + kernels_bytes) return in.light_ns = now, false;
        return now - in.light_ns > trusted_ns;
    }
    /// Waits for memory that the kernel is about to free. It does not free cached pages by itself.
    static result<bool> gets_light(run_group& in) {
        for (int looks = 0; looks < most_looks; ++looks) {
            if (looks >= looks_at_cached && in.group->cached_left().value_or(0) > most_left(in)) break;
            nap(looks_apart_ns);
            SB_TRY([[maybe_unused]] bool const moved, in.group->begin());
            if (!is_laden(in)) return true;
        }
        return false;
    }
    /// Makes a run_group anew when its group holds memory that earlier runs left.
    result<void> renew(run_group& in) {
        current_ = nullptr;
        for (auto const& [as, each] : in.instances) retired_cpu_ns_ += cpu_ns_of(each->instance), each->instance.kill();
        in.instances.clear(), in.dying.clear();
        if (in.template_) retired_cpu_ns_ += machine::process_cpu_ns(in.template_->pid());
        in.template_.reset();
        (void)in.group->remove(); // a group that cannot be removed now is removed at the end of this session or by the next
        in.group.reset();
        return found(in);
    }
    /// Makes a group for a run_group, with a new name each time: a dying group may still have the old one.
    result<void> found(run_group& in) {
        auto const n = groups_made_++;
        SB_TRY(auto group, cgroup::cgroup::make(*all_->groups, n == 0 ? cat("worker", number_) : cat("worker", number_, "w", n)));
        in.group.emplace(std::move(group));
        if (::geteuid() == 0) SB_CHECK(in.group->give_to(all_->user.uid));
        return {};
    }
    result<void> open(run_group& in) {
        if (in.template_) return {};
        in.instances.clear(), in.dying.clear(); // on v2 no process may be in the group's two folders when the template enters
        SB_TRY(auto made, sandbox::sandbox_template::make(plan_, *room_, in.group ? &*in.group : nullptr));
        in.template_ = std::make_unique<sandbox::sandbox_template>(std::move(made));
        return {};
    }
    /// The limits of the last run must not apply to work between two runs.
    static result<void> relax(run_group& in) {
        if (!in.group) return {};
        SB_TRY([[maybe_unused]] auto const none, in.group->hold({process::limits::none, process::limits::none, in.held.cores >= 0 ? static_cast<double>(machine::usable_cpus()) : -1.0, in.held.socket_bytes}));
        return {};
    }
    /// Begins a sandbox in a run_group that has none of this kind.
    result<void> begin_in(run_group& in, birth const& as, sandbox::scratch_size size) {
        SB_TRY(auto* const plan, plan_of(as));
        SB_CHECK(relax(in));
        if (in.group) in.group->recount(); // other processes will be in it when the next limits are set
        auto made = sandbox::instance::begin(*in.template_, *plan, size);
        if (made.has_error()) { // when they end, they ask the template for their supervisors
            in.instances.clear(), in.dying.clear();
            in.template_.reset();
            return made.error();
        }
        in.instances[as] = std::make_unique<kept_instance>(kept_instance{std::move(*made)});
        return {};
    }
    /// A sandbox of this kind that contains nothing of an earlier run.
    result<kept_instance*> instance_in(run_group& in, birth const& as, sandbox::scratch_size size) {
        auto* const before = std::exchange(current_, nullptr);
        auto const place = in.instances.find(as);
        bool there_is = place != in.instances.end();
        if (before && (!there_is || before != place->second.get())) before->instance.reaper().let_go(); // a waiting child would be counted here
        if (auto* const last = there_is ? place->second.get() : nullptr; last && last->used && (!last->instance.alive() || !last->instance.soiled(*room_).empty()))
            retire(in, as), there_is = false;
        if (!there_is) {
            SB_CHECK(open(in));
            SB_CHECK(begin_in(in, as, size));
        }
        current_ = in.instances.at(as).get();
        auto const there = current_->instance.await();
        in.dying.clear();
        if (!there.has_error()) return current_;
        current_ = nullptr;
        in.instances.erase(as);
        return there.error();
    }

    static std::int64_t cpu_ns_of(sandbox::instance const& one) {
        auto const supervisor = one.supervisor_pid(), reaper = one.reaper().pid;
        return machine::process_cpu_ns(supervisor) + (reaper == supervisor ? 0 : machine::process_cpu_ns(reaper));
    }
    /// Lets a sandbox die while something else is done, and records what it has used.
    void retire(run_group& in, birth const& as) {
        auto one = in.instances.extract(as);
        if (one.empty()) return;
        retired_cpu_ns_ += cpu_ns_of(one.mapped()->instance);
        one.mapped()->instance.kill();
        in.dying.push_back(std::move(one.mapped()));
    }

    sandbox_session const* all_;
    std::size_t number_;
    std::size_t groups_made_ = 0;
    process::order_room* room_;
    sandbox::template_plan plan_;
    std::map<birth, std::unique_ptr<sandbox::instance_plan>> plans_;
    run_group groups_[fresh_groups];
    run_group* here_ = &groups_[0];
    kept_instance* current_ = nullptr;
    struct {
        birth as{};
        sandbox::scratch_size size;
        std::int64_t file_bytes = process::limits::none;
        std::int64_t begun_ns = 0; ///< by the clock of files
    } this_; // what the current run has
    std::int64_t retired_cpu_ns_ = 0;
    std::int64_t reaper_cpu_ns_ = 0; // its processor time when the run began
    int socket_count_ = -1; // a file of the group, if the group counts sockets
    bool renewed_ = false;
    bool renewed_scratch_ = false; // the last run had written much, and the run after it may write as much
};

} // namespace sb::local
