// SPDX-License-Identifier: MIT
// Files and pipes as numbered chunks of whole lines, handed to any number of threads.
//
// How it works. A regular file is cut at fixed places; a chunk is the lines that begin within its cut, so each thread
// finds its lines alone. It maps its cut, or reads it with pread where the cut is small or ends with the file (behind the
// end there is nothing to map). Only what is worked on is mapped, so memory stays small. What cannot be cut is read in
// turn: whoever holds the lock reads, leaves the torn last line to the next reader, and works on the rest after letting
// go.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/file_window.hpp>
#include <sb/core/input_source.hpp>
#include <sb/core/open_input.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb {

struct chunk {
    std::string_view text; ///< whole lines; only the last of an input may lack its '\n'; may be empty
    std::size_t input = 0; ///< which of the inputs
    std::uint64_t number = 0; ///< over all inputs, in the order of their bytes, without gaps
    bool whole = false; ///< all of an input that is one document
    // what `text` points into; the caller keeps them from call to call
    byte_buffer buffer;
    file_window window;
    std::shared_ptr<unique_fd> file; // open as long as the window is asked about it
};

class chunk_queue {
public:
    static constexpr std::size_t chunk_size = std::size_t{256} << 10; ///< of streams and small files
    static constexpr std::size_t window_size = std::size_t{4} << 20; ///< of files that are mapped
    static constexpr std::size_t document_limit = std::size_t{64} << 20;

    /// "-" is standard input. A line longer than `line_limit` comes cut short, one byte above the limit.
    explicit chunk_queue(std::vector<std::string> paths, std::size_t line_limit = default_line_limit)
        : paths_{std::move(paths)}, limit_{line_limit} {}
    /// `is_document` sees the first bytes of each input; what it accepts is delivered whole, if it is not too large.
    void whole_if(std::function<bool(std::string_view)> is_document) { is_document_ = std::move(is_document); }
    /// Called with the lock held, by any thread.
    void on_wait(wait_report call) { waits_ = std::move(call); }
    /// No chunk is handed out any more.
    void stop() {
        std::lock_guard const hold{turn_};
        stopped_ = true;
    }

    /// After work on a chunk: an error if its file shrank meanwhile, so that what was read was not there.
    result<void> check(chunk const& c) const {
        if (c.window.torn()) return input_error(cat(shown(paths_[c.input]), ": became shorter while it was read"));
        return {};
    }

    /// The next chunk; false at the end. Any thread.
    result<bool> next(chunk& into) {
        std::unique_lock hold{turn_};
        into.text = {};
        into.whole = false;
        for (;;) {
            if (stopped_ || at_ == paths_.size()) return false;
            if (!file_) SB_CHECK(open_next());
            into.input = at_;
            if (cuttable_) {
                if (next_cut_ < size_) {
                    into.number = number_++;
                    into.file = file_; // keeps it open while it is read
                    cut const here{fd_, base_, next_cut_, std::min(size_, next_cut_ + cut_size_), size_, paths_[at_]};
                    next_cut_ = here.end;
                    hold.unlock();
                    return read_cut(into, here);
                }
            } else {
                SB_TRY(bool const more, read_stream(into));
                if (more) {
                    into.number = number_++;
                    return true;
                }
            }
            file_.reset();
            ++at_;
        }
    }

private:
    result<void> open_next() {
        auto const& path = paths_[at_];
        unique_fd opened; // standard input stays whose it is
        int fd = STDIN_FILENO;
        if (path != "-") {
            SB_TRY(opened, open_input(path, waits_));
            fd = opened.get();
        }
        struct stat status {};
        if (::fstat(fd, &status) < 0) return last_error("read", shown(path));
        if (S_ISDIR(status.st_mode)) return errno_error("read", shown(path), EISDIR);
        auto const from = ::lseek(fd, 0, SEEK_CUR);
        cuttable_ = S_ISREG(status.st_mode) && from >= 0 && status.st_size > from;
        base_ = cuttable_ ? from : 0;
        size_ = cuttable_ ? static_cast<std::size_t>(status.st_size - from) : 0;
        next_cut_ = 0;
        cut_size_ = size_ >= 2 * window_size ? window_size : chunk_size;
        fresh_ = true, ended_ = false, skipping_ = false;
        rest_.clear();
        if (!cuttable_) {
            constexpr int pipe_size = 1 << 20; // fewer, larger reads; a refusal is no matter
            (void)::fcntl(fd, F_SETPIPE_SZ, pipe_size);
        } else if (is_document_) {
            char first[256];
            auto const n = retry([&] { return ::pread(fd, first, sizeof first, base_); });
            if (n > 0 && is_document_({first, static_cast<std::size_t>(n)})) cuttable_ = false; // in order, as a stream
        }
        file_ = std::make_shared<unique_fd>(std::move(opened));
        fd_ = fd;
        return {};
    }
    static std::string shown(std::string const& path) { return path == "-" ? "standard input" : path; }

    /// A part of a regular file; places count from the beginning of the input.
    struct cut {
        int fd;
        off_t base;
        std::size_t begin, end, size;
        std::string const& name;
    };
    static error shrank(cut const& c) { return input_error(cat(shown(c.name), ": became shorter while it was read")); }

