// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/local/choose_view.hpp>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace sb::local;
using sb::sandbox::view;

namespace {
/// A real path with these folders in it.
struct scene {
    sb::test::folder made;
    std::string here = sb::files::real_path(made.path()).value();
    explicit scene(std::initializer_list<char const*> folders = {}) {
        for (auto const* each : folders) REQUIRE_FALSE(sb::make_folders(*this / each, 0755).has_error());
    }
    std::string operator/(std::string_view name) const { return sb::cat(here, "/", name); }
};
void link(std::string const& to, std::string const& name) { REQUIRE(::symlink(to.c_str(), name.c_str()) == 0); }
std::string wrong(sb::result<void> const& got) {
    REQUIRE(got.has_error());
    CHECK(got.error().on == sb::blame::caller);
    return got.error().what;
}
} // namespace

TEST_CASE("the workspace is a real path, and is held open") {
    scene const at{"work"};
    link(at / "work", at / "link");
    view shown;
    REQUIRE_FALSE(show_workspace(shown, at / "link").has_error());
    CHECK(shown.work == at / "work");
    struct stat facts {};
    REQUIRE(::stat((at / "work").c_str(), &facts) == 0);
    CHECK(shown.work_place.is_same_as(facts));
}

TEST_CASE("a workspace that is not there, is no folder, or is the whole system is refused") {
    scene const at;
    std::ofstream{at / "file"} << "x";
    view shown;
    CHECK(wrong(show_workspace(shown, at / "none")).starts_with("workspace " + at / "none" + ": "));
    CHECK(wrong(show_workspace(shown, at / "file")) == "workspace " + at / "file" + ": not a folder");
    CHECK(wrong(show_workspace(shown, "/")).starts_with("workspace /: the whole system cannot be the workspace"));
    CHECK(shown.work.empty());
}

TEST_CASE("system folders are taken from a folder that has one of them") {
    scene const at{"root/usr", "bare/etc"};
    link(at / "root", at / "link");
    view shown;
    REQUIRE_FALSE(show_system(shown, at / "link").has_error());
    CHECK(shown.system == at / "root");
    CHECK(shown.system_place.path() == at / "root");
    view refused;
    CHECK(wrong(show_system(refused, at / "bare")) == "--root " + at / "bare" + ": has none of the system folders (usr, bin, lib)");
    CHECK(wrong(show_system(refused, at / "none")).starts_with("--root " + at / "none" + ": "));
}

TEST_CASE("the host's own root is no other place") {
    scene const at;
    link("/", at / "link");
    for (auto const& root : {std::string{"/"}, at / "link"}) {
        view shown;
        REQUIRE_FALSE(show_system(shown, root).has_error());
        CHECK(shown.system == "/");
        CHECK(shown.system_place.path().empty());
    }
}

TEST_CASE("a binding in a system folder needs a place that exists there, and one elsewhere does not") {
    scene const at{"data", "root/usr/share"};
    view shown;
    REQUIRE_FALSE(show_binding(shown, at / "data" + ":/usr/share:ro").has_error());
    REQUIRE_FALSE(show_binding(shown, at / "data" + ":/opt/none/at/all:rw").has_error());
    REQUIRE_FALSE(show_binding(shown, at / "data" + ":/usrlocal").has_error());
    REQUIRE(shown.bindings.size() == 3);
    CHECK(shown.bindings[0].source == at / "data");
    CHECK(shown.bindings[0].target == "/usr/share");
    CHECK_FALSE(shown.bindings[0].writable);
    CHECK(shown.bindings[1].writable);
    CHECK(wrong(show_binding(shown, at / "data" + ":/usr/sb-none")) ==
          "--bind " + at / "data" + ":/usr/sb-none: there is no /usr/sb-none, and /usr is read-only; choose another DST");
    CHECK(wrong(show_binding(shown, "data")).starts_with("--bind \"data\": write SRC[:DST][:ro|rw]"));
    CHECK(shown.bindings.size() == 3);
}

TEST_CASE("with system folders of another place it is there that the place of a binding must exist") {
    scene const at{"data", "root/usr/only-here"};
    view shown;
    REQUIRE_FALSE(show_system(shown, at / "root").has_error());
    CHECK_FALSE(show_binding(shown, at / "data" + ":/usr/only-here").has_error());
    CHECK(wrong(show_binding(shown, at / "data" + ":/usr/share")).find("there is no /usr/share, and /usr is read-only") != std::string::npos);
}

TEST_CASE("the folders of a PATH that nothing shows yet are bound, read-only, each once, under the name that PATH has") {
    scene const at{"work/bin", "tools", "more"};
    link(at / "more", at / "link");
    view shown;
    REQUIRE_FALSE(show_workspace(shown, at / "work").has_error());
    show_folders(shown, sb::cat("/usr/bin::relative:", at / "work/bin", ":", at / "none", ":", at / "tools", ":/:", at / "tools", ":", at / "link", ":", at / "link"));
    REQUIRE(shown.bindings.size() == 2);
    CHECK(shown.bindings[0].source == at / "tools");
    CHECK(shown.bindings[0].target == at / "tools");
    CHECK(shown.bindings[1].source == at / "more");
    CHECK(shown.bindings[1].target == at / "link");
    for (auto const& each : shown.bindings) CHECK_FALSE(each.writable);
}

TEST_CASE("a folder of PATH is shown by its name, however it is written there") {
    scene const at{"tools"};
    for (auto const* way : {"/tools/", "//tools", "/./tools/.", "/tools"}) {
        INFO(way);
        view shown;
        show_folders(shown, at.here + way);
        REQUIRE(shown.bindings.size() == 1);
        CHECK(shown.bindings[0].target == at / "tools");
        CHECK(sb::sandbox::shows(shown, at / "tools/tool"));
    }
}

TEST_CASE("a PATH without a folder of its own binds nothing") {
    view shown;
    for (auto const* path : {"", ":", "bin", "/usr/bin:/bin:/", "/nonexistent/bin"}) show_folders(shown, path);
    CHECK(shown.bindings.empty());
}
