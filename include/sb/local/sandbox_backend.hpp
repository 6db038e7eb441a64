// SPDX-License-Identifier: MIT
// The backend that sandboxes. It turns the caller's request into what is possible here, and owns what the sandboxes of a
// session share, and the lease that lets a later session clear up after this one.
#pragma once
#include <sb/core/secret.hpp>
#include <sb/cgroup/cgroup_host.hpp>
#include <sb/machine/file_count.hpp>
#include <sb/filter/landlock.hpp>
#include <sb/sandbox/lend_work.hpp>
#include <sb/files/own_folder.hpp>
#include <sb/process/task_limit_here.hpp>
#include <sb/local/sandbox_site.hpp>
#include <sb/run/preset_to_limits.hpp>
#include <sb/local/choose_view.hpp>
#include <sb/local/hidden_command.hpp>
#include <sb/local/sandbox_abilities.hpp>
#include <sb/local/held_lease.hpp>
#include <sb/local/local_backend.hpp>
#include <sb/local/plain_backend.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace sb::local {

/// The caller's choices for the sandbox.
struct sandbox_choices {
    std::string work; ///< empty: the current folder
    std::string system; ///< --root; empty: the host's
    std::vector<std::string> bindings;
    bool bind_path = false; ///< show the folders of PATH too
    bool copies_work = false; ///< --work-copy
    bool fresh = false;
    bool keeps = false; ///< --keep
    int jobs = 1;
    std::string groups_below; ///< --cgroup; empty: the caller's own control group
};

/// Runs in sandboxes: the part that the caller's process prepares.
class sandbox_backend final : public local_backend {
public:
    /// Examines the host and takes a lease. `path` is the workload's PATH.
    static result<std::unique_ptr<sandbox_backend>> make(sandbox_choices const& asked, std::string const& data_dir, std::string_view path) {
        auto made = std::unique_ptr<sandbox_backend>{new sandbox_backend};
        auto& session = made->session_;
        made->data_dir_ = data_dir;
        SB_CHECK(made->choose_view(asked, path));
        SB_CHECK(made->check_own_folders(data_dir, asked.keeps));
        // files that a session leaves behind have the same owner in every session
        bool const leaves_files = std::any_of(session.shown.bindings.begin(), session.shown.bindings.end(), [](sandbox::binding const& each) { return each.writable; });
        process::user_wish wish{leaves_files, {}};
        if (::geteuid() == 0) wish.taken = leased_users(data_dir);
        SB_TRY(session.user, process::choose_payload_user(wish));
        session.sockets = machine::socket_share::of_machine(asked.jobs);
        session.fresh = asked.fresh, session.copies_work = asked.copies_work;
        SB_TRY(session.clone_key, make_secret());
        SB_CHECK(made->take_groups(data_dir, asked.groups_below));
        SB_TRY(made->lent_, sandbox::lend_work(session.shown.work_place, session.user));
        session.owners = std::move(made->lent_.owners), session.lower = made->lent_.lower;
        made->can_.jobs = asked.jobs;
        learn_machine(made->can_);
        made->facts_ = made->describe();
        return made;
    }
    sandbox_backend(sandbox_backend const&) = delete;
    sandbox_backend& operator=(sandbox_backend const&) = delete;
    ~sandbox_backend() override { close(); }

    result<run::enforcement> plan(key::preset const& preset, run::overrides const& wins) const override { return run::enforce(preset, wins, as_seen_here(can_)); }
    run::sight seen() const override {
        return {session_.shown.work, [this](std::string const& file) { return hidden_command{session_.shown, session_.user}.why(file); },
                [this](std::string const& file) { return sandbox::host_path(session_.shown, file); },
                [this](std::string const& path) { return sandbox::outlasts_a_run(session_.shown, path); }};
    }
    void close() override {
        if (owner_ != ::getpid()) return;
        local_backend::close();
        if (groups_ && groups_->restore().has_error() && lease_) lease_->leave();
        if (groups_ && groups_->kind() == cgroup::cgroup_kind::v2) { // another session that switched on something we needed could not switch it off before
            std::vector<std::string> stuck;
            sweep_leases(data_dir_, stuck);
        }
        groups_.reset();
        lent_.copy.reset();
        lease_.reset();
    }

    key::host const& can() const noexcept { return can_; }

protected:
    site_maker sites() override {
        return [this](files::session_folder&, std::size_t number, process::order_room& room) { return sandbox_site::make(session_, number, room); };
    }
    result<void> prepare(worker_pool& workers) override { return workers.prepare(default_level); }

private:
    sandbox_backend() = default;

    run::backend_facts describe() const {
        std::vector<std::string> layers{"user", "pid", "mount", "network", "ipc", "uts", "cgroup", "root", "workspace", "proc", "dev",
                                        "no_new_privs", "capabilities", "seccomp"};
        if (filter::landlock_version() >= filter::landlock_rules::oldest) layers.emplace_back("landlock");
        if (process::kept_groups().empty()) layers.emplace_back("groups");
        for (auto const* each : {"session", "rlimits", "environment", "home", "tmpdir", "descriptors"}) layers.emplace_back(each);
        return {"process", std::move(layers), {}, sources()};
    }

