// SPDX-License-Identifier: MIT
// Profiles, stages and keys as rows that a person or a program can read.
#pragma once
#include <sb/stress/profile_set.hpp>
#include <sb/stress/suites.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sb::stress {

/// Profiles first, then their other names, the stages of the trajectory, the keys: one object per row, with the same members
/// in each. `sort` is a profile's category or a key's unit; `choices` are its levels or its ladder.
inline std::vector<object> list_rows(profile_set const& profiles) {
    std::vector<object> rows;
    auto const row = [&](std::string_view kind, std::string_view name, std::string_view sort,
                         std::string const& choices, std::string_view help, std::string const& valid = {}, std::string_view note = {}) {
        rows.push_back({{"kind", kind}, {"name", name}, {"sort", sort}, {"choices", choices}, {"help", help},
            {"valid", valid}, {"note", note}});
    };
    // a key that can act but does not must not look as if it did
    auto const note_of = [](key::definition const& k) {
        if (k.labels() || k.acts()) return std::string{k.note};
        return cat("Does not act yet.", k.note.empty() ? "" : " ", k.note);
    };
    for (auto const& name : profiles.names())
        if (auto const p = profiles.find(name); p.has_value())
            row("profile", p->name, p->category, p->level_names(), p->help);
    for (auto const& alias : profile_aliases) row("alias", alias.name, "", "", cat("another name of ", alias.means));
    for (auto const& each : trajectory) {
        std::string others;
        key::each_word(each.aliases,
            [&](std::string_view alias) { others += cat(others.empty() ? "Also called " : ", ", alias); });
        row("stage", each.name, each.from.category, levels_of(each.from).level_names(), each.from.help, {},
            others + ".");
    }
    for (auto const* k : key::by_name)
        row("key", k->name, name_of(k->in), key::listed(k->ladder), k->help, valid_text(*k), note_of(*k));
    return rows;
}

/// What a name means: a key, or a profile (or stage) with its keys at each level.
inline result<std::vector<object>> describe_rows(std::string_view name, profile_set const& profiles) {
    std::vector<object> rows;
    if (auto const* k = key::find(name)) {
        rows.push_back({{"kind", "key"},
                        {"name", k->name},
                        {"type", name_of(k->in)},
                        {"valid", valid_text(*k)},
                        {"ladder", key::listed(k->ladder)},
                        {"acts", value(k->acts())},
                        {"help", k->help},
                        {"note", k->note}});
        return rows;
    }
    auto const settings = [&](leveled_profile const& p) {
        for (auto const& [level, keys] : p.levels) {
            auto settled = detail::keys_of(neutral_base, false);
            for (auto const& [name_of_key, v] : keys) settled[name_of_key] = v;
            sort_keys(settled);
            for (auto const& [name_of_key, v] : settled) {
                auto const* const known = key::find(name_of_key);
                rows.push_back({{"kind", "setting"}, {"name", p.name}, {"level", level}, {"key", name_of_key}, {"value", v},
                    {"help", known ? known->help : ""}});
            }
        }
    };
    if (auto const p = profiles.find(name); p.has_value()) {
        settings(*p);
        return rows;
    }
    for (auto const& each : trajectory) {
        bool named = false;
        key::each_word(each.aliases, [&](std::string_view alias) { named = named || alias == name; });
        if (!named) continue;
        settings(levels_of(each.from));
        return rows;
    }
    auto names = profiles.names();
    for (auto const& each : trajectory) names.emplace_back(each.name);
    for (auto const* k : key::by_name) names.emplace_back(k->name);
    return caller_error(cat("unknown name \"", name, "\"", key::hint(name, names),
        "--list shows all profiles, stages and keys"));
}

} // namespace sb::stress
