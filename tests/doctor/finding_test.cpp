// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/files.hpp"
#include <sb/doctor/finding.hpp>
#include <string>

using namespace sb::doctor;

TEST_CASE("a finding is ok until it fails, and keeps its name and what mends it") {
    finding f{"memory", finding_status::ok, "holds", "a command"};
    CHECK(name_of(f.status) == "ok");
    CHECK(&f.fails(finding_status::limited, "holds less") == &f);
    CHECK(f.name == "memory");
    CHECK(f.what == "holds less");
    CHECK(f.mend == "a command");
    CHECK(name_of(f.status) == "limited");
    CHECK(name_of(f.fails(finding_status::missing, "").status) == "missing");
}

TEST_CASE("the first line of a file comes without its blanks, and is empty where there is none") {
    CHECK(first_line(sb::test::scratch_file{" 1 2 \n3\n"}.path()) == "1 2");
    CHECK(first_line(sb::test::scratch_file{"no end"}.path()) == "no end");
    CHECK(first_line(sb::test::scratch_file{""}.path()).empty());
    CHECK(first_line(sb::test::scratch_file{"\nsecond\n"}.path()).empty());
    CHECK(first_line("/nonexistent/file").empty());
    CHECK(first_line("/proc").empty());
}

TEST_CASE("root takes a command as it is, and others take it by sudo, as a shell's where it is more than one") {
    auto const texts_are = [](std::string const& plain, std::string const& shell) {
        errno = EDOM;
        return as_root("mount a") == plain && as_root("mount a && mount b", true) == shell ? 0 : -1;
    };
    if (::geteuid() == 0) {
        CHECK(sb::test::in_child([&] { return texts_are("mount a", "mount a && mount b"); }) == 0);
        CHECK(sb::test::in_child([] { return ::setresuid(65534, 65534, 65534); }, [&] { return texts_are("sudo mount a", "sudo sh -c 'mount a && mount b'"); }) == 0);
    } else {
        CHECK(texts_are("sudo mount a", "sudo sh -c 'mount a && mount b'") == 0);
    }
}
