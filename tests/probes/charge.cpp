// SPDX-License-Identifier: MIT
// Probes that hold memory of the kernel's which nobody charges to them, and that outlast their end.
#include "probe.hpp"
#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdint>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace probes {
namespace {

constexpr std::size_t block_size = 32 << 10;
char block[block_size];

sockaddr_in loopback(int socket, bool named) {
    sockaddr_in at{};
    at.sin_family = AF_INET, at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!named) return at;
    socklen_t size = sizeof at;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size);
    return at;
}
bool bind_here(int socket) {
    auto const at = loopback(socket, false);
    return ::bind(socket, reinterpret_cast<sockaddr const*>(&at), sizeof at) == 0;
}
bool connect_to(int socket, sockaddr_in const& at) { return ::connect(socket, reinterpret_cast<sockaddr const*>(&at), sizeof at) == 0; }

/// As the kernel counts it: what waits to be read, what waits to be sent or is held back, what is set aside for more.
std::int64_t held_by(int socket) {
    std::uint32_t values[9]{};
    socklen_t size = sizeof values;
    if (::getsockopt(socket, SOL_SOCKET, SO_MEMINFO, values, &size) != 0) return 0;
    return std::int64_t{values[0]} + std::max(values[2], values[5]) + values[4];
}

/// Nobody reads what is sent; true when no more is taken.
void fill(int socket, std::int64_t& sent, std::int64_t most) {
    for (int stalled = 0; stalled < 5 && sent < most;) {
        auto const n = ::send(socket, block, sizeof block, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) sent += n, stalled = 0;
        else if (errno != EAGAIN) return;
        else ++stalled, ::usleep(200); // the other end may have made room
    }
}

void large_buffers(int socket) {
    int const most = 1 << 30;
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &most, sizeof most);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
}

/// Holds back a datagram and, every other time, forgets whom it was for: such a socket is in no list.
void hold_back(int socket, std::size_t number) {
    auto at = loopback(socket, false);
    at.sin_port = htons(9);
    for (std::size_t sent = 0; sent < 60'000; sent += 20'000)
        if (::sendto(socket, block, 20'000, MSG_MORE | MSG_DONTWAIT, reinterpret_cast<sockaddr const*>(&at), sizeof at) < 0) return;
    sockaddr const nobody{AF_UNSPEC, {}};
    if (number % 2 != 0) ::connect(socket, &nobody, sizeof nobody);
}

/// Asks for what nobody reads until no more answers fit.
void ask_without_end(int socket) {
    struct {
        nlmsghdr head;
        ifinfomsg what;
    } ask{};
    ask.head.nlmsg_len = sizeof ask, ask.head.nlmsg_type = RTM_GETLINK, ask.head.nlmsg_flags = NLM_F_REQUEST;
    ask.what.ifi_index = 1;
    for (int i = 0; i < 400; ++i)
        if (::send(socket, &ask, sizeof ask, MSG_DONTWAIT) < 0) return;
}

} // namespace

/// MiB in buffers of sockets that nobody reads; or percent of what the host has for all of them.
void socket_buffers(words const& given, attempts& tried) {
    bool const share = given.does("tcp_share") || given.does("udp_share");
    bool const tcp = given.does("tcp") || given.does("tcp_share"), udp = given.does("udp") || given.does("udp_share"), netlink = given.does("netlink"), corked = given.does("corked");
    std::int64_t const wanted = share ? std::atoll(given.text(tcp ? "tcp_total" : "udp_total", "0").c_str()) / 100 * given.number("share", 12)
                                      : std::int64_t{given.number("mib", 128)} << 20;
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) files.rlim_cur = files.rlim_max, ::setrlimit(RLIMIT_NOFILE, &files);
    std::vector<int> open;
    std::int64_t held = 0, each = 0;
    int refused = 0;
    int const listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (tcp && (listener < 0 || !bind_here(listener) || ::listen(listener, 16) != 0)) return tried.add("listen", false, errno);
    while (held < wanted && open.size() < 4000) {
        int pair[2] = {-1, -1};
        if (tcp) {
            pair[0] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (pair[0] >= 0 && connect_to(pair[0], loopback(listener, true))) pair[1] = ::accept(listener, nullptr, nullptr);
        } else if (udp) {
            pair[0] = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            pair[1] = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            if (pair[0] >= 0 && pair[1] >= 0) large_buffers(pair[0]), large_buffers(pair[1]);
            if (pair[1] < 0 || !bind_here(pair[1]) || !connect_to(pair[0], loopback(pair[1], true))) refused = errno, pair[1] = -1;
        } else if (netlink) {
            pair[0] = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
            if (pair[0] >= 0) large_buffers(pair[0]), ask_without_end(pair[0]), pair[1] = ::fcntl(pair[0], F_DUPFD_CLOEXEC, 3);
        } else if (corked) {
            pair[0] = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            if (pair[0] >= 0) hold_back(pair[0], open.size()), pair[1] = ::fcntl(pair[0], F_DUPFD_CLOEXEC, 3);
        } else if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) large_buffers(pair[0]);
        if (pair[0] < 0 || pair[1] < 0) {
            refused = refused != 0 ? refused : errno;
            break;
        }
        std::int64_t sent = 0;
        if (!netlink && !corked) fill(pair[0], sent, std::int64_t{8} << 20);
        each = tcp || udp ? held_by(pair[0]) + held_by(pair[1]) : netlink || corked ? held_by(pair[0]) : sent;
        held += each;
        open.push_back(pair[0]);
        if (netlink || corked) ::close(pair[1]);
        else open.push_back(pair[1]);
        if (each < 4096 && open.size() > 64) break; // the kernel takes no more
    }
    // who looks may have to wait for a processor, and it is enough that it comes
    if (held >= wanted) wait_for(static_cast<double>(given.number("hold")));
    if (tcp || udp || netlink || corked) {
        held = 0;
        for (int const one : open) held += held_by(one);
    }
    tried.add(std::to_string(wanted >> 20) + " MiB held in " + (tcp ? "TCP" : udp ? "UDP" : netlink ? "netlink" : corked ? "corked UDP" : "UNIX") + " sockets", wanted > 0 && held >= wanted - (wanted >> 4), refused != 0 ? refused : ENOBUFS);
    for (int const one : open) ::close(one);
    if (listener >= 0) ::close(listener);
}

