// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/isolate/fork_gate.hpp>
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <set>

using namespace sb::isolate;

namespace {

/// A tree of processes that are numbers: whom a fork makes is seen only when it is over.
struct tree {
    std::set<pid_t> seen{1}, forking;
    mutable int counts = 0;
    std::int64_t living() const {
        ++counts;
        return std::ssize(seen);
    }
    bool may_fork_still(pid_t who) const { return forking.contains(who); }
};

struct rig {
    tree all;
    fork_gate gate;
    std::int64_t now = 0;
    explicit rig(std::int64_t limit) { gate.begin(limit, 1); }
    fork_answer ask(pid_t who) { return gate.ask(who, now += 1000, all); }
    /// Asks, and when it may, has made `child` at once.
    bool fork(pid_t who, pid_t child) {
        bool const may = ask(who) == fork_answer::pass;
        if (may) all.seen.insert(child);
        return may;
    }
};

} // namespace

TEST_CASE("a tree may grow to its limit and no further") {
    rig r{4};
    for (pid_t child = 2; child <= 4; ++child) CHECK(r.fork(1, child));
    CHECK(r.gate.refused() == 0);
    CHECK(r.gate.most() == 4);
    CHECK(r.ask(1) == fork_answer::refuse);
    CHECK(r.gate.refused() == 1);
    CHECK(r.gate.most() == 4);
}

TEST_CASE("after the first refusal the kernel decides alone, and nothing is counted") {
    rig r{1};
    CHECK(r.ask(1) == fork_answer::refuse);
    auto const counts = r.all.counts;
    CHECK(r.ask(1) == fork_answer::pass);
    CHECK(r.gate.refused() == 1);
    CHECK(r.all.counts == counts);
}

TEST_CASE("whoever has ended makes room") {
    rig r{2};
    for (pid_t child = 2; child < 100; ++child) {
        CHECK(r.fork(1, child));
        r.all.seen.erase(child);
    }
    CHECK(r.gate.refused() == 0);
    CHECK(r.gate.most() == 2);
}

TEST_CASE("a fork that is under way is waited for where it would be the one too many") {
    rig r{3};
    REQUIRE(r.fork(1, 2));
    r.all.forking.insert(2);
    REQUIRE(r.ask(2) == fork_answer::pass); // and is not over
    CHECK(r.ask(1) == fork_answer::later);
    CHECK(r.ask(1) == fork_answer::later);
    SECTION("it succeeds: no room is left") {
        r.all.seen.insert(3), r.all.forking.clear();
        CHECK(r.ask(1) == fork_answer::refuse);
        CHECK(r.gate.most() == 3);
    }
    SECTION("it fails: there is room") {
        r.all.forking.clear();
        CHECK(r.ask(1) == fork_answer::pass);
        CHECK(r.gate.refused() == 0);
    }
    SECTION("nobody waits for ever") {
        r.now += fork_gate::settle_ns;
        CHECK(r.ask(1) == fork_answer::pass);
    }
}

TEST_CASE("a run without a limit is never counted, and one that cannot be counted is left to the kernel") {
    rig r{-1};
    for (pid_t child = 2; child < 10; ++child) CHECK(r.fork(1, child));
    CHECK(r.all.counts == 0);
    CHECK_FALSE(r.gate.most());
    struct {
        static std::int64_t living() { return -1; }
        static bool may_fork_still(pid_t) { return false; }
    } const unknown;
    fork_gate gate;
    gate.begin(1, 1);
    (void)gate.ask(1, 1, unknown);
    CHECK(gate.ask(1, 2, unknown) == fork_answer::pass);
    CHECK(gate.refused() == 0);
    CHECK_FALSE(gate.most());
}

TEST_CASE("a tree that stays as large as it is is counted rarely, and a crowd not for each who joins") {
    rig small{1000};
    for (pid_t child = 2; child <= 40; ++child) REQUIRE(small.fork(1, child));
    for (pid_t child = 11; child <= 40; ++child) small.all.seen.erase(child);
    auto const before = small.all.counts;
    for (pid_t child = 100; child < 400; ++child) {
        REQUIRE(small.fork(1, child));
        small.all.seen.erase(child);
    }
    CHECK(small.all.counts - before <= 11); // every thirty
    CHECK(small.gate.most() == 40);

    rig crowd{100'000};
    for (pid_t child = 2; child <= 20'000; ++child) REQUIRE(crowd.fork(1, child));
    CHECK(crowd.all.counts < 1000);
    if (crowd.gate.to_be_counted()) {
        CHECK_FALSE(crowd.gate.most());
        crowd.gate.look(crowd.now += 1000, crowd.all);
    }
    CHECK(crowd.gate.most() == 20'000);
}

TEST_CASE("copies that others start are in the count, and leave its peak unknown") {
    fork_gate gate;
    tree all;
    all.seen = {1, 2, 3};
    gate.begin(4, 3);
    CHECK(gate.ask(1, 1, all) == fork_answer::pass);
    all.seen.insert(4);
    CHECK(gate.ask(2, 2, all) == fork_answer::refuse);
    CHECK_FALSE(gate.most());
}

TEST_CASE("whatever forks and ends in whatever order, no more live than the limit, none is refused room, the peak is theirs") {
    std::mt19937 chance{7};
    for (int round = 0; round < 300; ++round) {
        std::int64_t const limit = 2 + static_cast<std::int64_t>(chance() % 12);
        rig r{limit};
        std::map<pid_t, pid_t> forking; // who, and whom it makes
        pid_t next = 2;
        std::int64_t most = 1, at_most = 1;
        for (int step = 0; step < 400 && r.gate.refused() == 0; ++step) {
            auto const pick = [&](auto const& from) { return *std::next(from.begin(), static_cast<std::ptrdiff_t>(chance() % from.size())); };
            auto const who = pick(r.all.seen);
            switch (chance() % 3) {
            case 0: {
                if (forking.contains(who)) break;
                auto const certain = std::ssize(r.all.seen), possible = certain + std::ssize(forking);
                auto const said = r.ask(who);
                if (said == fork_answer::refuse) CHECK(certain >= limit);
                if (said == fork_answer::later) CHECK_FALSE(forking.empty());
                if (said != fork_answer::pass) break;
                CHECK(possible < limit);
                forking[who] = next++, r.all.forking.insert(who);
                at_most = std::max(at_most, possible + 1);
                break;
            }
            case 1:
                if (forking.empty()) break;
                if (auto const [parent, child] = pick(forking); true) {
                    r.all.seen.insert(child), r.all.forking.erase(parent), forking.erase(parent);
                    most = std::max(most, std::ssize(r.all.seen));
                }
                break;
            default:
                if (who != 1 && !forking.contains(who)) r.all.seen.erase(who);
            }
        }
        CHECK(most <= limit);
        REQUIRE(r.gate.most());
        CHECK(*r.gate.most() >= most);
        CHECK(*r.gate.most() <= at_most);
    }
}
