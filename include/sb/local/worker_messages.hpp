// SPDX-License-Identifier: MIT
// Jobs and outcomes between lanes and their workers. Both ends are the same program, so plain bytes are enough.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/watch/watcher.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace sb::local {

/// Appends the values that it is given.
class packer {
public:
    template <class T>
        requires std::is_trivially_copyable_v<T>
    void operator()(T const& plain) {
        text_.append(reinterpret_cast<char const*>(&plain), sizeof plain);
    }
    void operator()(std::string const& s) {
        (*this)(s.size());
        text_.append(s);
    }
    template <class T>
    void operator()(std::vector<T> const& items) {
        (*this)(items.size());
        for (auto const& each : items) (*this)(each);
    }
    std::string const& text() const noexcept { return text_; }

private:
    std::string text_;
};

/// Reads them in the same order. The other end is our own program: a short message is a bug, and reads as zeros.
class unpacker {
public:
    explicit unpacker(std::string_view text) : rest_{text} {}
    template <class T>
        requires std::is_trivially_copyable_v<T>
    void operator()(T& plain) {
        if (rest_.size() < sizeof plain) {
            rest_ = {};
            return;
        }
        std::memcpy(static_cast<void*>(&plain), rest_.data(), sizeof plain);
        rest_.remove_prefix(sizeof plain);
    }
    void operator()(std::string& s) {
        std::size_t size = 0;
        (*this)(size);
        s.assign(rest_.substr(0, size));
        rest_.remove_prefix(s.size());
    }
    template <class T>
    void operator()(std::vector<T>& items) {
        std::size_t size = 0;
        (*this)(size);
        items.clear();
        for (std::size_t i = 0; i < size && !rest_.empty(); ++i) (*this)(items.emplace_back());
    }

private:
    std::string_view rest_;
};

/// One definition for both directions.
template <class Wire, class Job>
void pass_job(Wire& wire, Job& job) {
    wire(job.number), wire(job.path), wire(job.argv), wire(job.environment), wire(job.setup), wire(job.in), wire(job.in_called);
    wire(job.wait_tree), wire(job.reports), wire(job.keep_output), wire(job.is_check);
}
template <class Wire, class Captured>
void pass_captured(Wire& wire, Captured& stream) {
    wire(stream.bytes), wire(stream.sha256), wire(stream.head), wire(stream.tail), wire(stream.truncated);
}
template <class Wire, class Outcome>
void pass_outcome(Wire& wire, Outcome& got) {
    static_assert(std::is_trivially_copyable_v<watch::copy_end>);
    wire(got.started_ns), wire(got.wall_s), wire(got.killed_by), wire(got.trouble), wire(got.copies), wire(got.orphans);
    wire(got.read_chars), wire(got.written_chars), wire(got.cancelled_bytes), wire(got.processes_made), wire(got.refused_forks), wire(got.left_running);
    wire(got.orphan_broke_file_limit), wire(got.file_limit_reached), wire(got.reaper_lost), wire(got.reaper_cpu_ns), wire(got.group), wire(got.charged), wire(got.net_rx_bytes), wire(got.net_tx_bytes), wire(got.scratch_full), wire(got.renewed), wire(got.noise), wire(got.shown), wire(got.reports), wire(got.reports_cut);
    pass_captured(wire, got.out), pass_captured(wire, got.err);
}

/// Waits until the socket can be used, even if it is non-blocking.
inline bool await(int socket, short event) {
    pollfd one{socket, event, 0};
    return retry([&] { return ::poll(&one, 1, -1); }) > 0;
}

/// Outgoing messages: a length, then that many bytes.
class outbox {
public:
    void put(std::string_view text) {
        auto const size = text.size();
        left_.append(reinterpret_cast<char const*>(&size), sizeof size);
        left_.append(text);
    }
    /// Sends everything; without `wait` only as much as the other end has room for. False when the other end is gone.
    bool send(int socket, bool wait) {
        std::size_t sent = 0;
        while (sent < left_.size()) {
            auto const n = retry([&] { return ::send(socket, left_.data() + sent, left_.size() - sent, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)); });
            if (n < 0 && errno == EAGAIN && !wait) break;
            if (n < 0 && errno == EAGAIN && await(socket, POLLOUT)) continue;
            if (n < 0) return false;
            sent += static_cast<std::size_t>(n);
        }
        left_.erase(0, sent);
        return true;
    }
    bool empty() const noexcept { return left_.empty(); }

private:
    std::string left_;
};

/// Incoming messages; one read of the socket may bring several.
class inbox {
public:
    /// Waits for the next message, which is valid until the next call. No value when the other end is gone.
    std::optional<std::string_view> receive(int socket) {
        while (!has_one())
            if (!await(socket, POLLIN) || !take_in(socket)) return std::nullopt;
        auto const size = next_size();
        std::string_view const text{room_.data() + begin_ + sizeof size, size};
        begin_ += sizeof size + size;
        if (begin_ == end_) begin_ = end_ = 0;
        return text;
    }
    /// Reads once, whatever is there, even a part of a message. False when the other end is gone.
    bool take_in(int socket, int flags = 0) {
        if (begin_ > 0) room_.erase(0, begin_), end_ -= begin_, begin_ = 0;
        if (auto const wanted = end_ + least_read; room_.size() < wanted) room_.resize(std::max(wanted, room_.size() * 2));
        auto const n = retry([&] { return ::recv(socket, room_.data() + end_, room_.size() - end_, flags); });
        if (n < 0 && errno == EAGAIN) return true;
        if (n > 0) end_ += static_cast<std::size_t>(n);
        return n > 0;
    }
    /// A complete message is here; polling the socket would not show it.
    bool has_one() const noexcept { return end_ - begin_ >= sizeof(std::size_t) && end_ - begin_ - sizeof(std::size_t) >= next_size(); }

private:
    std::size_t next_size() const noexcept {
        std::size_t size = 0;
        std::memcpy(&size, room_.data() + begin_, sizeof size);
        return size;
    }
    static constexpr std::size_t least_read = std::size_t{16} << 10;
    std::string room_;
    std::size_t begin_ = 0, end_ = 0; // the bytes that arrived and were not taken yet
};

/// Sends everything, and takes in what arrives meanwhile: the other end may be sending too, and read only after that. False when
/// the other end is gone.
inline bool send_and_take_in(outbox& out, inbox& in, int socket) {
    while (out.send(socket, false)) {
        if (out.empty()) return true;
        pollfd one{socket, POLLIN | POLLOUT, 0};
        if (retry([&] { return ::poll(&one, 1, -1); }) < 0) return false;
        if ((one.revents & POLLIN) && !in.take_in(socket, MSG_DONTWAIT)) return false;
    }
    return false;
}

} // namespace sb::local
