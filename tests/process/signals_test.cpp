// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/child.hpp"
#include <sb/process/signals.hpp>
#include <csignal>
#include <initializer_list>
#include <optional>

using namespace sb::process;
using sb::test::in_child;

namespace {
constexpr signal_bits bit(int signal) { return signal_bits{1} << (signal - 1); }

// past the C library, which keeps 32 and 33 to itself
long ignore(int signal) {
    signal_action const action{.handler = reinterpret_cast<std::uintptr_t>(SIG_IGN)};
    return ::syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
}
void note(int) {}
volatile std::sig_atomic_t heard = 0;
} // namespace

TEST_CASE("ignored signals are found, those that the C library keeps to itself too") {
    auto const all_of = [](std::initializer_list<int> signals) {
        return in_child([&] {
            let_be(~signal_bits{0});
            signal_bits expected = 0;
            for (int const each : signals) {
                if (ignore(each) != 0) return -1;
                expected |= bit(each);
            }
            errno = EDOM; // what a wrong answer gives
            return ignored_signals() == expected ? 0 : -1;
        });
    };
    CHECK(all_of({}) == 0);
    CHECK(all_of({SIGHUP}) == 0);
    CHECK(all_of({SIGPIPE, SIGCHLD, 32, 33, last_signal}) == 0);
}

TEST_CASE("a signal with a handler is not ignored, nor is one that cannot be") {
    CHECK(in_child([] {
        let_be(~signal_bits{0});
        std::signal(SIGUSR1, &note);
        (void)ignore(SIGKILL);
        errno = EDOM;
        return ignored_signals() == 0 ? 0 : -1;
    }) == 0);
}

TEST_CASE("only the signals that are named become what they are by default") {
    CHECK(in_child([] {
        let_be(~signal_bits{0});
        for (int const each : {SIGUSR1, SIGUSR2, 33, last_signal})
            if (ignore(each) != 0) return -1;
        let_be(bit(SIGUSR1) | bit(last_signal));
        errno = EDOM;
        if (ignored_signals() != (bit(SIGUSR2) | bit(33))) return -1;
        let_be(0);
        return ignored_signals() == (bit(SIGUSR2) | bit(33)) ? 0 : -1;
    }) == 0);
    auto const raise_after = [](signal_bits reset) {
        return in_child([&] {
            (void)ignore(SIGUSR1);
            std::signal(SIGUSR2, &note);
            let_be(reset);
            return std::raise(SIGUSR1) + std::raise(SIGUSR2);
        });
    };
    CHECK(raise_after(0) == 0);
    CHECK(raise_after(bit(SIGUSR1)) == -SIGUSR1);
    CHECK(raise_after(bit(SIGUSR2)) == -SIGUSR2); // a handler is reset as well
}

TEST_CASE("a signal waits while signals are blocked, and is heard behind") {
    struct sigaction act {}, before {};
    act.sa_handler = [](int) { heard = heard + 1; };
    ::sigaction(SIGUSR2, &act, &before);
    heard = 0;
    std::optional<signals_blocked> quiet{std::in_place};
    std::raise(SIGUSR2);
    CHECK(heard == 0);
    quiet.reset();
    CHECK(heard == 1);
    ::sigaction(SIGUSR2, &before, nullptr);
}
