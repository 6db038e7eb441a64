// SPDX-License-Identifier: MIT
// Presets, profiles, stages and keys as rows for people, and the way in which sb-presets writes rows.
#pragma once
#include <sb/cli/io.hpp>
#include <sb/cli/record_table.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/json/write.hpp>
#include <sb/record/preset.hpp>
#include <sb/key/list.hpp>
#include <sb/stress/describe.hpp>
#include <sb/stress/profile_set.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::app {

/// A value without the quotes of a string.
inline std::string plain(value const& v) {
    auto const* const s = v.if_string();
    return s ? std::string{*s} : json::text_of(v);
}

/// Rows of equal members in the format asked for; `kind` is for programs, not for people.
inline void write_rows(cli::io& io, std::string_view format, std::vector<object> const& rows) {
    if (format == "jsonl") return cli::write_lines(io, rows);
    if (rows.empty()) return;
    auto columns = cli::member_columns(std::vector{rows.front()}, plain);
    if (format != "csv") std::erase_if(columns, [](auto const& each) { return each.title == "kind"; });
    cli::write_table(io, format, cli::table_of(rows, columns));
}

/// A preset as a row for people: its labels, then what it sets.
inline object row_of(preset_record const& p) {
    std::string settings;
    for (auto const& [name, v] : p.keys)
        if (auto const* k = key::find(name); !k || !k->labels())
            settings += cat(settings.empty() ? "" : " ", name, "=", plain(v));
    return {{"scenario", p.scenario()}, {"severity", p.text(p.severity)}, {"seed", *p.keys.if_contains(p.seed)}, {"id", p.id},
        {"sets", settings}};
}

/// One table each for profiles, their other names, stages and keys; what is long stands only in documents.
inline void write_list(cli::io& io, std::string_view format, stress::profile_set const& profiles) {
    auto const rows = stress::list_rows(profiles);
    if (format == "jsonl" || format == "csv") return write_rows(io, format, rows);
    struct part {
        std::string_view kind, title, sort, choices;
    };
    constexpr part parts[] = {{"profile", "Profiles", "category", "severity"},
                              {"alias", "Other names", "", ""},
                              {"stage", "Stages", "category", "severity"},
                              {"key", "Keys", "unit", "ladder"}};
    for (auto const& [kind, title, sort, choices] : parts) {
        std::vector<object> shown;
        for (auto const& row : rows) {
            if (string_or(*row.if_contains("kind"), {}) != kind) continue;
            auto const& name = *row.if_contains("name");
            object cells{{std::string{kind}, name}};
            if (!sort.empty()) cells[sort] = *row.if_contains("sort"), cells[choices] = *row.if_contains("choices");
            if (kind == "key" && format == "md") cells["valid"] = *row.if_contains("valid");
            cells["help"] = *row.if_contains("help");
            if (sort == "unit" || kind == "stage")
                if (format == "md") cells["note"] = *row.if_contains("note");
            shown.push_back(std::move(cells));
        }
        if (kind != "profile") io.out << "\n";
        if (format == "md") io.out << "# " << title << "\n\n";
        write_rows(io, format, shown);
    }
}

/// What a name stands for. A key alone is shown to people with one member a line.
inline result<void> write_description(cli::io& io, std::string_view format, std::string_view name, stress::profile_set const& profiles) {
    SB_TRY(auto rows, stress::describe_rows(name, profiles));
    if (rows.size() == 1 && format != "jsonl" && format != "csv") {
        auto const key = std::move(rows[0]);
        rows.clear();
        for (auto const& [member, v] : key)
            if (member != "kind" && !plain(v).empty()) rows.push_back({{"about", member}, {"is", v}});
    }
    write_rows(io, format, rows);
    return {};
}

} // namespace sb::app
