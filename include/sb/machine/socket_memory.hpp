// SPDX-License-Identifier: MIT
// Memory of TCP, UDP and netlink sockets: how much of the host's a run may hold, and who checks this where no group counts
// it separately.
//
// How it works: the kernel has one amount of memory for all TCP sockets of the machine and one for all UDP sockets (tcp_mem,
// udp_mem), no matter who holds them. When an amount is used up, nobody can send any more. A v1 group has a separate limit
// for both, at which senders wait. But the kernel still gives every socket its first packet, some 64 KiB each. So the worker
// checks too, now and then, and ends a run that holds twice the limit. Elsewhere the worker reads /proc/net/sockstat of the
// sandbox, which shows what all sockets of the machine hold. While that is less than a run's share, no run can hold more.
// When it is more, the sandbox's sockets are listed and added up.
// Some memory is counted by nobody, not even by v2 groups, and has a budget of its own: what waits in netlink sockets, what
// a UDP socket holds back (MSG_MORE), options, and connections that nobody has accepted or that are in TIME_WAIT. Sockets
// are checked only when there are enough of them to hold that much: first the number of each kind, then, if necessary, what
// each holds. A UDP socket that has forgotten its peer is in no list, like idle sockets; kernel_memory.hpp covers those.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <sb/machine/socket_diagnosis.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace sb::machine {

namespace detail {

/// Bytes that all sockets of a kind may hold: the third number of tcp_mem or udp_mem, which are in pages.
inline std::optional<std::int64_t> most_of(std::string_view text) {
    auto const limits = words(text, "\t \n");
    auto const pages = limits.size() == 3 ? lone_number(limits[2]) : std::nullopt;
    return pages ? std::optional{*pages * ::sysconf(_SC_PAGESIZE)} : std::nullopt;
}

/// What sockets of a kind hold on the whole machine, in bytes: "TCP: inuse 1 orphan 0 tw 0 alloc 1 mem 163".
inline std::optional<std::int64_t> held_by(std::string_view sockstat, std::string_view kind) {
    auto const line = sockstat.find(kind);
    if (line == std::string_view::npos) return std::nullopt;
    auto const pages = number_after(sockstat.substr(line, sockstat.find('\n', line) - line), " mem ");
    return pages ? std::optional{*pages * ::sysconf(_SC_PAGESIZE)} : std::nullopt;
}

/// What sockets hold of the machine's amount for their kind, and what they hold besides.
struct socket_bytes {
    std::int64_t counted = 0, uncounted = 0;
};

/// What the sockets of a protocol hold in the network namespace of `list`, a socket of NETLINK_SOCK_DIAG; no value where the
/// kernel does not say.
inline std::optional<socket_bytes> held_by_sockets(int list, std::uint8_t family, std::uint8_t protocol) {
    static std::uint32_t number = 1u << 31; // answers to other users of the same socket, at other times, have other numbers
    socket_question ask;
    ask.what.sdiag_family = family, ask.what.sdiag_protocol = protocol, ask.what.idiag_states = ~0u;
    ask.what.idiag_ext = 1u << (INET_DIAG_SKMEMINFO - 1);
    if (!ask_about_sockets(list, ask, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, ++number)) return std::nullopt;
    socket_bytes sum;
    bool is_known = false;
    (void)each_socket_answer(list, number, [&](nlmsghdr const& head, char const* body) {
        is_known = head.nlmsg_type == NLMSG_DONE || (head.nlmsg_type == NLMSG_ERROR && family == AF_INET6 && code_in_answer(head, body) == EAFNOSUPPORT);
        if (head.nlmsg_type == NLMSG_DONE || head.nlmsg_type == NLMSG_ERROR) return false;
        for (std::size_t in = NLMSG_ALIGN(sizeof(inet_diag_msg)); sizeof head + in + sizeof(nlattr) <= head.nlmsg_len;) {
            nlattr one;
            std::memcpy(&one, body + in, sizeof one);
            if (one.nla_len < sizeof one || sizeof head + in + one.nla_len > head.nlmsg_len) break;
            std::uint32_t values[SK_MEMINFO_VARS]{};
            if (one.nla_type == INET_DIAG_SKMEMINFO) {
                std::memcpy(values, body + in + sizeof one, std::min<std::size_t>(sizeof values, one.nla_len - sizeof one));
                sum.counted += std::int64_t{values[SK_MEMINFO_RMEM_ALLOC]} + values[SK_MEMINFO_WMEM_QUEUED] + values[SK_MEMINFO_FWD_ALLOC];
                sum.uncounted += values[SK_MEMINFO_OPTMEM];
                if (protocol != IPPROTO_TCP) sum.uncounted += values[SK_MEMINFO_WMEM_ALLOC]; // TCP counts it as queued as well
            }
            in += NLA_ALIGN(one.nla_len);
        }
        return true;
    });
    return is_known ? std::optional{sum} : std::nullopt;
}

/// Adds up what netlink sockets hold, from the lines of /proc/net/netlink. The text may come in parts. It is a heading, then
/// a line for each socket: the fifth word is what waits to be read, the sixth what waits to be sent, in bytes.
class netlink_sum {
public:
    void take(std::string_view part) {
        line_.append(part);
        std::size_t from = 0;
        for (auto end = line_.find('\n'); end != std::string::npos; from = end + 1, end = line_.find('\n', from)) {
            auto const fields = words(std::string_view{line_}.substr(from, end - from), " ");
            for (auto const at : {std::size_t{4}, std::size_t{5}}) bytes_ += fields.size() > at ? lone_number(fields[at]).value_or(0) : 0; // the heading has no numbers
        }
        line_.erase(0, from);
    }
    std::int64_t bytes() const noexcept { return bytes_; }

private:
    std::string line_; // the line that has not ended yet
    std::int64_t bytes_ = 0;
};

/// Adds up to `enough` at most.
inline std::int64_t held_by_netlinks(int list, std::int64_t enough) {
    netlink_sum sum;
    char block[1 << 14];
    for (off_t at = 0; sum.bytes() < enough;) {
        auto const n = retry([&] { return ::pread(list, block, sizeof block, at); });
        if (n <= 0) break;
        at += n;
        sum.take({block, static_cast<std::size_t>(n)});
    }
    return sum.bytes();
}

/// Sockets of every kind in a network namespace.
inline std::int64_t sockets_used(std::string_view sockstat) noexcept { return number_after(sockstat, "sockets: used ").value_or(0); }

} // namespace detail

