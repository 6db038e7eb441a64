// SPDX-License-Identifier: MIT
// Small writes: whole, or an error with its reason.
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/files.hpp"
#include <sb/core/fd.hpp>
#include <csignal>
#include <string>
#include <sys/resource.h>
#include <sys/time.h>

using namespace sb::test;

namespace {

std::string said(sb::result<void> const& done) { return done.has_error() ? done.error().what : std::string{"done"}; }

/// Whether `attempt` says this of a file in which ten bytes have room; 0 is yes.
template <class Attempt>
int says(std::string_view wanted, Attempt attempt) {
    scratch_file const file{""};
    return in_child([&] {
        auto const fd = sb::open_file(file.path(), O_WRONLY);
        rlimit const ten{10, 10};
        std::signal(SIGXFSZ, SIG_IGN);
        ::_exit(::setrlimit(RLIMIT_FSIZE, &ten) == 0 && said(attempt(fd->get())) == wanted ? 0 : 1);
        return 0;
    });
}

} // namespace

TEST_CASE("a write that is cut short is an error that says so, and never an older one's") {
    std::string const twenty(20, 'x'), ten(10, 'x');
    CHECK(says("done", [&](int fd) { return sb::write_once(fd, ten, "it"); }) == 0);
    CHECK(says("write it: the kernel took only 10 of 20 bytes", [&](int fd) { return sb::write_once(fd, twenty, "it"); }) == 0);
    CHECK(says("done", [&](int fd) { return sb::write_all(fd, ten, "it"); }) == 0);
    CHECK(says("write it: File too large", [&](int fd) { return sb::write_all(fd, twenty, "it"); }) == 0);
    CHECK(said(sb::write_once("/nowhere/knob", "1")) == "open /nowhere/knob: No such file or directory");
}

TEST_CASE("a write that a signal cuts short goes on where it was") {
    CHECK(in_child([] {
              std::string const text(1 << 18, 'x'); // more than the pipe holds
              static int signalled[2];
              int ends[2];
              if (::pipe(ends) != 0 || ::pipe(signalled) != 0) ::_exit(1);
              auto const reader = ::fork();
              if (reader == 0) {
                  ::close(ends[1]);
                  std::size_t all = 0;
                  char block[4096];
                  if (::read(signalled[0], block, 1) != 1) ::_exit(4); // until then the writer has no room
                  for (ssize_t n; (n = ::read(ends[0], block, sizeof block)) > 0;) all += static_cast<std::size_t>(n);
                  ::_exit(all == text.size() ? 0 : 2);
              }
              ::close(ends[0]);
              struct sigaction act {};
              act.sa_handler = [](int) { (void)!::write(signalled[1], "", 1); }; // without SA_RESTART
              ::sigaction(SIGALRM, &act, nullptr);
              itimerval const soon{{}, {0, 20'000}};
              ::setitimer(ITIMER_REAL, &soon, nullptr);
              if (sb::write_all(ends[1], text, "pipe").has_error()) ::_exit(3);
              ::close(ends[1]);
              int status = 0;
              ::waitpid(reader, &status, 0);
              ::_exit(WEXITSTATUS(status));
              return 0;
          }) == 0);
}
