// SPDX-License-Identifier: MIT
// A shell's script as the job of a lane, and a named pipe by which it tells how far it is.
#pragma once
#include "support/catch.hpp"
#include <sb/core/fd.hpp>
#include <sb/run/lane.hpp>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace sb::test {

inline run::job shell_job(std::string const& script, std::uint64_t number = 1) {
    run::job job;
    job.number = number;
    job.path = "/bin/sh", job.argv = {"sh", "-c", script};
    job.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
    job.setup.wall_ns = 60'000'000'000, job.setup.output_bytes = 1 << 20;
    job.keep_output = true;
    return job;
}

class named_pipe {
public:
    explicit named_pipe(std::string path) : path_{std::move(path)} {
        REQUIRE(::mkfifo(path_.c_str(), 0666) == 0);
        fd_ = unique_fd{::open(path_.c_str(), O_RDWR | O_CLOEXEC)}; // no end of it is ever reported: we have one that writes
        REQUIRE(fd_);
    }
    std::string const& path() const noexcept { return path_; }
    /// Waits for a line that somebody writes to it.
    std::string line() {
        std::string text;
        for (char c = 0;; text += c) {
            pollfd one{fd_.get(), POLLIN, 0};
            REQUIRE(::poll(&one, 1, 60'000) == 1);
            REQUIRE(::read(fd_.get(), &c, 1) == 1);
            if (c == '\n') return text;
        }
    }

private:
    std::string path_;
    unique_fd fd_;
};

} // namespace sb::test
