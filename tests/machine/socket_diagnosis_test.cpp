// SPDX-License-Identifier: MIT
#include <sb/machine/socket_diagnosis.hpp>
#include "support/catch.hpp"
#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>

using namespace sb;
using namespace sb::machine;

TEST_CASE("the kernel lists a socket that listens, in answers with the number of the question") {
    unique_fd const listening{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}, list{::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
    if (!list) {
        WARN("skipped: the kernel has no socket diagnosis");
        return;
    }
    sockaddr_in at{};
    socklen_t size = sizeof at;
    at.sin_family = AF_INET, at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listening.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::listen(listening.get(), 1) == 0);
    REQUIRE(::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
    timeval const patience{2, 0};
    ::setsockopt(list.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    socket_question ask;
    ask.what.sdiag_family = AF_INET, ask.what.sdiag_protocol = IPPROTO_TCP, ask.what.idiag_states = ~0u;
    REQUIRE(ask_about_sockets(list.get(), ask, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, 7));
    int found = 0, code = 0;
    CHECK(each_socket_answer(list.get(), 7, [&](nlmsghdr const& head, char const* body) {
        CHECK(head.nlmsg_seq == 7);
        if (head.nlmsg_type == NLMSG_ERROR) code = code_in_answer(head, body);
        if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_type == NLMSG_DONE) return false;
        inet_diag_msg one;
        std::memcpy(&one, body, sizeof one);
        found += one.id.idiag_sport == at.sin_port && one.id.idiag_src[0] == at.sin_addr.s_addr;
        return true;
    }));
    CHECK(code == 0);
    CHECK(found == 1);
}

TEST_CASE("what is asked of no list is refused, with the reason") {
    socket_question ask;
    CHECK((!ask_about_sockets(-1, ask, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, 1) && errno == EBADF));
    CHECK((!each_socket_answer(-1, 1, [](auto const&...) { return false; }) && errno == EBADF));
}
