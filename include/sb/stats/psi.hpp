// SPDX-License-Identifier: MIT
// The population stability index: how far have recent values moved from a baseline, over equal bins of the baseline?
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/chi_square.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

/// Recent values beyond the baseline's: into the bins at the ends, or dropped, as older programs do, for which a sample that is
/// out of range altogether looks like one that has no values.
enum class psi_ends : std::uint8_t { into_end_bins, dropped };

struct psi_request {
    std::size_t bins = 10;
    psi_ends ends = psi_ends::into_end_bins;
    double empty = 1e-4; ///< the share of a bin without values
};

struct psi_answer {
    no_answer why = no_answer::none;
    double index = 0;
    double p = 0; ///< of an index this large when nothing has moved: chi square, good when bins hold five values or more
    std::size_t baseline = 0, recent = 0; ///< values
    std::size_t outside = 0; ///< recent ones beyond the baseline's range
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

/// `room` is memory that the caller lends.
inline psi_answer psi(std::span<double const> baseline, std::span<double const> recent, psi_request const& asked, std::vector<double>& room) {
    psi_answer got;
    got.baseline = baseline.size(), got.recent = recent.size();
    auto const none = [&](no_answer why) {
        got.why = why, got.index = got.p = std::numeric_limits<double>::quiet_NaN();
        return got;
    };
    if (!all_finite(baseline) || !all_finite(recent)) return none(no_answer::not_finite);
    if (baseline.empty() || recent.empty()) return none(no_answer::too_short);
    if (asked.bins < 2 || !(asked.empty > 0)) return none(no_answer::bad_request);
    auto const [least, most] = std::minmax_element(baseline.begin(), baseline.end());
    double low = *least, high = *most;
    if (low == high) low -= 0.5, high += 0.5; // one value has a bin of its own
    if (!std::isfinite(high - low)) return none(no_answer::not_finite);
    auto const bins = asked.bins;
    auto const edge = [&](std::size_t i) { return i == bins ? high : low + static_cast<double>(i) * ((high - low) / static_cast<double>(bins)); };
    auto const bin_of = [&](double x) { // each begins with its lower edge; the last holds its upper one too
        auto at = static_cast<std::size_t>(std::clamp((x - low) / (high - low) * static_cast<double>(bins), 0.0, static_cast<double>(bins - 1)));
        while (at > 0 && x < edge(at)) --at;
        while (at + 1 < bins && x >= edge(at + 1)) ++at;
        return at;
    };
    room.assign(2 * bins, 0);
    double *const before = room.data(), *const after = before + bins;
    for (double const x : baseline) ++before[bin_of(x)];
    double counted = 0;
    for (double const x : recent) {
        bool const outside = x < low || x > high;
        got.outside += outside;
        if (outside && asked.ends == psi_ends::dropped) continue;
        ++after[bin_of(x)], ++counted;
    }
    auto const share = [&](double count, double all) { return count > 0 ? count / all : asked.empty; };
    for (std::size_t i = 0; i < bins; ++i) {
        double const was = share(before[i], static_cast<double>(baseline.size())), is = share(after[i], counted);
        got.index += (is - was) * std::log(is / was);
    }
    double const weight = 1 / static_cast<double>(baseline.size()) + 1 / static_cast<double>(recent.size());
    got.p = chi_square_upper(got.index / weight, static_cast<double>(bins - 1));
    return got;
}
inline psi_answer psi(std::span<double const> baseline, std::span<double const> recent, psi_request const& asked = {}) {
    std::vector<double> room;
    return psi(baseline, recent, asked, room);
}

} // namespace sb::stats
