// SPDX-License-Identifier: MIT
// Probes of sockets. Nothing is sent beyond the loopback: connecting a datagram socket asks for a route and sends nothing.
#include "probe.hpp"
#include <arpa/inet.h>
#include <cstddef>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace probes {
namespace {

long close_again(int fd) {
    if (fd >= 0) ::close(fd);
    return fd;
}

int connect_unix(std::string const& name, bool abstract, int type = SOCK_STREAM) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (name.size() + 2 > sizeof to.sun_path) return errno = ENAMETOOLONG, -1;
    std::memcpy(to.sun_path + (abstract ? 1 : 0), name.data(), name.size());
    int const fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    auto const size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
    int const result = fd < 0 ? -1 : ::connect(fd, reinterpret_cast<sockaddr const*>(&to), size);
    int const code = errno;
    if (fd >= 0) ::close(fd);
    return errno = code, result;
}

int connect_to(char const* address, int port, int type) {
    int result = -1, code = 0;
    int const family = std::strchr(address, ':') ? AF_INET6 : AF_INET;
    int const fd = ::socket(family, type | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (family == AF_INET) {
        sockaddr_in to{};
        to.sin_family = AF_INET, to.sin_port = htons(static_cast<std::uint16_t>(port));
        ::inet_pton(AF_INET, address, &to.sin_addr);
        result = ::connect(fd, reinterpret_cast<sockaddr const*>(&to), sizeof to);
    } else {
        sockaddr_in6 to{};
        to.sin6_family = AF_INET6, to.sin6_port = htons(static_cast<std::uint16_t>(port));
        ::inet_pton(AF_INET6, address, &to.sin6_addr);
        result = ::connect(fd, reinterpret_cast<sockaddr const*>(&to), sizeof to);
    }
    code = errno;
    ::close(fd);
    return errno = code, result;
}

} // namespace

void odd_sockets(words const& given, attempts& tried) {
    struct kind {
        char const* name;
        int family, type, protocol;
    };
    for (auto const& each : {kind{"AF_ALG", AF_ALG, SOCK_SEQPACKET, 0}, kind{"AF_VSOCK", AF_VSOCK, SOCK_STREAM, 0}, kind{"AF_PACKET", AF_PACKET, SOCK_RAW, 0x300},
                             kind{"raw", AF_INET, SOCK_RAW, IPPROTO_ICMP}, kind{"raw 6", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6},
                             kind{"netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER}, kind{"xfrm", AF_NETLINK, SOCK_RAW, NETLINK_XFRM},
                             kind{"audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT}, kind{"uevent", AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT},
                             kind{"sock_diag", AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG}, kind{"AF_BLUETOOTH", AF_BLUETOOTH, SOCK_RAW, 1},
                             kind{"AF_CAN", AF_CAN, SOCK_RAW, 1}, kind{"AF_TIPC", AF_TIPC, SOCK_STREAM, 0}, kind{"AF_RDS", AF_RDS, SOCK_SEQPACKET, 0},
                             kind{"AF_XDP", AF_XDP, SOCK_RAW, 0}, kind{"AF_KEY", AF_KEY, SOCK_RAW, 2}, kind{"AF_QIPCRTR", AF_QIPCRTR, SOCK_DGRAM, 0},
                             kind{"AF_SMC", AF_SMC, SOCK_STREAM, 0}, kind{"AF_KCM", AF_KCM, SOCK_DGRAM, 0}, kind{"AF_AX25", AF_AX25, SOCK_DGRAM, 0}})
        tried.call(each.name, close_again(::socket(each.family, each.type | SOCK_CLOEXEC, each.protocol)));
    tried.call("an abstract name of the host", connect_unix(given.text("abstract"), true));
}

void path_sockets(words const& given, attempts& tried) {
    tried.call("the witness's socket", connect_unix(given.text("socket"), false));
    for (auto const* const path : {"/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
                                   "/run/dbus/system_bus_socket", "/run/systemd/private", "/run/systemd/journal/socket", "/dev/log", "/tmp/.X11-unix/X0",
                                   "/run/user/0/bus", "/run/user/1000/bus", "/run/nscd/socket", "/run/udev/control"}) {
        struct stat facts {};
        tried.ask(path, ::stat(path, &facts) == 0);
    }
    if (char const* const agent = std::getenv("SSH_AUTH_SOCK")) tried.call("ssh-agent", connect_unix(agent, false));
}

void network(words const& given, attempts& tried) {
    auto const port = static_cast<int>(given.number("tcp"));
    tried.call("a service of the host", connect_to("127.0.0.1", port, SOCK_STREAM));
    tried.call("the same, by 0.0.0.0", connect_to("0.0.0.0", port, SOCK_STREAM));
    tried.call("the same, by ::ffff:127.0.0.1", connect_to("::ffff:127.0.0.1", port, SOCK_STREAM));
    tried.call("a route to the metadata service", connect_to("169.254.169.254", 80, SOCK_DGRAM));
    tried.call("a route to a name server", connect_to("192.0.2.53", 53, SOCK_DGRAM));
    tried.call("a route by IPv6", connect_to("2001:db8::53", 53, SOCK_DGRAM));
}

} // namespace probes
