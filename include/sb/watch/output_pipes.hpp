// SPDX-License-Identifier: MIT
// The pipes of a run's copies, and what came through them.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/watch/capture.hpp>
#include <sb/watch/job.hpp>
#include <sb/watch/pipe_pool.hpp>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <poll.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::watch {

class output_pipes {
public:
    static constexpr std::size_t most_report_bytes = std::size_t{256} << 10; ///< for each copy
    static constexpr std::size_t most_each = 3; ///< output, errors, report channel

    /// Files for `job::keep_output`, -1 for none.
    output_pipes(int keep_out, int keep_err) : keep_out_{keep_out}, keep_err_{keep_err}, block_{std::make_unique<char[]>(block_size)} {}

    void begin(job const& what) {
        copies_.clear();
        copies_.reserve(static_cast<std::size_t>(what.copies));
        reports_cut_ = dry_ = false;
    }
    /// Makes the pipes of one more copy. In a sandbox (`reuse`) they come from the pool, because after a run nobody else has
    /// an end of them. Elsewhere they are new, because a process may have fled with an end.
    result<void> add(job const& what, bool reuse) {
        bool const keep = what.keep_output && copies_.empty();
        auto& made = copies_.emplace_back(capture{what.held.output_bytes, keep ? keep_out_ : -1}, capture{what.held.output_bytes, keep ? keep_err_ : -1});
        unique_fd* const near[most_each] = {&made.out.end, &made.err.end, &made.report};
        for (std::size_t i = 0; i < (what.reports ? most_each : most_each - 1); ++i)
            if (auto const lent = lend(*near[i], made.far[i], made.from[i], reuse); lent.has_error()) return drop_last(), lent.error();
        return {};
    }
    void drop_last() {
        take_back(copies_.back(), false);
        copies_.pop_back();
    }
    std::size_t size() const noexcept { return copies_.size(); }

    /// The other ends of the last copy's pipes; the result is their number.
    std::size_t far_ends(int* into) const {
        auto const& last = copies_.back();
        std::size_t count = 0;
        for (std::size_t i = 0; i < most_each; ++i)
            if (last.from[i] >= 0 || last.far[i]) into[count++] = last.from[i] >= 0 ? pool_.far(last.from[i]) : last.far[i].get();
        return count;
    }
    void forget_far_ends() {
        for (auto& each : copies_.back().far) each.reset();
    }
    /// The last copy's pipes are the first of the pool.
    bool has_first_pipes() const noexcept {
        auto const& from = copies_.back().from;
        return from[0] == 0 && from[1] == 1 && from[2] == 2;
    }
    /// Changes when a pipe of the pool is replaced.
    std::uint64_t replaced() const noexcept { return pool_.replaced(); }

