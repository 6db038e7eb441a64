// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/cpu.hpp>
#include <cstdlib>
#include <string>

namespace {

/// SB_CPU as it was, when the test is over.
class variable {
public:
    variable() {
        if (char const* const v = std::getenv("SB_CPU")) was_ = v, is_set_ = true;
    }
    ~variable() {
        if (is_set_) ::setenv("SB_CPU", was_.c_str(), 1);
        else ::unsetenv("SB_CPU");
    }

private:
    std::string was_;
    bool is_set_ = false;
};

} // namespace

TEST_CASE("SB_CPU takes instructions away and never gives any") {
    variable const kept;
    ::unsetenv("SB_CPU");
    CHECK(sb::chosen_instruction_set() == sb::best_instruction_set());
    ::setenv("SB_CPU", "plain", 1);
    CHECK(sb::chosen_instruction_set() == sb::instruction_set::plain);
    ::setenv("SB_CPU", "avx512", 1);
    CHECK(sb::chosen_instruction_set() == sb::best_instruction_set());
    ::setenv("SB_CPU", "avx2", 1);
    CHECK(sb::chosen_instruction_set() == (sb::best_instruction_set() == sb::instruction_set::plain ? sb::instruction_set::plain : sb::instruction_set::avx2));
    ::setenv("SB_CPU", "no such set", 1);
    CHECK(sb::chosen_instruction_set() == sb::best_instruction_set());
}
