// SPDX-License-Identifier: MIT
// SIGINT, SIGTERM and SIGHUP as a descriptor to poll, while a session runs.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <unistd.h>
#include <utility>
#include <sys/syscall.h>
#include <sys/types.h>
#include <vector>

namespace sb::run {

/// SIGINT, SIGTERM and SIGHUP as bytes in a pipe. Only one object at a time, because handlers belong to the process.
/// Restores the process's own handlers.
class signal_pipe {
public:
    /// A second signal kills `processes`; -1 is none.
    static result<signal_pipe> make(std::vector<pid_t> const& processes) {
        signal_pipe made;
        SB_TRY(auto ends, make_pipe(O_NONBLOCK));
        made.read_ = std::move(ends.read), made.write_ = std::move(ends.write);
        auto& s = state();
        s = {};
        s.pipe = made.write_.get();
        for (auto const each : processes) {
            if (each <= 0 || s.count >= most_processes) continue;
            // a descriptor means this process even after it has ended and its number is somebody else's
            if (made.processes_.size() < most_descriptors) made.processes_.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, each, 0)));
            auto const n = static_cast<std::size_t>(s.count);
            s.processes[s.count++] = {each, n < made.processes_.size() ? made.processes_[n].get() : -1};
        }
        for (std::size_t i = 0; i < std::size(signals); ++i) {
            struct sigaction act {};
            act.sa_handler = &on_signal;
            act.sa_flags = SA_RESTART;
            ::sigaction(signals[i], nullptr, &made.before_[i]);
            if (made.before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &act, nullptr); // nohup and background jobs keep ignoring it
        }
        return made;
    }
    signal_pipe(signal_pipe&&) = default;
    signal_pipe& operator=(signal_pipe&&) = delete;
    ~signal_pipe() {
        if (!read_) return;
        for (std::size_t i = 0; i < std::size(signals); ++i) {
            struct sigaction now {};
            if (::sigaction(signals[i], nullptr, &now) == 0 && now.sa_handler == &on_signal) ::sigaction(signals[i], &before_[i], nullptr);
        }
        state().pipe = -1, state().count = 0;
    }
    int fd() const noexcept { return read_.get(); }
    /// The signal that came first, 0 for none.
    static int first() noexcept { return state().first; }

private:
    signal_pipe() = default;
    static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
    static constexpr int most_processes = 1024;
    static constexpr std::size_t most_descriptors = 128; // other lanes need theirs
    struct shared {
        volatile int pipe = -1;
        volatile int first = 0;
        int count = 0;
        struct {
            pid_t pid;
            int descriptor; ///< -1: the kernel gives none
        } processes[most_processes]{};
    };
    static shared& state() noexcept {
        static shared one;
        return one;
    }
    /// Async-signal-safe: the second signal ends us and the lanes' processes, whose payloads die with them.
    static void on_signal(int signal) {
        auto& s = state();
        int const code = errno;
        if (s.first != 0) {
            for (int i = 0; i < s.count; ++i) {
                auto const& each = s.processes[i];
                if (each.descriptor >= 0) ::syscall(SYS_pidfd_send_signal, each.descriptor, SIGKILL, nullptr, 0);
                else ::kill(each.pid, SIGKILL);
            }
            ::_exit(128 + signal);
        }
        s.first = signal;
        char const one = 1;
        [[maybe_unused]] auto const n = ::write(s.pipe, &one, 1);
        errno = code;
    }
    unique_fd read_, write_;
    std::vector<unique_fd> processes_;
    struct sigaction before_[std::size(signals)] {};
};

} // namespace sb::run
