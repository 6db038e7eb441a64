// SPDX-License-Identifier: MIT
// Runs behind walls: a box for each level of strictness, used again when it is provably clean, under one control group.
#pragma once
#include <sb/isolate/box.hpp>
#include <sb/isolate/copy_tree.hpp>
#include <sb/run/cell.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace sb::run {

/// What the boxes of a session share; made before the slots are forked.
struct box_session {
    isolate::view shown;
    isolate::payload_user user;
    isolate::cgroup_host* groups = nullptr; ///< null: no control group can be made here
    unique_fd owners = unique_fd{}; ///< see box_plan
    std::string lower;
    std::uint64_t clone_key = 0;
    bool fresh = false; ///< a new box for each run
};

class box_cell final : public cell {
public:
    static result<std::unique_ptr<cell>> make(box_session const& all, isolate::session_folder& session, std::size_t number, isolate::order_room& room) {
        SB_CHECK(isolate::adopt_orphans()); // a zygote comes to us when its keeper is dead
        std::unique_ptr<box_cell> made{new box_cell{all, session, room}};
        if (all.groups) {
            SB_TRY(auto group, isolate::cgroup::make(*all.groups, cat("slot", number)));
            made->group_.emplace(std::move(group));
            if (::geteuid() == 0) SB_CHECK(made->group_->give_to(all.user.uid));
        }
        return std::unique_ptr<cell>{std::move(made)};
    }

    result<void> prepare(int level) override {
        SB_TRY([[maybe_unused]] auto* const place, box_of(level));
        return {};
    }
    result<void> make_ready(isolate::job& job) override {
        renewed_ = false;
        SB_TRY(auto* const place, box_of(job.held.level));
        SB_TRY([[maybe_unused]] bool const anew, place->make_clean({job.held.scratch_bytes, job.held.scratch_inodes}));
        if (group_) {
            held_ = {job.held.tree_memory_bytes, job.held.tree_pids, job.held.tree_cores};
            SB_TRY([[maybe_unused]] auto const in_force, group_->hold(held_));
            SB_TRY([[maybe_unused]] bool const moved, group_->begin());
        }
        return look(job);
    }
    result<void> look(isolate::job& job) override {
        job.environment.push_back(cat("HOME=", isolate::sandbox_home));
        job.environment.push_back("TMPDIR=/tmp");
        job.folder = all_->shown.work.empty() ? std::string{isolate::sandbox_home} : all_->shown.work;
        if (group_) job.group = group_->run_leaf(), job.clone_key = all_->clone_key;
        if (!current_->alive()) return system_error("the run's sandbox had to be destroyed: nothing is left to look at");
        return {};
    }
    isolate::reaper_link const& reaper() const override { return current_->reaper(); }
    void release() override {
        // all there are rather than no limit: the last limit of a machine to go makes the kernel patch its own code
        if (group_ && held_.cores >= 0) (void)group_->hold({held_.memory_bytes, held_.pids, static_cast<double>(isolate::usable_cpus())});
    }
    void finish(isolate::outcome& got) override {
        if (group_) {
            got.group = group_->end();
            // counted in steps of a quarter of a mebibyte, a small peak has no parts; and asking costs more than all the rest
            auto const &peak = got.group->memory_peak_bytes, &base = got.group->memory_base_bytes;
            if (peak && base && *peak - *base >= least_split) got.charged = group_->charged();
        }
        if (group_ && group_->run_leaf() >= 0) got.reaper_cpu_ns = 0; // it sits beside the payload's group, not in it
        got.renewed = renewed_;
        if (auto const bytes = current_->network_bytes()) got.net_rx_bytes = bytes->first, got.net_tx_bytes = bytes->second;
        got.scratch_full = current_->is_full();
        if (got.reaper_lost) current_->end(); // what it wrote stays until the next run
    }
    /// `work` has what was changed, `removed` names what was deleted there.
    result<void> keep(std::string const& kept) override {
        if (::mkdir(kept.c_str(), 0700) != 0) return last_error("make folder", kept);
        for (auto const& [name, from] : {std::pair{"work", current_->upper()}, {"home", current_->home()}, {"tmp", current_->tmp()}}) {
            auto const path = cat(kept, "/", std::string_view{name});
            if (::mkdir(path.c_str(), 0700) != 0) return last_error("make folder", path);
            auto const to = isolate::detail::open_folder(AT_FDCWD, path.c_str());
            if (!to) return last_error("open", path);
            SB_TRY(auto const told, isolate::copy_tree(from, to.get(), isolate::tree_owner{::geteuid(), ::getegid()}));
            SB_CHECK(write_list(path + ".removed", told.removed));
            SB_CHECK(write_list(path + ".skipped", told.skipped));
        }
        return {};
    }
    void close() override {
        boxes_.clear();
        current_ = nullptr;
        if (group_) (void)group_->remove();
        group_.reset();
    }

private:
    static constexpr std::int64_t least_split = std::int64_t{2} << 20;

    box_cell(box_session const& all, isolate::session_folder& session, isolate::order_room& room) : all_{&all}, session_{&session}, room_{&room} {}

    static result<void> write_list(std::string const& path, std::vector<std::string> const& lines) {
        if (lines.empty()) return {};
        SB_TRY(auto const file, open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
        std::string text;
        for (auto const& each : lines) text += each + "\n";
        if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return last_error("write", path);
        return {};
    }
    result<isolate::box_plan*> plan_of(int level) {
        auto& plan = plans_[level];
        if (plan) return plan.get();
        auto made = std::make_unique<isolate::box_plan>();
        made->shown = all_->shown, made->user = all_->user, made->level = level, made->lower = all_->lower;
        if (all_->owners) made->owners = unique_fd{::fcntl(all_->owners.get(), F_DUPFD_CLOEXEC, 3)};
        SB_TRY(made->filter, isolate::make_filter(isolate::level_of(level), all_->clone_key));
        plan = std::move(made);
        return plan.get();
    }
    /// A box of this level that nothing of an earlier run is in.
    result<isolate::box*> box_of(int level) {
        auto& place = boxes_[level];
        std::unique_ptr<isolate::box> old; // dies while the new one is built
        if (place && (all_->fresh || !place->alive() || !place->soiled(*room_).empty())) {
            old = std::move(place);
            old->kill();
        }
        if (!place) {
            renewed_ = true;
            // with one control group for all of them and a namespace that has it as its root, there is one box at a time
            if (group_ && group_->run_leaf() >= 0) {
                old.reset();
                for (auto& [other, each] : boxes_) each.reset();
            }
            SB_TRY(auto* const plan, plan_of(level));
            auto made = isolate::box::make(*plan, *room_, group_ ? &*group_ : nullptr);
            if (made.has_error()) return boxes_.erase(level), current_ = nullptr, made.error();
            place = std::make_unique<isolate::box>(std::move(*made));
        }
        return current_ = place.get();
    }

    box_session const* all_;
    isolate::session_folder* session_;
    isolate::order_room* room_;
    std::optional<isolate::cgroup> group_;
    std::map<int, std::unique_ptr<isolate::box_plan>> plans_;
    std::map<int, std::unique_ptr<isolate::box>> boxes_;
    isolate::box* current_ = nullptr;
    isolate::group_limits held_;
    bool renewed_ = false;
};

} // namespace sb::run
