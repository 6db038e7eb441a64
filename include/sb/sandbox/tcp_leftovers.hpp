// SPDX-License-Identifier: MIT
// Ends what TCP keeps of connections whose processes are dead. Sockets in TIME_WAIT and similar states hold their port for a
// minute, and the next run in the same network namespace would get EADDRINUSE.
//
// How it works: NETLINK_SOCK_DIAG lists the sockets of the current network namespace. Addresses and a cookie identify each
// socket, so SOCK_DESTROY ends exactly that socket and no later one. Call it when no process lives in the namespace.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::sandbox {

/// Belongs to the network namespace in which it was made, wherever it is used.
class tcp_leftovers {
public:
    static result<tcp_leftovers> open() {
        tcp_leftovers made;
        made.socket_ = unique_fd{::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
        if (!made.socket_) return last_error("open a socket-diagnosis socket (CONFIG_INET_DIAG)");
        timeval const patience{1, 0}; // the kernel answers at once or not at all
        ::setsockopt(made.socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        return made;
    }

    /// Ends all TCP sockets of the namespace, listening ones too; returns their number. The error names what is missing:
    /// CAP_NET_ADMIN over the namespace, or CONFIG_INET_DIAG_DESTROY in the kernel.
    result<int> destroy_all() {
        int destroyed = 0;
        for (auto const family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}}) {
            SB_TRY(auto const found, list(family));
            for (auto const& each : found) {
                SB_TRY(bool const ended, destroy(each));
                destroyed += ended;
            }
        }
        return destroyed;
    }

    /// Belongs to the same namespace wherever it is passed. For callers that list sockets while this object is idle.
    int descriptor() const noexcept { return socket_.get(); }

    /// The number of sockets.
    result<int> count() {
        std::size_t all = 0;
        for (auto const family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}}) {
            SB_TRY(auto const found, list(family));
            all += found.size();
        }
        return static_cast<int>(all);
    }

private:
    struct request {
        nlmsghdr head{};
        inet_diag_req_v2 what{};
    };
    tcp_leftovers() = default;

    result<void> send(request& ask, std::uint16_t type, std::uint16_t flags) {
        ask.head.nlmsg_len = sizeof ask;
        ask.head.nlmsg_type = type;
        ask.head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        ask.head.nlmsg_seq = ++number_;
        ask.what.sdiag_protocol = IPPROTO_TCP;
        sockaddr_nl kernel{};
        kernel.nl_family = AF_NETLINK;
        if (retry([&] { return ::sendto(socket_.get(), &ask, sizeof ask, 0, reinterpret_cast<sockaddr const*>(&kernel), sizeof kernel); }) < 0)
            return last_error("ask for TCP sockets");
        return {};
    }

    /// Calls `use(head)` for each answer to the last question until it returns false.
    template <class Use>
    result<void> answers(Use use) {
        alignas(nlmsghdr) char block[1 << 14];
        for (;;) {
            auto const n = retry([&] { return ::recv(socket_.get(), block, sizeof block, 0); });
            if (n < 0) return last_error("receive the list of TCP sockets");
            auto left = static_cast<std::size_t>(n);
            for (char const* at = block; left >= sizeof(nlmsghdr);) {
                nlmsghdr head;
                std::memcpy(&head, at, sizeof head);
                if (head.nlmsg_len < sizeof head || head.nlmsg_len > left) break;
                if (head.nlmsg_seq == number_ && !use(head, at + sizeof head)) return {};
                auto const step = std::min<std::size_t>((head.nlmsg_len + 3u) & ~3u, left);
                at += step, left -= step;
            }
        }
    }
    static int code_in(nlmsghdr const& head, char const* body) {
        int code = 0;
        if (head.nlmsg_len >= sizeof head + sizeof code) std::memcpy(&code, body, sizeof code);
        return -code;
    }

    result<std::vector<inet_diag_req_v2>> list(std::uint8_t family) {
        request ask;
        ask.what.sdiag_family = family;
        ask.what.idiag_states = ~0u;
        SB_CHECK(send(ask, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP));
        std::vector<inet_diag_req_v2> found;
        int code = 0;
        SB_CHECK(answers([&](nlmsghdr const& head, char const* body) {
            if (head.nlmsg_type == NLMSG_ERROR) code = code_in(head, body);
            if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_type == NLMSG_DONE) return false;
            inet_diag_msg one;
            if (head.nlmsg_len < sizeof head + sizeof one) return true;
            std::memcpy(&one, body, sizeof one);
            inet_diag_req_v2 target{};
            target.sdiag_family = one.idiag_family;
            target.sdiag_protocol = IPPROTO_TCP;
            target.idiag_states = ~0u;
            target.id = one.id;
            found.push_back(target);
            return true;
        }));
        if (family == AF_INET6 && code == EAFNOSUPPORT) return found; // a kernel without IPv6
        if (code == ENOENT) return system_error("list TCP sockets: this kernel has no tcp_diag (CONFIG_INET_TCP_DIAG)");
        if (code != 0) return errno_error("list TCP sockets", {}, code);
        return found;
    }

    /// False when it was already gone.
    result<bool> destroy(inet_diag_req_v2 const& target) {
        request ask;
        ask.what = target;
        SB_CHECK(send(ask, SOCK_DESTROY, NLM_F_ACK));
        int code = 0;
        SB_CHECK(answers([&](nlmsghdr const& head, char const* body) {
            if (head.nlmsg_type != NLMSG_ERROR) return true;
            code = code_in(head, body);
            return false;
        }));
        if (code == 0) return true;
        if (code == ENOENT || code == ENOTCONN) return false; // it closed meanwhile
        if (code == EOPNOTSUPP) return system_error("close TCP sockets: this kernel is built without CONFIG_INET_DIAG_DESTROY");
        if (code == EPERM) return system_error("close TCP sockets: needs CAP_NET_ADMIN over the network namespace");
        return errno_error("close a TCP socket", {}, code);
    }

    unique_fd socket_;
    std::uint32_t number_ = 0;
};

} // namespace sb::sandbox
