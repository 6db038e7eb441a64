// SPDX-License-Identifier: MIT
// Messages between our own processes: each arrives whole, and open files may come with it.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

namespace sb {

/// The two ends of a socket. A message that is sent into one comes out of the other.
struct channel {
    unique_fd ours, theirs;
};
inline result<channel> make_channel() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return last_error("socketpair");
    return channel{unique_fd{ends[0]}, unique_fd{ends[1]}};
}

inline constexpr std::size_t most_passed = 12; ///< files that come with one message

/// The files that came with a message, in order. Those that nobody takes are closed.
class passed_files {
public:
    passed_files() = default;
    passed_files(passed_files const&) = delete;
    ~passed_files() { clear(); }
    std::size_t left() const noexcept { return count_ - next_; }
    unique_fd take() noexcept { return unique_fd{left() > 0 ? fds_[next_++] : -1}; } ///< none when no more came
    void clear() noexcept {
        while (take()) {}
        next_ = count_ = 0;
    }
    /// As the kernel gives them; those that are too many are closed.
    void add(int fd) noexcept {
        if (count_ == most_passed) ::close(fd);
        else fds_[count_++] = fd;
    }

private:
    int fds_[most_passed];
    std::size_t next_ = 0, count_ = 0;
};

template <class Plain>
iovec bytes_of(Plain const& what) noexcept {
    return {const_cast<Plain*>(&what), sizeof what};
}

/// Sends one message made of `parts`, with at most `most_passed` files, which stay open here. False if it was not sent as a whole.
inline bool send_packet(int socket, std::initializer_list<iovec> parts, std::span<int const> files = {}) noexcept {
    if (files.size() > most_passed) return errno = EINVAL, false;
    alignas(cmsghdr) char control[CMSG_SPACE(most_passed * sizeof(int))];
    msghdr all{};
    all.msg_iov = const_cast<iovec*>(parts.begin()), all.msg_iovlen = parts.size();
    if (!files.empty()) {
        std::memset(control, 0, sizeof control);
        all.msg_control = control, all.msg_controllen = CMSG_SPACE(files.size_bytes());
        auto* const header = CMSG_FIRSTHDR(&all);
        header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(files.size_bytes());
        std::memcpy(CMSG_DATA(header), files.data(), files.size_bytes());
    }
    std::size_t size = 0;
    for (auto const& each : parts) size += each.iov_len;
    return retry([&] { return ::sendmsg(socket, &all, MSG_NOSIGNAL); }) == static_cast<ssize_t>(size);
}

/// Receives one message: its size, 0 when the other end is gone, -1 for an error.
inline ssize_t receive_packet(int socket, std::span<char> into, passed_files& files, int flags = 0) noexcept {
    alignas(cmsghdr) char control[CMSG_SPACE(most_passed * sizeof(int))];
    iovec io{into.data(), into.size()};
    msghdr all{};
    all.msg_iov = &io, all.msg_iovlen = 1;
    all.msg_control = control, all.msg_controllen = sizeof control;
    files.clear();
    auto const n = retry([&] { return ::recvmsg(socket, &all, MSG_CMSG_CLOEXEC | flags); });
    if (n < 0) return n;
    for (auto* header = CMSG_FIRSTHDR(&all); header; header = CMSG_NXTHDR(&all, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
            int fd;
            std::memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
            files.add(fd);
        }
    }
    return n;
}
/// The same for a message of one kind and size.
template <class Plain>
bool receive_packet_as(Plain& into, int socket, passed_files& files, int flags = 0) noexcept {
    return receive_packet(socket, {reinterpret_cast<char*>(&into), sizeof into}, files, flags) == static_cast<ssize_t>(sizeof into);
}

} // namespace sb
