// SPDX-License-Identifier: MIT
// Which runs a file of records already holds.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/source.hpp>
#include <sb/json/parse.hpp>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>

namespace sb::run {

struct finished_runs {
    std::unordered_set<std::string> ids;
    std::int64_t whole_bytes = 0; ///< up to the end of the last whole line
    bool torn = false; ///< what follows is the beginning of a record: its writer died
    bool open_end = false; ///< the last record is whole and lacks only its line end
};

/// Reads the keys. Lines that are no run are passed over; a torn last line counts as not done.
inline result<finished_runs> read_finished(std::string const& path) {
    finished_runs done;
    auto opened = source::open(path);
    if (opened.has_error()) return caller_error(cat("--resume: ", opened.error().what));
    std::string_view block;
    for (;;) {
        SB_TRY(bool const more, opened->next_block(block));
        if (!more) return done;
        while (!block.empty()) {
            auto const end = block.find('\n');
            auto const line = block.substr(0, end);
            value v;
            auto const* const members = json::parse(line, v) ? nullptr : v.if_object();
            if (end == std::string_view::npos) {
                done.open_end = members != nullptr;
                done.torn = members == nullptr && !trim(line).empty();
            }
            if (members) {
                auto const* const kind = members->find("kind");
                auto const* const id = members->find("run_id");
                if (kind && id && kind->string_or({}) == "run" && id->if_string()) done.ids.insert(*id->if_string());
            }
            if (end == std::string_view::npos) break;
            done.whole_bytes += static_cast<std::int64_t>(end) + 1;
            block.remove_prefix(end + 1);
        }
    }
}

/// Whether `out` is the very file at `path`.
inline bool is_same_file(std::string const& path, int out) {
    struct stat ours {}, theirs {};
    return ::fstat(out, &ours) == 0 && ::stat(path.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino && S_ISREG(ours.st_mode);
}

/// When `out` is the very file that is resumed, nobody else may add to it meanwhile, or runs are made twice. The lock is
/// the kernel's and ends with us.
inline result<void> claim(std::string const& path, int out) {
    if (!is_same_file(path, out)) return {};
    constexpr int tries = 100;
    constexpr timespec pause{0, 20'000'000};
    for (int i = 0; ::flock(out, LOCK_EX | LOCK_NB) != 0; ++i) {
        if (errno != EWOULDBLOCK) return {}; // a file system without locks
        if (i == tries) return system_error(cat(path, ": another sb-exec is adding to it; wait for its end, or end it"));
        ::nanosleep(&pause, nullptr); // one that was just killed is still clearing its folders away
    }
    return {};
}

/// When `out` is the very file that is resumed, makes it end where a line ends, so that the next record begins a line.
/// True when a torn line was cut off.
inline result<bool> mend_end(finished_runs const& done, std::string const& path, int out) {
    if (!is_same_file(path, out)) return false;
    if (done.torn) {
        if (::ftruncate(out, done.whole_bytes) != 0) return last_error("cut the torn line off", path);
        if (::lseek(out, 0, SEEK_END) < 0) return last_error("seek", path);
        return true;
    }
    if (done.open_end && retry([&] { return ::write(out, "\n", 1); }) < 0) return last_error("write", path);
    return false;
}

} // namespace sb::run
