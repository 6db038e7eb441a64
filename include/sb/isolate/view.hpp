// SPDX-License-Identifier: MIT
// What a payload sees of the host's files: system folders to read, a workspace to write in, what was bound by name.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace sb::isolate {

/// A folder or file of the host under a name of the sandbox.
struct binding {
    std::string source, target;
    bool writable = false;
};

/// Fixed at a sandbox's birth.
struct view {
    std::string system = "/"; ///< where the system folders are taken from
    std::string work; ///< the workspace, a real path; what is written there goes to a copy
    std::vector<binding> bindings;
};

/// The payload's own place in every sandbox.
inline constexpr std::string_view sandbox_home = "/home/sandbox", sandbox_user = "sandbox";
inline constexpr unsigned sandbox_id = 1000; ///< its user and group as the payload sees them

namespace detail {

/// Top-level names that hold the system's programs and libraries.
inline constexpr std::string_view system_folders[] = {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"};

/// What of /etc is shown: how programs are linked and found, languages and zones, protocols, certificates; nothing
/// that names this host, its users or its network.
inline constexpr std::string_view shown_of_etc[] = {
    "alternatives", "bash.bashrc", "ca-certificates", "debian_version", "fonts", "inputrc", "java-11-openjdk", "java-17-openjdk", "java-21-openjdk",
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime", "mime.types", "os-release", "perl", "profile", "protocols", "python3",
    "python3.11", "python3.12", "python3.13", "services", "ssl", "terminfo", "timezone", "xml"};

inline bool is_below(std::string_view path, std::string_view folder) {
    return path.starts_with(folder) && (path.size() == folder.size() || folder == "/" || path[folder.size()] == '/');
}

} // namespace detail

/// The path without links, "." and "..".
inline result<std::string> real_path(std::string const& path) {
    std::unique_ptr<char, decltype(&std::free)> const real{::realpath(path.c_str(), nullptr), &std::free};
    if (!real) return errno_error("find", path, errno);
    return std::string{real.get()};
}

/// Is `path` (a real one) there for a payload? The workspace and bindings are, and the system folders.
inline bool shows(view const& all, std::string_view path) {
    if (!all.work.empty() && detail::is_below(path, all.work)) return true;
    for (auto const& each : all.bindings)
        if (detail::is_below(path, each.target)) return true;
    for (auto const folder : detail::system_folders)
        if (detail::is_below(path, cat("/", folder))) return true;
    return false;
}

/// Where on the host a file lies that a payload knows by this path; for the name itself, not for what links in it say.
inline std::string host_path(view const& all, std::string const& path) {
    binding const* nearest = nullptr;
    for (auto const& each : all.bindings)
        if (detail::is_below(path, each.target) && (!nearest || each.target.size() >= nearest->target.size())) nearest = &each;
    if (nearest) return nearest->source + path.substr(nearest->target.size());
    if (all.system == "/" || (!all.work.empty() && detail::is_below(path, all.work))) return path;
    for (auto const folder : detail::system_folders)
        if (detail::is_below(path, cat("/", folder))) return all.system + path;
    return path;
}

namespace detail {

/// The caller's home by /etc/passwd; empty when that does not say. Other sources of accounts are not asked: they cost more
/// than a run.
inline std::string account_home() {
    auto const accounts = read_file("/etc/passwd");
    std::string home;
    if (accounts.has_error()) return home;
    auto const own = cat(::geteuid());
    split(*accounts, '\n', [&](std::string_view line) { // name:password:user:group:comment:home:shell
        std::string_view fields[7];
        std::size_t count = 0;
        split(line, ':', [&](std::string_view field) {
            if (count < std::size(fields)) fields[count++] = field;
        });
        if (home.empty() && fields[2] == own) home = fields[5];
    });
    return home;
}

/// Is `home` a folder that lies in this one, or is it?
inline bool holds_home(std::string_view folder, std::string const& home) {
    if (!home.starts_with('/')) return false;
    auto const path = real_path(home);
    return !path.has_error() && path->size() > 1 && is_below(*path, folder);
}

} // namespace detail

/// A folder that may become a workspace: a real one, and neither the root nor the caller's home nor what holds it; HOME may
/// say another home than the account's.
inline result<std::string> workspace_folder(std::string const& asked) {
    auto const found = real_path(asked);
    if (found.has_error()) return caller_error(cat("workspace ", asked, ": ", std::strerror(errno)));
    struct stat facts {};
    if (::stat(found->c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return caller_error(cat("workspace ", asked, ": not a folder"));
    char const* const home = std::getenv("HOME");
    if (*found == "/" || detail::holds_home(*found, home ? home : "") || detail::holds_home(*found, detail::account_home()))
        return caller_error(cat("workspace ", *found, ": ", *found == "/" ? "the whole system" : "your home, or what holds it,",
                                " is never shown to a payload; go to the project's folder or name one with --work DIR"));
    for (std::string_view const own : {"/proc", "/sys", "/dev", "/run", "/etc"})
        if (detail::is_below(*found, own)) return caller_error(cat("workspace ", *found, ": ", own, " is never shown to a payload"));
    return *found;
}

/// `SRC[:DST][:ro|rw]`
inline result<binding> parse_binding(std::string_view text) {
    binding made;
    bool straight = true;
    auto rest = text;
    if (rest.ends_with(":ro")) rest.remove_suffix(3);
    else if (rest.ends_with(":rw")) rest.remove_suffix(3), made.writable = true;
    auto const colon = rest.find(':');
    made.source = rest.substr(0, colon);
    made.target = colon == std::string_view::npos ? made.source : std::string{rest.substr(colon + 1)};
    if (made.source.empty() || !made.source.starts_with('/') || !made.target.starts_with('/'))
        return caller_error(cat("--bind \"", text, "\": write SRC[:DST][:ro|rw] with absolute paths"));
    if (auto const last = made.target.rfind(':'); last != std::string::npos)
        return caller_error(cat("--bind ", text, ": ends in ro or rw, not ", std::string_view{made.target}.substr(last + 1)));
    split(made.target, '/', [&](std::string_view name) { straight = straight && name != "." && name != ".."; });
    if (!straight) return caller_error(cat("--bind ", text, ": ", made.target, ": write it without \".\" and \"..\""));
    auto const real = real_path(made.source);
    if (real.has_error()) return caller_error(cat("--bind ", text, ": ", made.source, ": ", std::strerror(errno)));
    if (*real == "/") return caller_error(cat("--bind ", text, ": the whole system is never shown to a payload"));
    for (std::string_view const own : {"/proc", "/dev", "/tmp", "/"})
        if (made.target == own) return caller_error(cat("--bind ", text, ": ", own, " is the sandbox's own"));
    made.source = *real;
    while (made.target.size() > 1 && made.target.ends_with('/')) made.target.pop_back();
    return made;
}

} // namespace sb::isolate
