// SPDX-License-Identifier: MIT
// sb-doctor - what this host can isolate, limit and measure, and what mends the rest
#include "manual.hpp"
#include <sb/cli/tool.hpp>
#include <sb/isolate/host.hpp>
#include <sb/record/event.hpp>
#include <string>
#include <vector>

namespace {

using sb::isolate::finding;
using sb::isolate::finding_status;

constexpr std::string_view word(finding_status s) {
    return s == finding_status::ok ? "ok" : s == finding_status::limited ? "limited" : "missing";
}

finding settings_reader() {
    auto const path = sb::cli::sibling_tool("sb-settings");
    int status = 0;
    auto const said = sb::cli::output_of(path, {"--version"}, status);
    if (!said.has_error() && status == 0) return {"settings", finding_status::ok, sb::cat(path, " reads YAML"), ""};
    return {"settings", finding_status::limited, "sb-settings is not beside this tool nor in PATH: only .json settings can be read", "make install"};
}

} // namespace

int main(int argc, char** argv) {
    std::string format = "auto";
    std::vector<std::string> require;
    sb::cli::tool tool{"sb-doctor", "what this host can isolate, limit and measure, and what mends the rest"};
    tool.about(sb::generated::version, sb::generated::manual);
    tool.writes<sb::event_record>();
    tool.option("--format", "FORMAT", "table, or a record a line; auto is a table on a terminal", format).choices({"auto", "table", "jsonl"});
    tool.option("--require", "NAME", "exit 1 unless this finding is ok; without it, unless all that a plain run needs is", require).many();
    return tool.run(argc, argv, [&](sb::cli::io& io) -> sb::result<void> {
        auto findings = sb::isolate::examine_host(io.data_dir, io.env.value_or("TMPDIR", "/tmp"));
        findings.push_back(settings_reader());
        bool const records = format == "jsonl" || (format == "auto" && !io.out_terminal);
        sb::cli::table rows;
        rows.column("what").column("here").column("seen").column("to mend it");
        std::vector<std::string_view> names;
        for (auto const& f : findings) {
            names.push_back(f.name);
            if (records) {
                sb::event_record e{"doctor", f.name, std::string{word(f.status)}, f.what, std::nullopt};
                if (!f.mend.empty()) e.mend = f.mend;
                io.out << sb::json::line(e);
            }
            rows.row({f.name, std::string{word(f.status)}, f.what, f.mend});
        }
        if (!records) io.out << rows.text(io.out_color);
        if (require.empty()) require = {"proc", "pidfd", "temp"}; // what the plain backend cannot do without
        for (auto const& name : require) {
            auto const at = std::find_if(findings.begin(), findings.end(), [&](finding const& f) { return f.name == name; });
            if (at == findings.end()) return sb::caller_error(sb::cat("--require: no finding \"", name, "\"", sb::did_you_mean(name, names)));
            if (at->status != finding_status::ok) io.answer_no = true;
        }
        return {};
    });
}
