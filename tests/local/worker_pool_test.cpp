// SPDX-License-Identifier: MIT
// A pool inside a program that has children of its own.
#include "support/shell_job.hpp"
#include "support/victim.hpp"
#include <sb/local/worker_pool.hpp>
#include <csignal>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sb::local;

namespace {

/// A child that lives until it is killed; in a session of its own if asked.
struct bystander {
    explicit bystander(bool own_session) : pid{::fork()} {
        if (pid != 0) return;
        if (own_session) ::setsid();
        for (;;) ::pause();
    }
    ~bystander() {
        if (pid > 0) ::kill(pid, SIGKILL), ::waitpid(pid, nullptr, 0); // -1 would be everybody
    }
    bool alive() const { return ::waitpid(pid, nullptr, WNOHANG) == 0; }
    pid_t pid;
};

} // namespace

TEST_CASE("a pool ends its workers and leaves other children and the fate of orphans as they were") {
    for (bool const killed : {false, true}) {
        bystander const before{true};
        auto pool = worker_pool::make(2);
        REQUIRE_FALSE(pool.has_error());
        bystander const meanwhile{false};
        auto const worker = pool->workers().front().pid();
        if (killed) ::kill(worker, SIGKILL);
        pool->close();
        CHECK(before.alive());
        CHECK(meanwhile.alive());
        CHECK(::waitpid(worker, nullptr, WNOHANG) < 0);
        int adopts = -1;
        ::prctl(PR_GET_CHILD_SUBREAPER, &adopts);
        CHECK(adopts == 0);
    }
}

TEST_CASE("what a killed worker's run had started dies with the pool") {
    sb::test::folder const here;
    sb::test::named_pipe begun{here / "begun"};
    auto pool = worker_pool::make(1);
    REQUIRE_FALSE(pool.has_error());
    auto const job = sb::test::shell_job(sb::cat("setsid sh -c 'echo $$ >", begun.path(), " && exec sleep 600' & sleep 600"));
    auto& worker = pool->workers().front();
    REQUIRE_FALSE(worker.send({job}).has_error());
    auto const left = static_cast<pid_t>(std::stol(begun.line()));
    CHECK(::kill(left, 0) == 0);
    ::kill(worker.pid(), SIGKILL);
    pool->close();
    CHECK(::kill(left, 0) < 0);
}
