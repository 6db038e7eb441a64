// SPDX-License-Identifier: MIT
// Memory that TCP and UDP sockets hold: read from the kernel's words, counted by namespace, bounded by a group.
#include "support/group.hpp"
#include <sb/core/clock.hpp>
#include <sb/machine/socket_memory.hpp>
#include <sb/sandbox/tcp_leftovers.hpp>
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <vector>

using namespace sb::machine;
using namespace sb::test;

namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr auto sockstat = "sockets: used 23\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 163\nUDP: inuse 2 mem 40161\nUDPLITE: inuse 0\nRAW: inuse 0\nFRAG: inuse 0 memory 0\n";

/// Sends datagrams to itself that nobody reads; how many bytes were sent.
std::int64_t fill_one(int socket, std::int64_t most) {
    int const large = 1 << 30;
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &large, sizeof large);
    sockaddr_in at{};
    at.sin_family = AF_INET, at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(socket, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) != 0) return -1;
    std::string const block(16 << 10, 'x');
    std::int64_t sent = 0;
    while (sent < most && ::sendto(socket, block.data(), block.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&at), size) > 0) sent += std::ssize(block);
    return sent;
}

} // namespace

TEST_CASE("what the kernel says of sockets and their memory is read in bytes") {
    auto const page = ::sysconf(_SC_PAGESIZE);
    CHECK(detail::most_of("287901\t383868\t575802\n") == 575802 * page);
    CHECK_FALSE(detail::most_of("287901\t383868\n"));
    CHECK_FALSE(detail::most_of(""));
    CHECK(detail::held_by(sockstat, "TCP:") == 163 * page);
    CHECK(detail::held_by(sockstat, "UDP:") == 40161 * page);
    CHECK_FALSE(detail::held_by(sockstat, "RAW:")); // the next line's is not its own
    CHECK_FALSE(detail::held_by("", "TCP:"));
}

TEST_CASE("a run's share is a tenth among all at once, and beside a limit on memory as much again") {
    socket_share const share{100 * mib, 200 * mib};
    CHECK(share.beside(sb::process::limits::none) == 100 * mib);
    CHECK(share.beside(64 * mib) == 64 * mib);
    CHECK(share.beside(1024 * mib) == 100 * mib);
    CHECK(share.beside(1 * mib) == 8 * mib);
    auto const one = socket_share::of_machine(1), many = socket_share::of_machine(1000);
    if (auto const text = kernel::text_of("/proc/sys/net/ipv4/tcp_mem"); !text.empty()) CHECK(one.tcp_bytes == *detail::most_of(text) / 10);
    else WARN("SKIPPED: tcp_mem is not to be seen in this network namespace");
    CHECK(many.tcp_bytes == std::min(one.tcp_bytes, socket_share::least_share));
    CHECK(many.udp_bytes == std::min(one.udp_bytes, socket_share::least_share));
}

TEST_CASE("the sockets of a namespace are listed with what they hold") {
    auto const list = sb::sandbox::tcp_leftovers::open();
    REQUIRE_FALSE(list.has_error());
    sb::unique_fd const socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    auto const before = detail::held_by_sockets(list->descriptor(), AF_INET, IPPROTO_UDP);
    REQUIRE(before);
    auto const sent = fill_one(socket.get(), 128 << 10);
    REQUIRE(sent >= 128 << 10);
    auto const now = detail::held_by_sockets(list->descriptor(), AF_INET, IPPROTO_UDP);
    REQUIRE(now);
    CHECK(now->counted - before->counted >= sent);
    CHECK(now->counted - before->counted < 8 * sent);
    CHECK(detail::held_by_sockets(list->descriptor(), AF_INET6, IPPROTO_TCP));
    CHECK(detail::held_by_sockets(list->descriptor(), AF_INET, IPPROTO_TCP));
}

