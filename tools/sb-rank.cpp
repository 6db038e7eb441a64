// SPDX-License-Identifier: MIT
// sb-rank - rank scenarios, presets, modules, workloads or severities by what their runs were worth
#include "manual.hpp"
#include <sb/app/ranking.hpp>
#include <sb/cli/tool.hpp>
#include <sb/record/partial.hpp>
#include <sb/record/rank.hpp>
#include <sb/record/run.hpp>

namespace {

void declare(sb::cli::tool& tool, sb::app::rank_choices& asked) {
    tool.about(sb::generated::version, sb::generated::manual);
    tool.reads<sb::run_record>().reads<sb::partial_record>().writes<sb::rank_record>().writes<sb::partial_record>();
    tool.operands("[FILE…]", "JSON lines, or a roi_history.json or its folder; - is standard input", asked.files);
    tool.option("--by", "WHAT", "what each row stands for", asked.question.by).choices({"scenario", "preset", "module", "workload", "severity"}).harmless();
    tool.option("--metric", "NAME", "number to add up: roi, raroi, value, synergy_*, or any metric of the lines", asked.question.metric);
    tool.option("--baseline", "NAME", "row to compare with; default: normal, if there is one", asked.baseline);
    tool.option("--sort", "WHAT", "order of rows: a total favours rows with more runs, a mean compares single runs", asked.sort)
        .choices({"total", "mean"}).harmless();
    tool.formats(asked.format);
    tool.flag("--partial", "write states instead of rows; sb-rank adds states up exactly", asked.partial);
    tool.flag("--strict", "check every byte, and stop at the first bad line without an answer", asked.question.strict);
}

} // namespace

int main(int argc, char** argv) {
    sb::app::rank_choices asked;
    sb::cli::tool tool{"sb-rank", "rank scenarios, presets, modules, workloads or severities by the value of their runs"};
    declare(tool, asked);
    return tool.run(argc, argv, [&](sb::cli::io& io) { return sb::app::write_ranks(io, asked); });
}
