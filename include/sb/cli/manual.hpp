// SPDX-License-Identifier: MIT
// A tool's declaration and its hand-written notes as a man page (roff) and as a reference page (Markdown).
#pragma once
#include <sb/cli/help.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sb::cli {

namespace detail {

inline std::string upper(std::string_view text) {
    std::string out{text};
    for (auto& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

/// Text that roff prints as it stands.
inline std::string roff(std::string_view text) {
    std::string out;
    bool line_start = true;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char const c = text[i];
        if (line_start && (c == '.' || c == '\'')) out += "\\&";
        line_start = c == '\n';
        if (c == '\\') out += "\\e";
        else if (c == '-') out += "\\-";
        else if (text.substr(i).starts_with("…")) out += "...", i += 2;
        else out += c;
    }
    return out;
}

/// `code` and **strong** of one Markdown line as bold.
inline std::string roff_inline(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        auto const mark = text.find_first_of("`*");
        if (mark == std::string_view::npos) break;
        auto const fence = text.substr(mark, text.substr(mark).starts_with("**") ? 2 : 1);
        auto const end = fence == "*" ? std::string_view::npos : text.find(fence, mark + fence.size());
        if (end == std::string_view::npos) {
            out += roff(text.substr(0, mark + 1));
            text.remove_prefix(mark + 1);
            continue;
        }
        out += roff(text.substr(0, mark));
        out += cat("\\fB", roff(text.substr(mark + fence.size(), end - mark - fence.size())), "\\fR");
        text.remove_prefix(end + fence.size());
    }
    return out + roff(text);
}

/// Without the marks of code.
inline std::string plain(std::string text) {
    std::erase(text, '`');
    return text;
}

/// The rows of one table. A narrow one keeps its columns; one that no page holds becomes a list of its first column,
/// with the other headings before what they head.
inline std::string roff_table(std::vector<std::vector<std::string>> const& rows, bool headed) {
    constexpr std::size_t page = 72, gap = 2;
    std::vector<std::size_t> widths;
    for (auto const& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i == widths.size()) widths.push_back(0);
            widths[i] = std::max(widths[i], plain(row[i]).size());
        }
    std::size_t whole = 0;
    for (auto const each : widths) whole += each + gap;
    std::string out;
    if (whole <= page) {
        out = headed ? ".RS 4\n.nf\n" : ".PP\n.RS 4\n.nf\n";
        for (auto const& row : rows) {
            std::string line;
            for (std::size_t i = 0; i < row.size(); ++i) {
                auto const cell = plain(row[i]);
                line += cell;
                if (i + 1 < row.size()) line.append(widths[i] + gap - cell.size(), ' ');
            }
            out += roff(line) + "\n";
        }
        return out + ".fi\n.RE\n";
    }
    for (std::size_t at = 1; at < rows.size(); ++at) {
        auto const& row = rows[at];
        out += cat(".TP\n\\fB", roff(plain(row[0])), "\\fR\n");
        std::string text;
        for (std::size_t i = 1; i < row.size(); ++i)
            text += cat(text.empty() ? "" : "; ", row.size() > 2 && i < rows[0].size() ? rows[0][i] + ": " : std::string{}, row[i]);
        out += roff_inline(text) + "\n";
    }
    return out;
}
/// `| a | b |` as its cells.
inline std::vector<std::string> table_cells(std::string_view line) {
    std::vector<std::string> cells;
    line.remove_prefix(1);
    if (line.ends_with('|')) line.remove_suffix(1);
    split(line, '|', [&](std::string_view each) { cells.emplace_back(trim(each)); });
    return cells;
}

/// The little Markdown that manuals use: # headings, paragraphs, - lists, | tables | and fenced or indented code.
inline std::string roff_of_markdown(std::string_view markdown) {
    std::string out;
    bool code = false, fenced = false, fresh = true, headed = false; // no paragraph begins right after a heading
    std::vector<std::vector<std::string>> table;
    auto const close_table = [&] {
        if (!table.empty()) out += roff_table(table, std::exchange(headed, false)), fresh = true;
        table.clear();
    };
    auto const close_code = [&] {
        if (std::exchange(code, false)) out += ".fi\n.RE\n", fresh = true;
    };
    auto const open_code = [&] {
        if (!std::exchange(code, true)) out += std::exchange(headed, false) ? ".RS 4\n.nf\n" : ".PP\n.RS 4\n.nf\n";
    };
    split(markdown, '\n', [&](std::string_view line) {
        if (!line.starts_with('|')) close_table();
        if (line.starts_with("```")) {
            fenced = !fenced;
            if (fenced) open_code();
            else close_code();
        } else if (fenced) {
            out += roff(line) + "\n";
        } else if (line.starts_with("    ")) {
            open_code();
            out += roff(line.substr(4)) + "\n";
        } else if (line.starts_with('|')) {
            close_code();
            if (line.find_first_not_of("|-: ") != std::string_view::npos) table.push_back(table_cells(line));
        } else {
            close_code();
            if (trim(line).empty()) fresh = !headed;
            else if (line.starts_with('#')) {
                auto const title = trim(line.substr(line.find_first_not_of('#')));
                bool const sub = line.starts_with("##");
                out += cat(sub ? ".SS " : ".SH ", roff(sub ? std::string{title} : upper(title)), "\n");
                fresh = false, headed = true;
            } else if (line.starts_with("- ")) {
                out += cat(".IP \\(bu 2\n", roff_inline(line.substr(2)), "\n");
                fresh = headed = false;
            } else {
                if (std::exchange(fresh, false)) out += ".PP\n";
                out += roff_inline(trim(line)) + "\n";
                headed = false;
            }
        }
    });
    close_code();
    close_table();
    return out;
}

} // namespace detail

