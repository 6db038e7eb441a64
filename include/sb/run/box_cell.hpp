// SPDX-License-Identifier: MIT
// Runs behind walls: a box for each level of strictness and each limit that its namespaces hold, used again when it is
// provably clean.
//
// How it works: a ward is a control group with the nursery of its boxes. One does for boxes that are used again. Where each
// run gets a new box there are three, in turn: while a run is measured in one, the boxes of the next two are born in the
// others, so that their birth is counted to nobody.
#pragma once
#include <sb/isolate/box.hpp>
#include <sb/isolate/copy_tree.hpp>
#include <sb/isolate/input_file.hpp>
#include <sb/run/cell.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/statfs.h>
#include <utility>

namespace sb::run {

/// What the boxes of a session share; made before the slots are forked.
struct box_session {
    isolate::view shown;
    isolate::payload_user user;
    isolate::cgroup_host* groups = nullptr; ///< null: no control group can be made here
    unique_fd owners = unique_fd{}; ///< see nursery_plan
    std::string lower;
    std::uint64_t clone_key = 0;
    bool fresh = false; ///< a new box for each run
    bool copies_work = false; ///< see keeper_plan
};

class box_cell final : public cell {
public:
    static result<std::unique_ptr<cell>> make(box_session const& all, std::size_t number, isolate::order_room& room) {
        SB_CHECK(isolate::adopt_orphans()); // a zygote comes to us when its keeper is dead
        std::unique_ptr<box_cell> made{new box_cell{all, room}};
        for (std::size_t i = 0; i < (all.fresh ? fresh_wards : 1); ++i) {
            auto& place = made->wards_[i];
            if (!all.groups) continue;
            SB_TRY(auto group, isolate::cgroup::make(*all.groups, i == 0 ? cat("slot", number) : cat("slot", number, "w", i)));
            place.group.emplace(std::move(group));
            if (::geteuid() == 0) SB_CHECK(place.group->give_to(all.user.uid));
        }
        return std::unique_ptr<cell>{std::move(made)};
    }

