// SPDX-License-Identifier: MIT
// What a payload sees of the host's files: system folders to read, a workspace to write in, and bindings by name.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/path.hpp>
#include <sb/files/pinned.hpp>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <linux/magic.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <vector>

namespace sb::sandbox {

/// A folder or file of the host under a name of the sandbox.
struct binding {
    std::string source, target;
    bool writable = false;
    files::pinned place = {}; ///< the source, opened when it was checked; empty: it is opened by its path
};

/// Fixed at a sandbox's birth.
struct view {
    std::string system = "/"; ///< where the system folders are taken from
    std::string work; ///< the workspace, a real path; changes go to a copy
    std::vector<binding> bindings;
    files::pinned system_place = {}, work_place = {}; ///< as for bindings
    std::string boot_id = {}; ///< shown instead of the host's; empty: every template invents one
    std::optional<std::vector<std::string>> etc = {}; ///< the parts of /etc that are shown (public_etc.hpp); no value: every template finds them itself

    /// Can the payload write to something of the host?
    bool host_writable() const noexcept {
        return std::any_of(bindings.begin(), bindings.end(), [](binding const& each) { return each.writable; });
    }
};

/// The payload's own place in every sandbox.
inline constexpr std::string_view sandbox_home = "/home/sandbox", sandbox_user = "sandbox";

/// Top-level names that hold the system's programs and libraries.
inline constexpr std::string_view system_folders[] = {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"};

/// The parts of /etc that are shown, as far as everybody may read them: how programs are linked and found, languages and
/// time zones, protocols, certificates. Nothing that names this host, its users or its network.
inline constexpr std::string_view shown_of_etc[] = {
    "alternatives", "bash.bashrc", "ca-certificates", "debian_version", "fonts", "inputrc", "java-11-openjdk", "java-17-openjdk", "java-21-openjdk",
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime", "mime.types", "os-release", "perl", "profile", "protocols", "python3",
    "python3.11", "python3.12", "python3.13", "services", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone", "xml"};

/// Does a payload see `path` (a real path)? It sees the workspace, the bindings and the system folders.
inline bool shows(view const& shown, std::string_view path) {
    if (!shown.work.empty() && files::is_below(path, shown.work)) return true;
    for (auto const& each : shown.bindings)
        if (files::is_below(path, each.target)) return true;
    for (auto const folder : system_folders)
        if (files::is_below(path, cat("/", folder))) return true;
    return false;
}

namespace detail {

/// A place where a payload may write, or which was bound, at one path.
struct shown_place {
    std::string_view target;
    bool writable;
};

/// The innermost place that contains `path`; with `around`, one that is not `path` itself.
inline std::optional<shown_place> place_of(view const& shown, std::string_view path, bool around = false) {
    std::optional<shown_place> nearest;
    auto const look = [&](std::string_view target, bool writable) {
        if (!target.empty() && files::is_below(path, target) && !(around && path.size() == target.size()) && (!nearest || target.size() >= nearest->target.size()))
            nearest = {target, writable};
    };
    for (auto const own : {std::string_view{"/tmp"}, std::string_view{"/var/tmp"}, std::string_view{"/dev/shm"}, sandbox_home}) look(own, true);
    look(shown.work, true);
    for (auto const& each : shown.bindings) look(each.target, each.writable);
    return nearest;
}

/// Can a run put another file under this name? Yes in its own places and in writable bindings. Also where something is bound
/// below one of those but not directly in it: then a folder on the way can be renamed.
inline bool may_be_changed(view const& shown, std::string_view path) {
    auto place = place_of(shown, path);
    if (!place || place->writable) return place.has_value();
    while (auto const around = place_of(shown, place->target, true)) {
        if (around->writable && place->target.substr(0, place->target.rfind('/')) != around->target) return true;
        place = around;
    }
    return false;
}

} // namespace detail

/// The host's path for a path that a payload knows. Only for the name itself; links in it are not resolved.
inline std::string host_path(view const& shown, std::string const& path) {
    binding const* nearest = nullptr;
    for (auto const& each : shown.bindings)
        if (files::is_below(path, each.target) && (!nearest || each.target.size() >= nearest->target.size())) nearest = &each;
    if (nearest) return nearest->source + path.substr(nearest->target.size());
    if (shown.system == "/" || (!shown.work.empty() && files::is_below(path, shown.work))) return path;
    for (auto const folder : system_folders)
        if (files::is_below(path, cat("/", folder))) return shown.system + path;
    return path;
}

/// Will a payload find the same file there as before the run, whatever the run does? A path that does not exist is unknown.
inline bool outlasts_a_run(view const& shown, std::string const& path) {
    auto const there = host_path(shown, path);
    auto const real = files::real_path(there);
    if (real.has_error() || detail::may_be_changed(shown, path) || (*real != there && detail::may_be_changed(shown, *real))) return false;
    return std::none_of(shown.bindings.begin(), shown.bindings.end(), [&](binding const& each) { return each.writable && files::is_below(*real, each.source); });
}

/// Is it the root, under any name?
inline bool is_root_folder(files::pinned const& place) {
    struct stat root {};
    return place.path() == "/" || (::stat("/", &root) == 0 && place.is_same_as(root));
}

namespace detail {

/// The caller's home from /etc/passwd; empty when it is not there. Other sources of accounts are not asked, because they
/// cost more time than a run.
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

/// Is `home` this folder, or inside it?
inline bool holds_home(struct stat const& folder, std::string const& home) {
    if (!home.starts_with('/')) return false;
    auto const place = files::pinned::open_as(home, ::geteuid());
    return !place.has_error() && place->path() != "/" && place->lies_in(folder);
}

/// Files of the kernel, wherever they are mounted.
inline bool shows_the_kernel(files::pinned const& place) {
    struct statfs about {};
    if (::fstatfs(place.fd(), &about) != 0) return false;
    for (auto const magic : {PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC})
        if (static_cast<long>(about.f_type) == magic) return true;
    return false;
}

} // namespace detail

/// A folder that may become a workspace: not the root, not the caller's home, and not a folder that contains the home. HOME
/// may name a home other than the account's. It is checked as it was opened, because another user may be able to rename a
/// part of the path.
inline result<files::pinned> workspace_folder(std::string const& asked) {
    auto found = files::pinned::open(asked);
    if (found.has_error()) return caller_error(cat("workspace ", asked, ": ", found.error().what));
    auto const& path = found->path();
    if (!found->is_folder()) return caller_error(cat("workspace ", asked, ": not a folder"));
    char const* const home = std::getenv("HOME");
    bool const is_system = is_root_folder(*found);
    if (is_system || detail::holds_home(found->facts(), home ? home : "") || detail::holds_home(found->facts(), detail::account_home()))
        return caller_error(cat("workspace ", path, ": ", is_system ? "the whole system" : "your home, or a folder above it,",
                                " cannot be the workspace; change to the folder of the project, or name one with --work DIR"));
    auto const line = found->line();
    for (auto const* const own : {"/proc", "/sys", "/dev", "/run", "/etc"}) {
        struct stat facts {};
        bool const is_there = files::is_below(path, own) || (::stat(own, &facts) == 0 && std::find(line.begin(), line.end(), files::pinned::identity_of(facts)) != line.end());
        if (is_there) return caller_error(cat("workspace ", path, ": ", std::string_view{own}, " is never shown in the sandbox"));
    }
    if (detail::shows_the_kernel(*found)) return caller_error(cat("workspace ", path, ": files of the kernel are never shown in the sandbox"));
    return found;
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
        return caller_error(cat("--bind ", text, ": must end in ro or rw, not ", std::string_view{made.target}.substr(last + 1)));
    split(made.target, '/', [&](std::string_view name) { straight = straight && name != "." && name != ".."; });
    if (!straight) return caller_error(cat("--bind ", text, ": ", made.target, ": write it without \".\" and \"..\""));
    auto place = files::pinned::open(made.source);
    if (place.has_error()) return caller_error(cat("--bind ", text, ": ", made.source, ": ", place.error().what));
    if (is_root_folder(*place)) return caller_error(cat("--bind ", text, ": the whole system is never shown in the sandbox"));
    for (std::string_view const own : {"/proc", "/dev", "/tmp", "/"})
        if (made.target == own) return caller_error(cat("--bind ", text, ": ", own, " belongs to the sandbox; choose another DST"));
    made.source = place->path(), made.place = std::move(*place);
    while (made.target.size() > 1 && made.target.ends_with('/')) made.target.pop_back();
    return made;
}

} // namespace sb::sandbox
