// SPDX-License-Identifier: MIT
// Where sb-exec makes its runs: the backend that was asked for, or the one that can be had.
#pragma once
#include <sb/app/exec_choices.hpp>
#include <sb/cli/io.hpp>
#include <sb/files/own_folder.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/local/held_lease.hpp>
#include <sb/local/plain_backend.hpp>
#include <sb/local/sandbox_backend.hpp>
#include <sb/process/payload_user.hpp>
#include <sb/run/backend.hpp>
#include <sb/run/payload_environment.hpp>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace sb::app {

/// Where runs happen: the way to run them, and the lanes in which they do.
struct exec_place {
    std::unique_ptr<run::backend> with;
    run::lanes lanes; ///< none for a dry run
    bool is_sandbox = false;
};

/// What dead sessions left. A killed one may still be ending when we come, so we look again when we go: then in silence.
inline void clear_after_the_dead(cli::io& io, bool aloud) {
    std::vector<std::string> stuck;
    files::sweep_dead_folders(files::temporary_folder(), stuck);
    local::sweep_leases(io.data_dir, stuck);
    for (auto const& each : stuck)
        if (aloud) io.log.warn(cat("cannot remove what a dead sb-exec left: ", each));
}

/// Lanes are opened first, while this process is small: what it holds now is the least peak memory that a plain run can show.
inline result<exec_place> find_place(cli::io& io, exec_choices const& asked) {
    exec_place here;
    if (!asked.dry_run) {
        SB_CHECK(files::own_folder::open(files::temporary_folder(), files::for_temporary)); // said once, and before anything is looked for there
        clear_after_the_dead(io, true);
    }
    auto const in_sandboxes = [&]() -> result<void> {
        auto like = asked.sandbox;
        like.jobs = static_cast<int>(asked.jobs), like.keeps = asked.keep;
        SB_TRY(here.with, local::sandbox_backend::make(like, io.data_dir, run::passed_on(environ).at("PATH")));
        if (auto const kept = process::kept_groups(); !kept.empty()) io.log.info(cat("the payload keeps your supplementary groups: ", process::groups_line(kept)));
        here.is_sandbox = true;
        if (asked.dry_run) return {};
        SB_TRY(here.lanes, here.with->open(like.jobs));
        return {};
    };
    if (asked.isolate == "full") {
        auto const done = in_sandboxes();
        if (!done.has_error()) return here;
        if (done.error().on == blame::caller) return done.error();
        here = {};
        if (!asked.allow_degraded)
            return system_error(cat("full isolation is not possible here: ", done.error().what,
                                            "; sb-doctor says how to fix it; --allow-degraded or --isolate basic run without it"));
        if (auto const need = needs_sandbox(asked))
            return system_error(cat("full isolation is not possible here: ", done.error().what, "; --allow-degraded would run without it, but ", need->name, " needs it"));
        io.log.warn(cat("full isolation is not possible here: ", done.error().what));
    }
    using how = local::plain_backend::strictness;
    here.with = std::make_unique<local::plain_backend>(asked.isolate == "none" ? how::none : how::basic);
    if (asked.dry_run) return here;
    SB_TRY(here.lanes, here.with->open(static_cast<int>(asked.jobs)));
    return here;
}

} // namespace sb::app
