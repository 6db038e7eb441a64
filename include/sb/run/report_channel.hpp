// SPDX-License-Identifier: MIT
// What a workload says about itself through its report channel: metrics, and its own value.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/json/parse.hpp>
#include <sb/run/reserved_names.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sb::run {

/// The range of a workload's own `value`. A number outside it is ignored.
struct value_range {
    double low = 0, high = 1;

    bool holds(double x) const noexcept { return std::isfinite(x) && x >= low && x <= high; }

    /// `LOW..HIGH`; an empty side has no bound.
    static result<value_range> parse(std::string_view text) {
        auto const wrong = [&] { return caller_error(cat("--value-range \"", text, "\": write LOW..HIGH, as in 0..1 or 0..")); };
        auto const dots = text.find("..");
        if (dots == std::string_view::npos) return wrong();
        value_range made{-HUGE_VAL, HUGE_VAL};
        auto const read = [](std::string_view side, double& to) {
            if (side.empty()) return true;
            auto const [end, code] = std::from_chars(side.data(), side.data() + side.size(), to);
            return code == std::errc{} && end == side.data() + side.size() && std::isfinite(to);
        };
        if (!read(trim(text.substr(0, dots)), made.low) || !read(trim(text.substr(dots + 2)), made.high) || made.low > made.high) return wrong();
        return made;
    }
};

struct reported {
    std::map<std::string, double> metrics;
    std::optional<double> value; ///< replaces the default rule
    int bad_lines = 0; ///< lines that are not a JSON object
    std::int64_t bad_values = 0; ///< out of range
    std::int64_t reserved = 0; ///< numbers under names that are reserved for us
    std::set<std::string> reserved_names; ///< which
    bool cut = false; ///< there were more lines than are read
};

inline constexpr std::size_t most_report_lines = 10'000; ///< for each copy

/// Reads what the copies of a run wrote to their report channels: JSON objects, one per line. Members that are numbers are
/// metrics. In one copy the last number of a name counts; over several copies their mean counts. What is not accepted is
/// counted.
inline reported read_reports(std::vector<std::string> const& copies, value_range const& range = {}) {
    constexpr std::size_t most_metrics = 1000, longest_name = 128;
    reported merged;
    struct mean {
        double is = 0;
        int n = 0;
        void add(double x) noexcept { ++n, is += x / n - is / n; } // a sum may be more than a double can hold
    };
    std::map<std::string, mean> means;
    mean values;
    for (auto const& text : copies) {
        std::map<std::string, double> last;
        std::optional<double> value_here;
        auto const take_line = [&](std::string_view line) {
            value v;
            auto const* members = json::parse(line, v) ? nullptr : v.if_object();
            if (!members) {
                ++merged.bad_lines;
                return;
            }
            for (auto const& [name, each] : *members) {
                if (!each.is_number() || name.empty() || name.size() > longest_name) continue;
                auto const x = number_or(each, 0);
                if (name == "value") {
                    if (range.holds(x)) value_here = x;
                    else ++merged.bad_values;
                } else if (is_reserved(name)) {
                    ++merged.reserved, merged.reserved_names.insert(std::string{name});
                } else if (std::isfinite(x) && (last.size() < most_metrics || last.contains(name))) {
                    last[name] = x;
                }
            }
        };
        std::size_t lines = 0;
        for (std::string_view rest = text; !rest.empty();) {
            auto const line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            if (++lines > most_report_lines) {
                merged.cut = true;
                break;
            }
            if (!trim(line).empty()) take_line(line);
        }
        for (auto const& [name, x] : last) means[name].add(x);
        if (value_here) values.add(*value_here);
    }
    for (auto const& [name, each] : means) merged.metrics[name] = each.is;
    if (values.n > 0) merged.value = values.is;
    return merged;
}

} // namespace sb::run
