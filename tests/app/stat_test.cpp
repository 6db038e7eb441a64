// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/tool_io.hpp"
#include <sb/app/stat.hpp>
#include <string>

using sb::app::stat_choices;
using sb::test::scratch_file;

namespace {

stat_choices ask(char const* test, std::vector<std::string> files) {
    stat_choices asked;
    asked.test.test = test, asked.files = std::move(files), asked.format = "auto";
    return asked;
}

} // namespace

TEST_CASE("the interval of a mean is Student's") {
    // 1..5: mean 3, s = sqrt(2.5), t(0.975; 4) = 2.7764451 (tables): 3 -+ 1.963243
    scratch_file const numbers{"1\n2\n3\n4\n5\n"};
    sb::test::tool_io at;
    auto asked = ask("ci", {numbers.path()});
    asked.format = "csv";
    REQUIRE_FALSE(sb::app::answer_test(at.io, asked).has_error());
    CHECK(at.written().find("ci,3.0,,5,0.95,t,1.0367") != std::string::npos);
    CHECK(at.written().find(",4.9632") != std::string::npos);
    CHECK_FALSE(at.io.answer_no);
}

TEST_CASE("a bad line is told, and there is no answer") {
    scratch_file const numbers{"1\n2\nthree\n4\n"};
    sb::test::tool_io at;
    REQUIRE_FALSE(sb::app::answer_test(at.io, ask("ci", {numbers.path()})).has_error());
    CHECK(at.written().empty());
    CHECK(at.io.bad_lines == 1);
    CHECK(at.said() == "sb-x: line 3, byte 1: not a number\n");
}

TEST_CASE("groups that are tests of their own are ordered by name; samples stay as they came") {
    scratch_file const lines{"{\"g\":\"b\",\"x\":1}\n{\"g\":\"a\",\"x\":2}\n{\"g\":\"b\",\"x\":3}\n{\"g\":\"a\",\"x\":5}\n{\"g\":\"c\"}\n"};
    for (auto const* test : {"ci", "ks"}) {
        sb::test::tool_io at;
        auto asked = ask(test, {lines.path()});
        asked.from.field = "x", asked.from.by = "g";
        REQUIRE_FALSE(sb::app::answer_test(at.io, asked).has_error());
        auto const text = at.written();
        if (std::string{test} == "ci") CHECK(text.find("\"name\":\"a\"") < text.find("\"name\":\"b\""));
        else CHECK(text.find("\"first\":\"b\",\"second\":\"a\"") != std::string::npos);
        CHECK(text.find("\"c\"") == std::string::npos); // it has no number
        CHECK(at.said() == "sb-x: lines without x or g, passed over: 1\n");
    }
}

TEST_CASE("pairs with one side are left out and told") {
    scratch_file const first{"1\n2\n\n4\n6\n"}, second{"2\n4\n6\n8\n13\n"};
    sb::test::tool_io at;
    REQUIRE_FALSE(sb::app::answer_test(at.io, ask("correlation", {first.path(), second.path()})).has_error());
    CHECK(at.said() == "sb-x: warning: 1 of 5 pairs has only one side and is left out\n");
}

TEST_CASE("what cannot be asked is refused before a file is opened") {
    sb::test::tool_io at;
    auto const refused = [&](stat_choices const& asked) { return std::string{sb::app::answer_test(at.io, asked).error().what}; };
    CHECK(refused(ask("ci", {"-", "-"})) == "-: standard input can be read once");
    auto by = ask("ci", {"no such file"});
    by.from.by = "g";
    CHECK(refused(by) == "--by needs --field, which names the number of each JSON line");
    at.io.in_terminal = true;
    CHECK(refused(ask("ci", {})) == "no input; give a file of numbers, or numbers on standard input");
}

TEST_CASE("an option that would do nothing is refused where the command line has it, and nowhere else") {
    sb::cli::declaration tool;
    tool.options.resize(1);
    tool.options[0].flag = "--trim", tool.options[0].source = "flag --trim";
    sb::analysis::test_question levene;
    levene.test = "levene";
    CHECK(sb::app::check_use(tool, levene).error().what == "--trim is for --center trimmed, not for median");
    levene.center = "trimmed";
    CHECK_FALSE(sb::app::check_use(tool, levene).has_error());
    levene.center = "mean", tool.options[0].source = "settings";
    CHECK_FALSE(sb::app::check_use(tool, levene).has_error());
}
