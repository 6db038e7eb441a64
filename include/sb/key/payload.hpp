// SPDX-License-Identifier: MIT
// Keys of what a workload is fed: hostile, malformed and drifted input, and misuse. They do not act until there are
// stubs.
#pragma once
#include <sb/key/definition.hpp>

namespace sb::key {

namespace detail {
constexpr std::string_view no_stubs(host const&) noexcept { return "needs input payloads (stubs); this run has none"; }
inline constexpr std::string_view older = "Accepted from older presets, never written.";
} // namespace detail

inline constexpr std::string_view stub_strategies = "failures flaky_upstream history hostile legacy_schema misuse model random signature smart synthetic templates";
inline constexpr std::string_view payload_families = "boundary corrupted_bytes injection malformed oversized path_traversal";

inline constexpr definition sandbox_stub_strategy{
    .name = "SANDBOX_STUB_STRATEGY", .in = unit::word, .words = stub_strategies,
    .help = "where input payloads come from", .why_not = detail::no_stubs};
inline constexpr definition corrupt_payload{
    .name = "CORRUPT_PAYLOAD", .in = unit::boolean,
    .help = "change some bytes of each input payload, chosen by the seed", .why_not = detail::no_stubs};
inline constexpr definition inject_edge_cases{
    .name = "INJECT_EDGE_CASES", .in = unit::boolean,
    .help = "add edge-case files and answers: malformed, empty, null, timing out", .why_not = detail::no_stubs};
inline constexpr definition unexpected_input{
    .name = "UNEXPECTED_INPUT", .in = unit::boolean,
    .help = "the same as INJECT_EDGE_CASES", .note = detail::older, .why_not = detail::no_stubs};

inline constexpr definition hostile_input{
    .name = "HOSTILE_INPUT", .in = unit::boolean,
    .help = "the same as the failure mode hostile_input", .note = detail::older, .why_not = detail::no_stubs};
inline constexpr definition malicious_data{
    .name = "MALICIOUS_DATA", .in = unit::boolean,
    .help = "stubs include the payloads of the failure mode hostile_input", .why_not = detail::no_stubs};
inline constexpr definition payload_bytes{
    .name = "PAYLOAD_BYTES", .in = unit::bytes, .least = 1, .most = 64 * mi, .ladder = "1Ki 16Ki 64Ki 1Mi",
    .help = "size of the largest hostile payload", .why_not = detail::no_stubs};
inline constexpr definition payload_count{
    .name = "PAYLOAD_COUNT", .in = unit::integer, .least = 1, .most = 100000, .ladder = "4 16 64",
    .help = "number of different hostile payloads", .why_not = detail::no_stubs};
inline constexpr definition payload_indicator{
    .name = "PAYLOAD_INDICATOR", .in = unit::words, .words = payload_families,
    .help = "families of hostile payloads to begin with", .note = "Other families follow up to PAYLOAD_COUNT.", .why_not = detail::no_stubs};

inline constexpr definition schema_drift{
    .name = "SCHEMA_DRIFT", .in = unit::boolean,
    .help = "the same as the failure mode schema_drift", .note = detail::older, .why_not = detail::no_stubs};
inline constexpr definition schema_checks{
    .name = "SCHEMA_CHECKS", .in = unit::integer, .least = 1, .most = 1000000, .ladder = "100",
    .help = "number of payloads, of which SCHEMA_MISMATCHES have drifted", .why_not = detail::no_stubs};
inline constexpr definition schema_mismatches{
    .name = "SCHEMA_MISMATCHES", .in = unit::integer, .least = 0, .most = 1000000, .ladder = "5 20",
    .help = "number of the SCHEMA_CHECKS payloads that have a field renamed, dropped or of another type", .note = "Never above SCHEMA_CHECKS.", .why_not = detail::no_stubs,
    .not_above = &schema_checks};

inline constexpr definition misuse_probes{
    .name = "MISUSE_PROBES", .in = unit::integer, .least = 1, .most = 1000, .ladder = "2 4 8 16",
    .help = "number of misuse probes: wrong arity, wrong types, forbidden paths", .why_not = detail::no_stubs};
inline constexpr definition invalid_config{
    .name = "INVALID_CONFIG", .in = unit::boolean,
    .help = "misuse probes include invalid settings", .why_not = detail::no_stubs};
inline constexpr definition invalid_param_types{
    .name = "INVALID_PARAM_TYPES", .in = unit::boolean,
    .help = "misuse probes include parameters of the wrong type", .why_not = detail::no_stubs};
inline constexpr definition unexpected_api_calls{
    .name = "UNEXPECTED_API_CALLS", .in = unit::boolean,
    .help = "misuse probes call operations that do not exist", .why_not = detail::no_stubs};

} // namespace sb::key
