// SPDX-License-Identifier: MIT
// The entry of every test program, for either major version of Catch2, and where the source tree is.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
int main(int argc, char* argv[]) { return Catch::Session().run(argc, argv); }
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

namespace sb::test {
extern char const* const source_path;
char const* const source_path = SB_SOURCE_PATH;
} // namespace sb::test
