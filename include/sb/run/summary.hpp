// SPDX-License-Identifier: MIT
// A summary of runs, one row per scenario.
#pragma once
#include <sb/json/record.hpp>
#include <sb/record/run.hpp>
#include <sb/run/check.hpp>
#include <sb/run/badness.hpp>
#include <sb/stats/quantile.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::run {

/// How a run counts for a person: an output that was not found right is not a good end.
struct verdict {
    int badness = 0; ///< 0: it went well
    std::string end = "ok", why = {};
};
/// `check` is null if there was no check.
inline verdict judge(run_record const& run, check_answer const* check) {
    constexpr int not_checked = 1, wrong = 2;
    if (run.end.class_ != end_class::ok) return {wrong + run::badness(run.end.class_), std::string{json::name_of(run.end.class_)}, run.end.reason};
    if (!check || check->right == true) return {};
    return check->right ? verdict{wrong, "wrong output", check->why} : verdict{not_checked, "not checked", check->why};
}

class summary {
public:
    struct row {
        std::string scenario;
        std::int64_t runs = 0, ok = 0;
        double median_wall_s = 0, p95_wall_s = 0;
        std::optional<std::int64_t> peak_rss_bytes;
        verdict worst;
    };

    void add(run_record const& run, verdict const& judged) {
        auto [there, is_new] = place_.try_emplace(run.scenario, scenarios_.size());
        if (is_new) scenarios_.push_back({{run.scenario, 0, 0, 0, 0, {}, {}}, {}});
        auto& [one, walls] = scenarios_[there->second];
        ++one.runs;
        if (judged.badness == 0) ++one.ok;
        walls.push_back(run.wall_s);
        if (run.peak_rss_bytes) one.peak_rss_bytes = std::max(one.peak_rss_bytes.value_or(0), *run.peak_rss_bytes);
        if (judged.badness > one.worst.badness) one.worst = judged;
    }
    /// In the order in which the scenarios came.
    std::vector<row> rows() const {
        std::vector<row> rows;
        for (auto [one, walls] : scenarios_) {
            std::sort(walls.begin(), walls.end());
            one.median_wall_s = stats::sorted_quantile(walls, 0.5);
            one.p95_wall_s = stats::sorted_quantile(walls, 0.95);
            rows.push_back(std::move(one));
        }
        return rows;
    }

private:
    std::vector<std::pair<row, std::vector<double>>> scenarios_;
    std::map<std::string, std::size_t> place_;
};

/// The last `most` lines of a text whose beginning may be missing.
inline std::vector<std::string_view> last_lines(std::string_view text, std::size_t most) {
    std::vector<std::string_view> lines;
    while (text.ends_with('\n')) text.remove_suffix(1);
    while (!text.empty() && lines.size() < most) {
        auto const end = text.rfind('\n');
        lines.push_back(end == std::string_view::npos ? text : text.substr(end + 1));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
    }
    std::reverse(lines.begin(), lines.end());
    return lines;
}

} // namespace sb::run
