// SPDX-License-Identifier: MIT
// Time, asked for by name so that a test can answer.
#pragma once
#include <cstdint>
#include <string>
#include <time.h>

namespace sb {

/// Nanoseconds that only grow; for durations.
inline std::int64_t monotonic_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Nanoseconds since 1970, UTC; for stamps.
inline std::int64_t wall_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// "2026-03-04T05:06:07.890Z"
inline std::string utc_stamp(std::int64_t ns) {
    std::int64_t s = ns / 1'000'000'000, rest = ns % 1'000'000'000;
    if (rest < 0) --s, rest += 1'000'000'000;
    time_t const whole = s;
    tm parts{};
    ::gmtime_r(&whole, &parts);
    char text[40];
    auto length = ::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.", &parts);
    auto const ms = static_cast<int>(rest / 1'000'000);
    text[length++] = static_cast<char>('0' + ms / 100);
    text[length++] = static_cast<char>('0' + ms / 10 % 10);
    text[length++] = static_cast<char>('0' + ms % 10);
    text[length++] = 'Z';
    return {text, length};
}

/// Sleeps for less than a second, or until a signal comes.
inline void nap(std::int64_t ns) {
    timespec const time{0, static_cast<long>(ns)};
    ::nanosleep(&time, nullptr);
}

} // namespace sb
