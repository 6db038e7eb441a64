// SPDX-License-Identifier: MIT
// stats write DIR      the series that ours and the peers of bench/stats.sh are given: a file a size, a series a line, 17 digits
// stats measure DIR    a line a row: its name, "ours", median microseconds of a warm call, and the answers, by tabs
// A call is timed in passes over all series of its file, so that no branch is learnt by heart. Time is the processor's, which
// others on a busy machine do not lengthen.
#include "support/normal_values.hpp"
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <sb/stats/adf.hpp>
#include <sb/stats/arima.hpp>
#include <sb/stats/confidence_sequence.hpp>
#include <sb/stats/energy_split.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/kpss.hpp>
#include <sb/stats/ks.hpp>
#include <sb/stats/levene.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/rolling_adf.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <time.h>
#include <vector>

namespace {

namespace stats = sb::stats;
using series = std::vector<double>;
using numbers = std::vector<double>;

// ---- the inputs

struct input {
    char const* name;
    std::size_t size, lines;
    std::uint64_t seed;
};
constexpr input inputs[] = {{"ar-50", 50, 8, 1}, {"ar-250", 250, 8, 2}, {"ar-1000", 1000, 8, 3}, {"ar-10000", 10000, 3, 4}, {"steps-1000", 1000, 3, 5}};

/// Each value is 0.7 of the last one and something new; `steps` has none of that, and a shift after two fifths.
series one(input const& as, sb::test::normal_values& chance) {
    bool const steps = std::string_view{as.name}.starts_with("steps");
    series x(as.size);
    double last = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        last = (steps ? 0 : 0.7 * last) + chance.next();
        x[i] = last + (steps && 5 * i >= 2 * x.size() ? 1 : 0);
    }
    return x;
}
int write_all(std::string const& folder) {
    for (auto const& each : inputs) {
        sb::test::normal_values chance{each.seed};
        auto* const file = std::fopen(sb::cat(folder, "/", each.name).c_str(), "w");
        if (!file) return std::perror("stats: write"), 4;
        for (std::size_t line = 0; line < each.lines; ++line) {
            char const* between = "";
            for (double const x : one(each, chance)) std::fprintf(file, "%s%.17g", between, x), between = " ";
            std::fputc('\n', file);
        }
        if (std::fclose(file) != 0) return std::perror("stats: write"), 4;
    }
    return 0;
}
std::vector<series> read(std::string const& folder, char const* name) {
    auto const text = sb::read_file(folder + "/" + name);
    if (text.has_error()) std::fprintf(stderr, "stats: %s\n", text.error().what.c_str()), std::exit(4);
    std::vector<series> all;
    std::istringstream lines{*text};
    for (std::string line; std::getline(lines, line);) {
        auto& x = all.emplace_back();
        char const* at = line.c_str();
        for (char* end = nullptr;; at = end) {
            double const value = std::strtod(at, &end);
            if (end == at) break;
            x.push_back(value);
        }
    }
    return all;
}

// ---- the clock

template <class Answer>
void keep(Answer const& answer) {
    asm volatile("" : : "r"(&answer) : "memory");
}

std::int64_t processor_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Microseconds of one of `calls` calls that a pass makes, the middle one of many passes.
template <class Pass>
double median_us(std::size_t calls, Pass const& pass) {
    constexpr std::int64_t at_least = 200'000, all_in_all = 150'000'000; // ns: a batch the clock can tell, and what there is time for
    auto const time_of = [&](int passes) {
        auto const from = processor_ns();
        for (int i = 0; i < passes; ++i) pass();
        return processor_ns() - from;
    };
    (void)time_of(3);
    int passes = 1;
    while (time_of(passes) < at_least) passes *= 2;
    std::vector<double> us;
    for (auto const from = processor_ns(); us.size() < 5 || (us.size() < 5000 && processor_ns() - from < all_in_all);)
        us.push_back(static_cast<double>(time_of(passes)) / 1e3 / passes / static_cast<double>(calls));
    std::nth_element(us.begin(), us.begin() + static_cast<std::ptrdiff_t>(us.size() / 2), us.end());
    return us[us.size() / 2];
}

void print(char const* name, double us) { std::printf("%s\tours\t%.5f", name, us); }

/// One row: `call` with the number of each series, and the numbers of its answer.
template <class Call, class Numbers>
void row(std::string const& name, std::size_t calls, Call const& call, Numbers const& numbers_of) {
    double const us = median_us(calls, [&] {
        for (std::size_t i = 0; i < calls; ++i) {
            auto const answer = call(i);
            keep(answer);
        }
    });
    print(name.c_str(), us);
    for (std::size_t i = 0; i < calls; ++i)
        for (double const each : numbers_of(call(i))) std::printf("\t%.17g", each);
    std::printf("\n");
}

