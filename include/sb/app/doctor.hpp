// SPDX-License-Identifier: MIT
// The work of sb-doctor: the host is examined, the findings are written, and those that are required decide the answer.
#pragma once
#include <sb/cli/io.hpp>
#include <sb/cli/record_table.hpp>
#include <sb/cli/sibling_tool.hpp>
#include <sb/cli/terminal.hpp>
#include <sb/core/did_you_mean.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/doctor/examine_host.hpp>
#include <sb/doctor/trial.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/record/event.hpp>
#include <sb/run/payload_environment.hpp>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::app {

struct doctor_choices {
    std::string format, groups_below;
    std::vector<std::string> require;
};

namespace detail {

inline doctor::finding settings_reader() {
    auto const path = cli::sibling_tool("sb-settings");
    int status = 0;
    auto const said = cli::output_of(path, {"--version"}, status);
    if (!said.has_error() && status == 0) return {"settings", doctor::finding_status::ok, cat(path, " reads YAML"), {}};
    return {"settings", doctor::finding_status::limited, "sb-settings is neither beside this tool nor in a folder of PATH outside the current one, so only .json settings can be read", {}, "install it beside this tool"};
}

inline result<std::vector<doctor::finding>> findings_of(cli::io const& io, std::string const& groups_below) {
    SB_TRY(auto findings, doctor::examine_host(io.data_dir, files::temporary_folder(), groups_below));
    findings.push_back(settings_reader());
    findings.push_back(doctor::try_isolation(io.data_dir, run::passed_on(environ), groups_below));
    if (auto& full = findings.back(); full.status == doctor::finding_status::missing) // the first of the others that is missing is why
        for (auto const& each : findings)
            if (each.status == doctor::finding_status::missing && each.name != full.name) {
                full.mend = each.mend, full.advice = each.mend.empty() ? each.advice : std::string{};
                break;
            }
    return findings;
}

/// A command over several lines, as a shell reads it.
inline std::string broken(std::string_view command, std::size_t indent, std::size_t columns) {
    auto const lines = cli::wrapped(command, indent, columns - 2); // room for " \\"
    std::string out;
    for (char const c : lines) out += c == '\n' ? std::string{" \\\n"} : std::string(1, c);
    return out;
}

} // namespace detail

/// What was found, as a table; then what mends it, each command once.
inline std::string findings_text(std::vector<doctor::finding> const& findings, std::size_t columns, bool color) {
    constexpr auto left = cli::table::align::left;
    constexpr std::size_t longest_status = 7; // so that the last column stands where it stands on other hosts
    cli::record_columns<doctor::finding> const shown = {
        {"what", left, [](doctor::finding const& f) { return f.name; }},
        {"here", left, [](doctor::finding const& f) { return std::string{doctor::name_of(f.status)}; }, longest_status},
        {"seen", left, [](doctor::finding const& f) { return f.what; }},
    };
    auto out = cli::table_of(findings, shown).text(color, columns);
    std::vector<std::pair<std::string, doctor::finding const*>> mends; // names, and one of those that have it
    for (auto const& f : findings) {
        if (f.mend.empty() && f.advice.empty()) continue;
        auto const known = std::find_if(mends.begin(), mends.end(), [&](auto const& m) { return m.second->mend == f.mend && m.second->advice == f.advice; });
        if (known == mends.end()) mends.emplace_back(f.name, &f);
        else known->first += ", " + f.name;
    }
    if (!mends.empty()) out += color ? "\n\x1b[1mto mend\x1b[0m\n" : "\nto mend\n";
    for (auto const& [who, f] : mends) {
        out += who + ":\n";
        if (!f->mend.empty()) out += "    " + detail::broken(cli::printable(f->mend), 4, columns) + "\n";
        if (!f->advice.empty()) out += "    " + cli::wrapped(cli::printable(f->advice), 4, columns) + "\n";
    }
    return out;
}

/// A finding as a record.
inline event_record event_of(doctor::finding const& f) {
    event_record e{"doctor", f.name, std::string{doctor::name_of(f.status)}, f.what, std::nullopt};
    if (!f.mend.empty()) e.mend = f.mend;
    else if (!f.advice.empty()) e.mend = f.advice;
    return e;
}

/// Writes them, and answers no unless those that are required are ok.
inline result<void> write_findings(cli::io& io, doctor_choices const& asked, std::vector<doctor::finding> const& findings) {
    std::vector<std::string_view> names;
    std::vector<event_record> events;
    for (auto const& f : findings) names.push_back(f.name), events.push_back(event_of(f));
    if (io.format_of(asked.format) == "jsonl") cli::write_lines(io, events);
    else io.out << findings_text(findings, static_cast<std::size_t>(std::clamp(cli::columns(1), 60, 120)), io.out_color);
    for (auto const& name : asked.require.empty() ? std::vector<std::string>{"full"} : asked.require) {
        auto const at = std::find_if(findings.begin(), findings.end(), [&](doctor::finding const& f) { return f.name == name; });
        if (at == findings.end()) return caller_error(cat("--require: no finding \"", name, "\"", did_you_mean(name, names)));
        if (at->status != doctor::finding_status::ok) io.answer_no = true;
    }
    return {};
}

inline result<void> examine(cli::io& io, doctor_choices const& asked) {
    SB_TRY(auto const findings, detail::findings_of(io, asked.groups_below));
    return write_findings(io, asked, findings);
}

} // namespace sb::app
