// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include <sb/process/look_as.hpp>

using namespace sb::process;
using namespace sb::test;

namespace {
bool opens(std::string const& path) {
    sb::unique_fd const file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    return static_cast<bool>(file);
}
void make_file(std::string const& path, uid_t owner, mode_t mode) {
    auto const file = sb::open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600).value();
    REQUIRE((::fchown(file.get(), owner, owner) == 0 && ::fchmod(file.get(), mode) == 0));
}
} // namespace

TEST_CASE("whoever looks with another's rights opens what that one may open, and afterwards all as before", "[look_as]") {
    folder here;
    if (::geteuid() != 0) { // nothing changes
        make_file(here / "own", ::geteuid(), 0600);
        look_as const meanwhile{{12345, 12345}};
        CHECK(opens(here / "own"));
        return;
    }
    REQUIRE(::chmod(here.path().c_str(), 0755) == 0);
    make_file(here / "roots", 0, 0600), make_file(here / "theirs", 12345, 0600), make_file(here / "open", 0, 0644), make_file(here / "of_the_group", 0, 0640);
    {
        look_as const meanwhile{{12345, 12345}};
        CHECK_FALSE(opens(here / "roots"));
        CHECK_FALSE(opens(here / "of_the_group")); // root's groups do not go along
        CHECK(opens(here / "theirs"));
        CHECK(opens(here / "open"));
    }
    {
        look_as const meanwhile{{0, 0}}; // a root who may read what is its own alone
        CHECK(opens(here / "roots"));
        CHECK_FALSE(opens(here / "theirs"));
    }
    CHECK(opens(here / "roots"));
    CHECK(opens(here / "theirs"));
    CHECK(opens(here / "of_the_group"));
}
