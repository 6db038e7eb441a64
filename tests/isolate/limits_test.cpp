// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/isolate/limits.hpp>
#include <algorithm>

using sb::isolate::limits;
using sb::isolate::rlimit_list;

namespace {
rlimit const* find(rlimit_list const& all, int resource) {
    auto const at = std::find_if(all.begin(), all.end(), [&](auto const& e) { return e.resource == resource; });
    return at == all.end() ? nullptr : &at->to;
}
} // namespace

TEST_CASE("no limit but the one on core dumps is set unasked") {
    rlimit_list const none{limits{}};
    CHECK(none.end() - none.begin() == 1);
    REQUIRE(find(none, RLIMIT_CORE));
    CHECK(find(none, RLIMIT_CORE)->rlim_max == 0);
}

TEST_CASE("processor time warns first and kills a second later") {
    limits held;
    held.cpu_seconds = 5;
    rlimit_list const all{held};
    REQUIRE(find(all, RLIMIT_CPU));
    CHECK(find(all, RLIMIT_CPU)->rlim_cur == 5);
    CHECK(find(all, RLIMIT_CPU)->rlim_max == 6);
}

TEST_CASE("a limit that we raised for ourselves is put back, unless the run has its own") {
    rlimit const original{100, 200};
    rlimit_list plain{limits{}};
    plain.restore(RLIMIT_NOFILE, original);
    REQUIRE(find(plain, RLIMIT_NOFILE));
    CHECK(find(plain, RLIMIT_NOFILE)->rlim_cur == 100);
    limits held;
    held.open_files = 16;
    rlimit_list own{held};
    own.restore(RLIMIT_NOFILE, original);
    CHECK(find(own, RLIMIT_NOFILE)->rlim_cur == 16);
}
