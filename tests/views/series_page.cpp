// SPDX-License-Identifier: MIT
// series_page PAGE [--write]: what docs/how-to/series.md shows was computed here: its code is this code, and the chart beside it
// is drawn by it.
#include <sb/core/fd.hpp>
#include <sb/core/random.hpp>
#include <sb/core/text.hpp>
#include <sb/stats/arima_choice.hpp>
#include <sb/stats/change_points.hpp>
#include <sb/stats/forecast.hpp>
#include <sb/views/stats.hpp>
#include "support/chart.hpp"
#include "support/normal_values.hpp"
#include <cmath>
#include <cstdio>
#include <limits>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A service's response times: at first each is near the last one, from the 240th on they come back to 20.
std::vector<double> response_times() {
    sb::test::normal_values chance{5};
    std::vector<double> all;
    double last = 14;
    for (int i = 0; i < 400; ++i) {
        last = i < 240 ? last + 0.45 * chance.next() : 20 + 0.4 * (last - 20) + 0.8 * chance.next();
        all.push_back(last);
    }
    return all;
}

// [shown
std::vector<double> wandering(std::vector<double> const& series) {
    return series
        | sb::stats::rolling(60)                                        // windows of sixty, as spans: nothing is copied
        | sb::stats::adf()                                              // the test of each, from the one before it
        | ranges::views::transform([](auto const& got) { return got ? got.p : nan; })
        | ranges::to<std::vector>();
}
std::vector<double> levels(std::vector<double> const& series) {
    return series | sb::stats::rolling(60) | sb::stats::median_of() | ranges::to<std::vector>();
}
std::vector<sb::stats::forecast_point> next_forty(std::span<double const> known) {
    std::vector<sb::stats::forecast_point> to(40);
    auto const model = sb::stats::choose_arima(known);
    if (sb::stats::forecast(model.best, to) != sb::stats::no_answer::none) to.clear();
    return to;
}
// shown]

std::string charted() {
    auto const series = response_times();
    auto const after = [&](std::size_t empty, std::vector<double> values) { // a window's answer stands at its last value
        values.insert(values.begin(), empty, nan);
        return values;
    };
    sb::test::chart_line foretold{"foretold from 360", "#b3541e", std::vector<double>(series.size(), nan), std::vector<double>(series.size(), nan), std::vector<double>(series.size(), nan)};
    auto const next = next_forty(std::span{series}.first(360).last(100)); // what it was before it was held says nothing of what comes
    for (std::size_t i = 0; i < next.size(); ++i) foretold.y[360 + i] = next[i].mean, foretold.lo[360 + i] = next[i].lo, foretold.hi[360 + i] = next[i].hi;
    sb::test::chart drawn{series.size()};
    drawn.add({"response time, ms", {{"each", "#3a6ea5", series}, {"median of 60", "#2e2e2e", after(59, levels(series))}, foretold}});
    drawn.add({"p of a unit root, by the last 60", {{"adf", "#3a6ea5", after(59, wandering(series))}, {"5 %", "#b3541e", std::vector<double>(series.size(), 0.05), {}, {}, true}}});
    return drawn.svg();
}

std::string between(std::string_view text, std::string_view begin, std::string_view end) {
    auto const from = text.find(begin), to = from == text.npos ? from : text.find(end, from);
    return to == text.npos ? "" : std::string{text.substr(from + begin.size(), to - from - begin.size())};
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return std::fputs("usage: series_page PAGE [--write]\n", stderr), 2;
    std::string const page = argv[1], picture = page.substr(0, page.size() - 2) + "svg";
    auto const drawn = charted();
    if (argc > 2) {
        auto const file = sb::open_file(picture, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        return !file.has_error() && ::write(file->get(), drawn.data(), drawn.size()) == static_cast<ssize_t>(drawn.size()) ? 0 : 4;
    }
    auto const there = sb::read_file(picture), text = sb::read_file(page), self = sb::read_file(page.substr(0, page.find("docs/how-to/")) + "tests/views/series_page.cpp");
    if (there.has_error() || text.has_error() || self.has_error()) return std::fprintf(stderr, "series_page: %s or its chart cannot be read\n", page.c_str()), 4;
    int bad = 0;
    if (*there != drawn) std::fprintf(stderr, "series_page: %s is not what is drawn now; to rewrite it: series_page %s --write\n", picture.c_str(), page.c_str()), bad = 1;
    auto const shown = between(*self, "// [shown\n", "// shown]"), code = between(*text, "```cpp\n", "```");
    if (shown.empty() || code.find(shown) == std::string::npos) std::fprintf(stderr, "series_page: the code of %s is not that of the program\n", page.c_str()), bad = 1;
    return bad;
}
