// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/process/rlimit_list.hpp>
#include <algorithm>

using sb::process::limits;
using sb::process::rlimit_list;

namespace {
rlimit const* find(rlimit_list const& all, int resource) {
    auto const at = std::find_if(all.begin(), all.end(), [&](auto const& e) { return e.resource == resource; });
    return at == all.end() ? nullptr : &at->to;
}
} // namespace

TEST_CASE("no limits but those on core dumps and on going before others are set unasked") {
    rlimit_list const none{limits{}};
    CHECK(none.end() - none.begin() == 3);
    REQUIRE(find(none, RLIMIT_CORE));
    rlimit own{};
    ::getrlimit(RLIMIT_CORE, &own);
    auto const nothing = std::min<rlim_t>(own.rlim_max, 1); // with 0, a program of the host's would be handed the core
    CHECK(find(none, RLIMIT_CORE)->rlim_cur == nothing);
    CHECK(find(none, RLIMIT_CORE)->rlim_max == nothing);
    for (auto const which : {RLIMIT_RTPRIO, RLIMIT_NICE}) {
        REQUIRE(find(none, which));
        CHECK(find(none, which)->rlim_max == 0);
    }
    rlimit_list const inherits{limits{}, true};
    CHECK(inherits.begin() == inherits.end());
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
