// SPDX-License-Identifier: MIT
// A finding about this host: what was seen, and what mends it.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace sb::doctor {

/// `limited`: runs go on, with less held or known. `missing`: what needs it is refused.
enum class finding_status { ok, limited, missing };

constexpr std::string_view name_of(finding_status s) noexcept {
    constexpr std::string_view names[] = {"ok", "limited", "missing"};
    return names[static_cast<std::size_t>(s)];
}

struct finding {
    std::string name;
    finding_status status = finding_status::ok;
    std::string what; ///< what was seen, and what its lack costs
    std::string mend; ///< the command that changes it, as a shell takes it; empty: none does
    std::string advice = {}; ///< where no command does: the change that would

    finding& fails(finding_status how, std::string seen) {
        status = how, what = std::move(seen);
        return *this;
    }
};

/// The first line of a small file; empty when there is none.
inline std::string first_line(std::string const& path) {
    auto const text = read_file(path);
    return text.has_error() ? std::string{} : std::string{trim(std::string_view{*text}.substr(0, text->find('\n')))};
}

/// `command` as who may not do it would have it done. `shell`: it is more than one program with its arguments.
inline std::string as_root(std::string command, bool shell = false) {
    if (::geteuid() == 0) return command;
    return shell ? cat("sudo sh -c '", command, "'") : "sudo " + command;
}

} // namespace sb::doctor
