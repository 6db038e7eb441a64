// SPDX-License-Identifier: MIT
// What sb-exec was asked for.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/core/units.hpp>
#include <sb/local/sandbox_backend.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::app {

struct exec_choices {
    std::vector<std::string> command, env, metrics, preset_files, set;
    std::string presets, mode;
    std::string presets_by = "--presets"; ///< the option or variable that gave them
    std::vector<std::string> asked; ///< options on the command line that say which presets to take
    std::optional<bool> generate;
    std::int64_t repeat = 1, warmup = 0, jobs = 1, count = 3;
    std::uint64_t seed = 0;
    std::optional<seconds> timeout, budget;
    seconds check_timeout{30};
    std::string order = "interleaved", input = "null", check, resume, module, format;
    std::string value_range = "0..1";
    std::string isolate = "full";
    local::sandbox_choices sandbox;
    bool allow_degraded = false, require_limits = false;
    bool wait_tree = false, keep = false, dry_run = false;
};

/// The first option given that needs a sandbox, and what happens without one.
struct sandbox_need {
    std::string_view name, without;
};
inline std::optional<sandbox_need> needs_sandbox(exec_choices const& asked) {
    auto const& like = asked.sandbox;
    auto const name = !like.work.empty() ? "--work" : !like.system.empty() ? "--root" : !like.bindings.empty() ? "--bind" : like.bind_path ? "--bind-path" : like.copies_work ? "--work-copy" : like.fresh ? "--fresh" : "";
    if (*name) return sandbox_need{name, "the command runs in the current folder and sees the whole host"};
    if (!like.groups_below.empty()) return sandbox_need{"--cgroup", "no control group is made"};
    return std::nullopt;
}

inline result<void> check_choices(exec_choices const& asked) {
    if (asked.command.empty()) return caller_error("no command to run; write sb-exec [OPTION…] -- CMD [ARG…]");
    if (asked.repeat < 1 || asked.repeat > 1'000'000'000) return caller_error("--repeat: must be from 1 to 1000000000");
    if (asked.warmup < 0 || asked.warmup > 1'000'000) return caller_error("--warmup: must be from 0 to 1000000");
    if (asked.jobs < 1 || asked.jobs > 1024) return caller_error("--jobs: must be from 1 to 1024");
    if (asked.timeout && asked.timeout->count <= 0) return caller_error("--timeout: must be more than 0");
    if (asked.check_timeout.count <= 0) return caller_error("--check-timeout: must be more than 0");
    if (asked.count < 1 || asked.count > 1'000'000) return caller_error("--count: must be from 1 to 1000000");
    if (asked.budget && asked.budget->count <= 0) return caller_error("--budget: must be more than 0");
    if (asked.isolate != "full")
        if (auto const need = needs_sandbox(asked)) return caller_error(cat(need->name, ": needs --isolate full; without it ", need->without));
    return {};
}

} // namespace sb::app
