// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/local/outcome_of.hpp>

using namespace sb::local;

TEST_CASE("figures add up the copies of a run and keep unknown apart from zero") {
    sb::watch::outcome seen;
    for (double const s : {1.0, 2.0}) {
        sb::process::raw_usage raw;
        raw.user_us = static_cast<std::int64_t>(s * 1e6), raw.system_us = raw.user_us / 2;
        raw.peak_rss_bytes = static_cast<std::int64_t>(s * 100);
        raw.read_bytes = 10, raw.processes = 1;
        seen.copies.emplace_back().used = sb::watch::usage{raw};
    }
    seen.wall_s = 4;
    sb::run::job what;
    what.number = 7, what.setup.copies = 2;
    auto const got = outcome_of(std::move(seen), what);
    CHECK(got.number == 7);
    CHECK(got.copies == 2);
    CHECK(got.copies_not_ok == 0);
    CHECK(got.wall_s == 4);
    CHECK(got.used.cpu_user_s == 3.0);
    CHECK(got.used.cpu_sys_s == 1.5);
    CHECK(got.used.peak_rss_bytes == 200);
    CHECK(got.used.read_bytes == 20);
    CHECK(got.used.write_bytes == 0);
    CHECK_FALSE(got.used.read_logical_bytes.has_value()); // nobody counted
    CHECK_FALSE(got.used.net_rx_bytes.has_value());
    CHECK_FALSE(got.fresh.has_value()); // there was no sandbox
}

TEST_CASE("a check whose run took its sandbox along says that it is lost") {
    sb::watch::outcome seen;
    seen.trouble = "the run's sandbox had to be destroyed";
    sb::run::job what;
    CHECK(outcome_of(sb::watch::outcome{seen}, what).lost.empty());
    what.is_check = true;
    CHECK(outcome_of(sb::watch::outcome{seen}, what).lost == seen.trouble);
}