inline std::string man_page(declaration const& d) {
    using detail::roff;
    std::string out = cat(".\\\" SPDX-License-Identifier: MIT\n.TH ", roff(detail::upper(d.name)), " 1 \"\" \"sandbench ", d.version, "\" \"sandbench\"\n");
    out += cat(".SH NAME\n", roff(d.name), " \\- ", roff(d.summary), "\n");
    out += cat(".SH SYNOPSIS\n.B ", roff(d.name), "\n[OPTION...]", d.operands.empty() ? "" : "\n", roff(d.operands), "\n");
    out += ".SH DESCRIPTION\n";
    if (!d.operands_help.empty()) out += roff(d.operands_help) + ".\n";
    if (!d.reads.empty()) out += cat("Reads records of kind ", roff(joined(d.reads, ", ")), ".\n");
    if (!d.writes.empty()) out += cat("Writes records of kind ", roff(joined(d.writes, ", ")), ".\n");
    out += "A value comes from the first of these that has it: the flag, the environment, the file that\n.B \\-\\-env\\-file\nnames, the settings "
           "file, the default;\n.B \\-\\-explain\nprints which. The files\n.I .env\nand\n.I sandbox_settings.yaml\nof the "
           "current folder are not trusted unless you name them. They can only set: ";
    out += cat(roff(harmless_text(d)), ".\n");
    if (!d.verbs.empty()) out += cat(".SH ", detail::upper(d.verbs_title), "\n");
    for (auto const& each : d.verbs) out += cat(".TP\n.B ", roff(each.name), "\n", roff(each.help), ".\n");
    for (bool const shared : {false, true}) {
        out += shared ? ".SH OPTIONS OF EVERY TOOL\n" : ".SH OPTIONS\n";
        bool any = false;
        for (auto const& o : d.options) {
            if (o.shared != shared) continue;
            any = true;
            out += cat(".TP\n\\fB", o.letter ? cat("\\-", o.letter, "\\fR, \\fB") : std::string{}, roff(o.flag), "\\fR");
            if (!o.is_switch()) out += cat(" \\fI", roff(o.meta), "\\fR", o.greedy ? "..." : "");
            out += cat("\n", roff(full_help(o)), ".\n");
        }
        if (!any) out += "It has no options of its own.\n";
    }
    out += detail::roff_of_markdown(d.manual);
    out += ".SH EXIT STATUS\n";
    for (auto const& e : exit_table) out += cat(".TP\n.B ", roff(e.code), "\n", roff(e.text), ".\n");
    out += ".SH SEE ALSO\n.BR sb (1)\n";
    return out;
}

inline std::string reference_page(declaration const& d) {
    auto const cell = [](std::string_view text) {
        std::string out;
        for (char const c : text) out += c == '|' ? "\\|" : std::string(1, c);
        return out;
    };
    std::string out = cat("# ", d.name, "\n\n", d.summary, ".\n\n    ", d.name, " [OPTION…] ", d.operands, "\n\n");
    if (!d.operands_help.empty()) out += d.operands_help + ".\n\n";
    if (!d.reads.empty()) out += cat("Reads: ", joined(d.reads, ", "), ". ");
    if (!d.writes.empty()) out += cat("Writes: ", joined(d.writes, ", "), ".");
    if (!d.reads.empty() || !d.writes.empty()) out += "\n\n";
    if (!d.verbs.empty()) out += cat("| ", d.verbs_title, " | |\n| --- | --- |\n");
    for (auto const& each : d.verbs) out += cat("| `", each.name, "` | ", cell(each.help), " |\n");
    if (!d.verbs.empty()) out += "\n";
    for (bool const shared : {false, true}) {
        std::string rows;
        for (auto const& o : d.options) {
            if (o.shared != shared) continue;
            auto const env = joined(o.environment_names, ", ", [](auto const& name) { return cat("`", name, "`"); });
            rows += cat("| `", flag_text(o), "` | ", cell(own_help(o)), o.words.empty() ? "" : cat(" (", joined(o.words, ", "), ")"),
                        " | ", o.is_switch() ? "" : cell(o.default_text), " | ", env, " |\n");
        }
        if (!rows.empty())
            out += cat(shared ? "## Options of every tool\n\n" : "## Options\n\n",
                       "| option | meaning | default | environment |\n| --- | --- | --- | --- |\n", rows, "\n");
    }
    out += cat("The files `.env` and `sandbox_settings.yaml` of the current folder are not trusted unless you name them. They can only set: ", harmless_text(d), ".\n\n");
    split(trim(d.manual), '\n', [&](std::string_view line) { out += cat(line.starts_with('#') ? "#" : "", line, "\n"); });
    out += cat(trim(d.manual).empty() ? "" : "\n", "## Exit status\n\n| status | meaning |\n| --- | --- |\n");
    for (auto const& e : exit_table) out += cat("| ", e.code, " | ", cell(e.text), " |\n");
    return out;
}

} // namespace sb::cli
