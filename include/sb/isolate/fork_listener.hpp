// SPDX-License-Identifier: MIT
// Forks that wait for a word from outside: how a limit on processes is held, and known to be reached, where no control
// group counts them.
//
// How it works: the zygote puts a second filter on, under which fork, vfork and clone wait for whoever has the listener's
// descriptor (seccomp user notification), and sends that and its /proc to the watcher. Its own starts pass: they are calls of
// clone3 with a key (filter.hpp), which the payload's are not. The watcher counts who is in that /proc and answers: go on, or
// EAGAIN. A fork that waits is ended by what kills its process, so a watcher that is late delays no end. When nobody
// has the listener any more, fork is ENOSYS; but that is when the watcher is dead, and then the sandbox is too.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/isolate/order.hpp>
#include <sb/isolate/spawn.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <iterator>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sb::isolate {

namespace detail {

/// Puts the filter on this thread and all that it starts; the listener's descriptor, or -1 and errno. The caller has
/// given up new privileges. Async-signal-safe.
inline int make_forks_wait(std::uint64_t key) noexcept {
#if defined(__x86_64__)
    constexpr std::uint32_t arch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    constexpr std::uint32_t arch = AUDIT_ARCH_AARCH64;
#else
    constexpr std::uint32_t arch = 0; // see spawner::has_key
#endif
    constexpr auto at = [](std::size_t offset) { return static_cast<std::uint32_t>(offset); };
    constexpr std::uint32_t low = __BYTE_ORDER == __LITTLE_ENDIAN ? 0 : 4, sixth = at(offsetof(seccomp_data, args)) + 5 * 8;
    constexpr std::uint32_t allow = SECCOMP_RET_ALLOW, wait = SECCOMP_RET_USER_NOTIF, unknown = SECCOMP_RET_ERRNO | ENOSYS;
    sock_filter code[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, at(offsetof(seccomp_data, arch))},
        {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, arch},
        {BPF_RET | BPF_K, 0, 0, allow}, // the filter of the level kills it
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, at(offsetof(seccomp_data, nr))},
#ifdef SYS_fork
        {BPF_JMP | BPF_JEQ | BPF_K, 9, 0, SYS_fork},
        {BPF_JMP | BPF_JEQ | BPF_K, 8, 0, SYS_vfork},
#endif
        {BPF_JMP | BPF_JEQ | BPF_K, 7, 0, SYS_clone},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 5, SYS_clone3},
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, sixth + low},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 2, static_cast<std::uint32_t>(key)},
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, sixth + 4 - low},
        {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, static_cast<std::uint32_t>(key >> 32)},
        {BPF_RET | BPF_K, 0, 0, unknown},
        {BPF_RET | BPF_K, 0, 0, allow},
        {BPF_RET | BPF_K, 0, 0, wait},
    };
    sock_fprog const program{static_cast<unsigned short>(std::size(code)), code};
    constexpr unsigned long listen = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW, deaf_but_for_kills = 1ul << 5;
    // who has been heard is not disturbed by a signal with a handler: fork would fail with EINTR (5.19)
    auto const made = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, listen | deaf_but_for_kills, &program);
    if (made >= 0 || errno != EINVAL) return static_cast<int>(made);
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, listen, &program));
}

} // namespace detail

/// Nothing when forks can be made to wait here, else why not. A filter that is on us already may have a listener, and
/// the kernel allows one.
inline result<void> can_make_forks_wait() {
    if (!spawner::has_key) return system_error("forks are not watched on this architecture");
    std::uint32_t const action = SECCOMP_RET_USER_NOTIF;
    if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0) return last_error("seccomp user notification");
    if (::prctl(PR_GET_SECCOMP) == 0) return {};
    auto const child = ::fork();
    if (child < 0) return last_error("fork");
    if (child == 0) ::_exit(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && detail::make_forks_wait(1) >= 0 ? 0 : errno & 0xff);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return errno_error("seccomp user notification", {}, WIFEXITED(status) ? WEXITSTATUS(status) : EPERM);
}

