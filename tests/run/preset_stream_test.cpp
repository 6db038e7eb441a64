// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/preset_stream.hpp>
#include <string>
#include <unistd.h>

using namespace sb::run;

TEST_CASE("a stream of presets keeps their order and passes other records through") {
    auto pipe = sb::make_pipe();
    std::string_view const text = "{\"SCENARIO_NAME\":\"a\",\"TIMEOUT\":1}\n{\"kind\":\"sample\",\"v\":1}\nbroken\n{\"SCENARIO_NAME\":\"b\",\"TIMEOUT\":2}";
    REQUIRE(::write(pipe->write.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    pipe->write.reset();
    std::string passed, bad;
    auto const got = read_preset_stream(
        pipe->read.get(), "test", [&](std::string_view line) { passed += line; },
        [&](sb::stress::bad_preset const& b) { bad += sb::cat(b.line, ":", b.byte); }, {});
    REQUIRE_FALSE(got.has_error());
    REQUIRE(got->presets.size() == 2);
    CHECK(got->presets[0].scenario() == "a");
    CHECK(got->presets[1].scenario() == "b");
    CHECK(passed == "{\"kind\":\"sample\",\"v\":1}");
    CHECK(bad == "3:1");
}
