// SPDX-License-Identifier: MIT
// sb-doctor - what this host can isolate, limit and measure, and what mends the rest
#include "manual.hpp"
#include <sb/cli/tool.hpp>
#include <sb/doctor/host.hpp>
#include <sb/doctor/trial.hpp>
#include <sb/record/event.hpp>
#include <sb/run/environment.hpp>
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
    return {"settings", finding_status::limited, "sb-settings is neither beside this tool nor in a folder of PATH outside the current one: only .json settings can be read", {}, "install it beside this tool"};
}

sb::result<std::vector<finding>> examine(sb::cli::io const& io, std::string const& groups_below) {
    SB_TRY(auto all, sb::doctor::examine_host(io.data_dir, sb::files::temporary_folder(), groups_below));
    all.push_back(settings_reader());
    all.push_back(sb::doctor::try_walls(io.data_dir, sb::run::passed_on(environ), groups_below));
    if (auto& full = all.back(); full.status == finding_status::missing) // the first of the others that is missing is why
        for (auto const& each : all)
            if (each.status == finding_status::missing && each.name != full.name) {
                full.mend = each.mend, full.advice = each.mend.empty() ? each.advice : std::string{};
                break;
            }
    return all;
}

/// A command over several lines, as a shell reads it.
std::string broken(std::string_view command, std::size_t indent, std::size_t columns) {
    auto const lines = sb::cli::wrapped(command, indent, columns - 2); // room for " \\"
    std::string out;
    for (char const c : lines) out += c == '\n' ? std::string{" \\\n"} : std::string(1, c);
    return out;
}

/// What was found, as a table; then what mends it, each command once.
std::string as_text(std::vector<finding> const& all, std::size_t columns, bool color) {
    auto const bold = [&](std::string const& text) { return color ? "\x1b[1m" + text + "\x1b[0m" : text; };
    auto const pad = [](std::string text, std::size_t to) { return text += std::string(to - std::min(text.size(), to), ' '); };
    std::size_t names = 4;
    for (auto const& f : all) names = std::max(names, f.name.size());
    constexpr std::size_t status = 7;
    auto const indent = names + 2 + status + 2;
    auto out = bold(pad("what", names) + "  " + pad("here", status) + "  seen") + "\n";
    for (auto const& f : all) {
        out += pad(f.name, names) + "  " + pad(std::string{sb::doctor::name_of(f.status)}, status) + "  ";
        out += sb::cli::wrapped(sb::cli::printable(f.what), indent, columns) + "\n";
    }
    std::vector<std::pair<std::string, finding const*>> mends; // names, and one of those that have it
    for (auto const& f : all) {
        if (f.mend.empty() && f.advice.empty()) continue;
        auto const known = std::find_if(mends.begin(), mends.end(), [&](auto const& m) { return m.second->mend == f.mend && m.second->advice == f.advice; });
        if (known == mends.end()) mends.emplace_back(f.name, &f);
        else known->first += ", " + f.name;
    }
    if (!mends.empty()) out += "\n" + bold("to mend") + "\n";
    for (auto const& [who, f] : mends) {
        out += who + ":\n";
        if (!f->mend.empty()) out += "    " + broken(sb::cli::printable(f->mend), 4, columns) + "\n";
        if (!f->advice.empty()) out += "    " + sb::cli::wrapped(sb::cli::printable(f->advice), 4, columns) + "\n";
    }
    return out;
}

} // namespace

int main(int argc, char** argv) {
    std::string format, groups_below;
    std::vector<std::string> require;
    sb::cli::tool tool{"sb-doctor", "what this host can isolate, limit and measure, and what mends the rest"};
    tool.about(sb::generated::version, sb::generated::manual);
    tool.writes<sb::event_record>();
    tool.formats(format, {"table", "jsonl"});
    tool.option("--require", "NAME", "exit 1 unless this finding is ok; without it, unless a fully isolated run is possible here", require).many();
    tool.option("--cgroup", "DIR", "the v2 control group below which sb-exec --cgroup would make its own", groups_below).env("SANDBOX_CGROUP");
    return tool.run(argc, argv, [&](sb::cli::io& io) -> sb::result<void> {
        SB_TRY(auto const findings, examine(io, groups_below));
        bool const records = io.format_of(format) == "jsonl";
        if (!records) io.out << as_text(findings, static_cast<std::size_t>(std::clamp(sb::cli::columns(1), 60, 120)), io.out_color);
        std::vector<std::string_view> names;
        for (auto const& f : findings) {
            names.push_back(f.name);
            if (!records) continue;
            sb::event_record e{"doctor", f.name, std::string{sb::doctor::name_of(f.status)}, f.what, std::nullopt};
            if (!f.mend.empty()) e.mend = f.mend;
            else if (!f.advice.empty()) e.mend = f.advice;
            io.out << sb::json::line(e);
        }
        if (require.empty()) require = {"full"};
        for (auto const& name : require) {
            auto const at = std::find_if(findings.begin(), findings.end(), [&](finding const& f) { return f.name == name; });
            if (at == findings.end()) return sb::caller_error(sb::cat("--require: no finding \"", name, "\"", sb::did_you_mean(name, names)));
            if (at->status != finding_status::ok) io.answer_no = true;
        }
        return {};
    });
}
