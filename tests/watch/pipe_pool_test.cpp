// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/text.hpp>
#include <sb/watch/pipe_pool.hpp>
#include <csignal>
#include <string_view>
#include <utility>
#include <vector>

using namespace sb::watch;

namespace {

/// One pipe as its owner has it during a run.
struct lent {
    int from = -1;
    sb::unique_fd near;
    explicit lent(pipe_pool& pool) : near{pool.lend(from).value()} {}
};
ino_t inode(int fd) {
    struct stat facts {};
    REQUIRE(::fstat(fd, &facts) == 0);
    return facts.st_ino;
}
bool carries(int write, int read) {
    char text[3] = {};
    return ::write(write, "ab", 2) == 2 && ::read(read, text, 2) == 2 && text == std::string_view{"ab"};
}
/// Whether a pipe is kept that a payload has treated so; in any case the next one works.
template <class Treat>
bool is_kept(Treat treat) {
    pipe_pool pool;
    lent first{pool};
    auto const before = inode(first.near.get());
    auto const replaced = pool.replaced();
    treat(pool.far(first.from), first.near.get());
    pool.take_back(std::move(first.near), first.from, true);
    lent const next{pool};
    CHECK(next.from == first.from);
    CHECK(carries(pool.far(next.from), next.near.get()));
    CHECK(::fcntl(next.near.get(), F_GETFL) == O_NONBLOCK);
    bool const kept = pool.replaced() == replaced;
    if (kept) CHECK(inode(next.near.get()) == before);
    return kept;
}

} // namespace

TEST_CASE("our end of a pipe never waits, and the other end does") {
    auto const pipe = make_stream().value();
    CHECK(::fcntl(pipe.read.get(), F_GETFL) == O_NONBLOCK);
    CHECK(::fcntl(pipe.write.get(), F_GETFL) == O_WRONLY);
    CHECK(::fcntl(pipe.read.get(), F_GETFD) == FD_CLOEXEC);
    CHECK(::fcntl(pipe.write.get(), F_GETFD) == FD_CLOEXEC);
    char byte = 0;
    CHECK(::read(pipe.read.get(), &byte, 1) == -1);
    CHECK(errno == EAGAIN);
    CHECK(carries(pipe.write.get(), pipe.read.get()));
}

TEST_CASE("pipes that are lent at the same time are others") {
    pipe_pool pool;
    lent const first{pool}, second{pool};
    CHECK(first.from != second.from);
    CHECK(inode(first.near.get()) != inode(second.near.get()));
    CHECK(carries(pool.far(first.from), first.near.get()));
    CHECK(carries(pool.far(second.from), second.near.get()));
}

TEST_CASE("a pipe that nobody changed is lent again") {
    CHECK(is_kept([](int, int) {}));
    CHECK(is_kept([](int far, int near) { CHECK(carries(far, near)); }));
    pipe_pool pool;
    for (int i = 0; i < 100; ++i) {
        lent one{pool};
        CHECK(one.from == 0);
        CHECK(carries(pool.far(one.from), one.near.get()));
        pool.take_back(std::move(one.near), one.from, true);
    }
    CHECK(pool.replaced() == 0);
}

TEST_CASE("a pipe whose run was not trusted is replaced, and one that does not come back") {
    pipe_pool pool;
    lent first{pool};
    auto const before = inode(pool.far(first.from));
    pool.take_back(std::move(first.near), first.from, false);
    CHECK(pool.replaced() == 1);
    lent second{pool};
    CHECK(inode(second.near.get()) == inode(pool.far(second.from)));
    CHECK(inode(pool.far(second.from)) != before);
    second.near.reset();
    pool.take_back(sb::unique_fd{}, second.from, true);
    CHECK(pool.replaced() == 2);
    lent const third{pool};
    CHECK(carries(pool.far(third.from), third.near.get()));
}

TEST_CASE("what a payload sets at its end has the pipe replaced") {
    CHECK_FALSE(is_kept([](int far, int) { CHECK(::fcntl(far, F_SETFL, O_NONBLOCK) == 0); }));
    CHECK_FALSE(is_kept([](int far, int) { CHECK(::fcntl(far, F_SETFL, O_APPEND) == 0); }));
    CHECK_FALSE(is_kept([](int far, int) { CHECK(::fcntl(far, F_SETPIPE_SZ, 4096) == 4096); }));
    CHECK_FALSE(is_kept([](int far, int) { CHECK(::fcntl(far, F_SETSIG, SIGUSR1) == 0); }));
    CHECK_FALSE(is_kept([](int far, int) { CHECK(::fcntl(far, F_SETOWN, ::getpid()) == 0); }));
    CHECK_FALSE(is_kept([](int far, int) { CHECK(::fchmod(far, 0666) == 0); }));
}

TEST_CASE("locks and times that a payload left are removed, and the pipe is kept") {
    CHECK(is_kept([](int far, int) { CHECK(::flock(far, LOCK_EX) == 0); }));
    CHECK(is_kept([](int far, int) {
        timespec const long_ago[2] = {{1, 0}, {1, 0}};
        CHECK(::futimens(far, long_ago) == 0);
    }));
    pipe_pool pool;
    lent first{pool};
    timespec const long_ago[2] = {{1, 0}, {1, 0}};
    REQUIRE(::futimens(pool.far(first.from), long_ago) == 0);
    REQUIRE(::flock(pool.far(first.from), LOCK_EX) == 0);
    pool.take_back(std::move(first.near), first.from, true);
    struct stat facts {};
    REQUIRE(::fstat(pool.far(first.from), &facts) == 0);
    CHECK(facts.st_mtim.tv_sec > 1);
    CHECK(facts.st_atim.tv_sec > 1);
    auto const other = sb::open_file(sb::cat("/proc/self/fd/", pool.far(first.from)), O_RDONLY | O_NONBLOCK).value();
    CHECK(::flock(other.get(), LOCK_EX | LOCK_NB) == 0);
}

TEST_CASE("there is room for twelve at once, and for another when one has come back") {
    pipe_pool pool;
    std::vector<lent> all;
    while (pool.has_room() && all.size() < 100) all.emplace_back(pool);
    CHECK(all.size() == 12);
    pool.take_back(std::move(all[5].near), all[5].from, true);
    CHECK(pool.has_room());
    lent const again{pool};
    CHECK(again.from == all[5].from);
    CHECK_FALSE(pool.has_room());
}
