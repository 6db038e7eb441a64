// SPDX-License-Identifier: MIT
// Tests of arguments.hpp and declaration.hpp.
#include "support/catch.hpp"
#include <sb/cli/arguments.hpp>
#include <sb/cli/declaration.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

struct sample {
    std::string name;
    bool loud = false;
    std::vector<std::string> files, operands;
    sb::cli::declaration tool;
    sample() {
        tool.name = "sb-x";
        add("--name", "NAME", name).short_name('n').alias("--called");
        add("--loud", "", loud).short_name('l');
        add("--file", "FILE", files).greedy = true;
    }
    template <class T>
    sb::cli::option& add(std::string flag, std::string meta, T& target) {
        auto& o = tool.options.emplace_back();
        o.flag = std::move(flag), o.meta = std::move(meta);
        sb::cli::bind_option(o, target);
        return o;
    }
    /// The assignments as "flag=value", with a blank after each; or what is wrong.
    std::string read(std::vector<std::string> words, bool takes_operands = true) {
        operands.clear();
        words.insert(words.begin(), "sb-x");
        std::vector<char*> argv;
        for (auto& each : words) argv.push_back(each.data());
        auto const got = sb::cli::read_arguments(tool, takes_operands ? &operands : nullptr, static_cast<int>(argv.size()), argv.data());
        if (got.has_error()) return got.error().what;
        std::string text;
        for (auto const& [o, value] : *got) text += sb::cat(o->flag, "=", value, " ");
        return text;
    }
};
using words = std::vector<std::string>;

} // namespace

TEST_CASE("each way to write an option is the same assignment") {
    sample s;
    for (auto const& way : {words{"--name", "ann"}, {"--name=ann"}, {"--called", "ann"}, {"-n", "ann"}, {"-nann"}}) CHECK(s.read(way) == "--name=ann ");
    CHECK(s.read({"--name="}) == "--name= ");
    CHECK(s.read({"--name", "--loud"}) == "--name=--loud "); // the next word is the value, whatever it looks like
    CHECK(s.read({"-l", "--no-loud", "--loud=no"}) == "--loud=yes --loud=no --loud=no ");
    CHECK(s.read({"--file", "a", "b", "--loud", "c"}) == "--file=a --file=b --loud=yes ");
    CHECK(s.operands == words{"c"});
}

TEST_CASE("what is no option is an operand; after -- everything is, and for a command all that follows its first word") {
    sample s;
    CHECK(s.read({"a", "-", "--loud", "--", "--name", "-x"}) == "--loud=yes ");
    CHECK(s.operands == words{"a", "-", "--name", "-x"});
    s.tool.rest_is_command = true;
    CHECK(s.read({"--loud", "make", "--name", "-x"}) == "--loud=yes ");
    CHECK(s.operands == words{"make", "--name", "-x"});
}

TEST_CASE("a word that cannot be read is told, with what to write instead") {
    sample s;
    CHECK(s.read({"--nmae", "ann"}) == "unknown option \"--nmae\"; did you mean \"--name\"? sb-x --help lists them");
    CHECK(s.read({"--zzzzzz"}) == "unknown option \"--zzzzzz\"; sb-x --help lists them");
    for (char const* const bad : {"--no-name", "--no-loud=yes", "-lx", "-z"}) CHECK(s.read({bad}).starts_with(sb::cat("unknown option \"", bad, "\"")));
    CHECK(s.read({"--name"}) == "--name needs a value: -n, --name NAME");
    CHECK(s.read({"--file"}) == "--file needs a value: --file FILE…");
    CHECK(s.read({"a"}, false) == "takes no operands, but was given \"a\"; sb-x --help shows its use");
    CHECK(s.read({"--", "a"}, false) == "takes no operands, but was given \"a\"");
    CHECK(s.read({"--"}, false).empty());
}
