// SPDX-License-Identifier: MIT
// Turns the result of a run into a run record.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/text.hpp>
#include <sb/metric/run_value.hpp>
#include <sb/record/run.hpp>
#include <sb/run/backend.hpp>
#include <sb/run/enforcement.hpp>
#include <sb/run/report_channel.hpp>
#include <sb/run/reserved_names.hpp>
#include <sb/run/run_plan.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace sb::run {

namespace detail {

inline stream_capture as_record(watch::captured& stream) {
    return {stream.bytes, std::move(stream.sha256), std::move(stream.head), stream.truncated};
}

} // namespace detail

/// What a record needs besides the result.
struct run_context {
    std::string workload;
    std::optional<std::string> module;
    std::string preset_source;
    backend const* with = nullptr;
    host_facts host;
    std::optional<double> budget_s;
    metric::value_weights weights;
    metric::prices prices;
};

/// `output_right` is the check's answer; no value without a check. Moves the texts out of `got`.
inline run_record record_of(run_context const& context, preset_record const& preset, enforcement const& held, planned_run const& planned,
                            outcome& got, std::optional<bool> output_right, reported found) {
    run_record r;
    r.run_id = planned.run_id;
    r.ts = utc_stamp(got.started_ns);
    r.workload = context.workload;
    r.module = context.module;
    r.scenario = preset.scenario();
    if (auto const severity = preset.text(preset.severity); !severity.empty()) r.severity = severity;
    r.preset_id = preset.id;
    r.preset_source = context.preset_source;
    r.rep = planned.rep;
    r.seed = planned.seed;
    r.end = std::move(got.end);
    r.limits_hit = std::move(got.limits_hit);
    r.wall_s = got.wall_s;

    auto const& used = got.used;
    r.cpu_user_s = used.cpu_user_s, r.cpu_sys_s = used.cpu_sys_s;
    r.peak_rss_bytes = used.peak_rss_bytes;
    r.peak_anon_bytes = used.peak_anon_bytes, r.peak_file_bytes = used.peak_file_bytes, r.peak_shm_bytes = used.peak_shm_bytes;
    r.read_bytes = used.read_bytes, r.write_bytes = used.write_bytes;
    r.read_logical_bytes = used.read_logical_bytes, r.write_logical_bytes = used.write_logical_bytes, r.write_cancelled_bytes = used.write_cancelled_bytes;
    r.net_rx_bytes = used.net_rx_bytes, r.net_tx_bytes = used.net_tx_bytes;
    r.max_pids = used.max_pids, r.left_running = used.left_running;
    if (used.cpu_throttled_s) r.metrics[own_metric::cpu_throttled_s] = *used.cpu_throttled_s;

    if (held.setup.copies > 1) {
        auto const n = static_cast<double>(got.copies);
        r.metrics[own_metric::concurrency_level] = static_cast<double>(held.setup.copies);
        r.metrics[own_metric::concurrency_error_rate] = n > 0 ? got.copies_not_ok / n : 1;
        if (got.wall_s > 0) r.metrics[own_metric::concurrency_throughput] = n / got.wall_s;
    }
    if (output_right) r.metrics[own_metric::output_check] = *output_right ? 1 : 0;
    for (auto const& [name, x] : found.metrics)
        if (!is_reserved(name)) r.metrics.try_emplace(name, x);

    metric::run_facts facts;
    facts.success = r.end.class_ == end_class::ok;
    if (held.setup.copies > 1 && got.copies > 0) facts.share_ok = 1 - got.copies_not_ok / static_cast<double>(got.copies);
    facts.output_right = output_right;
    facts.wall_s = r.wall_s;
    facts.budget_s = context.budget_s;
    if (r.peak_rss_bytes) facts.peak_rss_bytes = static_cast<double>(*r.peak_rss_bytes);
    auto const memory_limit = std::max(held.setup.tree_memory_bytes, held.setup.memory_bytes);
    if (memory_limit >= 0) facts.memory_limit_bytes = static_cast<double>(memory_limit);
    if (r.cpu_user_s) facts.cpu_s = *r.cpu_user_s + *r.cpu_sys_s;
    r.value = found.value && output_right != false ? found.value : metric::value_of(facts, context.weights); // the workload's own value does not count if its output is wrong
    if (r.value) r.roi = *r.value - metric::cost_of(facts, context.prices);

    r.applied = held.applied, r.unsupported = held.unsupported, r.informational = held.informational;
    auto const& by = context.with->facts();
    r.backend = by.name;
    r.layers = by.layers;
    r.fresh = got.fresh;
    r.stdout_ = detail::as_record(got.out), r.stderr_ = detail::as_record(got.err);
    r.host = context.host;
    r.noise = got.noise;
    r.sources = by.sources;
    return r;
}

} // namespace sb::run
