// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/tool_io.hpp"
#include <sb/cli/progress.hpp>
#include <string>

TEST_CASE("a bar is drawn at once, at the end whole, and erased when it goes") {
    sb::test::tool_io at; // standard error is a file: 80 columns
    {
        sb::cli::progress bar{true};
        bar.total(2);
        CHECK(at.said() == "\r[" + std::string(40, '.') + "] 0/2\x1b[K");
        bar.step(true);
        bar.step(false);
        CHECK(at.said().ends_with("\r[" + std::string(40, '#') + "] 2/2, 1 not ok\x1b[K"));
    }
    CHECK(at.said().ends_with("\r\x1b[K"));
}

TEST_CASE("where nobody looks, nothing is drawn") {
    sb::test::tool_io at;
    {
        sb::cli::progress hidden{false};
        hidden.total(3);
        for (int i = 0; i < 3; ++i) hidden.step(true);
    }
    CHECK(at.said().empty());
}
