// SPDX-License-Identifier: MIT
// A record: an environment to run a workload in.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/value.hpp>
#include <string>
#include <string_view>

namespace sb {

/// One environment to run a workload in: a flat map of upper-case keys. `id` is the hash of the keys
/// (stress/preset_id.hpp), so that presets of equal content have equal ids wherever they were made.
struct preset_record {
    static constexpr auto kind = "preset";
    static constexpr int version = 1;
    std::string id;
    object keys; ///< sorted by name; ENV_NAME is the workload's variable NAME

    /// Keys that every preset has.
    static constexpr std::string_view scenario_name = "SCENARIO_NAME", severity = "SEVERITY", seed = "SEED";

    std::string_view text(std::string_view key, std::string_view otherwise = {}) const noexcept {
        auto const* v = keys.if_contains(key);
        return v ? string_or(*v, otherwise) : otherwise;
    }
    std::string_view scenario() const noexcept { return text(scenario_name); }

    object to_object() const {
        object o{{"kind", kind}, {"v", version}, {"id", id}};
        for (auto const& [key, v] : keys) o.emplace(key, v);
        return o;
    }
    /// Takes what is there; a missing `id` stays empty and the caller gives it one.
    static result<preset_record> from_object(object const& o) {
        preset_record p;
        for (auto const& [key, v] : o) {
            if (key == "kind" || key == "v") continue;
            if (key != "id") p.keys.emplace(key, v);
            else if (auto const* id = v.if_string()) p.id = *id;
            else return input_error("\"id\" is not a string");
        }
        return p;
    }
    static object schema() {
        return {{"type", "object"},
                {"properties",
                 object{{"kind", object{{"const", kind}}},
                        {"v", object{{"const", version}}},
                        {"id", object{{"type", "string"}, {"pattern", "^[0-9a-f]{16}$"}}},
                        {std::string{scenario_name}, object{{"type", "string"}}},
                        {std::string{severity}, object{{"type", "string"}}},
                        {std::string{seed}, object{{"type", "integer"}}}}},
                {"patternProperties", object{{"^[A-Z][A-Z0-9_]*$", object{}}, {"^ENV_[^=]+$", object{{"type", array{"string", "number", "boolean"}}}}}},
                {"required", array{"kind", "v", "id", scenario_name, severity, seed}},
                {"additionalProperties", false}};
    }
};

} // namespace sb
