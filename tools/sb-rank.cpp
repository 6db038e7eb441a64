// SPDX-License-Identifier: MIT
// sb-rank - rank scenarios, presets, modules, workloads or severities by what their runs were worth
#include "manual.hpp"
#include <sb/cli/tool.hpp>
#include <sb/record/run.hpp>
#include <sb/track/rank.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <sys/stat.h>

namespace {

struct choices {
    sb::track::rank_question question;
    std::string baseline, format, sort = "total";
    bool partial = false;
    std::vector<std::string> files;
};

/// Instead of a number of decimals: all values are so small that decimals would show them as nothing.
constexpr int scientific = -1;

std::string decimals(std::optional<double> x, int digits) {
    if (!x) return "-";
    if (digits == scientific) {
        char text[32];
        return *x == 0 ? "0" : std::string{text, std::to_chars(text, text + sizeof text, *x, std::chars_format::scientific, 3).ptr};
    }
    auto text = sb::fixed(*x, digits);
    if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1); // nothing has no sign
    return text;
}

std::string signed_decimals(double x, int digits) {
    auto const text = decimals(x, digits);
    return x > 0 && text.find_first_not_of("0.") != std::string::npos ? "+" + text : text;
}

/// Three decimals, or up to six where intervals or effects are so small that three would show them as nothing, or an
/// exponent where nothing in the table would have three digits left.
int digits_for(std::vector<sb::rank_record> const& rows) {
    double least = 1, most = 0;
    auto const note = [&](double size) {
        if (size > 0) least = std::min(least, size);
    };
    for (auto const& r : rows) {
        if (r.lo) note((*r.hi - *r.lo) / 2);
        if (r.effect) note(std::abs(*r.effect));
        for (auto const each : {r.total, r.lo.value_or(0), r.hi.value_or(0), r.effect.value_or(0)}) most = std::max(most, std::abs(each));
    }
    if (most > 0 && most < 1e-4) return scientific;
    return std::clamp(static_cast<int>(std::ceil(-std::log10(least))) + 1, 3, 6);
}

sb::cli::table people_table(std::vector<sb::rank_record> const& rows, std::string const& by) {
    using align = sb::cli::table::align;
    auto const digits = digits_for(rows);
    sb::cli::table t;
    t.column("#", align::right).column(by).column("total", align::right).column("mean", align::right);
    t.column("95 % interval", align::right).column("n", align::right).column("security", align::right);
    t.column("effect", align::right).column("");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto const& r = rows[i];
        auto const interval = r.lo ? sb::cat(decimals(r.lo, digits), " .. ", decimals(r.hi, digits)) : std::string{"-"};
        auto const effect = r.effect ? signed_decimals(*r.effect, digits) : std::string{"-"};
        std::string marks;
        if (r.tie.value_or(false)) marks += '=';
        if (r.overlaps_next.value_or(false)) marks += '~';
        if (r.overlaps_baseline.value_or(false)) marks += 'b';
        t.row({sb::cat(i + 1), r.name, decimals(r.total, digits), decimals(r.mean, digits), interval, sb::cat(r.n),
               decimals(r.last_security_score, 1), effect, marks});
    }
    return t;
}

std::string footnotes(std::vector<sb::rank_record> const& rows, std::string const& baseline, bool by_mean) {
    bool tie = false, next = false, base = false, few = false, effect = false;
    auto fewest = rows.front().n, most = fewest;
    for (auto const& r : rows) {
        fewest = std::min(fewest, r.n), most = std::max(most, r.n);
        tie |= r.tie.value_or(false), next |= r.overlaps_next.value_or(false), base |= r.overlaps_baseline.value_or(false);
        few |= !r.lo, effect |= r.effect.has_value();
    }
    bool const favours = !by_mean && fewest != most; // who was seen more often
    std::string out;
    if (favours) out += sb::cat("ordered by total; n differs (", fewest, " to ", most, "): --sort mean compares what a run is worth\n");
    if (effect) out += sb::cat("effect: mean against ", sb::cli::printable(baseline), "\n");
    if (tie) out += by_mean ? "=  the same mean as another row: ordered by total, then by name\n" : "=  the same total as another row: ordered by name\n";
    if (next) out += sb::cat("~  the interval", favours ? " of the total" : "", " overlaps the next row's: their order is not settled\n");
    if (base) out += "b  the interval overlaps the baseline's: the effect is not settled\n";
    if (few) out += "-  no interval from fewer than two values\n";
    return out;
}

sb::cli::table csv_table(std::vector<sb::rank_record> const& rows) {
    sb::cli::table t;
    for (auto const* title : {"by", "name", "metric", "total", "mean", "lo", "hi", "n", "last_security_score", "effect", "tie",
                              "overlaps_next", "overlaps_baseline"})
        t.column(title);
    auto const number = [](std::optional<double> x) {
        std::string text;
        if (x && std::isfinite(*x)) sb::json::append_real(text, *x);
        return text;
    };
    auto const answer = [](std::optional<bool> b) { return std::string{!b ? "" : *b ? "true" : "false"}; };
    for (auto const& r : rows)
        t.row({r.by, r.name, r.metric, number(r.total), number(r.mean), number(r.lo), number(r.hi), sb::cat(r.n),
               number(r.last_security_score), number(r.effect), answer(r.tie), answer(r.overlaps_next), answer(r.overlaps_baseline)});
    return t;
}