TEST_CASE("what a UDP socket holds back is listed too, and once it is disconnected no protocol knows it") {
    auto const list = sb::sandbox::tcp_leftovers::open();
    REQUIRE_FALSE(list.has_error());
    sb::unique_fd const protocols{::open("/proc/self/net/protocols", O_RDONLY | O_CLOEXEC)};
    REQUIRE(protocols);
    auto const before = detail::held_by_sockets(list->descriptor(), AF_INET, IPPROTO_UDP);
    REQUIRE(before);
    constexpr std::size_t block = 60'000, count = 40;
    std::vector<sb::unique_fd> all;
    std::string const text(block, 'x');
    sockaddr_in at{};
    at.sin_family = AF_INET, at.sin_addr.s_addr = htonl(INADDR_LOOPBACK), at.sin_port = htons(9);
    while (all.size() < count) {
        auto& one = all.emplace_back(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        REQUIRE(::sendto(one.get(), text.data(), block, MSG_MORE, reinterpret_cast<sockaddr*>(&at), sizeof at) == block);
    }
    auto const now = detail::held_by_sockets(list->descriptor(), AF_INET, IPPROTO_UDP);
    REQUIRE(now);
    CHECK(now->uncounted - before->uncounted >= static_cast<std::int64_t>(block * count * 9 / 10)); // others come and go
    CHECK(now->uncounted - before->uncounted < static_cast<std::int64_t>(2 * block * count));
    auto const known = socket_kinds::in(protocols.get());
    CHECK(known.udp >= std::ssize(all));
    CHECK(known.all >= known.udp + known.netlink);
    sockaddr const nobody{AF_UNSPEC, {}};
    for (auto const& one : all) REQUIRE(::connect(one.get(), &nobody, sizeof nobody) == 0);
    CHECK(socket_kinds::in(protocols.get()).udp <= known.udp - std::ssize(all) / 2);
}

TEST_CASE("sockets are told by kind from the lines of the protocols") {
    auto const counts = socket_kinds::of("protocol  size sockets  memory press maxhdr  slab module     cl co\n"
                                         "UNIX      1152      7      -1   NI       0   yes  kernel      y  n\n"
                                         "UDPv6     1472      2       0   NI       0   yes  kernel      y  y\n"
                                         "UDP       1344     30       0   NI       0   yes  kernel      y  y\n"
                                         "TCP       2304    400     203   no     192   yes  kernel      y  y\n"
                                         "NETLINK   1096   5000      -1   NI       0   no   kernel      n  n");
    CHECK(counts.all == 5439);
    CHECK(counts.udp == 32);
    CHECK(counts.netlink == 5000);
}

TEST_CASE("netlink sockets are listed with what waits in them, however the list is cut") {
    sb::unique_fd const list{::open("/proc/self/net/netlink", O_RDONLY | O_CLOEXEC)};
    REQUIRE(list);
    constexpr std::int64_t all = std::int64_t{1} << 40;
    auto const before = detail::held_by_netlinks(list.get(), all);
    sb::unique_fd const socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
    REQUIRE(socket);
    struct {
        nlmsghdr head;
        ifinfomsg what;
    } ask{};
    ask.head.nlmsg_len = sizeof ask, ask.head.nlmsg_type = RTM_GETLINK, ask.head.nlmsg_flags = NLM_F_REQUEST, ask.what.ifi_index = 1;
    for (int i = 0; i < 8; ++i) REQUIRE(::send(socket.get(), &ask, sizeof ask, 0) == sizeof ask);
    std::uint32_t values[SK_MEMINFO_VARS]{};
    socklen_t size = sizeof values;
    REQUIRE(::getsockopt(socket.get(), SOL_SOCKET, SO_MEMINFO, values, &size) == 0);
    REQUIRE(values[SK_MEMINFO_RMEM_ALLOC] > 8 * 1024);
    CHECK(detail::held_by_netlinks(list.get(), all) - before >= values[SK_MEMINFO_RMEM_ALLOC]); // others come and go

    std::string_view const text = "sk Eth Pid Groups Rmem Wmem\n0 0 0 0 100 0\n0 0 0 0 20000 7\n";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        detail::netlink_sum sum;
        sum.take(text.substr(0, cut)), sum.take(text.substr(cut));
        CHECK(sum.bytes() == 20107);
    }
}

