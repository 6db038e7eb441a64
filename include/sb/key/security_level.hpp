// SPDX-License-Identifier: MIT
// SECURITY_LEVEL: how much the sandbox forbids.
#pragma once
#include <sb/key/definition.hpp>

namespace sb::key {

inline constexpr integer default_security_level{3};

namespace detail {
inline outcome plan_level(integer level, host const& here, setup& to) {
    if (!here.sandboxed) return not_here("needs namespaces and a system-call filter");
    to.level = static_cast<int>(level.count);
    return holds(level.count, cat(here.level_name ? here.level_name(level.count) : std::string_view{"level"}, ": system-call filter, mounts, Landlock"));
}
} // namespace detail

inline constexpr definition security_level{
    .name = "SECURITY_LEVEL", .in = unit::integer, .least = 1, .most = 5, .ladder = "1 2 3 4 5",
    .help = "how much the sandbox forbids; default 3",
    .is_limit = true,
    .plan = typed<detail::plan_level>,
    .by_default = [](host const& here, setup& to) { return here.sandboxed ? std::optional{detail::plan_level(default_security_level, here, to)} : std::nullopt; },
    .manual = {.how = "see above; default 3",
               .reached = "a call fails, and the program decides its own end"}};

} // namespace sb::key
