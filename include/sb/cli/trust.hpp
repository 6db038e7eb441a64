// SPDX-License-Identifier: MIT
// What a tool accepts from a file, depending on how it found the file.
//
// How it works. A file that the caller named (--settings, --env-file) may say all that an option can be. So may the settings
// in the user's and the machine's own folders, when nobody else could have written them, nor put them there: see open_usual. A file that was merely found in the
// current folder may be the work of whoever made that folder, or of a run that was given it to write: only options that are
// declared harmless() are taken from it, each is told, and it must belong to the caller or root and be writable by nobody else.
// The folder itself is not judged: whoever can put a file there can only choose among files that the caller or root wrote.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <vector>

namespace sb::cli {

/// Why a file that nobody named is not to be trusted by the user `us`; empty: it is. (An access list that lets others write
/// shows as the group's right to write.)
inline std::string distrust(struct stat const& facts, uid_t us) {
    constexpr char octal[] = "01234567";
    if (facts.st_uid != us && facts.st_uid != 0)
        return cat("it belongs to user ", facts.st_uid, us == 0 ? ", not to root" : ", not to you or root");
    if ((facts.st_mode & 022) == 0) return {};
    std::string mode{"0"};
    for (int shift = 6; shift >= 0; shift -= 3) mode += octal[(facts.st_mode >> shift) & 7];
    return cat("others may write it (mode ", mode, "; chmod go-w fixes that)");
}

/// Whether a path is in the current folder or below it, after links are resolved; true if that cannot be found out. The root does not count as a current folder, because everything is below it.
inline bool lies_here(std::string const& path) {
    using real_path = std::unique_ptr<char, decltype(&std::free)>;
    real_path const file{::realpath(path.c_str(), nullptr), &std::free}, here{::realpath(".", nullptr), &std::free};
    if (!file || !here) return true;
    std::string_view const at{file.get()}, folder{here.get()};
    return folder != "/" && at.starts_with(folder) && at.size() > folder.size() && at[folder.size()] == '/';
}

/// A regular file that is open for reading, and what it was when it was opened.
struct readable_file {
    unique_fd fd{};
    struct stat facts {};
};

namespace detail {

/// One of the caller's own descriptors by its name, as `<(COMMAND)` is.
inline bool names_descriptor(std::string_view path) {
    return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

} // namespace detail

namespace detail {

/// What `place` (opened with O_PATH) stands for, when it is a regular file. `named`: the caller's own pipe and the null device will do.
inline result<readable_file> open_place(unique_fd place, std::string const& path, bool named) {
    readable_file file;
    if (::fstat(place.get(), &file.facts) != 0) return last_error("look at", path);
    bool const is_null = S_ISCHR(file.facts.st_mode) && file.facts.st_rdev == makedev(1, 3);
    bool const is_pipe = S_ISFIFO(file.facts.st_mode) && names_descriptor(path);
    if (!S_ISREG(file.facts.st_mode) && !(named && (is_null || is_pipe)))
        return caller_error(cat(path, S_ISDIR(file.facts.st_mode) ? ": is a folder" : ": is not a regular file"));
    struct statfs system {};
    constexpr std::array<std::uint64_t, 4> kernels_own{0x9fa0, 0x62656572, 0x64626720, 0x74726163}; // /proc, /sys, debugfs, tracefs: to read there may do something
    if (!named && ::fstatfs(place.get(), &system) == 0 && std::find(kernels_own.begin(), kernels_own.end(), static_cast<std::uint64_t>(system.f_type)) != kernels_own.end())
        return caller_error(cat(path, ": is a file of the kernel (/proc, /sys)"));
    int const fd = retry([&] { return ::open(cat("/proc/self/fd/", place.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_pipe ? 0 : O_NONBLOCK)); });
    if (fd < 0) return last_error("open", path);
    file.fd = unique_fd{fd};
    return file;
}

/// Goes to what the absolute `path` names, step by step, and says in `why` what on the way lets others put something else there: a
/// link of another user's, a folder where everybody may rename what is in it, a last folder that is not the user's `us` or root's alone.
inline result<unique_fd> walk_to(std::string const& path, uid_t us, std::string& why) {
    constexpr int most_links = 40;
    SB_TRY(auto at, open_file("/", O_PATH | O_DIRECTORY));
    std::string rest = path, name = "/";
    struct stat facts {}, above {};
    if (::fstat(at.get(), &facts) != 0) return last_error("look at", name);
    auto const note = [&](std::string_view what, std::string const& wrong) {
        if (why.empty() && !wrong.empty()) why = cat(what, name, ": ", wrong);
    };
    for (int links = 0;;) {
        auto const begin = rest.find_first_not_of('/');
        if (begin == std::string::npos) break;
        auto const end = std::min(rest.find('/', begin), rest.size());
        auto const step = rest.substr(begin, end - begin);
        rest.erase(0, end);
        if (step == ".") continue;
        unique_fd next{::openat(at.get(), step.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
        above = facts;
        if (!next || ::fstat(next.get(), &facts) != 0) return last_error("open", path);
        auto const from = name;
        if (step != "..") name = cat(from == "/" ? "" : from, "/", step);
        else name.resize(std::max(name.rfind('/'), std::size_t{1}));
        if (S_ISLNK(facts.st_mode)) {
            facts.st_mode = 0; // all links can be written by all, and by nobody
            note("link ", distrust(facts, us));
            char target[PATH_MAX];
            auto const size = ::readlinkat(next.get(), "", target, sizeof target);
            if (size < 0) return last_error("read link", name);
            if (++links > most_links) return errno_error("open", path, ELOOP);
            rest.insert(0, cat(std::string_view{target, static_cast<std::size_t>(size)}, "/"));
            facts = above, name = from;
            if (target[0] == '/') {
                SB_TRY(at, open_file("/", O_PATH | O_DIRECTORY));
                if (name = "/"; ::fstat(at.get(), &facts) != 0) return last_error("look at", name);
            }
            continue;
        }
        at = std::move(next);
        if (auto shared = facts; S_ISDIR(facts.st_mode) && (facts.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH) shared.st_uid = us, note("folder ", distrust(shared, us));
    }
    if (S_ISDIR(facts.st_mode)) return at;
    if ((above.st_mode & S_ISVTX) != 0) above.st_mode &= ~mode_t{022};
    name.resize(std::max(name.rfind('/'), std::size_t{1}));
    note("folder ", distrust(above, us));
    return at;
}

} // namespace detail

/// Opens a file that is to be read whole, without waiting: opening a FIFO would wait for its writer, and opening a device can have effects.
/// So it is looked at first, and what was looked at is what is opened.
inline result<readable_file> open_regular(std::string const& path, bool named) {
    SB_TRY(auto place, open_file(path, O_PATH));
    return detail::open_place(std::move(place), path, named);
}

/// The same for a file of the user's or the machine's folder, which nobody named. Not trusted is what others could have written or
/// put there: then `why` says it, and the answer is closed.
inline result<readable_file> open_usual(std::string const& path, uid_t us, std::string& why) {
    SB_TRY(auto place, detail::walk_to(path, us, why));
    SB_TRY(auto file, detail::open_place(std::move(place), path, false));
    if (why.empty()) why = distrust(file.facts, us);
    if (!why.empty()) file.fd.reset();
    return file;
}

/// A report on files that nobody named: one line for what was taken from them, one for what was ignored.
struct found_report {
    std::string file;
    std::string kind; ///< "settings " or nothing: before the name
    std::string place = " (found in the current folder)"; ///< behind it
    std::string trusts; ///< the option that would take all of it
    std::vector<std::string> used, ignored;
    std::string why; ///< it is ignored as a whole
    bool may_be_named = false; ///< naming the file with an option would make it trusted

    static constexpr std::size_t most_names = 12;
    static std::string list(std::vector<std::string> const& names) {
        std::string text;
        for (std::size_t i = 0; i < names.size() && i < most_names; ++i) text += cat(i == 0 ? "" : ", ", names[i]);
        if (names.size() > most_names) text += cat(" and ", names.size() - most_names, " more");
        return text;
    }
    std::string name() const { return cat(kind, file, place, ": "); }
    std::string use_line() const { return used.empty() ? std::string{} : cat(name(), "uses ", list(used)); }
    std::string ignore_line() const {
        if (!why.empty()) return cat(name(), "ignored: ", why, may_be_named ? cat("; to trust it, give ", trusts, " ", file) : std::string{});
        return ignored.empty() ? std::string{} : cat(name(), "ignored ", list(ignored), ", because nobody named this file; to trust it, give ", trusts, " ", file);
    }
};

} // namespace sb::cli
