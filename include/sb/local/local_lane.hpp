// SPDX-License-Identifier: MIT
// A lane whose runs are made by a worker process on this machine.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <sb/files/copy_tree.hpp>
#include <sb/files/own_folder.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/local/outcome_of.hpp>
#include <sb/local/worker.hpp>
#include <sb/run/lane.hpp>
#include <csignal>
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace sb::local {

class local_lane final : public run::lane {
public:
    /// Both belong to the backend, and outlive the lane.
    local_lane(worker& by, files::session_folder& folder) : by_{&by}, folder_{&folder} {}

    result<void> start(std::vector<run::job> const& what) override {
        SB_CHECK(by_->send(what));
        for (auto const& each : what) {
            auto& asked = begun_.emplace_back(); // needed to read its answer
            asked.number = each.number, asked.setup = each.setup, asked.is_check = each.is_check;
        }
        return {};
    }
    int descriptor() const override { return by_->socket(); }
    result<std::optional<run::outcome>> take() override {
        if (!by_->has_answer()) { // one look at the socket brings all that has come
            if (std::exchange(has_looked_, !has_looked_)) return std::optional<run::outcome>{};
            bool const there = by_->look_for_answers();
            if (there && !by_->has_answer()) return has_looked_ = false, std::optional<run::outcome>{};
        }
        SB_TRY(auto answer, by_->receive()); // an error when the worker is gone
        if (answer.got.killed_by == watch::killer::request) return system_error(cat("worker ", by_->number(), " was stopped from outside"));
        if (begun_.empty()) return system_error(cat("worker ", by_->number(), " answered without being asked"));
        auto const asked = std::move(begun_.front());
        begun_.pop_front();
        auto made = outcome_of(std::move(answer.got), asked);
        made.number = answer.number;
        return std::optional{std::move(made)};
    }
    void stop() override { ::kill(by_->pid(), SIGTERM), by_->hang_up(); }
    pid_t process() const override { return by_->pid(); }
    int output() const override { return by_->out(); }

    result<void> keep(std::string const& name) override {
        SB_CHECK(by_->send_keep(name));
        auto const folders = by_->receive(); // an error there does not affect the streams
        auto const called = cat(folder_->path(), "/", name);
        auto const folder = files::open_folder(folder_->fd(), name.c_str());
        if (!folder) return folders.has_error() ? folders.error() : last_error("open", called);
        auto const out = copy_file(by_->out(), folder.get(), "stdout", called), err = copy_file(by_->err(), folder.get(), "stderr", called);
        if (folders.has_error()) return folders.error();
        SB_CHECK(out);
        return err;
    }

private:
    static result<void> copy_file(int from, int folder, std::string const& name, std::string const& called) {
        files::deaf_to_file_limit const meanwhile;
        SB_TRY(auto const into, files::make_file(folder, name, called));
        auto const to = cat(called, "/", name);
        char block[1 << 14];
        for (off_t at = 0;;) {
            auto const n = retry([&] { return ::pread(from, block, sizeof block, at); });
            if (n < 0) return last_error("read what is copied to", to);
            if (n == 0) return {};
            at += n;
            SB_CHECK(write_all(into.get(), {block, static_cast<std::size_t>(n)}, to));
        }
    }

    worker* by_;
    files::session_folder* folder_;
    std::deque<run::job> begun_;
    bool has_looked_ = false; // since `take` last said that nothing has come
};

} // namespace sb::local
