// SPDX-License-Identifier: MIT
// Connections that are over but not forgotten, in a network namespace of the test's own.
#include "support/kernel.hpp"
#include "support/catch.hpp"
#include <sb/sandbox/tcp_leftovers.hpp>
#include <cstring>
#include <net/if.h>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// What a child in fresh user and network namespaces saw; it alone may change them.
struct seen {
    int step = 0; ///< how far it came; 0: no namespace could be made
    int code = 0;
    int before = -1, destroyed = -1, after = -1;
    bool bind_failed = false, bind_worked = false;
    char trouble[200] = "";
};

sockaddr_storage loopback(int family, std::uint16_t port, socklen_t& size) {
    sockaddr_storage any{};
    if (family == AF_INET) {
        auto& a = reinterpret_cast<sockaddr_in&>(any);
        a.sin_family = AF_INET, a.sin_port = htons(port), a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        size = sizeof a;
    } else {
        auto& a = reinterpret_cast<sockaddr_in6&>(any);
        a.sin6_family = AF_INET6, a.sin6_port = htons(port), a.sin6_addr = in6addr_loopback;
        size = sizeof a;
    }
    return any;
}

int listener(int family, std::uint16_t port) {
    int const fd = ::socket(family, SOCK_STREAM, 0);
    socklen_t size = 0;
    auto const to = loopback(family, port, size);
    if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr const*>(&to), size) != 0 || ::listen(fd, 16) != 0) {
        auto const code = errno;
        if (fd >= 0) ::close(fd);
        return errno = code, -1;
    }
    return fd;
}

/// `n` connections that the server closes first: their ports on its side are in TIME_WAIT.
bool leave_time_wait(int family, std::uint16_t port, int n) {
    int const server = listener(family, port);
    if (server < 0) return false;
    socklen_t size = 0;
    auto const to = loopback(family, port, size);
    for (int i = 0; i < n; ++i) {
        int const client = ::socket(family, SOCK_STREAM, 0);
        if (client < 0 || ::connect(client, reinterpret_cast<sockaddr const*>(&to), size) != 0) return false;
        int const peer = ::accept(server, nullptr, nullptr);
        if (peer < 0) return false;
        ::close(peer);
        char c;
        if (::read(client, &c, 1) != 0) return false; // it has heard of the end
        ::close(client);
    }
    ::close(server);
    return true;
}

void look(seen& s, int family) {
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return void(s.code = errno);
    int const any = ::socket(AF_INET, SOCK_DGRAM, 0);
    ifreq lo{};
    std::strcpy(lo.ifr_name, "lo");
    lo.ifr_flags = IFF_UP;
    if (any < 0 || ::ioctl(any, SIOCSIFFLAGS, &lo) != 0) return void(s.code = errno);
    s.step = 1;
    auto sweeper = sb::sandbox::tcp_leftovers::open();
    if (sweeper.has_error()) return void(std::strncpy(s.trouble, sweeper.error().what.c_str(), sizeof s.trouble - 1));
    if (!leave_time_wait(family, 4711, 5)) return void(s.code = errno);
    s.step = 2;
    auto before = sweeper->count();
    // a busy machine takes the last word of a connection later, and until then the other side is there too
    for (int naps = 0; naps < 10'000 && !before.has_error() && *before > 5; ++naps) ::usleep(1000), before = sweeper->count();
    if (before.has_error()) return void(std::strncpy(s.trouble, before.error().what.c_str(), sizeof s.trouble - 1));
    s.before = *before;
    s.bind_failed = listener(family, 4711) < 0 && errno == EADDRINUSE;
    auto const ended = sweeper->destroy_all();
    if (ended.has_error()) return void(std::strncpy(s.trouble, ended.error().what.c_str(), sizeof s.trouble - 1));
    s.destroyed = *ended;
    s.after = sweeper->count().value();
    s.bind_worked = listener(family, 4711) >= 0;
    s.step = 3;
}

seen in_namespace(int family) {
    auto* const shared = static_cast<seen*>(::mmap(nullptr, sizeof(seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    new (shared) seen;
    auto const child = ::fork();
    if (child == 0) look(*shared, family), ::_exit(0);
    ::waitpid(child, nullptr, 0);
    auto const got = *shared;
    ::munmap(shared, sizeof(seen));
    return got;
}

void ports_are_free_again(int family) {
    NEEDS_ISOLATION();
    if (!sb::test::kernel::ends_tcp()) {
        WARN("SKIPPED: this kernel is built without CONFIG_INET_TCP_DIAG or CONFIG_INET_DIAG_DESTROY");
        return;
    }
    auto const s = in_namespace(family);
    REQUIRE(s.step != 0);
    if (s.step == 1 && s.code == EAFNOSUPPORT) {
        WARN("SKIPPED: no such address family here");
        return;
    }
    CHECK(std::string{s.trouble}.empty());
    CHECK(s.step == 3);
    CHECK(s.before == 5);
    CHECK(s.bind_failed);
    CHECK(s.destroyed == 5);
    CHECK(s.after == 0);
    CHECK(s.bind_worked);
}

} // namespace

TEST_CASE("a port held by connections in TIME_WAIT is free after they are ended") { ports_are_free_again(AF_INET); }
TEST_CASE("the same holds for IPv6") { ports_are_free_again(AF_INET6); }

TEST_CASE("who may not end connections is told what is missing") {
    NEEDS_ISOLATION();
    int result[2];
    REQUIRE(::pipe(result) == 0);
    auto const child = ::fork();
    if (child == 0) {
        // a listening socket of our own, in the namespace we have, without the right to end it
        std::string what = "no socket";
        if (::geteuid() == 0 && (::unshare(CLONE_NEWNET) != 0 || ::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0)) what = "no namespace";
        else if (int const fd = ::socket(AF_INET, SOCK_STREAM, 0); fd >= 0 && ::listen(fd, 1) == 0) {
            auto sweeper = sb::sandbox::tcp_leftovers::open();
            if (sweeper.has_error()) what = sweeper.error().what;
            else if (auto const got = sweeper->destroy_all(); got.has_error()) what = got.error().what;
            else what = "ended";
        }
        (void)!::write(result[1], what.data(), what.size());
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    char text[300];
    auto const n = ::read(result[0], text, sizeof text);
    ::close(result[0]), ::close(result[1]);
    REQUIRE(n > 0);
    std::string const what{text, static_cast<std::size_t>(n)};
    REQUIRE(what != "no namespace");
    bool const named = what.find("CAP_NET_ADMIN") != std::string::npos || what.find("CONFIG_INET") != std::string::npos;
    INFO(what);
    CHECK(named);
}
