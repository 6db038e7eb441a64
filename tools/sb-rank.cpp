// SPDX-License-Identifier: MIT
// sb-rank - rank scenarios, presets, modules, workloads or severities by what their runs were worth
#include "manual.hpp"
#include <sb/app/rank_records.hpp>
#include <sb/cli/tool.hpp>
#include <sb/record/partial.hpp>
#include <sb/record/rank.hpp>
#include <sb/record/run.hpp>

namespace {

void declare(sb::cli::tool& tool, sb::app::rank_choices& asked) {
    tool.about(sb::generated::version, sb::generated::manual);
    tool.reads<sb::run_record>().reads<sb::partial_record>().writes<sb::rank_record>().writes<sb::partial_record>();
    tool.operands("[FILE…]", "JSON lines, or the predecessor's roi_history.json (its folder will do); - is standard input", asked.files);
    tool.option("--by", "WHAT", "what the rows are", asked.question.by).choices({"scenario", "preset", "module", "workload", "severity"}).harmless();
    tool.option("--metric", "NAME", "what is added up: roi, raroi, value, synergy_*, or any metric of the lines", asked.question.metric);
    tool.option("--baseline", "NAME", "the row that effects are against; without it the row \"normal\", where there is one", asked.baseline);
    tool.option("--sort", "WHAT", "what rows are ordered by: a total favours what was seen more often, a mean is what one run is worth", asked.sort)
        .choices({"total", "mean"}).harmless();
    tool.formats(asked.format);
    tool.flag("--partial", "write states that sb-rank reads and adds up exactly, instead of rows", asked.partial);
    tool.flag("--strict", "check every byte, and end at the first bad line without an answer", asked.question.strict);
}

} // namespace

int main(int argc, char** argv) {
    sb::app::rank_choices asked;
    sb::cli::tool tool{"sb-rank", "rank scenarios, presets, modules, workloads or severities by what their runs were worth"};
    declare(tool, asked);
    return tool.run(argc, argv, [&](sb::cli::io& io) { return sb::app::write_ranks(io, asked); });
}
