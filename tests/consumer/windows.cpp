// SPDX-License-Identifier: MIT
// A consumer's pipe: in which windows does a series come back to its level?
#include <sb/views/stats.hpp>
#include <cstdio>
#include <vector>

int main() {
    std::vector<double> series; // steps up and down, then only up
    for (int i = 0; i < 120; ++i) series.push_back(i < 60 ? (i * 37 % 11) : series.back() + (i * 37 % 11));
    int windows = 0, settled = 0;
    for (auto const& got : series | sb::stats::rolling(20) | sb::stats::adf({.with = sb::stats::trend::constant, .choice = sb::stats::lag_choice::fixed, .most_lags = 1})) {
        ++windows;
        settled += got && got.p < 0.05;
    }
    bool const right = windows == 101 && settled >= 41 && settled < windows;
    std::printf("windows: %s\n", right ? "right" : "wrong");
    return right ? 0 : 1;
}
