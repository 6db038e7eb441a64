// SPDX-License-Identifier: MIT
// A backend that runs nothing: each lane answers as its script says. It shows how little a backend has to be.
#pragma once
#include <sb/run/backend.hpp>
#include <functional>
#include <memory>
#include <unistd.h>
#include <vector>

/// What a lane answers to its n-th job, counted from 0: so many outcomes; -1: it dies.
using fake_script = std::function<int(std::size_t lane, int job)>;

class fake_lane final : public sb::run::lane {
public:
    fake_lane(std::size_t number, fake_script script) : number_{number}, script_{std::move(script)} { (void)!::pipe2(ends_, O_CLOEXEC); }
    ~fake_lane() override { ::close(ends_[0]), ::close(ends_[1]); }
    sb::result<void> start(std::vector<sb::run::job> const& what) override {
        for (auto const& each : what) {
            auto const answers = script_(number_, jobs_++);
            for (int i = 0; i < (answers < 0 ? 1 : answers); ++i) {
                auto& made = owed_.emplace_back();
                made.number = each.number, made.copies = each.setup.copies, made.wall_s = 0.25;
                (void)!::write(ends_[1], answers < 0 ? "d" : "a", 1);
            }
        }
        return {};
    }
    int descriptor() const override { return ends_[0]; }
    sb::result<std::optional<sb::run::outcome>> take() override {
        char word = 0;
        if (owed_.empty() || ::read(ends_[0], &word, 1) != 1) return std::optional<sb::run::outcome>{};
        if (word == 'd') return sb::system_error("lane died");
        auto made = owed_.front();
        owed_.erase(owed_.begin());
        return std::optional{made};
    }
    void stop() override { owed_.clear(); }

private:
    std::size_t number_;
    fake_script script_;
    int ends_[2] = {-1, -1}, jobs_ = 0;
    std::vector<sb::run::outcome> owed_;
};

struct fake_backend final : sb::run::backend {
    explicit fake_backend(fake_script s) : script{std::move(s)} {}
    sb::run::backend_facts const& facts() const override { return about; }
    sb::result<sb::run::enforcement> plan(sb::key::preset const&, sb::run::overrides const&) const override { return held; }
    sb::result<sb::run::lanes> open(int jobs) override {
        sb::run::lanes made;
        for (int i = 0; i < jobs; ++i) made.push_back(std::make_unique<fake_lane>(static_cast<std::size_t>(i), script));
        return made;
    }
    void close() override { closing(); }
    fake_script script;
    std::function<void()> closing = [] {};
    sb::run::backend_facts about{"fake", {"nothing"}, "", {}};
    sb::run::enforcement held;
};