/// Many processes, each with a large map to take down when it ends: who kills them has to come to it.
void crowd(words const& given, attempts& tried) {
    auto const most = given.number("count", 600), seconds = given.number("seconds", 60);
    auto const bytes = static_cast<std::size_t>(given.number("mib", 128)) << 20;
    void* const shared = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return tried.add("map", false, errno);
    auto* const at = static_cast<char volatile*>(shared);
    std::vector<pid_t> all;
    while (std::ssize(all) < most) {
        auto const pid = ::fork();
        if (pid < 0) break;
        if (pid == 0) {
            for (std::size_t i = 0; i < bytes; i += 4096) at[i] = 1;
            for (;;) at[0] = 1;
        }
        all.push_back(pid);
    }
    int const refused = errno;
    wait_for(static_cast<double>(seconds));
    for (auto const pid : all) ::kill(pid, SIGKILL);
    for (auto const pid : all) ::waitpid(pid, nullptr, 0);
    tried.add(std::to_string(most) + " processes for " + std::to_string(seconds) + " s", std::ssize(all) == most, refused);
}

/// MiB of file locks: a process's, open files', and flocks; or percent of the machine's memory in pages of which a socket has a byte.
/// They are held a while, for whoever looks.
void kernel_keeps(words const& given, attempts& tried) {
    constexpr std::int64_t a_lock = 192, a_page = 32 << 10;
    if (given.does("locks")) {
        auto const wanted = std::int64_t{given.number("mib", 128)} << 20;
        constexpr int in_a_file = 500; // the list of one is walked
        std::int64_t made = 0;
        int refused = 0;
        for (int file = -1; made * a_lock < wanted && refused == 0; ++made) {
            if (made % in_a_file == 0 && (file = nameless_file("/tmp")) < 0) refused = errno;
            struct flock one {};
            one.l_type = F_WRLCK, one.l_start = 2 * (in_a_file - made % in_a_file), one.l_len = 1;
            if (::fcntl(file, made / in_a_file % 2 == 0 ? F_SETLK : F_OFD_SETLK, &one) != 0) refused = errno;
        }
        wait_for(1);
        return tried.add(std::to_string(wanted >> 20) + " MiB of file locks", refused == 0, refused);
    }
    auto const wanted = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE) / 100 * given.number("share", 7);
    int const listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), aside = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int const least = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &least, sizeof least); // what is not taken waits where it was sent
    large_buffers(out);
    if (!bind_here(listener) || ::listen(listener, 1) != 0 || !connect_to(out, loopback(listener, true))) return tried.add("connect", false, errno);
    std::int64_t sent = 0, kept = 0;
    fill(out, sent, 64 << 10);
    static char more[48'000]; // than a page has
    auto away = loopback(aside, false);
    away.sin_port = htons(9);
    int refused = 0;
    while (kept < wanted && refused == 0) {
        if (::send(out, block, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1) refused = errno;
        // what follows in the page is gone at once: nobody is there
        for (std::size_t const size : {sizeof more, std::size_t{100}})
            ::sendto(aside, more, size, size == sizeof more ? MSG_MORE : 0, reinterpret_cast<sockaddr const*>(&away), sizeof away);
        kept += a_page;
    }
    wait_for(1);
    tried.add(std::to_string(wanted >> 20) + " MiB kept by bytes in a TCP socket", refused == 0, refused);
}

} // namespace probes