    result<void> prepare(int level) override {
        for (std::size_t i = 1; all_->fresh && i < fresh_wards; ++i) SB_CHECK(open(wards_[i]));
        SB_TRY([[maybe_unused]] auto* const place, box_in(wards_[0], {level, -1}, {}));
        return {};
    }
    result<void> make_ready(isolate::job& job) override {
        if (job.in != isolate::nothing_to_read) {
            SB_TRY(job.in, input_.name_of(job.in));
        }
        if (all_->fresh && current_ && current_->used) {
            retire(*here_, this_.as);
            here_ = &after(*here_);
        }
        isolate::scratch_size const size{job.held.scratch_bytes, job.held.scratch_inodes};
        SB_TRY(auto* place, box_in(*here_, {job.held.level, job.held.numbered_pids}, size));
        if (all_->copies_work) SB_CHECK(relax(*here_)); // what is copied is not the run's to pay for
        auto found = place->walls.make_clean(size);
        if (found.has_error() && place->used) { // whatever the last run did to it
            current_ = nullptr;
            retire(*here_, {job.held.level, job.held.numbered_pids});
            SB_TRY(place, box_in(*here_, {job.held.level, job.held.numbered_pids}, size));
            found = place->walls.make_clean(size);
        }
        if (found.has_error()) return found.error();
        renewed_scratch_ = *found == isolate::tidiness::renewed;
        if (auto& group = here_->group) {
            here_->held = {job.held.tree_memory_bytes, job.held.tree_pids, job.held.tree_cores};
            SB_TRY([[maybe_unused]] auto const in_force, group->hold(here_->held));
            reaper_cpu_ns_ = isolate::process_cpu_ns(place->walls.reaper().pid); // its clock makes the group's go on too
            SB_TRY([[maybe_unused]] bool const moved, group->begin());
        }
        renewed_ = !std::exchange(place->used, true);
        this_ = {{job.held.level, job.held.numbered_pids}, size};
        return look(job);
    }
    /// The box of the next run, which is taken to be like this one, is born meanwhile.
    void under_way() override {
        if (!all_->fresh) return;
        for (auto* other = &after(*here_); other != here_; other = &after(*other))
            if (other->origin && !other->boxes.contains(this_.as)) (void)begin_in(*other, this_.as, this_.size); // what goes wrong is met again when it is needed
    }
    result<void> look(isolate::job& job) override {
        job.environment.push_back(cat("HOME=", isolate::sandbox_home));
        job.environment.push_back("TMPDIR=/tmp");
        job.folder = all_->shown.work.empty() ? std::string{isolate::sandbox_home} : all_->shown.work;
        if (here_->group) job.group = here_->group->run_leaf(), job.clone_key = all_->clone_key;
        job.scratch = current_->walls.scratch();
        if (!current_->walls.alive()) return system_error("the run's sandbox had to be destroyed: nothing is left to look at");
        return {};
    }
    isolate::reaper_link& reaper() override { return current_->walls.reaper(); }
    bool again() const override { return !all_->fresh && !renewed_scratch_; }
    void release() override {
        // all there are rather than no limit: the last limit of a machine to go makes the kernel patch its own code
        auto const& held = here_->held;
        if (here_->group && held.cores >= 0) (void)here_->group->hold({held.memory_bytes, held.pids, static_cast<double>(isolate::usable_cpus())});
    }
    void finish(isolate::outcome& got) override {
        auto& group = here_->group;
        auto& walls = current_->walls;
        if (group) {
            // it sits beside the payload's group or in it, and may have worked for the next run already
            if (group->run_leaf() >= 0) got.reaper_cpu_ns = 0;
            else if (walls.reaper().pid != walls.keeper_pid()) got.reaper_cpu_ns = std::max<std::int64_t>(isolate::process_cpu_ns(walls.reaper().pid) - reaper_cpu_ns_, 0);
            got.group = group->end();
            // counted in steps of a quarter of a mebibyte, a small peak has no parts; and asking costs more than all the rest
            auto const &peak = got.group->memory_peak_bytes, &base = got.group->memory_base_bytes;
            if (peak && base && *peak - *base >= least_split) got.charged = group->charged();
        }
        got.renewed = renewed_;
        if (auto const made = walls.tasks_made(); made && got.processes_made) { // what was asked for and what came of it
            got.refused_forks = std::max<std::int64_t>(*got.processes_made - *made, 0);
            got.processes_made = *made;
        }
        if (auto const bytes = walls.network_bytes()) got.net_rx_bytes = bytes->first, got.net_tx_bytes = bytes->second;
        got.scratch_full = got.scratch_full || walls.is_full();
        if (got.reaper_lost) retired_cpu_ns_ += cpu_ns_of(walls), walls.end(); // what it wrote stays until the next run
    }
    std::int64_t helpers_cpu_ns() const override {
        auto all = retired_cpu_ns_;
        for (auto const& each_ward : wards_) {
            if (each_ward.origin) all += isolate::process_cpu_ns(each_ward.origin->pid());
            for (auto const& [as, each] : each_ward.boxes) all += cpu_ns_of(each->walls);
        }
        return all;
    }
    /// `work` has what was changed, `removed` names what was deleted there.
    result<void> keep(std::string const& kept) override {
        if (::mkdir(kept.c_str(), 0700) != 0) return last_error("make folder", kept);
        // many names of one file are many files there: all together are to take no more than the run had room for
        struct statfs room {};
        auto left = ::fstatfs(current_->walls.scratch(), &room) == 0 && room.f_blocks > 0 ? static_cast<std::int64_t>(room.f_blocks) * room.f_bsize : -1;
        for (auto const& [name, from] : {std::pair{"work", current_->walls.upper()}, {"home", current_->walls.home()}, {"tmp", current_->walls.tmp()}}) {
            auto const path = cat(kept, "/", std::string_view{name});
            if (::mkdir(path.c_str(), 0700) != 0) return last_error("make folder", path);
            auto const to = isolate::detail::open_folder(AT_FDCWD, path.c_str());
            if (!to) return last_error("open", path);
            SB_TRY(auto const told, isolate::copy_tree(from, to.get(), isolate::tree_owner{::geteuid(), ::getegid()}, left));
            if (left >= 0) left = std::max<std::int64_t>(left - told.bytes, 0);
            SB_CHECK(write_list(path + ".removed", told.removed));
            SB_CHECK(write_list(path + ".skipped", told.skipped));
        }
        return {};
    }
    void close() override {
        current_ = nullptr;
        for (auto& each_ward : wards_) {
            each_ward.boxes.clear(), each_ward.dying.clear();
            each_ward.origin.reset();
            if (each_ward.group) (void)each_ward.group->remove();
            each_ward.group.reset();
        }
    }

private:
    static constexpr std::size_t fresh_wards = 3;
    static constexpr std::int64_t least_split = std::int64_t{2} << 20;

    /// What cannot be changed any more once a box is there.
    struct birth {
        int level;
        std::int64_t most_tasks;
        auto operator<=>(birth const&) const = default;
    };
    struct kept_box {
        isolate::box walls;
        bool used = false;
    };
    struct ward {
        std::optional<isolate::cgroup> group;
        std::unique_ptr<isolate::nursery> origin;
        std::map<birth, std::unique_ptr<kept_box>> boxes;
        std::vector<std::unique_ptr<kept_box>> dying;
        isolate::group_limits held = {};
    };

