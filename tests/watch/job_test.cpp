// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/watch/job.hpp>

using namespace sb::watch;

namespace {
sb::process::raw_usage raw(std::int64_t user_us, std::int64_t system_us, std::int64_t peak, std::int64_t processes) {
    sb::process::raw_usage all;
    all.user_us = user_us, all.system_us = system_us, all.peak_rss_bytes = peak, all.processes = processes;
    all.read_bytes = 512, all.written_bytes = 1024;
    return all;
}
} // namespace

TEST_CASE("usage is given in seconds, and is unknown when no process was waited for") {
    usage const one{raw(1'500'000, 250'000, 4096, 1)};
    CHECK(one.user_s == Approx(1.5));
    CHECK(one.system_s == Approx(0.25));
    CHECK(one.peak_rss_bytes == 4096);
    CHECK(one.read_bytes == 512);
    CHECK(one.written_bytes == 1024);
    CHECK(one.known);
    CHECK_FALSE(usage{raw(0, 0, 0, 0)}.known);
    CHECK_FALSE(usage{}.known);
}

TEST_CASE("usages add up, and of their peaks the greatest counts") {
    usage sum;
    sum.add(usage{raw(1'000'000, 0, 5000, 1)});
    sum.add(usage{raw(500'000, 125'000, 3000, 2)});
    CHECK(sum.known);
    CHECK(sum.user_s == Approx(1.5));
    CHECK(sum.system_s == Approx(0.125));
    CHECK(sum.peak_rss_bytes == 5000);
    CHECK(sum.read_bytes == 1024);
    CHECK(sum.written_bytes == 2048);
}

TEST_CASE("what is unknown adds nothing, and makes nothing known") {
    usage sum;
    sum.add(usage{raw(1'000'000, 1'000'000, 5000, 0)});
    CHECK_FALSE(sum.known);
    CHECK(sum.user_s == 0);
    CHECK(sum.peak_rss_bytes == 0);
    CHECK(sum.written_bytes == 0);
    sum.add(usage{raw(1'000'000, 0, 5000, 1)});
    sum.add(usage{});
    CHECK(sum.known);
    CHECK(sum.user_s == Approx(1));
}

TEST_CASE("a job that says nothing reads nothing, runs once and is held to nothing") {
    job const plain;
    CHECK(plain.in == nothing_to_read);
    CHECK(plain.copies == 1);
    CHECK_FALSE((plain.wait_tree || plain.reports || plain.keep_output));
    CHECK((plain.group == -1 && plain.scratch == -1));
    CHECK(plain.held.wall_ns == sb::process::limits::none);
    CHECK(plain.held.output_bytes == sb::process::limits::none);
}

TEST_CASE("an outcome that nobody filled in claims nothing") {
    outcome const empty;
    CHECK(empty.killed_by == killer::nobody);
    CHECK((empty.trouble.empty() && empty.copies.empty() && empty.reports.empty()));
    CHECK_FALSE((empty.read_chars || empty.written_chars || empty.cancelled_bytes || empty.processes_made || empty.group || empty.charged || empty.net_rx_bytes || empty.noise));
    CHECK_FALSE((empty.reaper_lost || empty.scratch_full || empty.file_limit_reached || empty.orphan_broke_file_limit || empty.called || empty.reports_cut));
    CHECK_FALSE(empty.orphans.known);
    CHECK_FALSE(copy_end{}.failure);
    CHECK_FALSE(copy_end{}.own_s);
}
