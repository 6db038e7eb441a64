// SPDX-License-Identifier: MIT
// Descriptors put under way in a UNIX socket: what attack tests fill the kernel's tables with.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

namespace sb::test {

constexpr int most_copies = 64;

/// Sends `count` copies of `fd` (at most `most_copies`) in one message, without waiting; false when it was not taken (errno).
inline bool send_copies(int socket, int fd, int count) {
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int) * most_copies)]{};
    auto const size = sizeof(int) * static_cast<std::size_t>(count);
    char byte = 0;
    iovec text{&byte, 1};
    msghdr message{};
    message.msg_iov = &text, message.msg_iovlen = 1;
    message.msg_control = room, message.msg_controllen = CMSG_SPACE(size);
    auto* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(size);
    int numbers[most_copies];
    std::fill_n(numbers, count, fd);
    std::memcpy(CMSG_DATA(head), numbers, size);
    return ::sendmsg(socket, &message, MSG_DONTWAIT) >= 0;
}

} // namespace sb::test
