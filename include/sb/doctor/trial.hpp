// SPDX-License-Identifier: MIT
// One run of `true` behind all walls, made as sb-exec makes it: the proof of what the single findings promise.
#pragma once
#include <sb/files/copy_tree.hpp>
#include <sb/doctor/finding.hpp>
#include <sb/files/own_folder.hpp>
#include <sb/local/sandbox_backend.hpp>
#include <sb/run/payload_environment.hpp>
#include <sb/run/host_facts.hpp>
#include <sb/run/session.hpp>
#include <sb/stress/read_preset.hpp>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::doctor {

namespace detail {

inline result<run_record> run_true(std::string const& work, std::string const& data_dir, run::variables const& base, std::string const& groups_below) {
    local::sandbox_choices asked;
    asked.work = work, asked.groups_below = groups_below;
    SB_TRY(auto const with, local::sandbox_backend::make(asked, data_dir, base.at("PATH")));
    SB_TRY(auto lanes, with->open(1));
    run::session_options o;
    o.command = {"true"};
    o.base = base;
    o.context.workload = "true", o.context.host = run::this_host();
    std::string unused;
    std::vector<key::preset> presets(1);
    SB_TRY(presets[0], stress::preset_of({}, 0, unused));
    std::vector<run::output_metric> metrics;
    run::session trial{*with, std::move(o), presets, metrics};
    SB_CHECK(trial.look_up_commands());
    std::optional<run_record> made;
    SB_CHECK(trial.run(std::move(lanes), {}, [&](run::run_seen const& seen) { return made = seen.record, true; }));
    if (!made) return system_error("the run was interrupted");
    return *made;
}

/// The folders of `path` that are not there yet, the deepest first.
inline std::vector<std::string> missing_folders(std::string path) {
    std::vector<std::string> missing;
    while (path.size() > 1 && ::access(path.c_str(), F_OK) != 0) {
        missing.push_back(path);
        path.resize(std::max<std::size_t>(path.rfind('/'), 1));
    }
    return missing;
}

} // namespace detail

/// The finding `full`, in the current folder. What was not there before is removed again.
inline finding try_isolation(std::string const& data_dir, run::variables const& base, std::string const& groups_below = {}) {
    finding f{"full", finding_status::ok, {}, {}};
    auto const new_folders = detail::missing_folders(data_dir + "/leases");
    auto const home = sandbox::workspace_folder(".");
    auto got = home.has_error() ? result<run_record>{home.error()} : detail::run_true(".", data_dir, base, groups_below);
    if (home.has_error()) {
        // this folder is none of the host's doing: an empty one shows what the host can
        if (auto elsewhere = files::session_folder::make(); !elsewhere.has_error())
            if (auto const path = elsewhere->path() + "/trial"; ::mkdirat(elsewhere->fd(), "trial", 0700) == 0)
                if (auto there = detail::run_true(path, data_dir, base, groups_below); there.has_error() || there->end.class_ != end_class::ok) got = std::move(there);
    }
    for (auto const& each : new_folders) {
        auto const slash = each.rfind('/');
        std::vector<std::string> missing;
        auto const in = files::own_folder::open_nearest(slash == std::string::npos ? "." : each.substr(0, slash + 1), files::for_data, missing);
        if (in && missing.empty()) ::unlinkat(in->fd(), each.substr(slash + 1).c_str(), AT_REMOVEDIR);
    }
    if (got.has_error() && got.error().on == blame::caller && home.has_error()) {
        f.fails(finding_status::limited, cat("possible, but not in this folder: ", got.error().what)).advice = "change to the folder of the project";
    } else if (got.has_error()) {
        f.fails(finding_status::missing, cat("sb-exec would refuse: ", got.error().what));
    } else if (got->end.class_ != end_class::ok) {
        f.fails(finding_status::missing, cat("a run of `true` failed: ", got->end.reason));
    } else {
        f.what = cat("`true` ran isolated by ", got->layers.size(), " layers in ", show_seconds(got->wall_s));
    }
    return f;
}

} // namespace sb::doctor
