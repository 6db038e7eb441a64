// SPDX-License-Identifier: MIT
// Backends without walls: a session, a process group, a clean environment and private folders, and rlimits unless
// nothing is to be limited. They need no privilege and no kernel feature beyond Linux 4.
#pragma once
#include <sb/run/backend.hpp>
#include <sb/run/enforce.hpp>

namespace sb::run {

namespace detail {

inline std::map<std::string, std::string> plain_sources() {
    return {{"cpu_user_s", "wait4, all processes that the slot took in"},
            {"peak_rss_bytes", "wait4, largest process; never below the slot's own"},
            {"read_bytes", "wait4, from storage"},
            {"write_bytes", "wait4, made dirty for storage"},
            {"write_logical_bytes", "/proc/PID/io of the first process and what it waited for"}};
}

} // namespace detail

/// `--isolate basic`
inline backend plain_backend() {
    return {"plain",
            {"session", "rlimits", "environment", "home", "tmpdir", "descriptors"},
            "plain backend: host network and files are visible",
            detail::plain_sources(),
            [](preset_record const& preset, overrides const& wins) { return enforce(preset, wins, abilities{}); }};
}

/// `--isolate none`: an instrument, no sandbox.
inline backend bare_backend() {
    return {"none",
            {"session", "environment", "home", "tmpdir", "descriptors"},
            "nothing is isolated or limited but time and output",
            detail::plain_sources(),
            [](preset_record const& preset, overrides const& wins) {
                abilities can;
                can.limits = false;
                return enforce(preset, wins, can);
            }};
}

} // namespace sb::run
