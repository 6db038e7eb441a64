// SPDX-License-Identifier: MIT
// Questions to NETLINK_SOCK_DIAG, which lists the sockets of a network namespace, and its answers.
#pragma once
#include <sb/core/fd.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

namespace sb::machine {

struct socket_question {
    nlmsghdr head{};
    inet_diag_req_v2 what{};
};

/// Every answer repeats `number`. False, with errno, when it could not be sent.
inline bool ask_about_sockets(int socket, socket_question& ask, std::uint16_t type, std::uint16_t flags, std::uint32_t number) noexcept {
    ask.head.nlmsg_len = sizeof ask;
    ask.head.nlmsg_type = type;
    ask.head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    ask.head.nlmsg_seq = number;
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    return retry([&] { return ::sendto(socket, &ask, sizeof ask, 0, reinterpret_cast<sockaddr const*>(&kernel), sizeof kernel); }) >= 0;
}

/// Calls `use(head, body)` for each answer to the question of that number until it returns false. False, with errno, when no
/// more could be received before.
template <class Use>
bool each_socket_answer(int socket, std::uint32_t number, Use use) {
    alignas(nlmsghdr) char block[1 << 15];
    for (;;) {
        auto const n = retry([&] { return ::recv(socket, block, sizeof block, 0); });
        if (n < 0) return false;
        auto left = static_cast<std::size_t>(n);
        for (char const* at = block; left >= sizeof(nlmsghdr);) {
            nlmsghdr head;
            std::memcpy(&head, at, sizeof head);
            if (head.nlmsg_len < sizeof head || head.nlmsg_len > left) break;
            if (head.nlmsg_seq == number && !use(head, at + sizeof head)) return true;
            auto const step = std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), left);
            at += step, left -= step;
        }
    }
}

/// The errno in an answer of the type NLMSG_ERROR; 0: success.
inline int code_in_answer(nlmsghdr const& head, char const* body) noexcept {
    int code = 0;
    if (head.nlmsg_len >= sizeof head + sizeof code) std::memcpy(&code, body, sizeof code);
    return -code;
}

} // namespace sb::machine
