// SPDX-License-Identifier: MIT
// Catch2, whichever major version is installed, and the source tree.
#pragma once
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
#include <string>

namespace sb::test {
extern char const* const source_path; // no macro: then what is compiled would differ from clone to clone (main.cpp)
}
#define SB_SOURCE_DIR (std::string{sb::test::source_path})
