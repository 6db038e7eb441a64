// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/child.hpp"
#include <sb/process/close_all_but.hpp>
#include <cerrno>
#include <fcntl.h>

using sb::test::in_child;

TEST_CASE("all descriptors are closed but those that are kept, and the standard streams") {
    CHECK(in_child([] {
        for (int const fd : {5, 6, 7, 20, 40}) ::dup2(0, fd);
        sb::process::close_all_but(std::array{40, -1, 6});
        auto const open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
        bool well = open(6) && open(40);
        for (int fd = 3; fd < 100; ++fd) well = well && (open(fd) == (fd == 6 || fd == 40));
        for (int fd = 0; fd < 3; ++fd) well = well && open(fd);
        errno = EDOM;
        return well ? 0 : -1;
    }) == 0);
    CHECK(in_child([] {
        ::dup2(0, 9);
        sb::process::close_all_but(std::array{-1, -1});
        errno = EDOM;
        return ::fcntl(9, F_GETFD) < 0 && ::fcntl(1, F_GETFD) >= 0 ? 0 : -1;
    }) == 0);
}
