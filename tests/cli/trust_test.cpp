// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/victim.hpp"
#include <filesystem>
#include <sb/cli/trust.hpp>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

TEST_CASE("a file that nobody named is trusted when it is the caller's or root's and nobody else may write it") {
    auto const facts = [](uid_t owner, mode_t mode) {
        struct stat all {};
        all.st_uid = owner, all.st_mode = S_IFREG | mode;
        return all;
    };
    for (mode_t const mode : {0644U, 0600U, 0755U, 0400U, 04755U}) {
        CHECK(sb::cli::distrust(facts(1000, mode), 1000).empty());
        CHECK(sb::cli::distrust(facts(0, mode), 1000).empty());
        CHECK(sb::cli::distrust(facts(0, mode), 0).empty());
    }
    for (mode_t const mode : {0664U, 0646U, 0666U, 0620U, 0602U, 0777U})
        for (uid_t const us : {0U, 1000U}) CHECK(sb::cli::distrust(facts(us, mode), us).starts_with("others may write it (mode 0"));
    CHECK(sb::cli::distrust(facts(0, 0664), 0).find("mode 0664") != std::string::npos);
    CHECK(sb::cli::distrust(facts(1001, 0600), 1000) == "it belongs to user 1001, not to you or root");
    CHECK(sb::cli::distrust(facts(1001, 0600), 0) == "it belongs to user 1001, not to root");
    CHECK_FALSE(sb::cli::distrust(facts(65534, 0600), 0).empty()); // whom a user namespace does not know
}

TEST_CASE("what is no regular file is not opened, and a FIFO is not waited for") {
    sb::test::folder const folder;
    auto const fifo = folder / "fifo", plain = folder / "plain", link = folder / "link", socket = folder / "socket";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    REQUIRE(::symlink("fifo", link.c_str()) == 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    REQUIRE(socket.size() < sizeof name.sun_path);
    socket.copy(name.sun_path, socket.size());
    sb::unique_fd const listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
    for (bool const named : {false, true}) {
        for (auto const& path : {fifo, link, socket, std::string{"/dev/zero"}}) CHECK(sb::cli::open_regular(path, named).error().what == path + ": is not a regular file");
        CHECK(sb::cli::open_regular(folder.path(), named).error().what == folder.path() + ": is a folder");
        CHECK(sb::cli::open_regular(plain, named).error().what == "open " + plain + ": No such file or directory");
    }
    CHECK(sb::cli::open_regular("/dev/null", false).has_error());
    CHECK_FALSE(sb::cli::open_regular("/dev/null", true).has_error());
}

TEST_CASE("what was looked at is what is read, whatever has the name by then") {
    sb::test::folder const folder;
    auto const path = folder / "file";
    auto const put = [&](char const* text) {
        auto const file = sb::open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0640);
        REQUIRE_FALSE(sb::write_all(file->get(), text, path).has_error());
    };
    put("first");
    auto const opened = sb::cli::open_regular(path, false);
    REQUIRE_FALSE(opened.has_error());
    CHECK((opened->facts.st_mode & 0777) == 0640);
    REQUIRE(::unlink(path.c_str()) == 0);
    put("second");
    CHECK(sb::read_all(opened->fd.get(), path, 100).value() == "first");
    CHECK(sb::read_all(sb::cli::open_regular(path, false)->fd.get(), path, 5).error().what.find("larger than 5 bytes") != std::string::npos);
}

TEST_CASE("the caller's own pipe is read by its name when it is named") {
    auto ends = sb::make_pipe().value();
    REQUIRE_FALSE(sb::write_all(ends.write.get(), "a: 1\n", "pipe").has_error());
    ends.write.reset();
    auto const name = "/dev/fd/" + std::to_string(ends.read.get());
    CHECK(sb::cli::open_regular(name, false).has_error());
    auto const opened = sb::cli::open_regular(name, true);
    REQUIRE_FALSE(opened.has_error());
    CHECK(sb::read_all(opened->fd.get(), name, 100).value() == "a: 1\n");
}

TEST_CASE("of many names a report tells the first") {
    sb::cli::found_report told;
    told.file = ".env", told.trusts = "--env-file";
    CHECK(told.use_line().empty());
    CHECK(told.ignore_line().empty());
    for (int i = 1; i <= 14; ++i) told.ignored.push_back("N" + std::to_string(i));
    CHECK(told.ignore_line().find("ignored N1, N2, N3, N4, N5, N6, N7, N8, N9, N10, N11, N12 and 2 more, because ") != std::string::npos);
}