/// Sockets of a network namespace that its protocols know.
struct socket_kinds {
    std::int64_t all = 0, netlink = 0, udp = 0;

    /// From /proc/net/protocols: a heading, then a line for each protocol. The third word is the number of sockets.
    static socket_kinds of(std::string_view protocols) {
        socket_kinds counts;
        split(protocols, '\n', [&](std::string_view line) {
            auto const fields = words(line, " ");
            auto const count = fields.size() > 2 ? lone_number(fields[2]).value_or(0) : 0; // the heading has no number
            counts.all += count;
            if (fields.empty()) return;
            if (fields[0] == "NETLINK") counts.netlink += count;
            if (fields[0].starts_with("UDP")) counts.udp += count;
        });
        return counts;
    }
    /// Reads that file, open, from its beginning.
    static socket_kinds in(int file) {
        std::string text;
        char block[1 << 12];
        for (ssize_t n = 0; (n = retry([&] { return ::pread(file, block, sizeof block, static_cast<off_t>(text.size())); })) > 0;) text.append(block, static_cast<std::size_t>(n));
        return of(text);
    }
};

/// What the sockets of one run may hold of the host's memory; below 0: no limit.
struct socket_share {
    std::int64_t tcp_bytes = -1, udp_bytes = -1;
    std::int64_t uncounted_bytes = -1; ///< a tenth of the machine's memory, for what has no other bound
    std::int64_t a_socket_bytes = uncounted_of(4 << 20); ///< the most uncounted bytes that one socket may hold

    /// A tenth of what the machine has, shared by so many concurrent runs. A share is always enough for a few connections.
    static socket_share of_machine(int runs) {
        auto const ram = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
        auto const most = [&](char const* file, std::int64_t otherwise) { // the files exist only in the first network namespace; the fallback is the kernel's own default
            auto const text = read_file(file);
            return text.has_error() ? otherwise : detail::most_of(*text).value_or(otherwise);
        };
        auto const share = [&](std::int64_t of) { return std::max(of / 10 / std::max(runs, 1), std::min(least_share, of / 10)); };
        auto const buffer = read_file("/proc/sys/net/core/rmem_max");
        auto const most_asked = buffer.has_error() ? std::nullopt : lone_number(*buffer);
        socket_share made{share(most("/proc/sys/net/ipv4/tcp_mem", ram / 11)), share(most("/proc/sys/net/ipv4/udp_mem", ram / 6)), share(ram)};
        if (most_asked) made.a_socket_bytes = uncounted_of(*most_asked);
        return made;
    }
    /// For TCP and UDP together, for a group that counts both as one and separately from memory: as much again as the memory
    /// limit.
    std::int64_t beside(std::int64_t memory_bytes) const noexcept {
        auto const both = std::min(tcp_bytes, udp_bytes);
        return memory_bytes < 0 ? both : std::min(both, std::max(memory_bytes, least_beside));
    }

