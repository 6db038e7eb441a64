// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/child.hpp"
#include <csignal>
#include <sb/core/last_resort.hpp>

namespace {

int read_for_ever() {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    int ends[2];
    char byte = 0;
    return ::pipe(ends) != 0 || ::read(ends[0], &byte, 1) != 0 ? -1 : 0;
}

} // namespace

TEST_CASE("a last resort ends a process that waits for ever and hears no signal") {
    CHECK(sb::test::in_child([] {
              sb::last_resort end;
              end.in(20'000'000);
              return read_for_ever();
          }) == -SIGKILL);
}

TEST_CASE("a last resort can be put off, put aside, and goes with its owner") {
    CHECK(sb::test::in_child([] {
              sb::last_resort later, never;
              { sb::last_resort gone; gone.in(200'000'000); }
              later.in(200'000'000), later.in(60'000'000'000);
              never.in(200'000'000), never.never();
              auto const other = ::fork();
              if (other == 0) {
                  sb::last_resort due;
                  due.in(300'000'000);
                  for (;;) ::pause();
              }
              int status = 0; // when that one is over, ours would have been
              return ::waitpid(other, &status, 0) == other && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 1;
          }) == 0);
}