TEST_CASE("what lies in the current folder is known by where it is, not by its name") {
    sb::test::folder const here, elsewhere;
    auto const before = std::filesystem::current_path();
    REQUIRE_FALSE(sb::make_folders(here / "deep/er", 0755).has_error());
    REQUIRE(::symlink((here / "deep").c_str(), (elsewhere / "in").c_str()) == 0);
    REQUIRE(::symlink(elsewhere.path().c_str(), (here / "out").c_str()) == 0);
    REQUIRE(::symlink("/nowhere", (elsewhere / "nowhere").c_str()) == 0);
    std::filesystem::current_path(here.path());
    for (auto const& each : {here / "deep", std::string{"deep/er"}, elsewhere / "in", elsewhere / "in/er", elsewhere / "nowhere"}) CHECK(sb::cli::lies_here(each));
    for (auto const& each : {elsewhere.path(), here / "out", here.path() + "/../", std::string{"/bin/sh"}}) CHECK_FALSE(sb::cli::lies_here(each));
    std::filesystem::current_path(here / "deep/er");
    CHECK_FALSE(sb::cli::lies_here(here / "deep"));
    std::filesystem::current_path("/");
    CHECK_FALSE(sb::cli::lies_here(here / "deep"));
    std::filesystem::current_path(before);
}

TEST_CASE("a file of a usual place is read where nobody else can have put it there") {
    sb::test::folder const here;
    auto const file = here / "own/deep/file";
    REQUIRE_FALSE(sb::make_folders(here / "own/deep", 0755).has_error());
    REQUIRE_FALSE(sb::write_all(sb::open_file(file, O_WRONLY | O_CREAT, 0644)->get(), "text", file).has_error());
    auto const us = ::geteuid();
    auto const why = [us](std::string const& path) {
        std::string said;
        auto const opened = sb::cli::open_usual(path, us, said);
        REQUIRE_FALSE(opened.has_error());
        CHECK(said.empty() == static_cast<bool>(opened->fd));
        return said;
    };
    auto const with_mode = [&](std::string const& path, mode_t mode) {
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        auto said = why(file);
        REQUIRE(::chmod(path.c_str(), path == file ? 0644 : 0755) == 0);
        return said;
    };
    CHECK(why(file).empty());
    CHECK(with_mode(file, 0664) == "others may write it (mode 0664; chmod go-w fixes that)");
    CHECK(with_mode(here / "own/deep", 0777) == "folder " + here / "own/deep" + ": others may write it (mode 0777; chmod go-w fixes that)");
    CHECK(with_mode(here / "own/deep", 0775).starts_with("folder "));
    CHECK(with_mode(here / "own/deep", 01777).empty()); // where each has what is his
    CHECK(with_mode(here / "own", 0777) == "folder " + here / "own" + ": others may write it (mode 0777; chmod go-w fixes that)");
    CHECK(with_mode(here / "own", 0775).empty()); // a group that works together
    CHECK(with_mode(here / "own", 01777).empty());

    REQUIRE(::symlink("./own//deep/../deep", (here / "link").c_str()) == 0);
    REQUIRE(::symlink((here / "own/deep").c_str(), (here / "straight").c_str()) == 0);
    REQUIRE(::symlink("loop", (here / "loop").c_str()) == 0);
    for (auto const* const link : {"link", "straight"}) {
        auto const by_link = sb::cat(here / link, "/file");
        CHECK(why(by_link).empty());
        REQUIRE(::chmod((here / "own").c_str(), 0777) == 0);
        CHECK(why(by_link).starts_with("folder " + here / "own" + ": "));
        REQUIRE(::chmod((here / "own").c_str(), 0755) == 0);
    }
    std::string said;
    for (auto const* const wrong : {"loop/file", "own/deep/file/more", "own/nowhere", "own/deep"}) CHECK(sb::cli::open_usual(here / wrong, us, said).has_error());
    if (us != 0) return;
    constexpr uid_t other = 12345;
    REQUIRE(::lchown((here / "link").c_str(), other, other) == 0);
    CHECK(why(here / "link/file") == "link " + here / "link" + ": it belongs to user 12345, not to root");
    REQUIRE(::chown((here / "own").c_str(), other, other) == 0);
    CHECK(why(file).empty()); // who owns a folder above can put nothing of root's there
    REQUIRE(::chown((here / "own/deep").c_str(), other, other) == 0);
    CHECK(why(file) == "folder " + here / "own/deep" + ": it belongs to user 12345, not to root");
}
