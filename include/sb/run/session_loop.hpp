// SPDX-License-Identifier: MIT
// Waits for lanes, for signals and for the clock at once.
//
// How it works: there is one io_context of Boost.Asio, made after every process of the session was forked. A round waits for
// all busy lanes. When they all have many short runs queued, the loop first takes a nap, because waking up for each answer
// costs more than reading it.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
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
        std::function<bool()> may_nap; ///< does every lane have enough to do?
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
        bool waited_for = false;
    };
    static constexpr auto nap = std::chrono::microseconds{600};

    session_loop(std::vector<int> const& descriptors, int signals, calls use) : use_{std::move(use)}, signals_{io_, signals} {
        lanes_.reserve(descriptors.size());
        for (int const each : descriptors) lanes_.emplace_back(io_, each);
    }

    result<void> run() {
        signals_.at.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](auto code) {
            if (!code) io_.stop();
        });
        watch_clock();
        begin_round();
        io_.run();
        if (wrong_) return *wrong_;
        return {};
    }

    void fail(error what) {
        if (!wrong_) wrong_ = std::move(what);
        io_.stop();
    }
    void begin_round() {
        if (wrong_) return;
        if (use_.may_nap()) {
            for (auto& each : lanes_)
                if (each.waited_for) each.at.cancel(); // so that it does not wake us
            nap_.expires_after(nap);
            nap_.async_wait([this](auto code) {
                if (!code) wait_for_lanes();
            });
        } else {
            wait_for_lanes();
        }
    }
    void wait_for_lanes() {
        bool any = false;
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            if (!use_.busy(i)) continue;
            any = true;
            if (lanes_[i].waited_for) continue;
            lanes_[i].waited_for = true;
            lanes_[i].at.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this, i](auto code) {
                lanes_[i].waited_for = false;
                if (code) return; // cancelled
                if (auto const done = use_.ready(i); done.has_error()) fail(done.error());
                else end_round();
            });
        }
        if (!any) io_.stop();
    }
    /// Runs after the handlers of all other lanes that are ready.
    void end_round() {
        if (ending_) return;
        ending_ = true;
        boost::asio::post(io_, [this] {
            ending_ = false;
            begin_round();
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
            for (std::size_t i = 0; i < lanes_.size(); ++i)
                if (auto const due = use_.busy(i) ? use_.due_ns(i) : std::nullopt; due && *due <= now) return fail(use_.overdue(i));
            watch_clock();
        });
    }

    static constexpr std::int64_t idle_ns = 1'000'000'000;

    calls use_;
    boost::asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE}; // one thread
    std::vector<borrowed> lanes_;
    borrowed signals_;
    boost::asio::steady_timer nap_{io_}, clock_{io_};
    std::optional<error> wrong_;
    bool ending_ = false;
};

} // namespace sb::run
