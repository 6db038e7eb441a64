// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include <cstdlib>
#include <sb/sandbox/lend_work.hpp>
#include <string>

using namespace sb::sandbox;
using namespace sb::test;

namespace {

struct lent_folder : folder {
    lent_folder() {
        put(*this / "file", "text\n");
        REQUIRE(::mkdir((*this / "inner").c_str(), 0750) == 0);
        put(*this / "inner/deep", "deep\n");
        REQUIRE(::symlink("inner/deep", (*this / "link").c_str()) == 0);
        REQUIRE(::chmod(path().c_str(), 0751) == 0);
    }
    sb::files::pinned pinned() const { return sb::files::pinned::open(path()).value(); }
};
/// A user to whom files may be given here.
sb::process::payload_user taker() { return sb::process::choose_payload_user().value(); }
struct stat facts_of(std::string const& path) {
    struct stat facts {};
    REQUIRE(::lstat(path.c_str(), &facts) == 0);
    return facts;
}

} // namespace

TEST_CASE("without a workspace nothing is lent") {
    auto const lent = lend_work({}, taker());
    REQUIRE_FALSE(lent.has_error());
    CHECK_FALSE(lent->owners);
    CHECK_FALSE(lent->lower);
    CHECK_FALSE(lent->copy);
}

TEST_CASE("root's files are shown under another owner or copied, and another's are lent as they are", "[sandbox]") {
    lent_folder const work;
    if (::geteuid() == 0 && !kernel::cannot_isolate().empty()) {
        WARN("SKIPPED: no isolation here: " << kernel::cannot_isolate());
        return;
    }
    auto const lent = lend_work(work.pinned(), taker());
    INFO((lent.has_error() ? lent.error().what : std::string{}));
    REQUIRE_FALSE(lent.has_error());
    if (::geteuid() != 0) {
        CHECK_FALSE((lent->owners || lent->lower || lent->copy));
        return;
    }
    CHECK(bool{lent->owners} != lent->copy.has_value());
    CHECK(bool{lent->lower} == lent->copy.has_value());
    CHECK(facts_of(work / "file").st_uid == 0); // it is shown, not changed
}

TEST_CASE("a copy has the files, their modes and links, and belongs to the payload's user", "[sandbox]") {
    lent_folder const work;
    auto const user = taker();
    std::string at;
    {
        auto const lent = sb::sandbox::detail::copy_work(work.pinned(), user);
        INFO((lent.has_error() ? lent.error().what : std::string{}));
        REQUIRE_FALSE(lent.has_error());
        REQUIRE(lent->copy);
        CHECK_FALSE(lent->owners);
        at = lent->copy->path() + "/work";
        CHECK(lent->lower.is_same_as(facts_of(at)));
        CHECK(sb::read_file(at + "/file").value() == "text\n");
        CHECK(sb::read_file(at + "/link").value() == "deep\n");
        CHECK(S_ISLNK(facts_of(at + "/link").st_mode));
        CHECK((facts_of(at).st_mode & 07777) == 0751);
        CHECK((facts_of(at + "/inner").st_mode & 07777) == 0750);
        for (auto const* name : {"", "/file", "/inner", "/inner/deep", "/link"}) {
            INFO(name);
            CHECK(facts_of(at + name).st_uid == user.uid);
            CHECK(facts_of(at + name).st_gid == user.gid);
        }
        put(at + "/file", "changed\n");
        CHECK(sb::read_file(work / "file").value() == "text\n");
    }
    CHECK(::access(at.c_str(), F_OK) != 0); // gone with its owner
}

TEST_CASE("what the workspace's owner may not read is not copied for a payload") {
    if (::geteuid() != 0) {
        WARN("SKIPPED: only root reads what the owner may not");
        return;
    }
    lent_folder const work;
    put(work / "roots", "secret\n");
    REQUIRE(::chmod((work / "roots").c_str(), 0600) == 0);
    REQUIRE(::chown(work.path().c_str(), 12345, 12345) == 0);
    auto const lent = sb::sandbox::detail::copy_work(work.pinned(), taker());
    if (lent.has_error()) CHECK(lent.error().what.find("roots") != std::string::npos);
    else CHECK(::access((lent->copy->path() + "/work/roots").c_str(), F_OK) != 0);
}

TEST_CASE("a workspace that holds the temporary folder is not copied into itself", "[sandbox]") {
    lent_folder const work;
    REQUIRE(::mkdir((work / "tmp").c_str(), 0700) == 0);
    char const* const named = std::getenv("TMPDIR");
    std::string const before = named ? named : "";
    ::setenv("TMPDIR", (work / "tmp").c_str(), 1);
    auto const lent = sb::sandbox::detail::copy_work(work.pinned(), taker());
    if (named) ::setenv("TMPDIR", before.c_str(), 1);
    else ::unsetenv("TMPDIR");
    REQUIRE(lent.has_error());
    CHECK(lent.error().on == sb::blame::caller);
    CHECK(lent.error().what.starts_with(sb::cat("workspace ", work.path(), ": ")));
    CHECK(lent.error().what.find("cannot be copied into itself") != std::string::npos);
    CHECK(sb::files::names_in(sb::files::open_folder(AT_FDCWD, (work / "tmp").c_str()).get())->empty());
}
