// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/result.hpp>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

sb::result<int> half(int n) {
    if (n % 2 != 0) return sb::input_error("odd");
    return n / 2;
}
sb::result<void> even(int n) {
    SB_CHECK(half(n));
    return {};
}
sb::result<std::unique_ptr<int>> quarter(int n) {
    SB_TRY(auto const first, half(n));
    SB_TRY(auto const second, half(first));
    return std::make_unique<int>(second);
}

} // namespace

TEST_CASE("an error goes up from where it is met, and a value goes on") {
    CHECK(**quarter(12) == 3);
    CHECK(quarter(6).error().what == "odd");
    CHECK(quarter(6).error().on == sb::blame::input);
    CHECK_FALSE(even(2).has_error());
    CHECK(even(3).has_error());
}

TEST_CASE("an error says who can mend it, and what the system said") {
    CHECK(sb::caller_error("x").on == sb::blame::caller);
    auto const e = sb::errno_error("open", "/a", ENOENT);
    CHECK(e.on == sb::blame::system);
    CHECK(e.what == "open /a: No such file or directory");
    errno = EACCES;
    CHECK(sb::last_error("fork").what == "fork: Permission denied");
}

TEST_CASE("to take the value of an error without a look is a fault of the program, and says the error") {
    CHECK_THROWS_AS(half(1).value(), std::runtime_error);
    CHECK_THROWS_WITH(half(1).value(), "odd");
}
