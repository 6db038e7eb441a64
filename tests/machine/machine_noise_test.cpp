// SPDX-License-Identifier: MIT
// Tests of machine_noise.hpp and process_cpu.hpp.
#include "support/catch.hpp"
#include <sb/machine/machine_noise.hpp>
#include <sb/machine/process_cpu.hpp>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using sb::machine::noise_watch;
using sb::machine::machine_ticks;

namespace {
/// Stands for /proc/stat, and says what it is told.
struct machine {
    sb::unique_fd file{::memfd_create("stat", MFD_CLOEXEC)};
    void says(std::string const& line) const {
        (void)!::ftruncate(file.get(), 0);
        (void)!::pwrite(file.get(), line.data(), line.size(), 0);
    }
    noise_watch watch() const { return noise_watch{sb::unique_fd{::dup(file.get())}}; }
};
constexpr std::int64_t ms = 1'000'000;
} // namespace

TEST_CASE("the first line of /proc/stat is ticks; guests' are in the users' already") {
    auto const found = machine_ticks::parse("cpu  100 20 30 4000 50 6 7 8 9 10\ncpu0 1 2 3\n");
    REQUIRE(found);
    CHECK(found->busy == 100 + 20 + 30 + 6 + 7);
    CHECK(found->steal == 8);
    CHECK_FALSE(machine_ticks::parse("cpu  100 20 30\n"));
    CHECK_FALSE(machine_ticks::parse("cpu0 1 2 3 4 5 6 7 8"));
    CHECK_FALSE(machine_ticks::parse(""));
}

TEST_CASE("what others used is what was used less what we did, over a window of a tenth of a second at least") {
    machine host;
    auto looks = host.watch();
    std::int64_t mine = 1000 * ms;
    int asked = 0;
    auto const ours = [&] { return ++asked, mine; };
    host.says("cpu  100 0 0 0 0 0 0 10\n");
    looks.before(0, ours);
    CHECK_FALSE(looks.after(99 * ms, ours));
    looks.before(99 * ms, ours);
    CHECK(asked == 1); // a short run costs no look
    host.says("cpu  150 0 0 0 0 0 0 13\n"); // half a second of work, of which ours is 0.2 s
    mine += 200 * ms;
    auto const found = looks.after(250 * ms, ours);
    REQUIRE(found);
    CHECK(found->window_s == Approx(0.25));
    CHECK(found->others_cpu_s == Approx(0.3));
    CHECK(found->steal_s == Approx(0.03));
    CHECK_FALSE(looks.after(260 * ms, ours)); // the next window begins where this one ended
    looks.before(900 * ms, ours); // a pause is nobody's
    auto const next = looks.after(1000 * ms, ours);
    REQUIRE(next);
    CHECK(next->window_s == Approx(0.1));
}

TEST_CASE("ticks are coarse: more of ours than there was in all is nothing of others'") {
    machine host;
    auto looks = host.watch();
    std::int64_t mine = 0;
    auto const ours = [&] { return mine; };
    host.says("cpu  100 0 0 0 0 0 0 0\n");
    looks.before(0, ours);
    mine = 500 * ms;
    REQUIRE(looks.after(200 * ms, ours));
    mine = 900 * ms;
    CHECK(looks.after(400 * ms, ours)->others_cpu_s == 0);
}

TEST_CASE("without a readable file nothing is known") {
    noise_watch none{sb::unique_fd{}};
    auto const ours = [] { return std::int64_t{0}; };
    none.before(0, ours);
    CHECK_FALSE(none.after(1000 * ms, ours));
    machine host;
    host.says("nonsense");
    auto looks = host.watch();
    looks.before(0, ours);
    CHECK_FALSE(looks.after(1000 * ms, ours));
}

TEST_CASE("processor time of a process is told from outside, and of none is 0") {
    auto const before = sb::machine::process_cpu_ns(::getpid());
    CHECK(before > 0);
    while (sb::machine::process_cpu_ns(::getpid()) < before + 10 * ms) {}
    CHECK(sb::machine::process_cpu_ns(-1) == 0);
    CHECK(sb::machine::process_cpu_ns(0x3fffff7f) == 0);
}
