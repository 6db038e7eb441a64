// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/tool_io.hpp"
#include <sb/app/doctor.hpp>
#include <string>
#include <vector>

using namespace sb::app;
using sb::doctor::finding;
using sb::doctor::finding_status;
using sb::test::tool_io;

namespace {

std::vector<finding> const some = {
    {"full", finding_status::missing, "no sandbox", "sysctl -w a=1", {}},
    {"memory", finding_status::ok, "limits hold", {}, {}},
    {"cpu", finding_status::limited, "whole processors only", "sysctl -w a=1", {}},
    {"settings", finding_status::limited, "only .json", {}, "install it beside this tool"},
};
doctor_choices asking(std::string format, std::vector<std::string> require = {}) { return {std::move(format), {}, std::move(require)}; }

} // namespace

TEST_CASE("the answer is yes when what is required is ok: full isolation, unless other findings are named") {
    for (auto const& [require, yes] : std::vector<std::pair<std::vector<std::string>, bool>>{{{}, false}, {{"memory"}, true}, {{"memory", "cpu"}, false}, {{"full"}, false}}) {
        tool_io at;
        REQUIRE_FALSE(write_findings(at.io, asking("jsonl", require), some).has_error());
        CHECK(at.io.answer_no == !yes);
    }
    tool_io at;
    auto const unknown = write_findings(at.io, asking("jsonl", {"memroy"}), some);
    REQUIRE(unknown.has_error());
    CHECK(unknown.error().what == "--require: no finding \"memroy\"; did you mean \"memory\"?");
}

TEST_CASE("each finding is a record, with the command or the advice that mends it") {
    tool_io at;
    REQUIRE_FALSE(write_findings(at.io, asking("jsonl"), some).has_error());
    auto const lines = at.written();
    CHECK(lines.find(R"("topic":"doctor","name":"full","status":"missing","what":"no sandbox","mend":"sysctl -w a=1")") != std::string::npos);
    CHECK(lines.find(R"("name":"memory","status":"ok","what":"limits hold","mend":null)") != std::string::npos);
    CHECK(lines.find(R"("name":"settings","status":"limited","what":"only .json","mend":"install it beside this tool")") != std::string::npos);
}

TEST_CASE("the table says each command once, with all that it mends") {
    auto const text = findings_text(some, 80, false);
    CHECK(text.find("full, cpu:\n    sysctl -w a=1\n") != std::string::npos);
    CHECK(text.find("settings:\n    install it beside this tool\n") != std::string::npos);
    CHECK(text.find("sysctl", text.find("sysctl") + 1) == std::string::npos);
    CHECK(findings_text({some[1]}, 80, false).find("to mend") == std::string::npos);
}
