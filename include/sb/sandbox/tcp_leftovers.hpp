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
#include <sb/machine/socket_diagnosis.hpp>
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
        std::size_t sockets = 0;
        for (auto const family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}}) {
            SB_TRY(auto const found, list(family));
            sockets += found.size();
        }
        return static_cast<int>(sockets);
    }

private:
    tcp_leftovers() = default;

    /// Calls `use(head, body)` for each answer until it returns false.
    template <class Use>
    result<void> ask(machine::socket_question& what, std::uint16_t type, std::uint16_t flags, Use use) {
        what.what.sdiag_protocol = IPPROTO_TCP;
        if (!machine::ask_about_sockets(socket_.get(), what, type, flags, ++number_)) return last_error("ask for TCP sockets");
        if (!machine::each_socket_answer(socket_.get(), number_, use)) return last_error("receive the list of TCP sockets");
        return {};
    }

    result<std::vector<inet_diag_req_v2>> list(std::uint8_t family) {
        machine::socket_question what;
        what.what.sdiag_family = family;
        what.what.idiag_states = ~0u;
        std::vector<inet_diag_req_v2> found;
        int code = 0;
        SB_CHECK(ask(what, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, [&](nlmsghdr const& head, char const* body) {
            if (head.nlmsg_type == NLMSG_ERROR) code = machine::code_in_answer(head, body);
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
        machine::socket_question what;
        what.what = target;
        int code = 0;
        SB_CHECK(ask(what, SOCK_DESTROY, NLM_F_ACK, [&](nlmsghdr const& head, char const* body) {
            if (head.nlmsg_type != NLMSG_ERROR) return true;
            code = machine::code_in_answer(head, body);
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