    result<void> choose_view(sandbox_choices const& asked, std::string_view path) {
        auto& shown = session_.shown;
        SB_CHECK(show_workspace(shown, asked.work.empty() ? "." : asked.work));
        if (!asked.system.empty()) SB_CHECK(show_system(shown, asked.system));
        shown.boot_id = sandbox::random_uuid();
        if (shown.system == "/") { // once for all workers
            if (unique_fd const etc{::open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)}; etc) shown.etc = sandbox::public_etc{etc.get(), true}.of(sandbox::shown_of_etc);
        }
        for (auto const& each : asked.bindings) SB_CHECK(show_binding(shown, each));
        if (asked.bind_path) show_folders(shown, path);
        return {};
    }

    /// Runs must not write to our own folders on the host, and later runs must not read what earlier runs left.
    result<void> check_own_folders(std::string const& data_dir, bool keeps) const {
        auto const& shown = session_.shown;
        auto const check = [&](std::string const& path, files::folder_use const& use, bool closed) -> result<void> {
            std::vector<std::string> missing;
            auto const own = files::own_folder::open_nearest(path, use, missing);
            if (own.has_error()) return {}; // reported when something must be made there
            auto const wrong = [&](std::string_view shown_by, std::string_view why) {
                return caller_error(cat(use.what, " ", path, ": is in ", shown_by, ", where ", why, "; choose another with ", use.choose));
            };
            for (auto const& each : shown.bindings) {
                if (!each.place.is_folder() || !own->place().lies_in(each.place.facts())) continue;
                if (each.writable) return wrong(cat("the rw binding ", each.source), "runs could change it");
                if (closed) return wrong(cat("the binding ", each.source), "later runs would see what --keep saved of earlier ones");
            }
            if (closed && own->place().lies_in(shown.work_place.facts())) return wrong(cat("the workspace ", shown.work), "later runs would see what --keep saved of earlier ones");
            return {};
        };
        SB_CHECK(check(files::temporary_folder(), files::for_temporary, keeps));
        return check(data_dir, files::for_data, false);
    }

    result<void> take_groups(std::string const& data_dir, std::string const& below) {
        auto terms = new_lease(cgroup::random_id());
        if (::geteuid() == 0 && process::all_payload_ids.contains(session_.user.uid) && session_.user.uid != process::first_payload_id) terms.uid = session_.user.uid;
        if (auto const temp = files::real_path(files::temporary_folder()); !temp.has_error()) terms.temp_folder = *temp + "/"; // contents that carry our label
        auto const write_down = [&]() -> result<void> {
            if (lease_) return lease_->change(terms);
            SB_TRY(auto lease, held_lease::take(data_dir, terms));
            lease_.emplace(std::move(lease));
            return {};
        };
        auto found_or_not = cgroup::cgroup_host::announced(terms.id, below, [&](auto const& bases, auto const& switched_on) {
            terms.cgroups = bases, terms.switched_on = switched_on;
            return write_down();
        });
        if (!lease_ && terms.uid) SB_CHECK(write_down()); // where no group can be made
        SB_TRY(auto found, std::move(found_or_not));
        learn_groups(can_, found, session_.user);
        if (!can_.holds_trees()) return {};
        if (lease_ && terms.switched_on != found.switched_on()) { // the kernel did not accept all
            terms.switched_on = found.switched_on();
            SB_CHECK(lease_->change(terms));
        }
        groups_.emplace(std::move(found));
        session_.groups = &*groups_;
        return {};
    }

    std::map<std::string, std::string> sources() const {
        std::map<std::string, std::string> sources;
        bool const one = groups_ && groups_->version(cgroup::controller::memory) == 1;
        sources["cpu_user_s"] = can_.tree_time ? "control group, the whole tree; the kernel samples the split" : "wait4, all processes that were waited for";
        sources["peak_rss_bytes"] = can_.tree_memory ? cat("memory control group (", one ? "v1" : "v2", "), the whole tree, including page cache, tmpfs and sockets, in steps of about 256 KiB")
                                                 : std::string{"wait4, the largest process that was waited for; never less than the sandbox's own"};
        if (can_.tree_memory) {
            sources["peak_file_bytes"] = "charged at the end of the run, minus what earlier runs left; null for peaks below 2 MiB";
            sources["peak_shm_bytes"] = "charged at the end of the run, including tmpfs";
            sources["peak_anon_bytes"] = "the peak minus these two";
        }
        if (can_.numbered_pids) sources["max_pids"] = cat("process namespaces: ", key::pids_limit.name, " if it was reached, 1 if there was only one process");
        sources.merge(detail::traffic_sources());
        return sources;
    }

    std::string data_dir_;
    sandbox_session session_;
    key::host can_;
    std::optional<cgroup::cgroup_host> groups_;
    std::optional<held_lease> lease_;
    sandbox::lent_work lent_;
    pid_t owner_ = ::getpid();
};

} // namespace sb::local
