// SPDX-License-Identifier: MIT
// Landlock: which files a process and its children may touch, and how, whatever the mounts show them.
//
// It handles all rights over files that the running kernel knows, so everything that no rule grants is refused. From version
// 6 on signals and abstract unix sockets stay within the run too. TCP ports are not restricted: a private network namespace
// has nothing behind them, and where the network is shared on purpose, a list of ports would add nothing to the routes.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/filter/levels.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::filter {

/// Rights over files. The numbers are the kernel's; older headers do not have all of them.
namespace file_right {
inline constexpr std::uint64_t execute = 1, write_file = 1 << 1, read_file = 1 << 2, read_dir = 1 << 3, remove_dir = 1 << 4, remove_file = 1 << 5,
                               make_char = 1 << 6, make_dir = 1 << 7, make_reg = 1 << 8, make_sock = 1 << 9, make_fifo = 1 << 10,
                               make_block = 1 << 11, make_sym = 1 << 12, refer = 1 << 13, truncate = 1 << 14, ioctl_dev = 1 << 15;

inline constexpr std::uint64_t reading = read_file | read_dir;
inline constexpr std::uint64_t executing = reading | execute;
/// All rights except making device nodes, which nobody gets.
inline constexpr std::uint64_t writing =
    reading | write_file | truncate | remove_dir | remove_file | make_dir | make_reg | make_sock | make_fifo | make_sym | refer;
inline constexpr std::uint64_t devices = reading | write_file | truncate | ioctl_dev;

inline constexpr std::uint64_t of_a_file = execute | write_file | read_file | truncate | ioctl_dev; ///< rights that make sense for a file that is not a folder
} // namespace file_right

/// Grants rights over a file, or over a folder and all in it.
struct landlock_rule {
    std::string path; ///< opened if `descriptor` is -1; else it only names the place in errors
    std::uint64_t rights = 0; ///< of file_right; rights that the kernel does not know are left out
    int descriptor = -1; ///< not owned; O_PATH is enough
};

/// The rules of a level for a payload that sees `programs` (read-only) and `writable` folders, /dev, /proc and little else.
/// All of them must exist under the root in which the rules are made.
inline std::vector<landlock_rule> rules_for_files(security_level const& level, std::vector<std::string> const& programs, std::vector<std::string> const& writable) {
    // rights add up on the way down: no folder can take back what the root grants
    std::vector<landlock_rule> rules{{"/", level.runs_what_it_made ? file_right::executing : file_right::reading}};
    for (auto const& each : programs) rules.push_back({each, file_right::executing});
    for (auto const& each : writable) rules.push_back({each, file_right::writing});
    rules.push_back({"/dev", file_right::devices});
    // a process can write into its own code through /proc/self/mem, whatever the filter says about mmap
    rules.push_back({"/proc", level.makes_code ? file_right::reading | file_right::write_file : file_right::reading});
    return rules;
}

/// The version of the running kernel; 0 if it has no Landlock or has it switched off.
inline int landlock_version() noexcept {
    auto const version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1u);
    return version > 0 ? static_cast<int>(version) : 0;
}

/// Rules that a process can apply to itself any number of times. They are made once.
class landlock_rules {
public:
    /// Below version 2 every rename from folder to folder fails, so Landlock is not used: `version()` is then 0.
    static constexpr int oldest = 2;

    /// `most` is an upper bound for the version, for tests of what an older kernel would do.
    static result<landlock_rules> make(std::vector<landlock_rule> const& rules, int most = 7) {
        landlock_rules made;
        auto const version = std::min(landlock_version(), most);
        if (version < oldest) return made;
        struct {
            std::uint64_t files, network, scoped;
        } const handled{known(version), 0, version >= 6 ? abstract_sockets | signals : 0};
        auto const length = version >= 6 ? sizeof handled : version >= 4 ? 2 * sizeof handled.files : sizeof handled.files;
        made.set_ = unique_fd{static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, length, 0u))}; // always close-on-exec
        if (!made.set_) return last_error("landlock_create_ruleset");
        made.version_ = version;
        for (auto const& rule : rules) SB_CHECK(made.grant(rule));
        return made;
    }

    int version() const noexcept { return version_; } ///< the version in force after `restrict_self`; 0: no rules
    bool holds_signals() const noexcept { return version_ >= 6; } ///< also restricts abstract unix sockets

    /// Applies to this thread and all that it starts, forever; afterwards it can change no mount. Async-signal-safe. -1 and
    /// errno when the kernel refuses; 0 where `version()` is 0, and nothing is done.
    int restrict_self() const noexcept {
        if (version_ == 0) return 0;
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
        return static_cast<int>(::syscall(SYS_landlock_restrict_self, set_.get(), flags()));
    }

    /// For giving the rules to another process: the argument for landlock_restrict_self. -1 where `version()` is 0.
    int descriptor() const noexcept { return set_.get(); }
    unsigned flags() const noexcept { return flags_of(version_); }
    /// The flags for rules of the version that runs here. A payload must not be able to fill the host's audit log with
    /// refused accesses.
    static unsigned flags_of(int version) noexcept { return version >= 7 ? log_same_exec_off | log_subdomains_off : 0; }

private:
    static constexpr std::uint64_t abstract_sockets = 1, signals = 2;
    static constexpr unsigned log_same_exec_off = 1, log_subdomains_off = 4;

    static constexpr std::uint64_t known(int version) noexcept {
        auto const newest = version >= 5 ? file_right::ioctl_dev : version >= 3 ? file_right::truncate : file_right::refer;
        return newest * 2 - 1;
    }

    result<void> grant(landlock_rule const& rule) {
        unique_fd opened;
        if (rule.descriptor < 0) {
            SB_TRY(opened, open_file(rule.path, O_PATH));
        }
        int const place = rule.descriptor >= 0 ? rule.descriptor : opened.get();
        struct stat about {};
        if (::fstat(place, &about) < 0) return last_error("stat", rule.path);
        struct __attribute__((packed)) {
            std::uint64_t rights;
            std::int32_t parent;
        } const beneath{rule.rights & known(version_) & (S_ISDIR(about.st_mode) ? ~std::uint64_t{0} : file_right::of_a_file), place};
        if (beneath.rights == 0) return {};
        constexpr int path_beneath = 1;
        if (::syscall(SYS_landlock_add_rule, set_.get(), path_beneath, &beneath, 0u) < 0) return last_error("landlock_add_rule", rule.path);
        return {};
    }

    unique_fd set_;
    int version_ = 0;
};

} // namespace sb::filter
