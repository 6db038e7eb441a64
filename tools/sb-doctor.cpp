// SPDX-License-Identifier: MIT
// sb-doctor - what this host can isolate, limit and measure, and what mends the rest
#include "manual.hpp"
#include <sb/cli/tool.hpp>
#include <sb/doctor/examine_host.hpp>
#include <sb/record/event.hpp>
#include <sb/run/payload_environment.hpp>
#include <sb/doctor/trial.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using sb::doctor::finding;
using sb::doctor::finding_status;

finding settings_reader() {
    auto const path = sb::cli::sibling_tool("sb-settings");
    int status = 0;
    auto const said = sb::cli::output_of(path, {"--version"}, status);
    if (!said.has_error() && status == 0) return {"settings", finding_status::ok, sb::cat(path, " reads YAML"), {}};
    return {"settings", finding_status::limited, "sb-settings is neither beside this tool nor in a folder of PATH outside the current one, so only .json settings can be read", {}, "install it beside this tool"};
}

sb::result<std::vector<finding>> examine(sb::cli::io const& io, std::string const& groups_below) {
    SB_TRY(auto findings, sb::doctor::examine_host(io.data_dir, sb::files::temporary_folder(), groups_below));
    findings.push_back(settings_reader());
    findings.push_back(sb::doctor::try_isolation(io.data_dir, sb::run::passed_on(environ), groups_below));
    if (auto& full = findings.back(); full.status == finding_status::missing) // the first of the others that is missing is why
        for (auto const& each : findings)
            if (each.status == finding_status::missing && each.name != full.name) {
                full.mend = each.mend, full.advice = each.mend.empty() ? each.advice : std::string{};
                break;
            }
    return findings;
}

/// A command over several lines, as a shell reads it.
std::string broken(std::string_view command, std::size_t indent, std::size_t columns) {
    auto const lines = sb::cli::wrapped(command, indent, columns - 2); // room for " \\"
    std::string out;
    for (char const c : lines) out += c == '\n' ? std::string{" \\\n"} : std::string(1, c);
    return out;
}

/// What was found, as a table; then what mends it, each command once.
std::string as_text(std::vector<finding> const& findings, std::size_t columns, bool color) {
    constexpr auto left = sb::cli::table::align::left;
    constexpr std::size_t longest_status = 7; // so that the last column stands where it stands on other hosts
    sb::cli::record_columns<finding> const shown = {
        {"what", left, [](finding const& f) { return f.name; }},
        {"here", left, [](finding const& f) { return std::string{sb::doctor::name_of(f.status)}; }, longest_status},
        {"seen", left, [](finding const& f) { return f.what; }},
    };
    auto out = sb::cli::table_of(findings, shown).text(color, columns);
    std::vector<std::pair<std::string, finding const*>> mends; // names, and one of those that have it
    for (auto const& f : findings) {
        if (f.mend.empty() && f.advice.empty()) continue;
        auto const known = std::find_if(mends.begin(), mends.end(), [&](auto const& m) { return m.second->mend == f.mend && m.second->advice == f.advice; });
        if (known == mends.end()) mends.emplace_back(f.name, &f);
        else known->first += ", " + f.name;
    }
    if (!mends.empty()) out += color ? "\n\x1b[1mto mend\x1b[0m\n" : "\nto mend\n";
    for (auto const& [who, f] : mends) {
        out += who + ":\n";
        if (!f->mend.empty()) out += "    " + broken(sb::cli::printable(f->mend), 4, columns) + "\n";
        if (!f->advice.empty()) out += "    " + sb::cli::wrapped(sb::cli::printable(f->advice), 4, columns) + "\n";
    }
    return out;
}

struct choices {
    std::string format, groups_below;
    std::vector<std::string> require;
};

sb::event_record event_of(finding const& f) {
    sb::event_record e{"doctor", f.name, std::string{sb::doctor::name_of(f.status)}, f.what, std::nullopt};
    if (!f.mend.empty()) e.mend = f.mend;
    else if (!f.advice.empty()) e.mend = f.advice;
    return e;
}

sb::result<void> report(sb::cli::io& io, choices const& asked) {
    SB_TRY(auto const findings, examine(io, asked.groups_below));
    std::vector<std::string_view> names;
    std::vector<sb::event_record> events;
    for (auto const& f : findings) names.push_back(f.name), events.push_back(event_of(f));
    if (io.format_of(asked.format) == "jsonl") sb::cli::write_lines(io, events);
    else io.out << as_text(findings, static_cast<std::size_t>(std::clamp(sb::cli::columns(1), 60, 120)), io.out_color);
    for (auto const& name : asked.require.empty() ? std::vector<std::string>{"full"} : asked.require) {
        auto const at = std::find_if(findings.begin(), findings.end(), [&](finding const& f) { return f.name == name; });
        if (at == findings.end()) return sb::caller_error(sb::cat("--require: no finding \"", name, "\"", sb::did_you_mean(name, names)));
        if (at->status != finding_status::ok) io.answer_no = true;
    }
    return {};
}

} // namespace

int main(int argc, char** argv) {
    choices asked;
    sb::cli::tool tool{"sb-doctor", "find what this host can isolate, limit and measure, and how to fix the rest"};
    tool.about(sb::generated::version, sb::generated::manual);
    tool.writes<sb::event_record>();
    tool.formats(asked.format, {"table", "jsonl"});
    tool.option("--require", "NAME", "exit with 1 unless this finding is ok; default: full, a fully isolated run", asked.require).many();
    tool.option("--cgroup", "DIR", "v2 control group that sb-exec --cgroup would use", asked.groups_below).env("SANDBOX_CGROUP");
    return tool.run(argc, argv, [&](sb::cli::io& io) { return report(io, asked); });
}
