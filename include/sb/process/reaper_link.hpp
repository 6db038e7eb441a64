// SPDX-License-Identifier: MIT
// A reaper, from the watcher's side.
#pragma once
#include <sb/core/channel.hpp>
#include <sb/core/fd.hpp>
#include <sb/process/close_all_but.hpp>
#include <sb/process/reaper.hpp>
#include <sb/process/reaper_messages.hpp>
#include <array>
#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace sb::process {

/// The watcher's end of a reaper.
struct reaper_link {
    unique_fd socket = unique_fd{};
    pid_t pid = -1; ///< as the watcher sees it
    bool alone = false; ///< process 1 of its namespace: all that it started dies with it
    struct child_ahead {
        ahead_call::number number = 0; ///< 0: none was requested
        std::uint64_t pipes = 0; ///< the pipes that it has
    } ahead = {};
    bool hurries = false; ///< its priority was raised to end a run
    unique_fd children = unique_fd{}; ///< the kernel's list of its children; opened on first use

    /// Afterwards no child waits for its run.
    void let_go() noexcept {
        if (std::exchange(ahead, {}).number == 0 || !send_message(socket.get(), {word::let_go, 0})) return;
        pollfd said{socket.get(), POLLIN, 0};
        constexpr int patience_ms = 1000;
        message text;
        passed_files none;
        if (::poll(&said, 1, patience_ms) > 0 && receive_message(socket.get(), text, none)) return;
        ::kill(pid, SIGKILL);
        ::shutdown(socket.get(), SHUT_RDWR); // the next check of its sandbox then sees it as gone, however long it takes to die
    }

    /// A reaper without a namespace. It is forked from this process and is its child. It learns of our death by the socket alone:
    /// a death signal would kill it before it has killed the processes that fled from their parents. It keeps no other descriptor
    /// of ours, so that whoever talks to us hears of our death, too, before the reaper has ended.
    static result<reaper_link> fork_here(order_room& room) {
        SB_TRY(auto between, make_channel());
        reaper_link made;
        made.socket = std::move(between.ours);
        auto const parent = ::getpid();
        made.pid = ::fork();
        if (made.pid < 0) return last_error("fork");
        if (made.pid > 0) return made;
        made.socket.reset();
        close_all_but(std::array{between.theirs.get()});
        ::prctl(PR_SET_NAME, "sb-exec reaper");
        if (::getppid() == parent)
            if (auto mine = reaper::make(std::move(between.theirs), room, false, reaper_files::open()); !mine.has_error()) mine->serve();
        ::_exit(0);
    }
};

} // namespace sb::process