    /// As much again as a memory limit, but no more than the share.
    std::int64_t uncounted_beside(std::int64_t memory_bytes) const noexcept { return memory_bytes < 0 ? uncounted_bytes : std::min(uncounted_bytes, std::max(memory_bytes, least_beside)); }
    /// A netlink socket's buffer is twice the requested size. A UDP socket holds back one datagram and has 128 KiB for
    /// options.
    static constexpr std::int64_t uncounted_of(std::int64_t largest_buffer) noexcept { return 2 * largest_buffer + (256 << 10); }

    static constexpr std::int64_t least_share = std::int64_t{16} << 20, least_beside = std::int64_t{8} << 20;
};

/// Where the sockets of a sandbox are counted, and what they may hold.
struct socket_place {
    int group = -1; ///< file of a group that shows what they hold; -1: there is none
    std::int64_t most = 0; ///< the most that they may hold there, in bytes
    int counts = -1; ///< else /proc/net/sockstat of its network; -1: nobody needs to check
    int list = -1; ///< a socket of NETLINK_SOCK_DIAG made there; -1: the kernel has none
    int netlinks = -1; ///< /proc/net/netlink of its network
    std::int64_t resident = 0; ///< sockets that do not belong to the run
    socket_share share = {};
    std::int64_t most_uncounted = -1; ///< the most that they may hold of what nobody counts, in bytes
    int kinds = -1; ///< /proc/net/protocols of its network
    std::int64_t resident_known = 0; ///< sockets that do not belong to the run, of those that a protocol knows
};

/// Sockets of a run that no protocol knows. Most are idle. But a UDP socket that holds back a datagram and has forgotten its
/// receiver is also among them.
inline std::int64_t unknown_sockets(socket_place const& at) {
    char text[1024];
    auto const n = at.counts < 0 || at.kinds < 0 ? -1 : ::pread(at.counts, text, sizeof text, 0);
    auto const sockets = detail::sockets_used({text, n > 0 ? static_cast<std::size_t>(n) : 0}) - at.resident;
    return sockets <= 0 ? 0 : std::max<std::int64_t>(sockets - (socket_kinds::in(at.kinds).all - at.resident_known), 0);
}
/// A datagram of the largest size.
inline constexpr std::int64_t most_held_back = 72 << 10;

/// The most memory that the kernel can keep for the data that waits in a run's sockets. A packet takes 768 counted bytes and
/// has up to 17 pieces, and each piece may keep a page of 32 KiB.
inline std::int64_t most_kept_by_sockets(socket_place const& at) {
    constexpr std::int64_t packet = 768, kept_by_packet = 17 * (32 << 10);
    char text[1024];
    auto const n = at.counts < 0 ? -1 : ::pread(at.counts, text, sizeof text, 0);
    auto const sockets = detail::sockets_used({text, n > 0 ? static_cast<std::size_t>(n) : 0}) - at.resident;
    if (sockets <= 0) return 0;
    auto kept = unknown_sockets(at) * kept_by_packet;
    for (auto const family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}})
        for (auto const protocol : {std::uint8_t{IPPROTO_TCP}, std::uint8_t{IPPROTO_UDP}})
            if (auto const held = at.list < 0 ? std::nullopt : detail::held_by_sockets(at.list, family, protocol)) kept += (held->counted + held->uncounted) / packet * kept_by_packet;
    return kept;
}

/// Checks a run every 10 ms at most, once it has lasted that long.
class socket_watch {
public:
    static constexpr std::int64_t longest_rest_ns = 10'000'000, shortest_rest_ns = 1'000'000;

