// SPDX-License-Identifier: MIT
// Which runs a file of records already contains.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/input_source.hpp>
#include <sb/core/open_input.hpp>
#include <sb/core/result.hpp>
#include <sb/json/dispatch.hpp>
#include <sb/record/run.hpp>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <unordered_set>
#include <vector>

namespace sb::run {

struct finished_runs {
    std::unordered_set<std::string> ids;
    std::vector<std::int64_t> too_long; ///< numbers of lines that were skipped unread
    std::int64_t whole_bytes = 0; ///< up to the end of the last complete line, if an incomplete one follows
    bool torn = false; ///< an incomplete record follows: its writer died
    bool open_end = false; ///< the last line is complete, or too long to decide, and only its line end is missing
};

/// Refuses a source without an end, because it is read to its end before the first run: reading a FIFO or a device may wait
/// forever. The output of a command (`<(COMMAND)`) has an end.
inline result<void> check_resumed(std::string const& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode)) return {}; // the code that opens it reports the error
    bool const is_null = S_ISCHR(facts.st_mode) && facts.st_rdev == makedev(1, 3);
    if (is_null || (S_ISFIFO(facts.st_mode) && !is_named_fifo(path))) return {};
    return caller_error(cat("--resume ", path, S_ISDIR(facts.st_mode) ? ": is a folder" : ": is not a regular file"));
}

/// Reads the keys. Lines that are not runs are skipped; an incomplete last line counts as not done.
inline result<finished_runs> read_finished(std::string const& path) {
    finished_runs done;
    SB_CHECK(check_resumed(path));
    auto opened = source::open(path);
    if (opened.has_error()) return error{opened.error().on, cat("--resume: ", opened.error().what)};
    bool unread_last = false;
    auto const one = [&](input_line const& line) {
        unread_last = false;
        using line_is = json::dispatched::line_is;
        auto const got = json::dispatch(line.text, json::on<&run_record::run_id>([&](std::string id) { done.ids.insert(std::move(id)); }));
        bool const is_object = got.is != line_is::broken && got.is != line_is::no_object;
        if (!line.is_ended) {
            done.open_end = is_object;
            done.torn = !is_object && !trim(line.text).empty();
            done.whole_bytes = opened->bytes_read() - static_cast<std::int64_t>(line.text.size());
        }
        return true;
    };
    auto const too_long = [&](std::int64_t number, std::string_view) {
        done.too_long.push_back(number);
        return unread_last = true;
    };
    SB_CHECK(each_line(*opened, one, too_long));
    // nobody knows whether that line is incomplete; it belongs to somebody, so it is kept
    if (char last = '\n'; unread_last && ::pread(opened->fd(), &last, 1, opened->bytes_read() - 1) == 1) done.open_end = last != '\n';
    return done;
}

/// Is `out` the file at `path`?
inline bool is_same_file(std::string const& path, int out) {
    struct stat ours {}, theirs {};
    return ::fstat(out, &ours) == 0 && ::stat(path.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino && S_ISREG(ours.st_mode);
}

/// If `out` is the file that is resumed, nobody else may append to it meanwhile, or runs would be made twice. The lock is
/// the kernel's and ends with our process.
inline result<void> claim(std::string const& path, int out) {
    if (!is_same_file(path, out)) return {};
    constexpr int tries = 100;
    constexpr timespec pause{0, 20'000'000};
    for (int i = 0; ::flock(out, LOCK_EX | LOCK_NB) != 0; ++i) {
        if (errno != EWOULDBLOCK) return {}; // a file system without locks
        if (i == tries) return system_error(cat(path, ": another sb-exec is writing to it; wait for it, or stop it"));
        ::nanosleep(&pause, nullptr); // a session that was just killed is still removing its folders
    }
    return {};
}

/// If `out` is the file that is resumed, makes it end at a line end, so that the next record begins a line. True when an
/// incomplete line was cut off.
inline result<bool> mend_end(finished_runs const& done, std::string const& path, int out) {
    if (!is_same_file(path, out)) return false;
    if (done.torn) {
        if (::ftruncate(out, done.whole_bytes) != 0) return last_error("cut off the incomplete line of", path);
        if (::lseek(out, 0, SEEK_END) < 0) return last_error("seek", path);
        return true;
    }
    if (done.open_end && retry([&] { return ::write(out, "\n", 1); }) < 0) return last_error("write", path);
    return false;
}

} // namespace sb::run
