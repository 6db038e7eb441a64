// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/local/hidden_command.hpp>
#include <string>
#include <sys/stat.h>

using namespace sb::local;

namespace {
void put(std::string const& path, std::string const& text, mode_t mode) {
    auto const file = sb::open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600).value();
    REQUIRE(::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    REQUIRE(::fchmod(file.get(), mode) == 0);
}
/// A workspace below a folder that its owner alone may enter.
struct scene {
    sb::test::folder here;
    sb::sandbox::view shown;
    sb::process::payload_user payload;
    scene() {
        REQUIRE(::mkdir((here / "work").c_str(), 0700) == 0);
        shown.work = here / "work";
        payload = ::geteuid() == 0 ? sb::process::payload_user{12345, 12345} : sb::process::payload_user{::geteuid(), ::getegid()};
    }
    std::optional<std::string> why(std::string const& file) const { return hidden_command{shown, payload}.why(file); }
};
} // namespace

TEST_CASE("the interpreter of a script of the caller's own in the workspace is looked for, whoever else may read it") {
    scene at;
    put(at.here / "work/script", "#!/nowhere/else/sh -e\n", 0700);
    CHECK_FALSE(at.why(at.here / "work/script")); // no binding mends that
    put(at.here / "tool", "", 0755);
    put(at.here / "work/other", "#!" + (at.here / "tool") + "\n", 0700);
    auto const why = at.why(at.here / "work/other");
    REQUIRE(why);
    CHECK(why->starts_with("its interpreter " + (at.here / "tool") + " is hidden by the sandbox's own /tmp"));
}

TEST_CASE("an interpreter that is no file is not opened") {
    scene at;
    REQUIRE(::mkfifo((at.here / "work/fifo").c_str(), 0755) == 0); // to open it would wait for ever
    put(at.here / "work/script", "#!" + (at.here / "work/fifo") + "\n", 0755);
    CHECK_FALSE(at.why(at.here / "work/script"));
    put(at.here / "work/device", "#!/dev/zero\n", 0755);
    CHECK(at.why(at.here / "work/device")); // not shown there; nothing of it was read
    CHECK_FALSE(at.why(at.here / "work/fifo"));
}

TEST_CASE("what root alone may read is not read for a name in somebody's file") {
    if (::geteuid() != 0) return; // nobody else has more rights than a payload
    scene at;
    REQUIRE(::chmod(at.here.path().c_str(), 0755) == 0);
    put(at.here / "tool", "", 0755);
    put(at.here / "secret", "#!" + (at.here / "tool") + "\n", 0600); // would name the tool
    put(at.here / "work/script", "#!" + (at.here / "secret") + "\n", 0755);
    at.shown.bindings.push_back({at.here / "secret", "/opt/secret", false});
    put(at.here / "work/bound", "#!/opt/secret\n", 0755);
    auto const why = at.why(at.here / "work/script");
    REQUIRE(why);
    CHECK(why->find("tool") == std::string::npos);
    CHECK_FALSE(at.why(at.here / "work/bound")); // it is shown, and what it names stays unknown
    REQUIRE(::chmod((at.here / "secret").c_str(), 0644) == 0);
    CHECK(at.why(at.here / "work/bound")->find("tool") != std::string::npos);
    // in a workspace of another's, that one's files alone
    REQUIRE(::chown((at.here / "work").c_str(), 12345, 12345) == 0);
    put(at.here / "work/roots", "#!" + (at.here / "tool") + "\n", 0700);
    CHECK_FALSE(at.why(at.here / "work/roots"));
    REQUIRE(::chown((at.here / "work/roots").c_str(), 12345, 12345) == 0);
    CHECK(at.why(at.here / "work/roots"));
}
