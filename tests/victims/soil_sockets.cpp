// SPDX-License-Identifier: MIT
// What a payload leaves in the network and in messages.
#include "soil.hpp"
#include <arpa/inet.h>
#include <cstddef>
#include <cstdint>
#include <linux/in6.h>
#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

namespace soil {

int socket_at(int family, int kind, int port, bool any) {
    int const fd = ::socket(family, kind | SOCK_CLOEXEC, 0);
    int bound = -1;
    if (family == AF_INET) {
        sockaddr_in at{};
        at.sin_family = AF_INET, at.sin_port = htons(static_cast<std::uint16_t>(port)), at.sin_addr.s_addr = htonl(any ? INADDR_ANY : INADDR_LOOPBACK);
        bound = ::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
    } else {
        sockaddr_in6 at{};
        at.sin6_family = AF_INET6, at.sin6_port = htons(static_cast<std::uint16_t>(port)), at.sin6_addr = IN6ADDR_LOOPBACK_INIT;
        bound = ::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
    }
    if (bound == 0 && (kind != SOCK_STREAM || ::listen(fd, 8) == 0)) return fd;
    int const code = errno;
    ::close(fd);
    errno = code;
    return -1;
}

int abstract_socket() {
    int const fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, abstract_name, sizeof abstract_name - 1);
    if (::bind(fd, reinterpret_cast<sockaddr*>(&at), offsetof(sockaddr_un, sun_path) + sizeof abstract_name - 1) == 0) return fd;
    return -1;
}

namespace {

bool time_wait(int family) {
    int const server = socket_at(family, SOCK_STREAM, tcp_port);
    if (server < 0) return false;
    int const client = ::socket(family, SOCK_STREAM, 0);
    sockaddr_storage at{};
    socklen_t length = sizeof at;
    ::getsockname(server, reinterpret_cast<sockaddr*>(&at), &length);
    if (::connect(client, reinterpret_cast<sockaddr*>(&at), length) != 0) return false;
    int const peer = ::accept(server, nullptr, nullptr);
    ::close(peer); // this end, at our port, waits its minute
    char c;
    (void)!::read(client, &c, 1);
    ::close(client);
    ::close(server);
    return true;
}

/// Descriptors in sockets that only they themselves hold: nobody's, until the kernel collects them.
bool in_flight() {
    int const held[] = {socket_at(AF_INET, SOCK_STREAM, tcp_port), socket_at(AF_INET, SOCK_DGRAM, udp_port), abstract_socket()};
    if (held[0] < 0 || held[1] < 0 || held[2] < 0) return false;
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return false;
    int const passed[] = {held[0], held[1], held[2], ends[0], ends[1]};
    char byte = 0;
    iovec io{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof passed)]{};
    msghdr all{};
    all.msg_iov = &io, all.msg_iovlen = 1, all.msg_control = control, all.msg_controllen = sizeof control;
    auto* const head = CMSG_FIRSTHDR(&all);
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof passed);
    std::memcpy(CMSG_DATA(head), passed, sizeof passed);
    return ::sendmsg(ends[0], &all, 0) == 1 && ::sendmsg(ends[1], &all, 0) == 1;
}

bool flow_label() {
    int const fd = ::socket(AF_INET6, SOCK_DGRAM, 0);
    in6_flowlabel_req ask{};
    ask.flr_dst = IN6ADDR_LOOPBACK_INIT;
    ask.flr_label = htonl(0x12345), ask.flr_action = IPV6_FL_A_GET, ask.flr_share = IPV6_FL_S_EXCL, ask.flr_flags = IPV6_FL_F_CREATE;
    ask.flr_expires = 60, ask.flr_linger = 60;
    return ::setsockopt(fd, SOL_IPV6, IPV6_FLOWLABEL_MGR, &ask, sizeof ask) == 0;
}

bool shared_memory() {
    int const id = ::shmget(ipc_key, 4096, IPC_CREAT | 0600);
    return id >= 0 && std::strcpy(static_cast<char*>(::shmat(id, nullptr, 0)), "secret") != nullptr;
}

bool message() {
    struct {
        long kind = 1;
        char text[8] = "secret";
    } const one;
    int const id = ::msgget(ipc_key, IPC_CREAT | 0600);
    return id >= 0 && ::msgsnd(id, &one, sizeof one.text, 0) == 0;
}

bool queue() { return ::syscall(SYS_mq_open, queue_name, O_CREAT | O_RDWR, 0600, nullptr) >= 0; }

bool key() { return ::syscall(SYS_add_key, "user", "soil", "secret", 6, -3) >= 0; }

} // namespace

ways of_sockets() {
    return {
        {"shm", shared_memory},
        {"semaphore", [] { return ::semget(ipc_key, 1, IPC_CREAT | 0600) >= 0; }},
        {"message", message},
        {"queue", queue},
        {"key", key},
        {"time-wait", [] { return time_wait(AF_INET); }},
        {"time-wait6", [] { return time_wait(AF_INET6); }},
        {"listening", [] { return daemon_with([] { return socket_at(AF_INET, SOCK_STREAM, tcp_port) >= 0; }); }},
        {"listening6", [] { return daemon_with([] { return socket_at(AF_INET6, SOCK_STREAM, tcp_port) >= 0; }); }},
        {"datagram", [] { return daemon_with([] { return socket_at(AF_INET, SOCK_DGRAM, udp_port, true) >= 0; }); }},
        {"abstract", [] { return daemon_with([] { return abstract_socket() >= 0; }); }},
        {"in-flight", in_flight},
        {"flow-label", flow_label},
    };
}

} // namespace soil
