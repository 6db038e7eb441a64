// SPDX-License-Identifier: MIT
// sb-doctor - what this host can isolate, limit and measure, and what mends the rest
#include "manual.hpp"
#include <sb/app/doctor.hpp>
#include <sb/cli/tool.hpp>

int main(int argc, char** argv) {
    sb::app::doctor_choices asked;
    sb::cli::tool tool{"sb-doctor", "find what this host can isolate, limit and measure, and how to fix the rest"};
    tool.about(sb::generated::version, sb::generated::manual);
    tool.writes<sb::event_record>();
    tool.formats(asked.format, {"table", "jsonl"});
    tool.option("--require", "NAME", "exit with 1 unless this finding is ok; default: full, a fully isolated run", asked.require).many();
    tool.option("--cgroup", "DIR", "v2 control group that sb-exec --cgroup would use", asked.groups_below).env("SANDBOX_CGROUP");
    return tool.run(argc, argv, [&](sb::cli::io& io) { return sb::app::examine(io, asked); });
}
