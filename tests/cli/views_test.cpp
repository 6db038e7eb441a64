// SPDX-License-Identifier: MIT
// Tests of completion.hpp, help.hpp, manual.hpp, option.hpp and table.hpp.
#include "support/catch.hpp"
#include <sb/cli/completion.hpp>
#include <sb/cli/help.hpp>
#include <sb/cli/manual.hpp>
#include <sb/cli/option.hpp>
#include <sb/cli/table.hpp>
#include <string>
#include <vector>

namespace {

struct sample {
    std::string by = "scenario";
    std::vector<std::string> files;
    sb::seconds wait{30};
    bool loud = false;
    sb::cli::declaration tool;
    sample() {
        tool.name = "sb-x", tool.summary = "try things", tool.version = "1.2", tool.operands = "[FILE…]";
        add("--by", "WHAT", "group by it's kind", by).choices({"scenario", "preset"}).env("SB_BY");
        add("--wait", "TIME", "how long", wait).short_name('w');
        add("--loud", "", "say more", loud);
        tool.manual = "# Examples\n\nRun `sb-x`:\n\n    sb-x --by preset\n    .hidden\n\n# Notes\n\n- one\n- **two**\n\n| a | b |\n| --- | --- |\n| c | d |\n\n| key | meaning | note |\n| --- | --- | --- |\n| `e` | a cell that is much too long for a column of a page that a terminal shows | f |\n";
    }
    template <class T>
    sb::cli::option& add(std::string flag, std::string meta, std::string help, T& target) {
        auto& o = tool.options.emplace_back();
        o.flag = std::move(flag), o.meta = std::move(meta), o.help = std::move(help);
        sb::cli::bind_option(o, target);
        return o;
    }
};

} // namespace

TEST_CASE("an option takes text by its type, and the error names where the text came from") {
    sample s;
    auto& by = s.tool.options[0];
    CHECK_FALSE(by.take("PRESET", "--by").has_error());
    CHECK(s.by == "preset");
    CHECK(by.take("prset", "SB_BY").error().what == "SB_BY: \"prset\" is not one of scenario, preset; did you mean \"preset\"?");
    CHECK_FALSE(s.tool.options[1].take("2m", "--wait").has_error());
    CHECK(s.wait.count == 120);
    CHECK(s.tool.options[1].take("soon", "--wait").error().what.starts_with("--wait: duration \"soon\""));
    CHECK(s.tool.options[2].take("perhaps", "--loud").has_error());
}

TEST_CASE("help, manual, reference and completions show every option of the declaration") {
    sample const s;
    for (auto const& text : {sb::cli::help_text(s.tool, 100), sb::cli::reference_page(s.tool), sb::cli::completion(s.tool, "bash"),
                             sb::cli::completion(s.tool, "zsh")})
        for (auto const& o : s.tool.options) CHECK(text.find(o.flag) != std::string::npos);
    auto const man = sb::cli::man_page(s.tool);
    CHECK(man.find("\\fB\\-\\-by\\fR \\fIWHAT\\fR") != std::string::npos);
    CHECK(sb::cli::completion(s.tool, "fish").find("-l by -x -a 'scenario preset' -d 'group by it\\'s kind'") != std::string::npos);
}

TEST_CASE("help, manual and reference say what each exit status means") {
    sample const s;
    for (auto const& text : {sb::cli::help_text(s.tool, 100), sb::cli::man_page(s.tool), sb::cli::reference_page(s.tool)})
        for (auto const& each : sb::cli::exit_table) CHECK(text.find(each.text) != std::string::npos);
    CHECK(sb::cli::reference_page(s.tool).find("\n\n## Exit status\n\n| status | meaning |\n| --- | --- |\n| 0 | it ran |\n") != std::string::npos);
}

TEST_CASE("a manual's Markdown becomes roff that cannot be mistaken for commands") {
    sample const s;
    auto const man = sb::cli::man_page(s.tool);
    CHECK(man.find("\n.SH EXAMPLES\n") != std::string::npos);
    CHECK(man.find("\nsb\\-x \\-\\-by preset\n\\&.hidden\n") != std::string::npos);
    CHECK(man.find("\\fBtwo\\fR") != std::string::npos);
    CHECK(man.find(".nf\na  b\nc  d\n.fi") != std::string::npos);
    CHECK(man.find(".TP\n\\fBe\\fR\nmeaning: a cell that is much too long for a column of a page that a terminal shows; note: f\n") != std::string::npos);
    CHECK(man.find("---") == std::string::npos);
}

TEST_CASE("a table is aligned by what the eye sees, and obeys nobody's escapes") {
    sb::cli::table t;
    t.column("name").column("n", sb::cli::table::align::right);
    t.row({"日本", "1"});
    t.row({"e\xcc\x81", "22"}); // e and a combining accent: one cell
    t.row({"\x1b[31mred\x9b", "333"});
    CHECK(t.text() == "name               n\n日本               1\ne\xcc\x81                 22\n\\x1b[31mred\\x9b  333\n");
    CHECK(t.csv() == "name,n\n日本,1\ne\xcc\x81,22\n\x1b[31mred\x9b,333\n");
    sb::cli::table q;
    q.column("a|b");
    q.row({"x,\"y\"\n"});
    CHECK(q.csv() == "a|b\n\"x,\"\"y\"\"\n\"\n");
    CHECK(q.markdown() == "| a\\|b |\n| --- |\n| x,\"y\"\\x0a |\n");
}