    void begin(socket_place const& at, std::int64_t now_ns) noexcept {
        at_ = at;
        due_ns_ = at.group < 0 && at.counts < 0 ? -1 : now_ns + longest_rest_ns;
        uncounted_due_ns_ = at.counts < 0 || at.most_uncounted < 0 ? -1 : now_ns + longest_rest_ns;
    }
    /// When to look next; -1: never.
    std::int64_t due_ns() const noexcept { return due_ns_ < 0 || uncounted_due_ns_ < 0 ? std::max(due_ns_, uncounted_due_ns_) : std::min(due_ns_, uncounted_due_ns_); }
    /// True when the run holds more than its share.
    bool look(std::int64_t now_ns) {
        if (due_ns_ >= 0 && now_ns >= due_ns_ && counted_over(now_ns)) return true;
        return uncounted_due_ns_ >= 0 && now_ns >= uncounted_due_ns_ && uncounted_over(now_ns);
    }

private:
    bool counted_over(std::int64_t now_ns) noexcept {
        char text[1024];
        auto const n = ::pread(at_.group < 0 ? at_.counts : at_.group, text, sizeof text, 0);
        std::string_view const counts{text, n > 0 ? static_cast<std::size_t>(n) : 0};
        if (at_.group >= 0) {
            auto const left = at_.most - lone_number(counts).value_or(0);
            due_ns_ = now_ns + std::clamp(left / bytes_a_ns, shortest_rest_ns, longest_rest_ns);
            return left < 0;
        }
        auto const tcp = detail::held_by(counts, "TCP:"), udp = detail::held_by(counts, "UDP:");
        if (!tcp || !udp) return due_ns_ = -1, false;
        auto const left = std::min(at_.share.tcp_bytes - *tcp, at_.share.udp_bytes - *udp);
        due_ns_ = now_ns + std::clamp(left / bytes_a_ns, shortest_rest_ns, longest_rest_ns);
        if (left >= 0) return false;
        due_ns_ = now_ns + longest_rest_ns; // usually others hold that much, so sockets are not listed all the time
        return (*tcp > at_.share.tcp_bytes && holds(IPPROTO_TCP, counts) > at_.share.tcp_bytes) || (*udp > at_.share.udp_bytes && holds(IPPROTO_UDP, counts) > at_.share.udp_bytes);
    }
    /// Few sockets are not checked. Checking takes at most a tenth of our time.
    bool uncounted_over(std::int64_t now_ns) {
        char text[1024];
        auto const n = ::pread(at_.counts, text, sizeof text, 0);
        std::string_view const counts{text, n > 0 ? static_cast<std::size_t>(n) : 0};
        auto const sockets = std::max<std::int64_t>(detail::sockets_used(counts) - at_.resident, 0), waiting = number_after(counts, " tw ").value_or(0);
        uncounted_due_ns_ = now_ns + longest_rest_ns;
        if (sockets * at_.share.a_socket_bytes + waiting * bytes_waiting <= at_.most_uncounted) return false;
        auto const begun = monotonic_ns();
        bool const over = uncounted_bytes(sockets, sockets * bytes_a_socket + waiting * bytes_waiting) > at_.most_uncounted;
        uncounted_due_ns_ = std::max(uncounted_due_ns_, now_ns + 10 * (monotonic_ns() - begun));
        return over;
    }
    /// Adds the contents of the sockets to `bytes`; stops when the allowed maximum is exceeded.
    std::int64_t uncounted_bytes(std::int64_t sockets, std::int64_t bytes) const {
        socket_kinds known{0, sockets, sockets}; // the worst case
        if (at_.kinds >= 0) known = socket_kinds::in(at_.kinds);
        if (bytes <= at_.most_uncounted && at_.netlinks >= 0 && known.netlink > 0) bytes += detail::held_by_netlinks(at_.netlinks, at_.most_uncounted - bytes + 1);
        if (bytes > at_.most_uncounted || at_.list < 0 || known.udp * at_.share.a_socket_bytes <= at_.most_uncounted - bytes) return bytes;
        for (auto const family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}}) bytes += detail::held_by_sockets(at_.list, family, IPPROTO_UDP).value_or(detail::socket_bytes{}).uncounted;
        return bytes;
    }

    static constexpr std::int64_t bytes_a_ns = 16; // sockets fill more slowly than that
    static constexpr std::int64_t few = 32; // so many sockets are allowed where nobody can say what they hold
    static constexpr std::int64_t bytes_a_socket = 2816, bytes_waiting = 320; // one socket by itself, and one in TIME_WAIT

    std::int64_t holds(std::uint8_t protocol, std::string_view counts) const noexcept {
        auto const four = at_.list < 0 ? std::nullopt : detail::held_by_sockets(at_.list, AF_INET, protocol);
        auto const six = four ? detail::held_by_sockets(at_.list, AF_INET6, protocol) : std::nullopt;
        if (six) return four->counted + six->counted;
        return detail::sockets_used(counts) - at_.resident > few ? std::max(at_.share.tcp_bytes, at_.share.udp_bytes) + 1 : 0;
    }

    socket_place at_;
    std::int64_t due_ns_ = -1, uncounted_due_ns_ = -1;
};

} // namespace sb::machine
