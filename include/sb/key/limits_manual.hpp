// SPDX-License-Identifier: MIT
// The manual's tables of keys that act.
#pragma once
#include <sb/key/list.hpp>
#include <string>

namespace sb::key {

/// The keys that act the same with and without control groups, in Markdown, one row per key in the order of the list.
inline std::string limits_table(key_list const& keys = all_keys) {
    std::string table = "| key | what enforces it | when it is reached |\n| --- | --- | --- |\n";
    for (auto const* each : keys.in_order)
        if (each->acts() && each->manual.without.empty()) table += cat("| ", each->name, " | ", each->manual.how, " | ", each->manual.reached, " |\n");
    return table;
}

/// The keys that act differently with control groups.
inline std::string group_limits_table(key_list const& keys = all_keys) {
    std::string table = "| key | with a control group | without | when it is reached |\n| --- | --- | --- | --- |\n";
    for (auto const* each : keys.in_order)
        if (each->acts() && !each->manual.without.empty())
            table += cat("| ", each->name, " | ", each->manual.how, " | ", each->manual.without, " | ", each->manual.reached, " |\n");
    return table;
}

/// The names of the limits that nothing enforces yet.
inline std::string limits_to_come(key_list const& keys = all_keys) {
    std::string names;
    for (auto const* each : keys.in_order)
        if (each->is_limit && !each->acts()) names += cat(names.empty() ? "" : ", ", each->name);
    return names;
}

} // namespace sb::key
