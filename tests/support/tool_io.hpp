// SPDX-License-Identifier: MIT
// What the work of a tool is given, in a test: standard output is a file in memory, and so is standard error while it lives.
#pragma once
#include <sb/cli/io.hpp>
#include <sb/core/fd.hpp>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace sb::test {

class tool_io {
public:
    tool_io() : memory_{}, out_{memory_.out}, io{out_, log_, environment_, settings, {}, {}} {
        log_.tool = "sb-x", log_.level = cli::log_level::info;
        if (memory_.out < 0 || memory_.error < 0 || ::dup2(memory_.error, 2) < 0) std::abort();
    }
    ~tool_io() {
        ::dup2(memory_.error_before, 2);
        for (int const fd : {memory_.out, memory_.error, memory_.error_before}) ::close(fd);
    }
    tool_io(tool_io const&) = delete;
    tool_io& operator=(tool_io const&) = delete;

    std::string written() {
        (void)out_.flush();
        return text_of(memory_.out);
    }
    std::string said() const { return text_of(memory_.error); }

private:
    struct memory {
        int out = ::memfd_create("output", MFD_CLOEXEC), error = ::memfd_create("errors", MFD_CLOEXEC), error_before = ::dup(2);
    };
    static std::string text_of(int fd) {
        std::string text(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
        if (::pread(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) std::abort();
        return text;
    }
    memory memory_;
    output out_;
    cli::logger log_;
    cli::environment environment_;

public:
    object settings;
    cli::io io;
};

} // namespace sb::test
