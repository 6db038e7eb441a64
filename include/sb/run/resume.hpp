// SPDX-License-Identifier: MIT
// Which runs a file of records already holds.
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
    std::vector<std::int64_t> too_long; ///< numbers of lines that were passed over unread
    std::int64_t whole_bytes = 0; ///< up to the end of the last whole line, when what follows is torn
    bool torn = false; ///< what follows is the beginning of a record: its writer died
    bool open_end = false; ///< the last line is whole, or too long to tell, and lacks only its line end
};

/// What is read to its end before the first run, and may be added to: a FIFO, or a device, would be waited for without an end.
/// What a command prints (`<(COMMAND)`) has one.
inline result<void> check_resumed(std::string const& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode)) return {}; // who opens it says what is wrong
    bool const is_null = S_ISCHR(facts.st_mode) && facts.st_rdev == makedev(1, 3);
    if (is_null || (S_ISFIFO(facts.st_mode) && !is_named_fifo(path))) return {};
    return caller_error(cat("--resume ", path, S_ISDIR(facts.st_mode) ? ": is a folder" : ": is not a regular file"));
}

/// Reads the keys. Lines that are no run are passed over; a torn last line counts as not done.
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
    // whether that one is torn is not known: it is somebody's, so it is kept
    if (char last = '\n'; unread_last && ::pread(opened->fd(), &last, 1, opened->bytes_read() - 1) == 1) done.open_end = last != '\n';
    return done;
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
        if (i == tries) return system_error(cat(path, ": another sb-exec is writing to it; wait for it, or stop it"));
        ::nanosleep(&pause, nullptr); // one that was just killed is still clearing its folders away
    }
    return {};
}

/// When `out` is the very file that is resumed, makes it end where a line ends, so that the next record begins a line.
/// True when a torn line was cut off.
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
