// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/tool_io.hpp"
#include <sb/cli/tool.hpp>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace {

struct outcome {
    int status = -1;
    std::string said;
};
using work = std::function<sb::result<void>(sb::cli::io&, std::string const&)>;

/// A tool with one option, run by such words in this process.
outcome run(std::vector<std::string> words, work const& does) {
    sb::test::tool_io at;
    auto const on_pipe = std::signal(SIGPIPE, SIG_DFL), on_child = std::signal(SIGCHLD, SIG_DFL);
    std::string name = "nobody";
    sb::cli::tool tool{"sb-x", "a tool of a test"};
    tool.about("1.2", "");
    tool.option("--name", "NAME", "who", name);
    tool.without_settings();
    words.insert(words.begin(), "sb-x");
    std::vector<char*> argv;
    for (auto& each : words) argv.push_back(each.data());
    argv.push_back(nullptr);
    outcome seen;
    seen.status = tool.run(static_cast<int>(words.size()), argv.data(), [&](sb::cli::io& io) { return does(io, name); });
    seen.said = at.said();
    std::signal(SIGPIPE, on_pipe), std::signal(SIGCHLD, on_child);
    return seen;
}
work const nothing = [](sb::cli::io&, std::string const&) { return sb::result<void>{}; };

} // namespace

TEST_CASE("the work is given what the options say, and 0 is the status of a good end") {
    std::string given;
    CHECK(run({"--name", "ann"}, [&](sb::cli::io&, std::string const& name) { return given = name, sb::result<void>{}; }).status == 0);
    CHECK(given == "ann");
}

TEST_CASE("each way to go wrong has its status, and one line that says it") {
    CHECK(run({}, [](sb::cli::io& io, std::string const&) { return io.answer_no = true, sb::result<void>{}; }).status == 1);
    CHECK(run({}, [](sb::cli::io& io, std::string const&) { return io.reject("f", 2, 1, "bad"), sb::result<void>{}; }).status == 3);
    auto const fails = [](sb::error const& e) { return run({}, [e](sb::cli::io&, std::string const&) -> sb::result<void> { return e; }); };
    CHECK(fails(sb::caller_error("no")).status == 2);
    CHECK(fails(sb::input_error("no")).status == 3);
    CHECK(fails(sb::system_error("no")).status == 4);
    CHECK(fails(sb::system_error("no")).said == "sb-x: no\n");
    CHECK(run({}, [](sb::cli::io& io, std::string const&) { return io.interrupted = SIGTERM, sb::result<void>{}; }).status == 143);
    CHECK(run({}, [](sb::cli::io&, std::string const&) -> sb::result<void> { throw std::bad_alloc{}; }).said == "sb-x: out of memory\n");
}

TEST_CASE("a word that is no option is refused with the nearest, and the work is not begun") {
    bool begun = false;
    auto const seen = run({"--nmae", "x"}, [&](sb::cli::io&, std::string const&) { return begun = true, sb::result<void>{}; });
    CHECK(seen.status == 2);
    CHECK(seen.said.find("--name") != std::string::npos);
    CHECK_FALSE(begun);
    CHECK(run({"--name"}, nothing).status == 2);
}
