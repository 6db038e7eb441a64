// SPDX-License-Identifier: MIT
// Keys of the link between the workload and its network: NETWORK_…, PACKET_… and bandwidths. They do not act until there
// is a network with fault injection.
#pragma once
#include <sb/key/definition.hpp>

namespace sb::key {

namespace detail {
constexpr std::string_view no_faulty_link(host const& here) noexcept {
    return here.sandboxed ? "needs fault injection in the sandbox's network, which has only a loopback" : "needs a network namespace; the plain backend shares the host's network";
}
inline constexpr std::string_view link_rates = "1Mbps 5Mbps 10Mbps 50Mbps 100Mbps";
} // namespace detail

inline constexpr definition network_latency_ms{
    .name = "NETWORK_LATENCY_MS", .in = unit::milliseconds, .least = 0, .most = 60000, .ladder = "10 50 100 200 500",
    .help = "delay of every packet, one way",
    .why_not = detail::no_faulty_link};

inline constexpr definition network_jitter_ms{
    .name = "NETWORK_JITTER_MS", .in = unit::milliseconds, .least = 0, .most = 60000, .ladder = "0 5 10 20 50",
    .help = "jitter of the link's delay",
    .why_not = detail::no_faulty_link};

inline constexpr definition packet_loss{
    .name = "PACKET_LOSS", .in = unit::fraction, .least = 0, .most = 1, .ladder = "0 0.01 0.05 0.1",
    .help = "fraction of packets that are lost", .note = "0.1 is one in ten.",
    .why_not = detail::no_faulty_link};

inline constexpr definition packet_duplication{
    .name = "PACKET_DUPLICATION", .in = unit::fraction, .least = 0, .most = 1, .ladder = "0 0.01 0.05",
    .help = "fraction of packets that arrive twice", .note = "0.05 is five in a hundred.",
    .why_not = detail::no_faulty_link};

inline constexpr definition bandwidth_limit{
    .name = "BANDWIDTH_LIMIT", .in = unit::rate, .least = 1e3, .most = 1e10, .ladder = detail::link_rates,
    .help = "maximum rate of the network link", .note = "Caps MAX_BANDWIDTH if both are given.",
    .is_limit = true,
    .why_not = detail::no_faulty_link};

inline constexpr definition max_bandwidth{
    .name = "MAX_BANDWIDTH", .in = unit::rate, .least = 1e3, .most = 1e10, .ladder = detail::link_rates,
    .help = "upper end of the link's varying rate", .note = "Never below MIN_BANDWIDTH.",
    .is_limit = true,
    .why_not = detail::no_faulty_link};

inline constexpr definition min_bandwidth{
    .name = "MIN_BANDWIDTH", .in = unit::rate, .least = 1e3, .most = 1e10, .ladder = detail::link_rates,
    .help = "lower end of the link's varying rate", .note = "Never above MAX_BANDWIDTH.",
    .why_not = detail::no_faulty_link,
    .not_above = &max_bandwidth};

} // namespace sb::key
