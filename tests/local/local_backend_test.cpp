// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/local/local_backend.hpp>
#include <sb/local/plain_site.hpp>
#include <poll.h>
#include <set>
#include <string>
#include <unistd.h>

using namespace sb::local;

namespace {

/// The least that a backend of this machine is. Its places are as asked.
class least_backend final : public local_backend {
public:
    least_backend() : local_backend{{"least", {"nothing"}, "all", {}}} {}
    sb::result<sb::run::enforcement> plan(sb::key::preset const&, sb::run::overrides const&) const override { return sb::run::enforcement{}; }
    site_maker made = &plain_site::make;
    int prepared = 0;
    std::string refuses;

protected:
    site_maker sites() override { return made; }
    sb::result<void> prepare(worker_pool& pool) override {
        prepared += static_cast<int>(pool.workers().size());
        return refuses.empty() ? pool.prepare(1) : sb::result<void>{sb::system_error(refuses)};
    }
};

sb::result<sb::run::outcome> run(sb::run::lane& on, std::string const& script) {
    sb::run::job job;
    job.path = "/bin/sh", job.argv = {"sh", "-c", script}, job.environment = {"PATH=/usr/bin:/bin"};
    job.setup.wall_ns = 60'000'000'000, job.setup.output_bytes = 1 << 20, job.keep_output = true;
    SB_CHECK(on.start({job}));
    for (;;) {
        SB_TRY(auto got, on.take());
        if (got) return std::move(*got);
        pollfd at{on.descriptor(), POLLIN, 0};
        if (::poll(&at, 1, 60'000) != 1) return sb::system_error("no answer");
    }
}
bool is_there(std::string const& path) { return ::access(path.c_str(), F_OK) == 0; }

} // namespace

TEST_CASE("a backend of this machine opens a worker for each lane, and says what it is") {
    least_backend with;
    CHECK(with.facts().name == "least");
    auto const lanes = with.open(3).value();
    REQUIRE(lanes.size() == 3);
    CHECK(with.prepared == 3);
    std::set<pid_t> workers;
    for (auto const& each : lanes) {
        CHECK(workers.insert(each->process()).second);
        CHECK(run(*each, "exit 2").value().end.code == 2);
    }
    CHECK_FALSE(workers.contains(::getpid()));
    with.close();
    for (auto const each : workers) CHECK((::kill(each, 0) < 0 && errno == ESRCH));
}

TEST_CASE("without lanes there is nothing to do, and nothing to keep") {
    least_backend with;
    CHECK(with.leave_kept().empty());
    with.close();
    CHECK(with.open(0).value().empty());
    with.close();
    with.close();
    CHECK(with.leave_kept().empty());
}

TEST_CASE("a place that cannot be made, or prepared, is said when the lanes are opened") {
    least_backend with;
    with.made = [](auto&, std::size_t number, auto&) -> sb::result<std::unique_ptr<site>> { return sb::system_error(sb::cat("no place for ", number)); };
    CHECK(with.open(2).error().what == "no place for 0");
    least_backend unprepared;
    unprepared.refuses = "not today";
    CHECK(unprepared.open(1).error().what == "not today");
    unprepared.refuses.clear();
    CHECK(unprepared.open(1).value().size() == 1); // another try is another pool
}

TEST_CASE("what the lanes kept belongs to the caller, and the rest is removed") {
    for (bool const leave : {true, false}) {
        least_backend with;
        auto lanes = with.open(1).value();
        REQUIRE_FALSE(run(*lanes[0], "echo word >\"$HOME/left\"; echo \"$HOME\"").has_error());
        char text[512];
        auto const n = ::pread(lanes[0]->output(), text, sizeof text, 0);
        std::string const home{text, static_cast<std::size_t>(n - 1)};
        REQUIRE_FALSE(lanes[0]->keep("run-1").has_error());
        auto const folder = home.substr(0, home.find("/worker0/"));
        REQUIRE(is_there(folder + "/run-1/home/left"));
        if (leave) CHECK(with.leave_kept() == folder);
        lanes.clear();
        with.close();
        CHECK(is_there(folder + "/run-1/home/left") == leave);
        CHECK_FALSE(is_there(home));
        if (!leave) CHECK_FALSE(is_there(folder));
        CHECK_FALSE(is_there(folder + "/owner"));
        if (auto const fd = sb::files::open_folder(AT_FDCWD, folder.c_str())) (void)sb::files::empty_folder(fd.get(), folder);
        ::rmdir(folder.c_str());
    }
}
