// SPDX-License-Identifier: MIT
// The names of figures that only we may set: a workload's number under one of them is never accepted.
#pragma once
#include <sb/record/run.hpp>
#include <algorithm>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <string_view>
#include <vector>

namespace sb::run {

/// What sandbench itself adds to the metrics of a run.
namespace own_metric {
inline constexpr auto output_check = "output_check", concurrency_level = "concurrency_level", concurrency_error_rate = "concurrency_error_rate",
                      concurrency_throughput = "concurrency_throughput", cpu_throttled_s = "cpu_throttled_s";
} // namespace own_metric

/// In order: the names above, the members of a run record, which a reader may look for among the metrics when they are null,
/// and derived figures.
inline std::vector<std::string_view> const& reserved_names() {
    static auto const reserved = [] {
        std::vector<std::string_view> names{own_metric::output_check, own_metric::concurrency_level, own_metric::concurrency_error_rate, own_metric::concurrency_throughput,
                                            own_metric::cpu_throttled_s, "kind", "v", "raroi"};
        using members = boost::describe::describe_members<run_record, boost::describe::mod_public>;
        boost::mp11::mp_for_each<members>([&](auto const& member) {
            std::string_view name{member.name};
            if (name.ends_with('_')) name.remove_suffix(1); // a word of C++, or of its headers
            names.push_back(name);
        });
        std::sort(names.begin(), names.end());
        return names;
    }();
    return reserved;
}

inline bool is_reserved(std::string_view name) { return std::binary_search(reserved_names().begin(), reserved_names().end(), name); }

} // namespace sb::run
