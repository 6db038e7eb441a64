// SPDX-License-Identifier: MIT
// Judges: the run's record, the probe's own line and the witness's two looks at the host, into one verdict.
#pragma once
#include "facts.hpp"
#include "host.hpp"
#include <optional>
#include <sb/core/value.hpp>
#include <sb/json/parse.hpp>

namespace probes {

struct verdict {
    enum kind { held, broken, skipped } is = held;
    std::string why;
};

/// For people: what a hostile program named does not reach the terminal as it is.
inline std::string printable(std::string text) {
    for (auto& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
    return text;
}

/// A member by its path, as in member(run, {"end", "class"}); null when there is none.
inline sb::value member(sb::value const& of, std::initializer_list<std::string_view> path) {
    auto const* at = &of;
    for (auto const& name : path) {
        auto const* const inside = at->if_object();
        at = inside ? inside->if_contains(name) : nullptr;
        if (!at) return {};
    }
    return *at;
}

/// Records of the kind `run`, in order; `broken` gets the first line that is no JSON.
inline std::vector<sb::value> records_in(std::string const& out, std::string& broken) {
    std::vector<sb::value> all;
    for (std::size_t at = 0; at < out.size();) {
        auto const end = std::min(out.find('\n', at), out.size());
        auto const line = out.substr(at, end - at);
        at = end + 1;
        sb::value read;
        if (sb::json::parse(line, read)) broken = line.substr(0, 80);
        else if (sb::string_or(member(read, {"kind"}), "") == "run") all.push_back(std::move(read));
    }
    return all;
}

/// The probe's line in what it said; the last one, for it is said at the end.
inline std::optional<sb::value> line_of_probe(std::string_view out) {
    auto const at = out.rfind("{\"probe\":");
    if (at == out.npos) return std::nullopt;
    sb::value read;
    if (sb::json::parse(out.substr(at, out.find('\n', at) - at), read)) return std::nullopt;
    return read;
}

inline std::string achieved_in(sb::value const& line) {
    std::string text;
    auto const attempts = member(line, {"attempts"});
    if (auto const* const all = attempts.if_array())
        for (auto const& each : *all) {
            auto const done = member(each, {"achieved"});
            if (done.if_bool() && *done.if_bool()) (text += text.empty() ? "" : ", ") += sb::string_or(member(each, {"what"}), "?");
        }
    return text;
}

inline bool names_limit(sb::value const& record, std::string_view key) {
    auto const hit = member(record, {"limits_hit"});
    if (auto const* const all = hit.if_array())
        for (auto const& each : *all)
            if (sb::string_or(each, "") == key) return true;
    return false;
}

/// Why the limit is none of the whole tree on this host, as the record has it; empty when it is one.
inline std::string not_enforced(sb::value const& record, std::string_view key) {
    for (auto const* const list : {"unsupported", "applied"}) {
        auto const entries = member(record, {list});
        auto const* const all = entries.if_array();
        if (!all) continue;
        for (auto const& each : *all) {
            if (sb::string_or(member(each, {"key"}), "") != key) continue;
            auto const by = std::string{sb::string_or(member(each, {"by"}), "")};
            if (std::string_view{list} == "unsupported") return std::string{sb::string_or(member(each, {"why"}), "")};
            if (key == "MEMORY_LIMIT" && by.find("each process") != by.npos) return by; // that of files is meant to be
        }
    }
    return {};
}

/// One run, as its record and its probe tell it.
inline verdict judge_record(variant const& run, sb::value const& record) {
    auto const ending = std::string{sb::string_or(member(record, {"end", "class"}), "")};
    auto const head = std::string{sb::string_or(member(record, {"stdout", "head"}), "")};
    auto const line = line_of_probe(head);
    if (line) {
        if (auto const bad = achieved_in(*line); !bad.empty()) {
            auto const why = not_enforced(record, run.limit);
            if (*run.limit && !why.empty()) return {verdict::skipped, std::string{run.limit} + ": " + why};
            return {verdict::broken, bad};
        }
    }
    if (!sb::contains(sb::words(run.ends), ending))
        return {verdict::broken, "the record says " + ending + " (" + std::string{sb::string_or(member(record, {"end", "reason"}), "")} + "), not " + run.ends};
    if (ending == "ok" && !line) return {verdict::broken, "the probe said nothing"};
    if (ending == "signalled" && sb::contains(sb::words(run.ends), "memory") && !names_limit(record, run.limit)) return {verdict::broken, "ended by a signal, and the record names no limit"};
    if (run.named && !names_limit(record, run.limit)) return {verdict::broken, std::string{"limits_hit does not name "} + run.limit};
    return {};
}

} // namespace probes