void tell(sb::cli::io& io, sb::track::rank_counts const& c, choices const& asked) {
    auto const note = [&](std::int64_t count, std::string_view what) {
        if (count > 0) io.log.info(sb::cat(what, ": ", count));
    };
    note(c.lines, "lines read");
    note(c.blank, "blank lines");
    note(c.other_kind, "lines of kinds that are not ranked, passed over");
    note(c.off_arm, "runs of the off arm, passed over");
    note(c.unnamed, sb::cat("lines without ", asked.question.by));
    note(c.without_metric, sb::cat("lines without ", asked.question.metric));
    note(c.duplicate_keys, "duplicate keys, the last of each counted");
    if (c.other_partial > 0)
        io.log.warn(sb::cat(c.other_partial, c.other_partial == 1 ? " partial record answers" : " partial records answer", " another question than --by ", asked.question.by,
                            " --metric ", asked.question.metric));
    if (c.ranked > 0) return;
    std::string why = c.lines == c.blank ? "the input is empty"
                      : c.without_metric > 0 ? sb::cat("no line has a number as \"", asked.question.metric, "\"")
                      : c.unnamed > 0 ? sb::cat("no line says its ", asked.question.by)
                                      : sb::cat("no run, sample, delta, synergy or partial in ", c.lines, c.lines == 1 ? " line" : " lines");
    io.log.warn(sb::cat("nothing to rank: ", why));
}

sb::result<void> rank(sb::cli::io& io, choices asked) {
    if (asked.files.empty()) asked.files.emplace_back("-");
    if (std::count(asked.files.begin(), asked.files.end(), "-") > 1) return sb::caller_error("-: standard input can be read once");
    bool const named = asked.files.size() > 1 || asked.files.front() != "-";
    for (auto& file : asked.files) { // the predecessor names a run by its folder
        struct stat is {};
        if (file == "-" || ::stat(file.c_str(), &is) < 0 || !S_ISDIR(is.st_mode)) continue;
        auto const inside = file + "/roi_history.json";
        if (::access(inside.c_str(), F_OK) < 0) return sb::system_error(sb::cat(file, ": no roi_history.json in it"));
        file = inside;
    }
    auto const report = [&](std::string const& file, std::int64_t line, std::size_t byte, std::string_view what) {
        io.reject(!named ? "" : file == "-" ? "standard input" : file, line, byte, what);
    };
    SB_TRY(auto const sums, sb::track::read_ranks(asked.files, asked.question, io.threads, report, io.waits()));
    io.tell_rest();
    if (sums.stopped) return {}; // counted by `reject`
    tell(io, sums.counts, asked);
    for (auto const& name : sums.overfull) { // of no line alone: which states were added up where is the threads' own
        io.log.error(sb::cat("the partial records of \"", sb::cli::printable(name), "\" say that there are more than 2^53 values: it has no row"));
        ++io.bad_lines;
    }
    if (asked.partial) {
        if (asked.format != "auto" && asked.format != "jsonl") io.log.warn(sb::cat("--partial writes states, one JSON line each: --format ", asked.format, " is for rows"));
        for (auto const& state : sb::track::rank_states(sums.table, asked.question)) io.out << sb::json::line(state);
        return {};
    }
    auto const baseline = asked.baseline.empty() ? std::string{"normal"} : asked.baseline;
    bool const by_mean = asked.sort == "mean";
    auto const rows = sb::track::rank_rows(sums.table, asked.question, baseline, by_mean ? sb::track::rank_order::mean : sb::track::rank_order::total);
    if (!asked.baseline.empty() && !rows.empty() && !rows.front().effect)
        io.log.warn(sb::cat("no ", asked.question.by, " is called \"", baseline, "\": there are no effects"));
    auto const format = io.format_of(asked.format);
    if (format == "jsonl") {
        for (auto const& row : rows) io.out << sb::json::line(row);
    } else if (format == "csv") {
        io.out << csv_table(rows).csv(io.out_terminal);
    } else if (format == "md") {
        io.out << people_table(rows, asked.question.by).markdown();
    } else if (!rows.empty()) {
        io.out << people_table(rows, asked.question.by).text(io.out_color) << footnotes(rows, baseline, by_mean);
    }
    return {};
}

} // namespace

int main(int argc, char** argv) {
    choices asked;
    sb::cli::tool tool{"sb-rank", "rank scenarios, presets, modules, workloads or severities by what their runs were worth"};
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
    return tool.run(argc, argv, [&](sb::cli::io& io) { return rank(io, asked); });
}
