// SPDX-License-Identifier: MIT
// Waits for lanes, for signals and for the clock at once.
//
// How it works: there is one io_context of Boost.Asio, made after every process of the session was forked. Each busy lane is
// waited for; after its answers were taken it is waited for again, while it is still busy. An answer that came in time and was
// not taken in time, because somebody stopped this process, is not overdue: the loop looks before it says so.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sb::run {

class session_loop {
public:
    /// What the loop asks the session about its lanes, by number.
    struct calls {
        std::function<bool(std::size_t)> busy; ///< must it still answer?
        std::function<std::optional<std::int64_t>(std::size_t)> due_ns; ///< when its answer is overdue, by the monotonic clock
        std::function<result<void>(std::size_t)> ready; ///< it may have an answer
        std::function<error(std::size_t)> overdue; ///< its answer did not come in time
    };

    /// Runs until no lane is busy, a call failed, or `signals` became readable. Closes none of the descriptors.
    static result<void> run(std::vector<int> const& descriptors, int signals, calls use) try {
        session_loop loop{descriptors, signals, std::move(use)};
        return loop.run();
    } catch (boost::system::system_error const& failed) { // the library throws when the kernel gives it no descriptor
        return system_error(cat("wait for runs: ", std::string_view{failed.what()}));
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
    };

    session_loop(std::vector<int> const& descriptors, int signals, calls use) : use_{std::move(use)}, signals_{io_, signals} {
        lanes_.reserve(descriptors.size());
        for (int const each : descriptors) lanes_.emplace_back(io_, each);
    }

    result<void> run() {
        signals_.at.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](auto code) {
            if (!code) io_.stop();
        });
        watch_clock();
        for (std::size_t i = 0; i < lanes_.size(); ++i) wait_for(i);
        if (any_busy()) io_.run();
        if (wrong_) return *wrong_;
        return {};
    }

    void fail(error what) {
        if (!wrong_) wrong_ = std::move(what);
        io_.stop();
    }
    bool any_busy() const {
        for (std::size_t i = 0; i < lanes_.size(); ++i)
            if (use_.busy(i)) return true;
        return false;
    }
    /// While it is busy; the loop ends with the last lane that is.
    void wait_for(std::size_t i) {
        if (wrong_) return;
        if (!use_.busy(i)) {
            if (!any_busy()) io_.stop();
            return;
        }
        lanes_[i].at.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this, i](auto code) {
            if (code) return; // the loop is over
            if (auto const done = use_.ready(i); done.has_error()) fail(done.error());
            else wait_for(i);
        });
    }

    /// Checks again when the first deadline known now has passed. Answers move deadlines, and that costs nothing here.
    void watch_clock() {
        std::optional<std::int64_t> first;
        for (std::size_t i = 0; i < lanes_.size(); ++i)
            if (auto const due = use_.busy(i) ? use_.due_ns(i) : std::nullopt; due && (!first || *due < *first)) first = due;
        clock_.expires_after(std::chrono::nanoseconds{first ? std::max<std::int64_t>(*first - monotonic_ns(), 0) : idle_ns});
        clock_.async_wait([this](auto code) {
            if (code) return;
            auto const now = monotonic_ns();
            auto const is_late = [&](std::size_t i) {
                auto const due = use_.busy(i) ? use_.due_ns(i) : std::nullopt;
                return due && *due <= now;
            };
            for (std::size_t i = 0; i < lanes_.size(); ++i) {
                if (!is_late(i)) continue;
                if (auto const done = use_.ready(i); done.has_error()) return fail(done.error());
                if (is_late(i)) return fail(use_.overdue(i));
            }
            if (any_busy()) watch_clock();
            else io_.stop();
        });
    }

    static constexpr std::int64_t idle_ns = 1'000'000'000;

    calls use_;
    boost::asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE}; // one thread
    std::vector<borrowed> lanes_;
    borrowed signals_;
    boost::asio::steady_timer clock_{io_};
    std::optional<error> wrong_;
};

} // namespace sb::run
