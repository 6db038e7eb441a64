// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/fd.hpp>
#include <sb/watch/output_pipes.hpp>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace sb::watch;

namespace {

job two_streams(bool reports = true) {
    job what;
    what.held.output_bytes = 1 << 20;
    what.reports = reports;
    return what;
}
/// The ends that a copy would get.
std::vector<int> ends_of(output_pipes const& streams) {
    int ends[output_pipes::most_each];
    auto const count = streams.far_ends(ends);
    return {ends, ends + count};
}
void say(int end, std::string const& text) { REQUIRE(::write(end, text.data(), text.size()) == static_cast<ssize_t>(text.size())); }
outcome ended(output_pipes& streams, std::size_t shown = 0) {
    std::vector<pollfd> room;
    streams.read_dry(room);
    outcome got;
    got.shown = shown;
    streams.hand_over(got, true);
    return got;
}

} // namespace

TEST_CASE("what a copy wrote is handed over by stream, and the output shown is the one that was asked for") {
    output_pipes streams{-1, -1};
    auto const what = two_streams();
    streams.begin(what);
    for (std::string const name : {"first", "second"}) {
        REQUIRE_FALSE(streams.add(what, true).has_error());
        auto const ends = ends_of(streams);
        REQUIRE(ends.size() == 3);
        say(ends[0], name + " out"), say(ends[1], name + " err"), say(ends[2], name + " report");
    }
    CHECK(streams.size() == 2);
    auto const got = ended(streams, 1);
    CHECK(got.out.head == "second out");
    CHECK(got.err.head == "second err");
    CHECK(got.reports == std::vector<std::string>{"first report", "second report"});
    CHECK_FALSE(got.reports_cut);
}

TEST_CASE("a job without a report channel has two pipes, and new ones are closed here once they were passed on") {
    output_pipes streams{-1, -1};
    auto const what = two_streams(false);
    streams.begin(what);
    REQUIRE_FALSE(streams.add(what, false).has_error());
    auto const ends = ends_of(streams);
    REQUIRE(ends.size() == 2);
    CHECK_FALSE(streams.has_first_pipes());
    say(ends[0], "all");
    streams.forget_far_ends();
    CHECK(::fcntl(ends[0], F_GETFD) < 0);
    CHECK(ended(streams).out.head == "all");
}

TEST_CASE("pipes of the pool serve the next run unless they must not be trusted") {
    output_pipes streams{-1, -1};
    auto const what = two_streams();
    auto const before = streams.replaced();
    for (int run = 0; run < 3; ++run) {
        streams.begin(what);
        REQUIRE_FALSE(streams.add(what, true).has_error());
        CHECK(streams.has_first_pipes());
        CHECK(ended(streams).out.head.empty());
        CHECK(streams.replaced() == before);
    }
    streams.begin(what);
    REQUIRE_FALSE(streams.add(what, true).has_error());
    say(ends_of(streams)[0], "of a run that was not read to its end");
    outcome got;
    streams.hand_over(got, true);
    CHECK(streams.replaced() == before + 3);
    streams.begin(what);
    REQUIRE_FALSE(streams.add(what, true).has_error());
    CHECK(ended(streams).out.head.empty());
}

TEST_CASE("a copy that could not be started leaves no pipe behind") {
    output_pipes streams{-1, -1};
    auto const what = two_streams();
    streams.begin(what);
    REQUIRE_FALSE(streams.add(what, true).has_error());
    streams.drop_last();
    CHECK(streams.size() == 0);
    auto const got = ended(streams);
    CHECK((got.out.bytes == 0 && got.reports.empty()));
    REQUIRE_FALSE(streams.add(what, true).has_error());
    CHECK(streams.has_first_pipes());
}

TEST_CASE("only the first copy's output is kept, in the files that were given") {
    sb::unique_fd const out{::memfd_create("out", MFD_CLOEXEC)}, err{::memfd_create("err", MFD_CLOEXEC)};
    output_pipes streams{out.get(), err.get()};
    auto what = two_streams(false);
    what.keep_output = true;
    streams.begin(what);
    for (std::string const name : {"first", "second"}) {
        REQUIRE_FALSE(streams.add(what, true).has_error());
        say(ends_of(streams)[0], name);
    }
    (void)ended(streams);
    char text[32];
    CHECK(std::string(text, static_cast<std::size_t>(std::max<ssize_t>(::pread(out.get(), text, sizeof text, 0), 0))) == "first");
    CHECK(::pread(err.get(), text, sizeof text, 0) == 0);
}

TEST_CASE("output beyond its limit is seen, and a report beyond its own rests and is cut") {
    output_pipes streams{-1, -1};
    auto what = two_streams();
    what.held.output_bytes = 10;
    streams.begin(what);
    REQUIRE_FALSE(streams.add(what, true).has_error());
    auto const ends = ends_of(streams);
    std::string const block(std::size_t{64} << 10, 'r');
    std::vector<pollfd> waiting;
    auto const read_all = [&](std::int64_t now) {
        waiting.clear();
        auto const rests = streams.wait_with(waiting, now);
        REQUIRE(::poll(waiting.data(), waiting.size(), 0) >= 0);
        streams.drain_ready(waiting.data());
        return rests;
    };
    for (std::size_t at = 0; at < output_pipes::most_report_bytes; at += block.size()) {
        say(ends[2], block);
        CHECK(read_all(sb::monotonic_ns()) == -1);
    }
    CHECK_FALSE(streams.over());
    say(ends[0], "more than ten bytes");
    say(ends[2], "too much");
    auto const rests = read_all(0);
    CHECK(rests > 0);
    CHECK(waiting.size() == 2); // the report is not waited for while it rests
    CHECK(streams.over());
    auto const got = ended(streams);
    CHECK(got.reports_cut);
    REQUIRE(got.reports.size() == 1);
    CHECK(got.reports[0].size() == output_pipes::most_report_bytes);
}
