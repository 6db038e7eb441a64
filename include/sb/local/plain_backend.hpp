// SPDX-License-Identifier: MIT
// Backends without a sandbox: a session, a process group, a clean environment and private folders, and rlimits unless limits
// are switched off. They need no privilege and no kernel feature beyond Linux 4.
#pragma once
#include <sb/cgroup/cgroup_limits.hpp>
#include <sb/local/local_backend.hpp>
#include <sb/run/preset_to_limits.hpp>
#include <map>
#include <string>

namespace sb::local {

namespace detail {

/// The same on every backend: the kernel adds a process's figures to those of its waiting parent, and finally to the
/// reaper's.
inline std::map<std::string, std::string> traffic_sources() {
    return {{"read_bytes", "wait4, all processes that were waited for; read from storage"},
            {"write_bytes", "wait4, all processes that were waited for; to be written to storage"},
            {"read_logical_bytes", "/proc/PID/io, all processes that were waited for"},
            {"write_logical_bytes", "/proc/PID/io, all processes that were waited for"},
            {"noise", "/proc/stat minus our own use, read between runs, at most every 100 ms"}};
}
inline std::map<std::string, std::string> plain_sources() {
    auto sources = traffic_sources();
    sources["cpu_user_s"] = "wait4, all processes that were waited for";
    sources["peak_rss_bytes"] = "wait4, the largest process that was waited for; never less than sb-exec's own worker";
    return sources;
}

} // namespace detail

class plain_backend final : public local_backend {
public:
    enum class strictness {
        basic, ///< `--isolate basic`
        none ///< `--isolate none`: an instrument, no sandbox
    };
    explicit plain_backend(strictness how = strictness::basic) : local_backend{how == strictness::basic ? basic_facts() : bare_facts()} {
        can_.limits = how == strictness::basic;
        can_.memory_bytes = can_.limits ? cgroup::machine_size::read().memory_bytes : 0;
    }
    result<run::enforcement> plan(key::preset const& preset, run::overrides const& wins) const override { return run::enforce(preset, wins, as_seen_here(can_)); }

private:
    static run::backend_facts basic_facts() {
        return {"plain",
                {"session", "rlimits", "environment", "home", "tmpdir", "descriptors"},
                "plain backend: host network and files are visible",
                detail::plain_sources()};
    }
    static run::backend_facts bare_facts() {
        return {"none", {"session", "environment", "home", "tmpdir", "descriptors"}, "no isolation; only time and output are limited", detail::plain_sources()};
    }
    key::host can_;
};

} // namespace sb::local