    /// Appends the pipes that may be read now. The result is when others may, -1: there are none.
    std::int64_t wait_with(std::vector<pollfd>& waiting, std::int64_t now_ns) {
        std::int64_t next = -1;
        for (auto& c : copies_) {
            c.waits_for_report = c.report && c.report_rests_until <= now_ns;
            if (c.report && !c.waits_for_report) next = next < 0 ? c.report_rests_until : std::min(next, c.report_rests_until);
            wait_for_all(waiting, c);
        }
        return next;
    }
    /// What `wait_with` appended begins at `first`.
    void drain_ready(pollfd const* first) {
        auto const ready = [&](unique_fd const& fd) { return fd && (first++)->revents != 0; };
        for (auto& c : copies_) {
            bool const out = ready(c.out.end), err = ready(c.err.end), report = c.waits_for_report && ready(c.report); // before any is closed
            if (out) drain(c.out);
            if (err) drain(c.err);
            if (report) drain_report(c);
        }
    }
    bool over() const noexcept {
        return std::any_of(copies_.begin(), copies_.end(), [](copy const& c) { return c.out.into.over() || c.err.into.over(); });
    }
    /// Reads what is already in the pipes. No process of the run is left to write more.
    void read_dry(std::vector<pollfd>& waiting) {
        // bounded: a stranger who got the other end may still be writing
        for (int i = 0; i < most_dry_reads; ++i) {
            waiting.clear();
            for (auto& c : copies_) c.waits_for_report = static_cast<bool>(c.report), wait_for_all(waiting, c);
            if (waiting.empty() || ::poll(waiting.data(), waiting.size(), 0) == 0) {
                dry_ = true;
                return;
            }
            drain_ready(waiting.data());
        }
    }
    /// Ends with the run: `got` gets all reports, and the output of the copy that it shows. Pipes go back to the pool; those that
    /// must not be `trusted` are replaced.
    void hand_over(outcome& got, bool trusted) {
        for (auto& c : copies_) take_back(c, trusted && dry_);
        for (auto& c : copies_)
            if (!c.reported.empty()) got.reports.push_back(std::move(c.reported));
        got.reports_cut = reports_cut_;
        if (copies_.empty()) return;
        got.out = copies_[got.shown].out.into.finish();
        got.err = copies_[got.shown].err.into.finish();
    }

private:
    struct stream {
        unique_fd end;
        capture into;
    };
    struct copy {
        copy(capture o, capture e) : out{unique_fd{}, std::move(o)}, err{unique_fd{}, std::move(e)} {}
        stream out, err;
        unique_fd report;
        std::string reported;
        std::int64_t report_rests_until = 0; // bytes beyond those that are kept are read slowly
        bool waits_for_report = false; // in the current poll
        int from[most_each] = {-1, -1, -1}; // pool numbers of these pipes, to give them back
        unique_fd far[most_each]; // of pipes that are not the pool's, until they are passed on
    };

    result<void> lend(unique_fd& near, unique_fd& far, int& from, bool reuse) {
        if (reuse && pool_.has_room()) {
            SB_TRY(near, pool_.lend(from));
            return {};
        }
        SB_TRY(auto ends, make_stream());
        near = std::move(ends.read), far = std::move(ends.write);
        return {};
    }
    void take_back(copy& one, bool trusted) {
        unique_fd* const ends[most_each] = {&one.out.end, &one.err.end, &one.report};
        for (std::size_t i = 0; i < most_each; ++i)
            if (one.from[i] >= 0) pool_.take_back(std::move(*ends[i]), one.from[i], trusted);
    }
    /// Closed pipes are left out: poll takes as many as may be open.
    static void wait_for_all(std::vector<pollfd>& waiting, copy const& c) {
        if (c.out.end) waiting.push_back({c.out.end.get(), POLLIN, 0});
        if (c.err.end) waiting.push_back({c.err.end.get(), POLLIN, 0});
        if (c.waits_for_report) waiting.push_back({c.report.get(), POLLIN, 0});
    }
    /// Reads once and never waits; false when there was nothing, now or at the end.
    bool read_some(unique_fd& from, std::string_view& block) {
        auto const n = retry([&] { return ::read(from.get(), block_.get(), block_size); });
        if (n < 0 && errno == EAGAIN) return false;
        if (n <= 0) return from.reset(), false;
        block = {block_.get(), static_cast<std::size_t>(n)};
        return true;
    }
    void drain(stream& s) {
        std::string_view block;
        if (read_some(s.end, block)) s.into.take(block);
    }
    void drain_report(copy& c) {
        std::string_view block;
        if (!read_some(c.report, block)) return;
        auto const room = most_report_bytes - c.reported.size();
        if (block.size() > room) reports_cut_ = true;
        c.reported.append(block.substr(0, room));
        if (c.reported.size() == most_report_bytes) c.report_rests_until = monotonic_ns() + report_rest_ns;
    }

    static constexpr std::size_t block_size = std::size_t{64} << 10; // a pipe's capacity
    static constexpr std::int64_t report_rest_ns = 10'000'000; // one pipe capacity per rest: an endless writer costs next to nothing and never waits forever
    static constexpr int most_dry_reads = 64; // four times the capacity of a pipe

    int keep_out_, keep_err_;
    std::unique_ptr<char[]> block_;
    pipe_pool pool_;
    std::vector<copy> copies_;
    bool reports_cut_ = false, dry_ = false;
};

} // namespace sb::watch