    result<bool> read_cut(chunk& into, cut const& c) const {
        // the byte before the cut tells whether a line begins with it
        std::size_t const lead = c.begin > 0 ? 1 : 0, inside = c.end - c.begin + lead;
        auto const from = c.base + static_cast<off_t>(c.begin - lead);
        constexpr std::size_t usual_line = 4096;
        auto const ahead = std::min(usual_line, c.size - c.end);
        if (c.end - c.begin == window_size && c.end + usual_line + block_padding < c.size &&
            into.window.map(c.fd, from, inside + usual_line + block_padding)) {
            auto const mapped = std::string_view{into.window.data(), inside + usual_line};
            auto const found = lines_of(mapped, lead, inside);
            // a line that ends beyond the window takes the other way
            if (found.complete) {
                into.text = mapped.substr(found.first, found.last - found.first);
                return true;
            }
        }
        into.window.unmap();
        auto& buffer = into.buffer;
        constexpr std::size_t align = 64;
        buffer.reserve(align + inside + ahead, 0);
        std::size_t have = 0; // bytes from `from` on
        auto const fill = [&](std::size_t up_to) -> result<void> {
            while (have < up_to) {
                auto const n = retry([&] { return ::pread(c.fd, buffer.data() + align - lead + have, up_to - have, from + static_cast<off_t>(have)); });
                if (n < 0) return last_error("read", shown(c.name));
                if (n == 0) return shrank(c);
                have += static_cast<std::size_t>(n);
            }
            return {};
        };
        SB_CHECK(fill(inside + ahead));
        for (;;) {
            std::string_view const bytes{buffer.data() + align - lead, have};
            auto const found = lines_of(bytes, lead, inside);
            auto const left = c.size - (c.begin - lead + have);
            into.text = bytes.substr(found.first, found.last - found.first);
            if (found.complete || left == 0) return true;
            auto const last_line = into.text.size() - (into.text.rfind('\n') + 1);
            if (last_line > limit_) { // the reader of lines says so
                into.text.remove_suffix(last_line - limit_ - 1);
                return true;
            }
            auto const more = std::min(left, std::max(usual_line, last_line));
            buffer.reserve(align + have + more, align + have);
            SB_CHECK(fill(have + more));
        }
    }
    struct found_lines {
        std::size_t first, last;
        bool complete; ///< false: the last line may go on behind these bytes
    };
    /// The lines that begin in bytes [lead, inside); the last one may reach beyond.
    static found_lines lines_of(std::string_view bytes, std::size_t lead, std::size_t inside) noexcept {
        std::size_t first = 0;
        if (lead != 0) {
            auto const newline = bytes.substr(0, inside - 1).find('\n');
            if (newline == std::string_view::npos) return {0, 0, true}; // no line begins here
            first = newline + 1;
        }
        if (bytes[inside - 1] == '\n') return {first, inside, true};
        auto const newline = bytes.find('\n', inside);
        if (newline == std::string_view::npos) return {first, bytes.size(), false};
        return {first, newline + 1, true};
    }

    /// With the lock held.
    result<bool> read_stream(chunk& into) {
        auto& buffer = into.buffer;
        buffer.reserve(std::max(chunk_size, rest_.size() * 2), 0);
        std::copy(rest_.begin(), rest_.end(), buffer.data());
        auto have = std::exchange(rest_, {}).size();
        bool whole = false;
        std::size_t searched = 0;
        for (;;) {
            if (ended_) {
                if (have == 0) return false;
                into.whole = whole;
                into.text = {buffer.data(), have};
                return true;
            }
            if (have == buffer.capacity()) buffer.reserve(have * 2, have);
            auto const n = retry([&] { return ::read(fd_, buffer.data() + have, std::min(buffer.capacity() - have, chunk_size)); });
            if (n < 0) return last_error("read", shown(paths_[at_]));
            ended_ = n == 0;
            have += static_cast<std::size_t>(n);
            std::string_view const text{buffer.data(), have};
            if (std::exchange(fresh_, false) && is_document_) whole = is_document_(text);
            if (whole && have > document_limit) whole = false;
            if (whole || ended_) continue;
            if (skipping_) { // the end of a line that was too long
                auto const newline = text.find('\n');
                auto const drop = newline == std::string_view::npos ? have : newline + 1;
                skipping_ = newline == std::string_view::npos;
                std::copy(text.begin() + static_cast<std::ptrdiff_t>(drop), text.end(), buffer.data());
                have -= drop;
                searched = 0;
                continue;
            }
            auto const newline = text.substr(searched).rfind('\n');
            if (newline == std::string_view::npos) {
                searched = have;
                if (have <= limit_) continue;
                skipping_ = true;
                into.text = text.substr(0, limit_ + 1);
                return true;
            }
            into.text = text.substr(0, searched + newline + 1);
            rest_.assign(text.substr(into.text.size()));
            return true;
        }
    }

    std::vector<std::string> paths_;
    std::size_t limit_;
    std::function<bool(std::string_view)> is_document_;
    wait_report waits_;
    std::mutex turn_;
    std::size_t at_ = 0; // the input now
    std::uint64_t number_ = 0;
    bool stopped_ = false;
    // of the input now
    std::shared_ptr<unique_fd> file_;
    int fd_ = -1;
    bool cuttable_ = false, fresh_ = false, ended_ = false, skipping_ = false;
    off_t base_ = 0;
    std::size_t size_ = 0, next_cut_ = 0, cut_size_ = 0;
    std::string rest_; // the torn last line
};

} // namespace sb
