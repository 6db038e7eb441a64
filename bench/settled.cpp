// SPDX-License-Identifier: MIT
// settled [FILE]: how often `settled` calls series converged that are, and that are not, by simulation with fixed seeds. As a
// Markdown table, on standard output or between the two marks of FILE.
#include "page.hpp"
#include <sb/core/random.hpp>
#include <sb/core/text.hpp>
#include <sb/stats/settled.hpp>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

namespace {

using sb::stats::settle_mode;

struct model {
    char const* words;
    double margin; ///< in standard errors of a mean of independent values
    double autoregression, drift, level; ///< drift over the window and level in margins
    settle_mode mode;
    bool walks;
};
constexpr model models[] = {
    {"flat, independent; margin 10 standard errors", 10, 0, 0, 0, settle_mode::stable, false},
    {"the same, around nothing", 10, 0, 0, 0, settle_mode::near_zero, false},
    {"flat, neighbours correlate by 0.5; margin 20", 20, 0.5, 0, 0, settle_mode::stable, false},
    {"flat, independent; margin 4", 4, 0, 0, 0, settle_mode::stable, false},
    {"*drifts by the margin*", 10, 0, 2, 0, settle_mode::stable, false}, // of which half a window adds one
    {"*drifts by the margin*, neighbours correlate by 0.5", 20, 0.5, 2, 0, settle_mode::stable, false},
    {"*drifts by twice the margin*", 10, 0, 4, 0, settle_mode::stable, false},
    {"*lies at the margin*, around nothing", 10, 0, 0, 1, settle_mode::near_zero, false},
    {"*lies at the margin*, neighbours correlate by 0.5", 20, 0.5, 0, 1, settle_mode::near_zero, false},
    {"*walks*; margin 10", 10, 0, 0, 0, settle_mode::stable, true},
};
constexpr std::size_t sizes[] = {12, 20, 50, 200};

class simulation {
public:
    double share(model const& as, std::size_t n, int rounds) {
        sb::stats::settle_request asked;
        asked.margin = as.margin / std::sqrt(static_cast<double>(n)), asked.mode = as.mode;
        int hits = 0;
        std::vector<double> x(n);
        for (int round = 0; round < rounds; ++round) {
            double last = normal();
            for (std::size_t i = 0; i < n; ++i) {
                if (i > 0) last = as.walks ? last + normal() : as.autoregression * last + normal() * std::sqrt(1 - as.autoregression * as.autoregression);
                x[i] = last + asked.margin * (as.level + as.drift * static_cast<double>(i) / static_cast<double>(n));
            }
            hits += sb::stats::settled(x, asked).settled();
        }
        return hits / static_cast<double>(rounds);
    }

private:
    double normal() { return std::sqrt(-2 * std::log(1 - chance_.unit())) * std::cos(2 * std::numbers::pi * chance_.unit()); }
    sb::random_stream chance_{2026};
};

std::string table() {
    constexpr int rounds = 4000;
    std::string out = "| series | n = 12 | 20 | 50 | 200 |\n| --- | ---: | ---: | ---: | ---: |\n";
    simulation chance;
    for (auto const& each : models) {
        out += sb::cat("| ", each.words, " |");
        for (auto const n : sizes) out += sb::cat(" ", sb::fixed(100 * chance.share(each, n, rounds), 1), " % |");
        out += "\n";
    }
    return out;
}

} // namespace

int main(int argc, char** argv) {
    auto const rows = table();
    std::fwrite(rows.data(), 1, rows.size(), stdout);
    return argc < 2 ? 0 : bench::put_between_marks(argv[1], "settled", rows);
}