    box_cell(box_session const& all, isolate::order_room& room) : all_{&all}, room_{&room} {
        plan_.shown = all.shown, plan_.user = all.user, plan_.lower = all.lower, plan_.copies_work = all.copies_work;
        if (all.owners) plan_.owners = unique_fd{::fcntl(all.owners.get(), F_DUPFD_CLOEXEC, 3)};
    }

    static result<void> write_list(std::string const& path, std::vector<std::string> const& lines) {
        if (lines.empty()) return {};
        SB_TRY(auto const file, open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
        std::string text;
        for (auto const& each : lines) text += each + "\n";
        return write_all(file.get(), text, path);
    }
    ward& after(ward const& one) noexcept { return wards_[static_cast<std::size_t>(&one - wards_ + 1) % fresh_wards]; }
    result<isolate::box_plan*> plan_of(birth const& as) {
        auto& plan = plans_[as];
        if (plan) return plan.get();
        auto made = std::make_unique<isolate::box_plan>(isolate::box_plan{as.level, {}, as.most_tasks});
        SB_TRY(made->filter, isolate::make_filter(isolate::level_of(as.level), all_->clone_key));
        plan = std::move(made);
        return plan.get();
    }
    result<void> open(ward& in) {
        if (in.origin) return {};
        in.boxes.clear(), in.dying.clear(); // where the group has sides, nobody may be in them when the nursery enters
        SB_TRY(auto made, isolate::nursery::make(plan_, *room_, in.group ? &*in.group : nullptr));
        in.origin = std::make_unique<isolate::nursery>(std::move(made));
        return {};
    }
    /// Limits of the last run are not for what is done between two.
    static result<void> relax(ward& in) {
        if (!in.group) return {};
        SB_TRY([[maybe_unused]] auto const none, in.group->hold({isolate::limits::none, isolate::limits::none, in.held.cores >= 0 ? static_cast<double>(isolate::usable_cpus()) : -1.0}));
        return {};
    }
    /// Begins a box in a ward that has none of this kind.
    result<void> begin_in(ward& in, birth const& as, isolate::scratch_size size) {
        SB_TRY(auto* const plan, plan_of(as));
        SB_CHECK(relax(in));
        if (in.group) in.group->recount(); // who is in it will have changed when the next limits are set
        auto made = isolate::box::begin(*in.origin, *plan, size);
        if (made.has_error()) { // they ask it for their keepers when they end
            in.boxes.clear(), in.dying.clear();
            in.origin.reset();
            return made.error();
        }
        in.boxes[as] = std::make_unique<kept_box>(kept_box{std::move(*made)});
        return {};
    }
    /// A box of this kind that nothing of an earlier run is in.
    result<kept_box*> box_in(ward& in, birth const& as, isolate::scratch_size size) {
        auto* const before = std::exchange(current_, nullptr);
        auto const place = in.boxes.find(as);
        bool there_is = place != in.boxes.end();
        if (before && (!there_is || before != place->second.get())) before->walls.reaper().let_go(); // who waits there would be counted here
        if (auto* const last = there_is ? place->second.get() : nullptr; last && last->used && (!last->walls.alive() || !last->walls.soiled(*room_).empty()))
            retire(in, as), there_is = false;
        if (!there_is) {
            SB_CHECK(open(in));
            SB_CHECK(begin_in(in, as, size));
        }
        current_ = in.boxes.at(as).get();
        auto const there = current_->walls.await();
        in.dying.clear();
        if (!there.has_error()) return current_;
        current_ = nullptr;
        in.boxes.erase(as);
        return there.error();
    }

    static std::int64_t cpu_ns_of(isolate::box const& one) {
        auto const keeper = one.keeper_pid(), reaper = one.reaper().pid;
        return isolate::process_cpu_ns(keeper) + (reaper == keeper ? 0 : isolate::process_cpu_ns(reaper));
    }
    /// Lets a box die while something else is done, and keeps count of what it has used.
    void retire(ward& in, birth const& as) {
        auto one = in.boxes.extract(as);
        if (one.empty()) return;
        retired_cpu_ns_ += cpu_ns_of(one.mapped()->walls);
        one.mapped()->walls.kill();
        in.dying.push_back(std::move(one.mapped()));
    }

    box_session const* all_;
    isolate::order_room* room_;
    isolate::nursery_plan plan_;
    std::map<birth, std::unique_ptr<isolate::box_plan>> plans_;
    ward wards_[fresh_wards];
    ward* here_ = &wards_[0];
    kept_box* current_ = nullptr;
    struct {
        birth as{};
        isolate::scratch_size size;
    } this_; // what the run at hand has
    isolate::input_file input_;
    std::int64_t retired_cpu_ns_ = 0;
    std::int64_t reaper_cpu_ns_ = 0; // its clock when the run began
    bool renewed_ = false;
    bool renewed_scratch_ = false; // what the last run had written was much; the one after it may write as much
};

} // namespace sb::run