/// In the zygote, when its walls stand: from now on forks of what it starts wait. False: it is not fit to serve.
inline bool hand_over_forks(std::uint64_t key, int socket) noexcept {
    unique_fd const processes{::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    unique_fd const listener{detail::make_forks_wait(key)};
    int const both[] = {listener.get(), processes.get()};
    return listener && processes && detail::send_word(socket, {word::done, 0}, both, 2);
}

/// The watcher's side.
class fork_listener {
public:
    fork_listener() = default;
    /// From what the zygote sent.
    fork_listener(unique_fd listener, unique_fd processes) : listener_{std::move(listener)}, processes_{std::move(processes)} {
        // the one who is answered runs where we did, and at once: a third of the time (6.6)
        constexpr std::uint64_t wake_in_turn = 1;
        constexpr unsigned long set_flags = _IOW(SECCOMP_IOC_MAGIC, 4, std::uint64_t);
        (void)::ioctl(listener_.get(), set_flags, wake_in_turn);
    }
    explicit operator bool() const noexcept { return bool{listener_}; }
    int descriptor() const noexcept { return listener_.get(); }

    /// One that wants to fork.
    struct question {
        std::uint64_t id = 0;
        pid_t who = 0; ///< thread, as we number them
    };
    /// The next; never waits when poll says that there is one. Nothing when it is dead already.
    std::optional<question> next() const noexcept {
        union { // a later kernel may write more
            seccomp_notif asked;
            char room[512];
        } all;
        std::memset(&all, 0, sizeof all);
        if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &all) < 0) return std::nullopt;
        return question{all.asked.id, static_cast<pid_t>(all.asked.pid)};
    }
    void let_pass(question const& of) const noexcept { answer({of.id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE}); }
    void refuse(question const& of) const noexcept { answer({of.id, 0, -EAGAIN, 0}); }
    bool still_asks(question const& of) const noexcept { return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &of.id) == 0; }

    /// Whether one that was let pass may be about it still: it runs, or waits for a processor. Who sleeps is back.
    static bool may_fork_still(pid_t who) noexcept {
        char path[32] = "/proc/", text[256];
        auto* const end = std::to_chars(path + 6, path + 24, who).ptr;
        std::memcpy(end, "/stat", 6);
        unique_fd const file{::open(path, O_RDONLY | O_CLOEXEC)};
        auto const n = file ? ::read(file.get(), text, sizeof text) : -1;
        if (n <= 0) return false;
        std::string_view const all{text, static_cast<std::size_t>(n)};
        auto const state = all.rfind(") "); // behind the name
        return state != std::string_view::npos && state + 2 < all.size() && all[state + 2] == 'R';
    }

    /// Processes and threads of the sandbox, those too that have ended and were not waited for; -1 when it cannot be known.
    std::int64_t living() const noexcept {
        if (::lseek(processes_.get(), 0, SEEK_SET) != 0) return -1;
        std::int64_t count = 0;
        alignas(std::uint64_t) char block[1 << 14];
        for (;;) {
            auto const n = ::syscall(SYS_getdents64, processes_.get(), block, sizeof block);
            if (n < 0) return -1;
            if (n == 0) return count;
            for (long at = 0; at < n;) {
                std::uint16_t length = 0;
                std::memcpy(&length, block + at + offsetof(dirent64, d_reclen), sizeof length);
                count += tasks_of(block + at + offsetof(dirent64, d_name));
                at += length;
            }
        }
    }

private:
    void answer(seccomp_notif_resp what) const noexcept { (void)::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &what); } // the asker may be dead
    /// Threads of a process, by the links of the folder that they are in; 0 for the zygote and for what is no process.
    std::int64_t tasks_of(char const* name) const noexcept {
        std::string_view const number{name};
        if (number == "1" || number.front() < '1' || number.front() > '9') return 0;
        char path[32];
        auto const end = std::copy_n(number.data(), std::min(number.size(), sizeof path - 6), path);
        std::memcpy(end, "/task", 6);
        struct stat facts {};
        if (::fstatat(processes_.get(), path, &facts, 0) != 0) return 0; // it has gone meanwhile
        constexpr nlink_t of_any_folder = 2;
        return facts.st_nlink > of_any_folder ? static_cast<std::int64_t>(facts.st_nlink - of_any_folder) : 0;
    }
    unique_fd listener_, processes_;
};

} // namespace sb::isolate
