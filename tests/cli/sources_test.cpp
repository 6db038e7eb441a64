// SPDX-License-Identifier: MIT
// Tests of environment.hpp, settings.hpp and sources.hpp.
#include "support/catch.hpp"
#include "support/victim.hpp"
#include <filesystem>
#include <sb/cli/environment.hpp>
#include <sb/cli/settings.hpp>
#include <sb/cli/sources.hpp>
#include <string>
#include <vector>

namespace {

/// A tool with an option of each sort, in a folder of its own that is the current one.
struct sample {
    sb::test::folder folder;
    std::string here = std::filesystem::current_path().string();
    std::string walls = "full", color = "auto", level = "warning";
    std::vector<std::string> bindings;
    sb::cli::declaration tool;
    sb::cli::sources from;
    sample() {
        std::filesystem::current_path(folder.path());
        tool.name = "sb-x";
        add("--walls", walls).env("SB_X_WALLS");
        add("--color", color).env("SB_X_COLOR").foreign_env("X_COLOR").old_env("SB_X_COLOUR", "SB_X_COLOR").setting("color").harmless();
        add("--level", level).choices({"warning", "info"}).synonym("more", "info").setting("level").harmless({"info"});
        add("--bind", bindings).harmless();
        tool.sections = {"weights"};
        tool.looks_up = [](std::string_view name) { return name == "X_LIMIT"; };
    }
    ~sample() { std::filesystem::current_path(here); }
    template <class T>
    sb::cli::option& add(std::string flag, T& target) {
        auto& o = tool.options.emplace_back();
        o.flag = std::move(flag), o.meta = "WHAT";
        sb::cli::bind_option(o, target);
        return o;
    }
    void put(char const* name, std::string_view text, mode_t mode = 0644) const {
        auto const file = sb::open_file(folder / name, O_WRONLY | O_CREAT | O_TRUNC, mode);
        REQUIRE(::fchmod(file->get(), mode) == 0);
        REQUIRE_FALSE(sb::write_all(file->get(), text, name).has_error());
    }
};

} // namespace

TEST_CASE("variables of a found file set what cannot harm, and nothing else") {
    sample s;
    s.put(".env", "SB_X_WALLS=none\nSB_X_COLOUR=never\nX_LIMIT=1\nX_OTHER=2\nX_COLOR=purple\n");
    s.from.take_found_variables(s.tool);
    CHECK(s.walls == "full");
    CHECK(s.color == "never");
    CHECK(s.tool.options[0].source == "default");
    CHECK(s.tool.options[1].source == ".env SB_X_COLOUR");
    CHECK_FALSE(s.from.env.find("X_LIMIT").has_value()); // what the work looks up is not in it either
}

TEST_CASE("variables of a found file that others may write set nothing") {
    sample s;
    s.put(".env", "SB_X_COLOR=never\n", 0664);
    s.from.take_found_variables(s.tool);
    CHECK(s.color == "auto");
}

TEST_CASE("a file of variables that was named sets all, after the environment") {
    sample s;
    s.put("e", "SB_X_WALLS=none\nX_LIMIT=1\nPATH=/evil\n", 0666);
    REQUIRE_FALSE(s.from.env.read_file("e").has_error());
    for (auto& o : s.tool.options) REQUIRE_FALSE(s.from.from_environment(o).has_error());
    CHECK(s.walls == "none");
    CHECK(s.tool.options[0].source == "e SB_X_WALLS");
    CHECK(s.from.env.find("X_LIMIT")->value == "1");
    CHECK(s.from.env.find("PATH")->value != "/evil");
    CHECK(s.from.env.folder("X_LIMIT").empty());
}

TEST_CASE("an option that is not harmless by declaration, or a list, is never set by a found file") {
    sample const s;
    CHECK_FALSE(s.tool.options[0].may_be_found("full"));
    CHECK(s.tool.options[1].may_be_found("whatever"));
    CHECK(s.tool.options[2].may_be_found("INFO"));
    CHECK(s.tool.options[2].may_be_found("more"));
    CHECK_FALSE(s.tool.options[2].may_be_found("warning"));
    CHECK_FALSE(s.tool.options[2].may_be_found("no-word"));
    CHECK_FALSE(s.tool.options[3].may_be_found("/:/host"));
}

TEST_CASE("settings that were named set all; what the user's folder has is ignored where others could have written it") {
    sample s;
    s.put("s.json", R"({"color": "never", "weights": {"a": 1}, "sb-x": {"walls": "none", "bind": ["a", "b"]}})", 0666);
    CHECK_FALSE(*s.from.read_trusted_settings(s.tool, s.folder / "s.json", false));
    CHECK(s.walls == "full");
    CHECK(s.from.settings.empty());
    REQUIRE(*s.from.read_trusted_settings(s.tool, "s.json", true));
    CHECK(s.walls == "none");
    CHECK(s.bindings == std::vector<std::string>{"a", "b"});
    CHECK(s.tool.options[0].source == "settings s.json");
    CHECK(s.from.settings.if_contains("sb-x"));
    CHECK(s.from.section_source.at("weights") == "settings s.json");
}

TEST_CASE("settings in a folder where others may put a file are ignored") {
    for (bool const is_safe : {false, true}) {
        sample s;
        s.put("s.json", R"({"sb-x": {"walls": "none"}})");
        REQUIRE(::chmod(s.folder.path().c_str(), is_safe ? 0755 : 0777) == 0);
        CHECK(*s.from.read_trusted_settings(s.tool, s.folder / "s.json", false) == is_safe);
        CHECK(s.walls == (is_safe ? "none" : "full"));
    }
}

TEST_CASE("the usual settings are the first that are there, and an empty folder is none") {
    sb::test::folder const one, two;
    CHECK(sb::cli::usual_settings({one.path(), two.path(), ""}).empty());
    for (auto const* const folder : {&one, &two}) REQUIRE_FALSE(sb::make_folders(*folder / "sandbench", 0755).has_error());
    auto const put = [](std::string const& path) { REQUIRE_FALSE(sb::open_file(path, O_WRONLY | O_CREAT, 0644).has_error()); };
    put(two / "sandbench/settings.json");
    CHECK(sb::cli::usual_settings({one.path(), two.path()}) == two / "sandbench/settings.json");
    put(two / "sandbench/settings.yaml");
    CHECK(sb::cli::usual_settings({one.path(), two.path()}) == two / "sandbench/settings.yaml");
    put(one / "sandbench/settings.json");
    CHECK(sb::cli::usual_settings({one.path(), two.path()}) == one / "sandbench/settings.json");
    CHECK(sb::cli::usual_settings({"", two.path()}) == two / "sandbench/settings.yaml");
}
