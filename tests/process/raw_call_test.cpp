// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/files.hpp"
#include <sb/process/raw_call.hpp>
#include <cerrno>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

using sb::process::raw_call;

TEST_CASE("a raw call gives what the kernel answers") {
    CHECK(raw_call(SYS_getpid, 0, 0, 0) == ::getpid());
    sb::test::scratch_file const file{"0123456789"};
    auto const opened = sb::open_file(file.path(), O_RDONLY).value();
    char block[4] = {};
    CHECK(raw_call(SYS_pread64, opened.get(), reinterpret_cast<long>(block), 3, 5) == 3); // all four words arrive
    CHECK(std::string_view{block} == "567");
    CHECK(raw_call(SYS_pread64, opened.get(), reinterpret_cast<long>(block), 3) == 3); // the fourth is 0 unless it is given
    CHECK(std::string_view{block} == "012");
    CHECK(raw_call(SYS_pread64, opened.get(), reinterpret_cast<long>(block), 3, 100) == 0);
}

TEST_CASE("a raw call's error is a number below zero, and errno stays as it was") {
    errno = 1234;
    auto const no_descriptor = raw_call(SYS_close, -1, 0, 0);
    auto const no_call = raw_call(100'000, 0, 0, 0);
    auto const after = errno;
    CHECK(no_descriptor == -EBADF);
    CHECK(no_call == -ENOSYS);
    CHECK(after == 1234);
}
