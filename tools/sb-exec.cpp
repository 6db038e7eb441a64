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

namespace {

void declare(sb::cli::tool& tool, sb::app::exec_choices& c) {
    tool.about(sb::generated::version, sb::generated::manual)
        .fills_in("@limits@", [] { return sb::key::limits_table(); })
        .fills_in("@group_limits@", [] { return sb::key::group_limits_table(); })
        .fills_in("@limits_to_come@", [] { return sb::key::limits_to_come() + ".\n"; });
    tool.reads<sb::preset_record>().writes<sb::run_record>().writes<sb::event_record>();
    tool.option("--repeat", "N", "recorded runs of each preset", c.repeat);
    tool.option("--warmup", "N", "runs of each preset before those, unrecorded", c.warmup);
    tool.option("--jobs", "N", "runs at the same time; more than 1 disturbs what is measured", c.jobs);
    tool.option("--order", "ORDER", "interleaved goes round all presets (A B A B), grouped takes one after the other (A A B B)", c.order)
        .choices({"interleaved", "grouped"});
    tool.option("--seed", "N", "where the seed of each run comes from, with its preset and repetition", c.seed).env("SANDBOX_SEED");
    tool.option("--timeout", "TIME", sb::cat("wall-clock limit of each run; wins over the preset's ", sb::key::timeout.name), c.timeout);
    tool.option("--budget", "TIME", "what a run should take: the nearer it comes, the less its time counts in `value`", c.budget);
    tool.option("--stdin", "FILE", "standard input of the workload, one file that each run reads from its beginning; null is the null device", c.input);
    tool.option("--env", "NAME[=VALUE]", "one more variable for the workload; without a value the one it has here", c.env);
    tool.option("--check", "CMD", "shell command that gets the workload's output on its standard input; exit 0: the output is right", c.check);
    tool.option("--check-timeout", "TIME", "how long that may take", c.check_timeout);
    tool.option("--metric", "NAME=REGEX", "a number out of the output: POSIX extended, last match, first bracketed part", c.metrics);
    tool.option("--value-range", "LOW..HIGH", "what a value that the workload reports may be, an empty side without bound; another is not taken", c.value_range);
    tool.option("--module", "PATH", "module that the records name", c.module);
    tool.option("--preset-file", "FILE", "presets, when standard input has none; several are used in turn", c.preset_files);
    tool.option("--presets", "JSON", "presets in place, when there are no files either: an object, a list, or a map of lists", c.presets).env("SANDBOX_ENV_PRESETS");
    tool.option("--mode", "MODE", "which presets to make when none are given", c.mode).choices({"random", "canonical", "chaos", "robustness"}).env("SANDBOX_PRESET_MODE");
    tool.option("--generate", "", "make presets when none are given; --no-generate: run once without limits but the default ones", c.generate)
        .env("SANDBOX_GENERATE_PRESETS");
    tool.option("--count", "N", "how many to make; on the command line it is --generate too", c.count).alias("--preset-count");
    tool.option("--set", "KEY=VALUE", "a key that wins over every preset, and is recorded in it; a variable of the key's name does so for presets that do not come by standard input", c.set);
    tool.option("--resume", "FILE", "make only the runs that this file of records lacks", c.resume);
    tool.option("--isolate", "HOW", "full: namespaces, a root of its own, a system-call filter; basic: limits and private folders; none: measure only", c.isolate)
        .choices({"full", "basic", "none"});
    tool.flag("--allow-degraded", "fall back to basic where full isolation cannot be had, and record it", c.allow_degraded);
    tool.flag("--require-limits", "run nothing under a preset of which a limit cannot be enforced here", c.require_limits);
    tool.option("--work", "DIR", "workspace: shown at its own path, what is written goes to a copy; default: the current folder", c.sandbox.work).env("SANDBOX_REPO_PATH");
    tool.flag("--work-copy", "give each run a copy of the workspace in memory instead of a view of it", c.sandbox.copies_work);
    tool.option("--bind", "SRC[:DST][:ro|rw]", "a folder or file to be shown too, read-only unless rw", c.sandbox.bindings);
    tool.flag("--bind-path", "show the folders of PATH too, read-only", c.sandbox.bind_path);
    tool.option("--root", "DIR", "take the system folders (/usr, /bin, /lib, what is shown of /etc) from there", c.sandbox.system);
    tool.option("--cgroup", "DIR", "make control groups below this v2 group, which is yours, instead of the one that sb-exec was started in", c.sandbox.groups_below).env("SANDBOX_CGROUP");
    tool.flag("--fresh", "a new sandbox for each run instead of one that is proven clean", c.sandbox.fresh);
    tool.flag("--wait-tree", "wait for what the first process leaves behind instead of killing it", c.wait_tree);
    tool.flag("--keep", "keep what each run wrote and its streams, and say where", c.keep);
    tool.flag("--dry-run", "print what would be run, and run nothing", c.dry_run);
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
