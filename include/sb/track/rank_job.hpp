// SPDX-License-Identifier: MIT
// Ranks what is read: many threads over many inputs, one answer whatever their number.
//
// How it works. Threads take chunks of whole lines and keep a table each; sums are exact, so how the lines were shared
// out cannot show. What has an order keeps its place: the last score remembers its chunk, and what is wrong with a line
// is reported when all chunks before it are done, with the number of the line in its file.
#pragma once
#include <sb/core/chunks.hpp>
#include <sb/record/partial.hpp>
#include <sb/record/rank.hpp>
#include <sb/stats/interval.hpp>
#include <sb/track/rank_reader.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace sb::track {

struct rank_sums {
    rank_table table;
    rank_counts counts;
    bool stopped = false; ///< strict, and a line was bad
    std::vector<std::string> overfull; ///< names whose states add up to an impossible count; they get no row
};

/// Hears of each bad line, in order: the input's path, the line and its byte (both from 1), what is wrong.
using fault_report = std::function<void(std::string const&, std::int64_t, std::size_t, std::string_view)>;

namespace detail {

/// `[…` or `{` alone on its line: one document over many lines.
inline bool opens_document(std::string_view first) noexcept {
    while (!first.empty() && is_blank(first.front())) first.remove_prefix(1);
    if (first.starts_with('[')) return true;
    if (!first.starts_with('{')) return false;
    first.remove_prefix(1);
    while (!first.empty() && (first.front() == ' ' || first.front() == '\t' || first.front() == '\r')) first.remove_prefix(1);
    return first.starts_with('\n');
}

class rank_job {
public:
    rank_job(std::vector<std::string> const& paths, rank_question const& question, int threads, fault_report report, wait_report waits)
        : paths_{paths}, question_{question}, threads_{threads}, report_{std::move(report)}, queue_{paths} {
        queue_.whole_if(opens_document);
        queue_.on_wait(std::move(waits));
    }
    rank_job(rank_job const&) = delete;
    rank_job& operator=(rank_job const&) = delete;
    ~rank_job() { queue_.stop(), join(); } // nobody works on what is gone

    result<rank_sums> run() {
        rank_reader first{question_};
        work(first, true);
        join();
        if (failure_) return *failure_;
        rank_sums sums;
        sums.table.merge(first.table());
        sums.counts = first.counts();
        for (auto const& each : others_) {
            sums.table.merge(each->table());
            sums.counts.add(each->counts());
        }
        sums.stopped = stopped_;
        for (auto const& g : sums.table.groups())
            if (g.values.count() > rank_reader::most_values) sums.overfull.push_back(g.name);
        std::sort(sums.overfull.begin(), sums.overfull.end());
        return sums;
    }

private:
    struct finished {
        std::size_t input;
        std::int64_t lines;
        std::vector<rank_fault> faults;
    };

    void work(rank_reader& reader, bool may_hire) {
        try {
            work_on_chunks(reader, may_hire);
        } catch (std::bad_alloc const&) { // a chunk is lost: there is no answer
            fail(system_error("out of memory"));
        }
    }
    void work_on_chunks(rank_reader& reader, bool may_hire) {
        chunk now;
        std::string name; // of the input, for a history in it
        auto named = paths_.size();
        for (;;) {
            auto const more = queue_.next(now);
            if (more.has_error()) return fail(more.error());
            if (!*more) return;
            if (may_hire && now.number > 0) may_hire = false, hire(); // one chunk is not worth a thread
            auto const before = reader.counts().lines;
            std::vector<rank_fault> faults;
            if (now.input != named) name = roi_history_name(paths_[named = now.input]);
            if (!now.whole || !reader.read_document(now.text, now.number, name, faults))
                reader.read(now.text, now.number, name, faults);
            if (auto const whole = queue_.check(now); whole.has_error()) return fail(whole.error());
            finish(now, reader.counts().lines - before, std::move(faults));
        }
    }
    /// Up to the threads asked for. Where the system gives no more, or they would have no memory to work in, those there are do all.
    void hire() {
        constexpr std::size_t left_to_work_in = std::size_t{32} << 20;
        try {
            for (int i = 1; i < threads_; ++i) {
                ::operator delete(::operator new(left_to_work_in)); // throws where there is not so much
                auto& reader = *others_.emplace_back(std::make_unique<rank_reader>(question_));
                helpers_.emplace_back([this, &reader] { work(reader, false); });
            }
        } catch (std::system_error const&) {
        } catch (std::bad_alloc const&) {
        }
    }
    void join() {
        for (auto& each : helpers_) each.join();
        helpers_.clear();
    }
    void fail(error e) {
        std::lock_guard const hold{order_};
        if (!failure_) failure_ = std::move(e);
        queue_.stop();
    }
    /// Reports faults as soon as all chunks before them are done.
    void finish(chunk const& c, std::int64_t lines, std::vector<rank_fault> faults) {
        std::lock_guard const hold{order_};
        if (question_.strict && !faults.empty()) queue_.stop();
        waiting_.emplace(c.number, finished{c.input, lines, std::move(faults)});
        for (auto it = waiting_.begin(); it != waiting_.end() && it->first == told_; it = waiting_.erase(it), ++told_) {
            auto const& [input, count, wrong] = it->second;
            if (input != input_) input_ = input, lines_before_ = 0;
            for (auto const& f : wrong)
                if (!stopped_) {
                    report_(paths_[input], lines_before_ + f.line, f.byte, f.what);
                    stopped_ = question_.strict;
                }
            lines_before_ += count;
        }
    }

