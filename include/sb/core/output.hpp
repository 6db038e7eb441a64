// SPDX-License-Identifier: MIT
// What a tool writes: gathered into large writes, flushed when input pauses, and its failures remembered.
#pragma once
#include <sb/core/fd.hpp>
#include <string>
#include <string_view>

namespace sb {

/// A buffered descriptor. The first failure is kept; later writes do nothing. A reader that went away is not an
/// error: `closed()` says so and the tool ends quietly.
class output {
public:
    explicit output(int fd, std::string name = "standard output") : fd_{fd}, name_{std::move(name)} {}
    output(output const&) = delete;
    output& operator=(output const&) = delete;
    ~output() { (void)flush(); }

    output& operator<<(std::string_view text) {
        buffer_.append(text);
        if (buffer_.size() >= full) (void)flush();
        return *this;
    }
    /// For writers that append in place; the next `flush` writes it, at the latest.
    std::string& buffer() noexcept { return buffer_; }
    result<void> flush() {
        std::string_view rest{buffer_};
        while (!rest.empty() && usable()) {
            auto const n = retry([&] { return ::write(fd_, rest.data(), rest.size()); });
            if (n >= 0) rest.remove_prefix(static_cast<std::size_t>(n));
            else if (errno == EPIPE) closed_ = true;
            else failure_ = errno;
        }
        buffer_.clear();
        if (failure_ != 0) return errno_error("write", name_, failure_);
        return {};
    }
    bool closed() const noexcept { return closed_; }
    /// False once nothing more can be written: stop working.
    bool usable() const noexcept { return !closed_ && failure_ == 0; }
    int fd() const noexcept { return fd_; }

private:
    static constexpr std::size_t full = std::size_t{1} << 16;
    int fd_;
    std::string name_, buffer_;
    bool closed_ = false;
    int failure_ = 0;
};

} // namespace sb