// ---- the rows

void adf_rows(std::string const& folder) {
    stats::adf_room room;
    for (auto const* const name : {"ar-50", "ar-250", "ar-1000", "ar-10000"}) {
        auto const all = read(folder, name);
        row(sb::cat("adf-", name + 3), all.size(), [&](std::size_t i) { return stats::adf(all[i], {}, room); }, [](auto const& a) { return numbers{a.statistic, static_cast<double>(a.lag)}; });
    }
}

void small_rows(std::string const& folder) {
    auto const all = read(folder, "ar-250");
    auto const next = [&](std::size_t i) -> series const& { return all[(i + 1) % all.size()]; };
    std::vector<double> room;
    stats::ks_room ks_room;
    row("levene", all.size(), [&](std::size_t i) {
        std::span<double const> const groups[] = {all[i], next(i)};
        return stats::levene(groups, {}, room);
    }, [](auto const& a) { return numbers{a.statistic, a.p}; });
    row("kpss", all.size(), [&](std::size_t i) { return stats::kpss(all[i], {}, room); }, [](auto const& a) { return numbers{a.statistic, a.p, static_cast<double>(a.lags)}; });
    row("ks", all.size(), [&](std::size_t i) { return stats::ks(all[i], next(i), ks_room); }, [](auto const& a) { return numbers{a.statistic, a.p}; });
    row("t-interval", all.size(), [&](std::size_t i) {
        auto const m = stats::moments::of(all[i]);
        return stats::mean_interval(*m.mean(), *m.variance(), m.count());
    }, [](auto const& a) { return numbers{a.lo, a.hi}; });
}

void split_row(std::string const& folder) {
    auto const all = read(folder, "steps-1000");
    stats::split_finder finder;
    row("e-divisive", all.size(), [&](std::size_t i) { return finder.best(all[i]); }, [](auto const& a) { return numbers{static_cast<double>(a.at), a.gain}; });
}

/// A step; the answers of the first windows of the first series, as many as a peer has time for.
void rolling_row(std::string const& folder) {
    auto const all = read(folder, "ar-1000");
    constexpr std::size_t window = 50, compared = 100;
    std::vector<stats::adf_answer> answers(all[0].size() - window + 1);
    double const us = median_us(all.size() * answers.size(), [&] {
        for (auto const& x : all) keep(stats::rolling_adf(x, window, {}, answers)), keep(answers.front());
    });
    stats::rolling_adf(all[0], window, {}, answers);
    print("rolling-adf", us);
    for (std::size_t i = 0; i < compared; ++i) std::printf("\t%.17g\t%d", answers[i].statistic, answers[i].lag);
    std::printf("\n");
}

/// Four orders, of which the least criterion would be chosen; the answers are their likelihoods.
void arima_row(std::string const& folder) {
    auto const all = read(folder, "ar-50");
    constexpr std::size_t orders = 4;
    stats::arima_room room;
    row("arima", all.size(), [&](std::size_t i) {
        std::array<stats::arima_answer, orders> got;
        std::size_t k = 0;
        for (stats::arima_order const order : {stats::arima_order{1, 1, 1}, {1, 0, 0}, {0, 1, 1}, {2, 1, 2}}) {
            stats::arima_request asked;
            asked.order = order;
            got[k++] = stats::arima(all[i], asked, room);
        }
        return got;
    }, [](auto const& got) {
        numbers likelihoods;
        for (auto const& each : got) likelihoods.push_back(each.llf);
        return likelihoods;
    });
}

/// A further value, and the bounds after it; they have no peer.
template <class Sequence, class Value>
void sequence_row(char const* name, std::vector<series> const& all, Sequence const& empty, Value const& value_of) {
    double const us = median_us(all.size() * all[0].size(), [&] {
        for (auto const& x : all) {
            auto sequence = empty;
            for (double const each : x) sequence.push(value_of(each)), keep(sequence.now());
        }
    });
    print(name, us);
    std::printf("\n");
}
void sequence_rows(std::string const& folder) {
    auto const all = read(folder, "ar-1000");
    auto const itself = [](double x) { return x; };
    sequence_row("sequence-normal", all, stats::normal_sequence{}, itself);
    sequence_row("sequence-bounded", all, stats::bounded_sequence{-50, 50}, itself);
    sequence_row("sequence-share", all, stats::share_sequence{}, [](double x) { return x > 1; });
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const what = argc == 3 ? argv[1] : "";
    if (what == "write") return write_all(argv[2]);
    if (what != "measure") return std::fputs("usage: stats write DIR | stats measure DIR\n", stderr), 2;
    adf_rows(argv[2]);
    small_rows(argv[2]);
    split_row(argv[2]);
    rolling_row(argv[2]);
    arima_row(argv[2]);
    sequence_rows(argv[2]);
    return 0;
}