    std::vector<std::string> const& paths_;
    rank_question const& question_;
    int threads_;
    fault_report report_;
    chunk_queue queue_;
    std::vector<std::unique_ptr<rank_reader>> others_;
    std::vector<std::thread> helpers_;
    std::mutex order_; // guards what follows
    std::map<std::uint64_t, finished> waiting_; // chunks behind one that is still open
    std::uint64_t told_ = 0;
    std::size_t input_ = 0;
    std::int64_t lines_before_ = 0; // in the input, before the next chunk
    bool stopped_ = false;
    std::optional<error> failure_;
};

} // namespace detail

/// Reads the inputs ("-" is standard input) with up to `threads` threads.
inline result<rank_sums> read_ranks(std::vector<std::string> const& paths, rank_question const& question, int threads, fault_report report, wait_report waits = {}) {
    return detail::rank_job{paths, question, threads, std::move(report), std::move(waits)}.run();
}

namespace detail {

/// A name without values has no row, nor has one with an impossible count.
inline bool has_row(rank_group const& g) noexcept { return g.values.count() > 0 && g.values.count() <= rank_reader::most_values; }

struct rank_moments {
    double total = 0, mean = 0;
    std::optional<stats::interval> interval;
};
inline rank_moments moments_of(exact_sum const& values) {
    rank_moments m;
    auto const sum = values.sum();
    auto const n = static_cast<double>(values.count());
    m.total = sum.nearest();
    m.mean = m.total / n;
    if (values.count() < 2) return m;
    // n * sum of squares - square of the sum: exact, so nothing cancels however far from zero the values lie
    auto spread = exact_integer{static_cast<wide_natural>(values.count()), 0, false} * values.squares();
    spread -= sum * sum;
    auto const variance = spread.negative() ? 0 : spread.nearest() / n / (n - 1); // negative: a state nobody's values have
    auto const within = stats::mean_interval(m.mean, variance, values.count());
    if (std::isfinite(within.lo) && std::isfinite(within.hi)) m.interval = within;
    return m;
}

} // namespace detail

/// What rows are ordered by. A total favours what was seen more often; a mean says what one run is worth.
enum class rank_order { total, mean };

/// The rows by total or by mean, the largest first; equal means by total, equal totals by name. `baseline` names the
/// row that effects are against; without such a row there are none.
inline std::vector<rank_record> rank_rows(rank_table const& table, rank_question const& question, std::string_view baseline, rank_order order = rank_order::total) {
    struct row {
        rank_group const* group;
        detail::rank_moments m;
    };
    std::vector<row> rows;
    row const* base = nullptr;
    for (auto const& g : table.groups())
        if (detail::has_row(g)) rows.push_back({&g, detail::moments_of(g.values)});
    bool const by_mean = order == rank_order::mean;
    std::sort(rows.begin(), rows.end(), [by_mean](row const& a, row const& b) {
        if (by_mean && a.m.mean != b.m.mean) return a.m.mean > b.m.mean;
        return a.m.total != b.m.total ? a.m.total > b.m.total : a.group->name < b.group->name;
    });
    for (auto const& r : rows)
        if (r.group->name == baseline) base = &r;

    std::vector<rank_record> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto const* const group = rows[i].group;
        auto const& m = rows[i].m;
        rank_record r;
        r.by = question.by, r.name = group->name, r.metric = question.metric;
        r.total = m.total, r.mean = m.mean, r.n = group->values.count();
        if (m.interval) r.lo = m.interval->lo, r.hi = m.interval->hi;
        if (group->scored) r.last_security_score = group->security;
        if (base) r.effect = m.mean - base->m.mean;
        auto const ties = [&](std::size_t k) { return k < rows.size() && (by_mean ? rows[k].m.mean == m.mean : rows[k].m.total == m.total); };
        r.tie = ties(i + 1) || (i > 0 && ties(i - 1));
        auto const overlap = [](std::optional<stats::interval> const& a, std::optional<stats::interval> const& b) -> std::optional<bool> {
            if (!a || !b) return std::nullopt;
            return a->overlaps(*b);
        };
        auto const ordered = [by_mean](row const& each) { // the interval of what the order is by
            auto of = each.m.interval;
            auto const n = static_cast<double>(each.group->values.count());
            if (of && !by_mean) of->lo *= n, of->hi *= n;
            return of;
        };
        if (i + 1 < rows.size()) r.overlaps_next = overlap(ordered(rows[i]), ordered(rows[i + 1]));
        if (base && base != &rows[i]) r.overlaps_baseline = overlap(m.interval, base->m.interval); // effects are of means
        out.push_back(std::move(r));
    }
    return out;
}

/// The states that another run with the same question can add up, one for each name.
inline std::vector<partial_record> rank_states(rank_table const& table, rank_question const& question) {
    auto const pairs = [](exact_integer const& of) {
        std::vector<std::vector<std::int64_t>> written;
        for (auto const& t : of.terms()) written.push_back({t.significand, t.exponent});
        return written;
    };
    std::vector<partial_record> out;
    for (auto const& g : table.groups()) {
        if (!detail::has_row(g)) continue;
        partial_record p;
        p.by = question.by, p.name = g.name, p.metric = question.metric, p.n = g.values.count();
        p.sum = pairs(g.values.sum()), p.squares = pairs(g.values.squares());
        if (g.scored) p.last_security_score = g.security;
        out.push_back(std::move(p));
    }
    std::sort(out.begin(), out.end(), [](auto const& a, auto const& b) { return a.name < b.name; });
    return out;
}

} // namespace sb::track
