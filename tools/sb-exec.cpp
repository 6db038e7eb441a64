// SPDX-License-Identifier: MIT
// sb-exec - run a command under each preset: limited, measured, recorded
#include "manual.hpp"
#include <sb/app/exec.hpp>
#include <sb/cli/tool.hpp>
#include <sb/key/limits_manual.hpp>
#include <sb/key/limits_manual.hpp>
#include <sb/record/event.hpp>
#include <sb/record/preset.hpp>
#include <sb/record/run.hpp>
#include <sb/run/resuming_line.hpp>

namespace {

void declare(sb::cli::tool& tool, sb::app::exec_choices& c) {
    tool.about(sb::generated::version, sb::generated::manual)
        .fills_in("@limits@", [] { return sb::key::limits_table(); })
        .fills_in("@group_limits@", [] { return sb::key::group_limits_table(); })
        .fills_in("@limits_to_come@", [] { return sb::key::limits_to_come() + ".\n"; });
    tool.reads<sb::preset_record>().writes<sb::run_record>().writes<sb::event_record>();
    tool.option("--repeat", "N", "recorded runs of each preset", c.repeat);
    tool.option("--warmup", "N", "unrecorded runs of each preset before the recorded ones", c.warmup);
    tool.option("--jobs", "N", "runs at the same time; more than 1 disturbs measurements", c.jobs);
    tool.option("--order", "ORDER", "interleaved alternates presets (A B A B), grouped runs one after the other (A A B B)", c.order)
        .choices({"interleaved", "grouped"});
    tool.option("--seed", "N", "base of the seed of each run, which also depends on preset and repetition", c.seed).env("SANDBOX_SEED");
    tool.option("--timeout", "TIME", sb::cat("wall-clock limit of each run; overrides ", sb::key::timeout.name, " of the preset"), c.timeout);
    tool.option("--budget", "TIME", "time that a run should take; the less of it is left, the lower is `value`", c.budget);
    tool.option("--stdin", "FILE", "standard input of the workload: a file that each run reads from the beginning; null is the null device", c.input);
    tool.option("--env", "NAME[=VALUE]", "variable for the workload; without VALUE the current one is passed on", c.env);
    tool.option("--check", "CMD", "shell command that reads the output of the workload; it exits with 0 if the output is right", c.check);
    tool.option("--check-timeout", "TIME", "time limit of --check", c.check_timeout);
    tool.option("--metric", "NAME=REGEX", "metric from the output: POSIX extended regex, last match, first group", c.metrics);
    tool.option("--value-range", "LOW..HIGH", "range of a `value` that the workload reports; others are ignored. An empty side has no bound", c.value_range);
    tool.option("--module", "PATH", "module to name in the records", c.module);
    tool.option("--preset-file", "FILE", "file of presets, if standard input has none; of several files each invocation uses the next", c.preset_files);
    tool.option("--presets", "JSON", "presets as JSON, if there are no files either: an object, a list, or a map of lists", c.presets).env("SANDBOX_ENV_PRESETS");
    tool.option("--mode", "MODE", "which presets to generate if none are given", c.mode).choices({"random", "canonical", "chaos", "robustness"}).env("SANDBOX_PRESET_MODE");
    tool.option("--generate", "", "generate presets if none are given; --no-generate: run once under the default limits", c.generate)
        .env("SANDBOX_GENERATE_PRESETS");
    tool.option("--count", "N", "how many to generate; on the command line it implies --generate", c.count).alias("--preset-count");
    tool.option("--set", "KEY=VALUE", "override a key of every preset, and record that; an environment variable with the name of a key does the same, except for presets from standard input", c.set);
    tool.option("--resume", "FILE", "make only the runs that are missing in this file of records", c.resume);
    tool.option("--isolate", "HOW", "full: namespaces, own root, system-call filter; basic: limits and private folders; none: measure only", c.isolate)
        .choices({"full", "basic", "none"});
    tool.flag("--allow-degraded", "fall back to basic if full isolation is not possible, and record that", c.allow_degraded);
    tool.flag("--require-limits", "refuse to run if a limit of a preset cannot be enforced here", c.require_limits);
    tool.option("--work", "DIR", "workspace, visible at its own path; writes go to a copy; default: the current folder", c.sandbox.work).env("SANDBOX_REPO_PATH");
    tool.flag("--work-copy", "give each run a copy of the workspace in memory instead of a view of it", c.sandbox.copies_work);
    tool.option("--bind", "SRC[:DST][:ro|rw]", "show another folder or file, read-only unless rw", c.sandbox.bindings);
    tool.flag("--bind-path", "show the folders of PATH, read-only", c.sandbox.bind_path);
    tool.option("--root", "DIR", "take the system folders (/usr, /bin, /lib, parts of /etc) from DIR", c.sandbox.system);
    tool.option("--cgroup", "DIR", "make control groups below this v2 group of yours instead of the group that sb-exec was started in", c.sandbox.groups_below).env("SANDBOX_CGROUP");
    tool.flag("--fresh", "use a new sandbox for each run instead of reusing a clean one", c.sandbox.fresh);
    tool.flag("--wait-tree", "wait for processes that the first one leaves instead of killing them", c.wait_tree);
    tool.flag("--keep", "keep what each run wrote and its output, and print where", c.keep);
    tool.flag("--dry-run", "print the runs and make none", c.dry_run);
    tool.formats(c.format, {"table", "jsonl"});
    tool.command("[--] CMD [ARG…]", "the workload", c.command);
    tool.sections({"value_weights", "prices"}, [](sb::object const& settings) {
        sb::run::run_context unused;
        return sb::run::read_worth(settings, unused.weights, unused.prices);
    });
    tool.looks_up(sb::stress::is_variable);
}

} // namespace

int main(int argc, char** argv) {
    sb::app::exec_choices asked;
    sb::cli::tool tool{"sb-exec", "run a command under each preset: limited, measured, recorded"};
    declare(tool, asked);
    return tool.run(argc, argv, [&](sb::cli::io& io) {
        sb::app::take_asked(tool.self(), asked);
        return sb::app::execute(io, asked, sb::run::resuming_line(argc, argv));
    });
}
