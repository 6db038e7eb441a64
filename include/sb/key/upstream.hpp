// SPDX-License-Identifier: MIT
// Keys of the upstream that replaces the network. They do not act until it exists.
#pragma once
#include <sb/key/definition.hpp>

namespace sb::key {

namespace detail {
constexpr std::string_view no_upstream(host const&) noexcept { return "needs a simulated upstream; this backend has none"; }
} // namespace detail

inline constexpr definition api_latency_ms{
    .name = "API_LATENCY_MS", .in = unit::milliseconds, .least = 0, .most = 600000, .ladder = "50 100 200 500 1000",
    .help = "delay before each answer of the simulated upstream",
    .why_not = detail::no_upstream};

inline constexpr definition broken_auth{
    .name = "BROKEN_AUTH", .in = unit::boolean,
    .help = "the simulated upstream refuses every credential, and stubs have expired ones",
    .why_not = detail::no_upstream};

inline constexpr definition upstream_requests{
    .name = "UPSTREAM_REQUESTS", .in = unit::integer, .least = 1, .most = 1000000, .ladder = "20",
    .help = "number of requests, of which UPSTREAM_FAILURES fail",
    .why_not = detail::no_upstream};

inline constexpr definition upstream_failures{
    .name = "UPSTREAM_FAILURES", .in = unit::integer, .least = 0, .most = 1000000, .ladder = "1 5",
    .help = "number of the UPSTREAM_REQUESTS requests that fail at the simulated upstream", .note = "Never above UPSTREAM_REQUESTS.",
    .why_not = detail::no_upstream,
    .not_above = &upstream_requests};

} // namespace sb::key
