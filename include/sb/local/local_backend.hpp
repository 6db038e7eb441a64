// SPDX-License-Identifier: MIT
// The common part of the backends of this machine: a pool of worker processes, each one a lane.
#pragma once
#include <sb/local/local_lane.hpp>
#include <sb/local/plain_site.hpp>
#include <sb/local/worker_pool.hpp>
#include <sb/run/backend.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace sb::local {

class local_backend : public run::backend {
public:
    run::backend_facts const& facts() const override { return facts_; }
    result<run::lanes> open(int jobs) override {
        SB_TRY(auto made, worker_pool::make(jobs, sites()));
        pool_.emplace(std::move(made));
        SB_CHECK(prepare(*pool_));
        run::lanes lanes;
        for (auto& each : pool_->workers()) lanes.push_back(std::make_unique<local_lane>(each, pool_->folder()));
        return lanes;
    }
    std::string leave_kept() override {
        if (!pool_) return {};
        pool_->folder().keep();
        return pool_->folder().path();
    }
    void close() override { pool_.reset(); }

protected:
    explicit local_backend(run::backend_facts facts = {}) : facts_{std::move(facts)} {}
    /// Where the runs of a worker happen.
    virtual site_maker sites() { return &plain_site::make; }
    /// Builds what the first run needs, ahead of it.
    virtual result<void> prepare(worker_pool&) { return {}; }

    run::backend_facts facts_;

private:
    std::optional<worker_pool> pool_;
};

} // namespace sb::local
