// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/process/ahead_call.hpp>
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using sb::process::ahead_call;

TEST_CASE("a child is called once, and then it is too late to withdraw it") {
    ahead_call call;
    auto const n = call.expect();
    CHECK_FALSE(call.is_called(n));
    CHECK(call.call(n));
    CHECK(call.is_called(n));
    CHECK_FALSE(call.call(n));
    CHECK_FALSE(call.withdraw(n));
    CHECK(call.is_called(n));
    CHECK(call.wait(n, 0));
}

TEST_CASE("a child that was withdrawn cannot be called, and does not wait") {
    ahead_call call;
    auto const n = call.expect();
    CHECK(call.withdraw(n));
    CHECK_FALSE(call.withdraw(n));
    CHECK_FALSE(call.call(n));
    CHECK_FALSE(call.is_called(n));
    CHECK_FALSE(call.wait(n, 0));
    CHECK_FALSE(call.wait(n, 1'000'000'000)); // nor does it poll until that is over
}

TEST_CASE("a child that nobody requested cannot be called") {
    ahead_call call;
    for (ahead_call::number const n : {0u, 1u, 2u, 7u}) {
        CHECK_FALSE(call.call(n));
        CHECK_FALSE(call.withdraw(n));
        CHECK_FALSE(call.is_called(n));
        CHECK_FALSE(call.wait(n, 0));
    }
}

TEST_CASE("two children are told apart while one is called and the next is requested") {
    ahead_call call;
    auto const first = call.expect();
    auto const second = call.expect();
    REQUIRE(first != second);
    REQUIRE(first != 0);
    REQUIRE(second != 0);
    CHECK(call.call(first));
    CHECK_FALSE(call.is_called(second));
    CHECK(call.withdraw(second));
    CHECK(call.is_called(first));
}

TEST_CASE("a child requested two before can no longer be called") {
    ahead_call call;
    auto const first = call.expect();
    (void)call.expect();
    auto const third = call.expect();
    CHECK_FALSE(call.call(first));
    CHECK_FALSE(call.withdraw(first));
    CHECK_FALSE(call.wait(first, 0));
    CHECK(call.call(third));
    CHECK_FALSE(call.is_called(first));
}

TEST_CASE("a waiting child wakes up when it is called, whether it sleeps or polls") {
    for (std::int64_t const awake_ns : {std::int64_t{0}, std::int64_t{1'000'000}, std::int64_t{60'000'000'000}}) {
        INFO(awake_ns);
        ahead_call call;
        auto const n = call.expect();
        std::atomic<bool> waits{false}, answer{false};
        std::thread child{[&] {
            waits = true;
            answer = call.wait(n, awake_ns);
        }};
        while (!waits) std::this_thread::yield();
        CHECK(call.call(n));
        child.join();
        CHECK(answer);
    }
}

TEST_CASE("of a call and a withdrawal at once exactly one counts, and the child learns which") {
    ahead_call call;
    for (int i = 0; i < 500; ++i) {
        auto const n = call.expect();
        std::atomic<int> ready{0};
        bool withdrawn = false, heard = false;
        auto const together = [&] {
            ++ready;
            while (ready < 2) {}
        };
        std::thread reaper{[&] {
            together();
            withdrawn = call.withdraw(n);
        }};
        together();
        bool const called = call.call(n);
        reaper.join();
        heard = call.wait(n, 0);
        REQUIRE(called != withdrawn);
        REQUIRE(heard == called);
    }
}
