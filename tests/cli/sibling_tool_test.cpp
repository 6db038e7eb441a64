// SPDX-License-Identifier: MIT
#include "support/files.hpp"
#include "support/victim.hpp"
#include <sb/cli/sibling_tool.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

using namespace sb::cli;
using sb::test::put;

namespace {

/// PATH and the current folder, as they were after the test.
struct place {
    std::string path = std::getenv("PATH"), here = std::filesystem::current_path().string();
    place(std::string const& new_path, std::string const& new_here) {
        ::setenv("PATH", new_path.c_str(), 1);
        std::filesystem::current_path(new_here);
    }
    place(place const&) = delete;
    ~place() {
        ::setenv("PATH", path.c_str(), 1);
        std::filesystem::current_path(here);
    }
};

} // namespace

TEST_CASE("a tool that is not beside us is found in PATH, the first that can be executed, and never where a workspace is") {
    sb::test::folder const first, second, workspace;
    put(first / "sb-of-a-test", "#!/bin/sh\n", 0644); // cannot be executed
    put(second / "sb-of-a-test", "#!/bin/sh\n", 0755);
    put(workspace / "sb-of-a-test", "#!/bin/sh\n", 0755);
    {
        place const at{workspace.path() + "::.:" + first.path() + ":" + second.path(), workspace.path()};
        CHECK(sibling_tool("sb-of-a-test") == second / "sb-of-a-test");
        CHECK(sibling_tool("sb-of-another-test").empty());
    }
    place const elsewhere{workspace.path() + ":" + second.path(), "/"};
    CHECK(sibling_tool("sb-of-a-test") == workspace / "sb-of-a-test"); // the folder is no longer the current one
}

TEST_CASE("what a program prints on both streams is returned with its status, and its input is the given one") {
    int status = -1;
    CHECK(output_of("/bin/sh", {"-c", "echo out; echo err >&2; exit 7"}, status).value() == "out\nerr\n");
    CHECK(WEXITSTATUS(status) == 7);
    auto ends = sb::make_pipe().value();
    REQUIRE(::write(ends.write.get(), "given", 5) == 5);
    ends.write.reset();
    CHECK(output_of("/bin/cat", {}, status, ends.read.get()).value() == "given");
    auto const none = output_of("/no/such/program", {}, status);
    REQUIRE(none.has_error());
    CHECK(none.error().what.find("/no/such/program") != std::string::npos);
}