TEST_CASE("who looks ends what holds more than its share, and nothing that holds less") {
    sb::unique_fd const file{::memfd_create("count", MFD_CLOEXEC)};
    auto const put = [&](std::string const& text) { REQUIRE((::ftruncate(file.get(), 0) == 0 && ::pwrite(file.get(), text.data(), text.size(), 0) == std::ssize(text))); };
    socket_watch watch;
    watch.begin({file.get(), 64 * mib, -1, -1, -1, 0, {}}, 1000);
    CHECK(watch.due_ns() == 1000 + 10'000'000);
    put(sb::cat(200 * mib, "\n"));
    CHECK_FALSE(watch.look(2000)); // too early
    put(sb::cat(64 * mib, "\n"));
    CHECK_FALSE(watch.look(watch.due_ns()));
    put(sb::cat(64 * mib + 4096, "\n"));
    CHECK(watch.look(watch.due_ns()));

    auto const page = ::sysconf(_SC_PAGESIZE);
    put(sockstat);
    watch.begin({-1, 0, file.get(), -1, -1, 4, {163 * page, 40161 * page}}, 0);
    CHECK_FALSE(watch.look(watch.due_ns())); // all of the machine's are no more than the share
    watch.begin({-1, 0, file.get(), -1, -1, 4, {162 * page, 40161 * page}}, 0);
    CHECK_FALSE(watch.look(watch.due_ns())); // more, but here are 19 sockets, and nobody can say what they hold
    put("sockets: used 40\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 163\nUDP: inuse 2 mem 0\n");
    CHECK(watch.look(watch.due_ns()));
    sb::unique_fd const list{::memfd_create("list", MFD_CLOEXEC)};
    std::string const netlinks = "sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode\n"
                                 "00000000af34228b 0   0          00000000 0        0        0     2        0        4       \n"
                                 "00000000b3954474 0   4242       00000000 212736   0        0     2        0        1588    \n";
    REQUIRE(::pwrite(list.get(), netlinks.data(), netlinks.size(), 0) == std::ssize(netlinks));
    // 36 sockets of some 2.8 KB, and what waits in two of them
    constexpr std::int64_t a_socket = 2816, waits = 212736;
    socket_place at{-1, 0, file.get(), -1, list.get(), 4, {1024 * mib, 1024 * mib}, waits + 36 * a_socket};
    auto const over = [&] {
        watch.begin(at, 0);
        return watch.look(watch.due_ns());
    };
    CHECK_FALSE(over());
    --at.most_uncounted;
    CHECK(over());
    at.resident = 5;
    CHECK_FALSE(over());
    at.share.a_socket_bytes = waits / 40; // all of them could not hold that much: they are not listed
    at.resident = 4;
    CHECK_FALSE(over());
    // those that no protocol knows are idle, as a rule
    sb::unique_fd const kinds{::memfd_create("kinds", MFD_CLOEXEC)};
    std::string_view const known = "protocol size sockets memory\nTCP 2304 21 163 no\nUNIX 1152 10 -1 NI\n";
    REQUIRE(::pwrite(kinds.get(), known.data(), known.size(), 0) == std::ssize(known));
    at.share = {1024 * mib, 1024 * mib}, at.kinds = kinds.get(), at.resident_known = 3; // 8 are unknown
    CHECK(unknown_sockets(at) == 8);
    at.most_uncounted = 36 * a_socket;
    CHECK_FALSE(over());
    --at.most_uncounted;
    CHECK(over());
    put("sockets: used 4\nTCP: inuse 1 orphan 0 tw 1000 alloc 1 mem 163\nUDP: inuse 2 mem 0\n");
    at.resident_known = 31, at.most_uncounted = 320'000;
    CHECK_FALSE(over());
    --at.most_uncounted;
    CHECK(over());
    // a long list of the one kind does not put off a look at the other
    put("sockets: used 4\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 163\nUDP: inuse 2 mem 0\n");
    at.most_uncounted = 1 * mib;
    watch.begin(at, 0);
    CHECK_FALSE(watch.look(watch.due_ns()));
    CHECK(watch.due_ns() <= 20'000'000);
    watch.begin({}, 0);
    CHECK(watch.due_ns() == -1);
    CHECK_FALSE(watch.look(std::int64_t{1} << 60));
}

TEST_CASE("a group that counts sockets apart bounds what they hold, and says the most") {
    auto const host = groups_here();
    if (host.version(sb::cgroup::controller::memory) != 1) {
        REQUIRE_FALSE((kernel::text_of("/proc/self/cgroup").find(":memory:") != std::string::npos && kernel::gives_group("memory")));
        WARN("SKIPPED: no v1 group for memory: on v2 it holds sockets with all else");
        return;
    }
    auto made = sb::cgroup::cgroup::make(host, "test");
    REQUIRE_FALSE(made.has_error());
    auto const in_force = made->hold({64 * mib, sb::process::limits::none, sb::process::limits::none, 16 * mib});
    REQUIRE_FALSE(in_force.has_error());
    CHECK(in_force->socket_bytes == 8 * mib);
    REQUIRE_FALSE(made->begin().has_error());
    CHECK(wait_for(start_in(*made, [] {
        std::vector<sb::unique_fd> all;
        for (int i = 0; i < 20; ++i) {
            auto& one = all.emplace_back(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
            if (fill_one(one.get(), 4 * mib) < 0) return 1;
        }
        return 0;
    })) == 0);
    auto const peak = made->socket_peak();
    REQUIRE(peak);
    CHECK(*peak > 7 * mib);
    CHECK(*peak <= 8 * mib);
    REQUIRE_FALSE(made->begin().has_error());
    CHECK(made->socket_peak() == 0); // of a run that has none
    auto const lifted = made->hold({});
    REQUIRE_FALSE(lifted.has_error());
    CHECK_FALSE(lifted->socket_bytes);
}
