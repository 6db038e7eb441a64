// SPDX-License-Identifier: MIT
// A YAML file as an object. Among the tools only `sb-settings` includes this: see cli/settings.hpp.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/json/number.hpp>
#include <cstdint>
#include <iterator>
#include <string>
#include <yaml-cpp/yaml.h>

namespace sb::yaml {

namespace detail {

/// A plain scalar by YAML's core schema; a quoted one is text.
inline value scalar_of(YAML::Node const& node) {
    auto const text = node.Scalar();
    if (node.Tag() == "!") return value(text);
    auto const word = lowered(text);
    if (word == "true" || word == "yes" || word == "on") return true;
    if (word == "false" || word == "no" || word == "off") return false;
    if (word == "null" || word == "~" || word.empty()) return {};
    bool whole = false;
    if (json::number_length(text, whole) == text.size()) {
        auto const n = json::read_number(text, whole);
        if (n.kind == json::number_kind::integer) return n.integer;
        if (n.kind == json::number_kind::natural) return n.natural;
        if (n.kind == json::number_kind::real) return n.real;
    }
    return value(text);
}

/// What a file may become: aliases of aliases, or of a long text, end in an error and not in all memory.
struct room {
    std::int64_t values = 1'000'000, bytes = std::int64_t{64} << 20;
};

inline result<value> value_of(YAML::Node const& node, int depth, room& left) {
    if (depth <= 0) return caller_error("nested too deep");
    if (--left.values <= 0) return caller_error("more than 1,000,000 values");
    if (node.IsScalar()) {
        if ((left.bytes -= std::ssize(node.Scalar())) < 0) return caller_error("more than 64 MiB of text");
        return scalar_of(node);
    }
    if (node.IsSequence()) {
        array list;
        for (auto const& each : node) {
            SB_TRY(auto element, value_of(each, depth - 1, left));
            list.push_back(std::move(element));
        }
        return value(std::move(list));
    }
    if (!node.IsMap()) return value();
    object map;
    for (auto const& each : node) {
        if (!each.first.IsScalar()) return caller_error(cat("line ", each.first.Mark().line + 1, ": a key must be a word"));
        SB_TRY(auto v, value_of(each.second, depth - 1, left));
        if (each.first.Scalar() == "<<" && v.if_object()) {
            for (auto const& [key, merged] : *v.if_object())
                if (!map.if_contains(key)) map[key] = merged;
        } else {
            map[each.first.Scalar()] = std::move(v);
        }
    }
    return value(std::move(map));
}

} // namespace detail

/// `path` is for the error.
inline result<object> read_text(std::string const& text, std::string const& path) {
    try {
        auto const document = YAML::Load(text);
        detail::room left;
        auto got = detail::value_of(document, 64, left);
        if (got.has_error()) return caller_error(cat(path, ": ", got.error().what));
        if (got->is_null()) return object{}; // an empty file sets nothing
        if (!got->if_object()) return caller_error(cat(path, ": must be a map of names to values"));
        return std::move(*got->if_object());
    } catch (YAML::Exception const& e) {
        return caller_error(cat(path, ": line ", e.mark.line + 1, ", byte ", e.mark.column + 1, ": ", e.msg));
    }
}

} // namespace sb::yaml
