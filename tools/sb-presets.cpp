// SPDX-License-Identifier: MIT
// sb-presets - write presets: environments to run a workload in
#include "manual.hpp"
#include <sb/app/presets.hpp>
#include <sb/cli/tool.hpp>
#include <sb/key/guest.hpp>
#include <sb/record/preset.hpp>
#include <sb/stress/suites.hpp>

namespace {

void declare(sb::cli::tool& tool, sb::app::preset_choices& asked) {
    tool.about(sb::generated::version, sb::generated::manual);
    tool.writes<sb::preset_record>();
    tool.option("--count", "N", "number of presets, not counting the baseline; random ones fill up; default: 3, or those named", asked.count)
        .alias("--preset-count");
    tool.option("--seed", "N", "seed of all randomness; the same seed gives the same bytes", asked.seed).env("SANDBOX_SEED");
    tool.option("--profile", "NAME", "write presets of these profiles; a+b combines two in one preset", asked.profiles)
        .many().alias("--profiles");
    tool.option("--severity", "LEVEL",
                "low or high, or PROFILE=LEVEL, separated by commas; default: high, but low for --scenarios, "
                "--trajectory and --stage", asked.severity);
    tool.flag("--canonical", "write the six canonical profiles, low and high", asked.plan.canonical);
    tool.flag("--with-baseline", "write the scenario normal first, which has no fault", asked.plan.baseline);
    tool.flag("--scenarios", "write the suite normal, concurrency_spike, hostile_input, schema_drift, flaky_upstream",
              asked.plan.scenarios);
    tool.flag("--trajectory", "write the stages normal, high_latency, resource_strain, schema_drift, chaotic_failure",
              asked.plan.trajectory);
    tool.option("--stage", "NAME", "write these stages of the trajectory", asked.plan.stages_named).many();
    tool.option("--category", "NAME", "write all profiles of a category: baseline, stress, security, concurrency",
                asked.plan.categories_named).many();
    tool.option("--module", "PATH", "write profiles that suit a module, by the words of its path and source", asked.modules).many();
    tool.option("--profile-file", "FILE", "JSON file with profiles of your own", asked.profile_files).many();
    tool.option("--set", "KEY=VALUE",
                "override a key of every profile; an environment variable with the name of a key does the same", asked.set).many();
    tool.option("--mode", "MODE",
                "canonical writes the canonical profiles if nothing is named; all modes but random may draw user_misuse",
                asked.mode)
        .choices({"random", "canonical", "chaos", "robustness"}).env("SANDBOX_PRESET_MODE");
    tool.flag("--misuse", "user_misuse may be drawn and suggested without being named", asked.plan.misuse)
        .env("SANDBOX_INCLUDE_USER_MISUSE");
    tool.flag("--guests", sb::cat(sb::key::os_type.name, " and ", sb::key::vm_settings.name, " may be drawn; they need disk images of yours"), asked.guests);
    tool.flag("--list", "print all profiles, stages and keys, then exit", asked.list);
    tool.option("--describe", "NAME", "print what a profile sets or a key takes, then exit", asked.describe);
    tool.formats(asked.format);
    tool.sections({"keyword_profiles"}).looks_up(sb::stress::is_variable);
}

} // namespace

int main(int argc, char** argv) {
    sb::app::preset_choices asked;
    sb::cli::tool tool{"sb-presets", "write presets: environments to run a workload in"};
    declare(tool, asked);
    return tool.run(argc, argv, [&](sb::cli::io& io) { return sb::app::write_presets(io, asked); });
}
