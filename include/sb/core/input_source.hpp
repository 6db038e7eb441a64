// SPDX-License-Identifier: MIT
// The bytes of a file or pipe, in blocks that end where a line ends.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/open_input.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <poll.h>
#include <string>
#include <string_view>
#include <utility>

namespace sb {

/// Readable bytes behind every block, so that a reader may load whole vectors.
inline constexpr std::size_t block_padding = 64;
inline constexpr std::size_t default_line_limit = std::size_t{16} << 20;

/// A growable run of bytes with `block_padding` readable bytes behind it; it is never initialised.
class byte_buffer {
public:
    char* data() noexcept { return bytes_.get(); }
    std::size_t capacity() const noexcept { return capacity_; }
    /// At least `wanted` bytes; the first `keep` survive.
    void reserve(std::size_t wanted, std::size_t keep) {
        if (wanted <= capacity_) return;
        constexpr std::size_t line = 64;
        auto const size = (wanted + block_padding + line - 1) / line * line;
        std::unique_ptr<char, release> larger{static_cast<char*>(std::aligned_alloc(line, size))};
        if (!larger) throw std::bad_alloc{};
        if (keep > 0) std::memcpy(larger.get(), bytes_.get(), keep);
        std::memset(larger.get() + wanted, 0, block_padding);
        bytes_ = std::move(larger);
        capacity_ = wanted;
    }

private:
    struct release {
        void operator()(char* p) const noexcept { std::free(p); }
    };
    std::unique_ptr<char, release> bytes_;
    std::size_t capacity_ = 0;
};

/// Reads a descriptor to its end. A growing pipe is delivered as it comes: whole lines as soon as they are there.
class source {
public:
    static constexpr std::size_t block_size = std::size_t{256} << 10;

    /// Borrows `fd`; `name` is for errors.
    explicit source(int fd, std::string name = "standard input") : fd_{fd}, name_{std::move(name)} {}
    /// "-" is standard input.
    static result<source> open(std::string const& path, wait_report const& waits = {}) {
        if (path == "-") return source{STDIN_FILENO};
        SB_TRY(auto file, open_input(path, waits));
        source s{file.get(), path};
        s.owned_ = std::move(file);
        return s;
    }

    /// Called before a read that would wait, so that what is written already can be flushed.
    void on_pause(std::function<void()> call) { pause_ = std::move(call); }
    void line_limit(std::size_t bytes) noexcept { limit_ = bytes; }
    std::string const& name() const noexcept { return name_; }
    int fd() const noexcept { return fd_; }
    std::int64_t bytes_read() const noexcept { return read_; }

    /// The next whole lines, at least one; only the last line of the input may lack its '\n'. False at the end. The
    /// block stays valid until the next call and has `block_padding` readable bytes behind it. A line above the limit
    /// is an input error that stands for that one line: the next call goes on behind it. (A limit below `block_size`
    /// is the caller's to hold: a block may carry such a line among others.)
    result<bool> next_block(std::string_view& block) {
        block = {};
        move_rest_to_front();
        for (;;) {
            if (ended_) {
                if (skipping_) have_ = 0, skipping_ = false;
                if (have_ == 0) return false;
                return deliver(have_, block);
            }
            if (have_ == buffer_.capacity()) buffer_.reserve(have_ == 0 ? block_size : have_ * 2, have_);
            SB_CHECK(fill());
            auto const fresh = std::string_view{buffer_.data(), have_}.substr(searched_);
            if (skipping_) {
                auto const line_end = fresh.find('\n');
                if (line_end == std::string_view::npos) {
                    have_ = searched_ = 0;
                    continue;
                }
                skipping_ = false;
                used_ = searched_ + line_end + 1;
                move_rest_to_front();
                if (auto const last = std::string_view{buffer_.data(), have_}.rfind('\n'); last != std::string_view::npos)
                    return deliver(last + 1, block);
                searched_ = have_;
                continue;
            }
            auto const last = fresh.rfind('\n');
            if (have_ > limit_) {
                auto const first = fresh.find('\n');
                skipping_ = first == std::string_view::npos;
                if (skipping_ || searched_ + first > limit_) {
                    if (skipping_) have_ = searched_ = 0;
                    else used_ = searched_ + first + 1;
                    return input_error(cat("line longer than ", limit_, " bytes"));
                }
            }
            if (last != std::string_view::npos) return deliver(searched_ + last + 1, block);
            searched_ = have_;
        }
    }

private:
    bool deliver(std::size_t size, std::string_view& block) noexcept {
        used_ = size;
        block = {buffer_.data(), size};
        return true;
    }
    void move_rest_to_front() noexcept {
        if (used_ == 0) return;
        have_ -= used_;
        std::memmove(buffer_.data(), buffer_.data() + used_, have_);
        used_ = searched_ = 0;
    }
    result<void> fill() {
        if (pause_) {
            pollfd waiting{fd_, POLLIN, 0};
            if (::poll(&waiting, 1, 0) == 0) pause_();
        }
        auto const n = retry([&] { return ::read(fd_, buffer_.data() + have_, std::min(block_size, buffer_.capacity() - have_)); });
        if (n < 0) return last_error("read", name_);
        ended_ = n == 0;
        have_ += static_cast<std::size_t>(n);
        read_ += n;
        return {};
    }

    int fd_;
    std::string name_;
    unique_fd owned_;
    std::function<void()> pause_;
    std::size_t limit_ = default_line_limit;
    byte_buffer buffer_;
    std::size_t have_ = 0; // bytes in the buffer
    std::size_t used_ = 0; // of those, delivered by the last call
    std::size_t searched_ = 0; // of those, known to hold no '\n'
    std::int64_t read_ = 0;
    bool ended_ = false, skipping_ = false;
};

struct input_line {
    std::string_view text; ///< without its '\n'; valid until the next one
    std::int64_t number = 1;
    bool is_ended = true; ///< false for a last line that lacks its '\n'
};

/// Calls `use(line)` for each line; one above the limit is passed over, and `too_long(number, what)` called for it. Either returns
/// false to end the reading. Only a failure to read is an error.
template <class Use, class TooLong>
result<void> each_line(source& from, Use use, TooLong too_long) {
    input_line line{{}, 0};
    for (std::string_view block;;) {
        auto const more = from.next_block(block);
        if (more.has_error()) {
            if (more.error().on != blame::input) return more.error();
            if (!too_long(++line.number, more.error().what)) return {};
            continue;
        }
        if (!*more) return {};
        while (!block.empty()) {
            auto const end = block.find('\n');
            ++line.number;
            line.text = block.substr(0, end);
            line.is_ended = end != std::string_view::npos;
            if (!use(std::as_const(line))) return {};
            block.remove_prefix(line.is_ended ? end + 1 : block.size());
        }
    }
}

} // namespace sb
