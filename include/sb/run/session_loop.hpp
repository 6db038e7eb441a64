// SPDX-License-Identifier: MIT
// Waits for lanes, for signals and for the clock at once.
//
// How it works: there is one io_context of Boost.Asio, made after every process of the session was forked. Each busy lane is
// waited for; after its answers were taken it is waited for again, while it is still busy. A lane that has enough to do is left
// alone for a moment, so that its short runs are not disturbed for each answer. An answer that came in time and was not taken
// in time, because somebody stopped this process, is not overdue: the loop looks before it says so.
//
// Boost.Asio waits by epoll, and the kernel limits the epoll watches of a user. A hostile program of the same user may hold
// them all. Then the loop waits by poll(2), for which there is no such limit.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/result.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <utility>
#include <vector>

namespace sb::run {

class session_loop {
public:
    /// What the loop asks the session about its lanes, by number.
    struct calls {
        std::function<bool(std::size_t)> busy; ///< must it still answer?
        std::function<std::optional<std::int64_t>(std::size_t)> due_ns; ///< when its answer is overdue, by the monotonic clock
        std::function<bool(std::size_t)> has_enough; ///< has it more to do than it can do in `nap_ns`?
        std::function<result<void>(std::size_t)> ready; ///< it may have an answer
        std::function<error(std::size_t)> overdue; ///< its answer did not come in time
    };
    static constexpr std::int64_t nap_ns = 1'000'000;

    /// Runs until no lane is busy, a call failed, or `signals` became readable. Closes none of the descriptors.
    static result<void> run(std::vector<int> const& descriptors, int signals, calls use) {
        session_loop loop{std::move(use), descriptors.size()};
        if (loop.watch(descriptors, signals)) return loop.run();
        return loop.run_by_poll(descriptors, signals);
    }

private:
    /// A descriptor that we do not own.
    struct borrowed {
        borrowed(boost::asio::io_context& io, int fd) : at{io, fd} {}
        borrowed(borrowed&&) = default;
        ~borrowed() {
            if (at.is_open()) at.release();
        }
        boost::asio::posix::stream_descriptor at;
        bool left_alone = false;
    };
    struct watches {
        explicit watches(std::vector<int> const& descriptors, int fd) : signals{io, fd} {
            each_lane.reserve(descriptors.size());
            for (int const each : descriptors) each_lane.emplace_back(io, each);
        }
        /// The library does not say when the kernel refused to watch its timers, which then never end.
        bool have_timers() {
            bool ended = false;
            clock.expires_at(decltype(clock)::time_point::min());
            clock.async_wait([&](auto) { ended = true; });
            while (!ended && io.run_one_for(std::chrono::milliseconds{100}) > 0) {}
            bool const are_there = ended;
            clock.cancel();
            io.poll(); // `ended` must outlive its handler
            io.restart();
            return are_there;
        }
        boost::asio::io_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE}; // one thread
        std::vector<borrowed> each_lane;
        borrowed signals;
        boost::asio::steady_timer clock{io}, nap{io};
        bool naps = false;
    };

    session_loop(calls use, std::size_t size) : use_{std::move(use)}, size_{size} {}

    /// False when the kernel gives us nothing to watch with.
    bool watch(std::vector<int> const& descriptors, int signals) try {
        by_ = std::make_unique<watches>(descriptors, signals);
        return by_->have_timers();
    } catch (boost::system::system_error const&) {
        return false;
    }

    result<void> run() {
        by_->signals.at.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](auto code) {
            if (code) return;
            if (auto const done = take_last(); done.has_error()) fail(done.error());
            else by_->io.stop();
        });
        watch_clock();
        for (std::size_t i = 0; i < size_; ++i) wait_for(i);
        if (any_busy()) by_->io.run();
        if (wrong_) return *wrong_;
        return {};
    }

    void fail(error what) {
        if (!wrong_) wrong_ = std::move(what);
        by_->io.stop();
    }
    bool any_busy() const {
        for (std::size_t i = 0; i < size_; ++i)
            if (use_.busy(i)) return true;
        return false;
    }
    /// While it is busy; the loop ends with the last lane that is.
    void wait_for(std::size_t i) {
        if (wrong_) return;
        if (!use_.busy(i)) {
            if (!any_busy()) by_->io.stop();
            return;
        }
        auto& lane = by_->each_lane[i];
        if (use_.has_enough(i)) {
            lane.left_alone = true;
            if (!std::exchange(by_->naps, true)) take_nap();
            return;
        }
        lane.at.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this, i](auto code) {
            if (!code) look(i); // else the loop is over
        });
    }
    void look(std::size_t i) {
        if (auto const done = use_.ready(i); done.has_error()) fail(done.error());
        else wait_for(i);
    }
    void take_nap() {
        by_->nap.expires_after(std::chrono::nanoseconds{nap_ns});
        by_->nap.async_wait([this](auto code) {
            if (code) return;
            by_->naps = false;
            for (std::size_t i = 0; i < size_; ++i)
                if (std::exchange(by_->each_lane[i].left_alone, false)) look(i);
        });
    }

    /// Checks again when the first deadline known now has passed. Answers move deadlines, and that costs nothing here.
    void watch_clock() {
        by_->clock.expires_after(std::chrono::nanoseconds{left_ns()});
        by_->clock.async_wait([this](auto code) {
            if (code) return;
            if (auto const done = take_late(); done.has_error()) return fail(done.error());
            if (any_busy()) watch_clock();
            else by_->io.stop();
        });
    }
    /// Until the first answer is overdue.
    std::int64_t left_ns() const {
        auto const now = monotonic_ns();
        auto left = std::int64_t{1'000'000'000};
        bool known = false;
        for (std::size_t i = 0; i < size_; ++i)
            if (auto const due = use_.busy(i) ? use_.due_ns(i) : std::nullopt; due) left = known ? std::min(left, *due - now) : *due - now, known = true;
        return std::max<std::int64_t>(left, 0);
    }
    /// After a signal: runs that have ended are recorded.
    result<void> take_last() {
        for (std::size_t i = 0; i < size_; ++i)
            if (use_.busy(i)) SB_CHECK(use_.ready(i));
        return {};
    }
    /// An error when an answer is overdue that has not come.
    result<void> take_late() {
        auto const now = monotonic_ns();
        auto const is_late = [&](std::size_t i) {
            auto const due = use_.busy(i) ? use_.due_ns(i) : std::nullopt;
            return due && *due <= now;
        };
        for (std::size_t i = 0; i < size_; ++i) {
            if (!is_late(i)) continue;
            SB_CHECK(use_.ready(i));
            if (is_late(i)) return use_.overdue(i);
        }
        return {};
    }

    result<void> run_by_poll(std::vector<int> const& descriptors, int signals) {
        std::vector<pollfd> waiting(size_ + 1);
        while (any_busy()) {
            waiting[size_] = {signals, POLLIN, 0};
            for (std::size_t i = 0; i < size_; ++i) waiting[i] = {use_.busy(i) ? descriptors[i] : -1, POLLIN, 0};
            auto const left_ms = static_cast<int>(std::min<std::int64_t>(left_ns() / 1'000'000 + 1, 60'000));
            if (::poll(waiting.data(), waiting.size(), left_ms) < 0) continue;
            if (waiting[size_].revents) return take_last();
            for (std::size_t i = 0; i < size_; ++i)
                if (waiting[i].revents) SB_CHECK(use_.ready(i));
            SB_CHECK(take_late());
        }
        return {};
    }

    calls use_;
    std::size_t size_;
    std::unique_ptr<watches> by_;
    std::optional<error> wrong_;
};

} // namespace sb::run
