// SPDX-License-Identifier: MIT
#include "support/one_group.hpp"
#include "support/victim.hpp"
#include <sb/cgroup/cgroup_remove.hpp>

using namespace sb::cgroup;
using namespace sb::test;

TEST_CASE("only names that carry the whole id are groups of a session") {
    CHECK(detail::is_group_of("sandbench-0123456789ab", "0123456789ab"));
    CHECK(detail::is_group_of("sandbench-0123456789ab.slot0", "0123456789ab"));
    CHECK_FALSE(detail::is_group_of("sandbench-0123456789abc.slot0", "0123456789ab"));
    CHECK_FALSE(detail::is_group_of("sandbench-1123456789ab", "0123456789ab"));
    CHECK_FALSE(detail::is_group_of("0123456789ab", "0123456789ab"));
    CHECK(is_session_id("0123456789ab"));
    CHECK_FALSE(is_session_id(""));
    CHECK_FALSE(is_session_id("0123456789aB"));
    CHECK_FALSE(is_session_id("0123456789a/"));
    CHECK_FALSE(is_session_id("0123456789abc"));
}

namespace {

/// A folder of this host's groups in which a group can be made; empty when there is none, which is said.
std::string base_here(cgroup_host const& host) { return lacks_all(host) ? std::string{} : host.bases().front(); }

pid_t start_in_folder(std::string const& group) {
    auto const child = ::fork();
    if (child == 0) ::pause(), ::_exit(0);
    auto const moved = sb::write_once(group + "/cgroup.procs", sb::cat(child));
    INFO((moved.has_error() ? moved.error().what : std::string{}));
    CHECK_FALSE(moved.has_error());
    return child;
}
void make_group(std::string const& path) { REQUIRE(::mkdir(path.c_str(), 0755) == 0); }
bool is_there(std::string const& path) { return ::access(path.c_str(), F_OK) == 0; }

} // namespace

TEST_CASE("a group goes with those below it and all that runs in them, and groups of other names stay") {
    auto const host = groups_here();
    auto const base = base_here(host);
    if (base.empty()) return;
    auto const id = random_id(), other = random_id();
    auto const group = sb::cat(base, "/", group_prefix, id, ".slot0"), alone = sb::cat(base, "/", group_prefix, id), stays = sb::cat(base, "/", group_prefix, other, ".slot0");
    make_group(group), make_group(group + "/inner"), make_group(alone), make_group(stays);
    auto const deep = start_in_folder(group + "/inner"), plain = start_in_folder(alone), spared = start_in_folder(stays);
    auto const removed = remove_groups(base, id);
    INFO((removed.has_error() ? removed.error().what : std::string{}));
    CHECK_FALSE(removed.has_error());
    CHECK(died_of(wait_for(deep)) == SIGKILL);
    CHECK(died_of(wait_for(plain)) == SIGKILL);
    CHECK_FALSE(is_there(group));
    CHECK_FALSE(is_there(alone));
    CHECK(is_there(stays));
    CHECK(::waitpid(spared, nullptr, WNOHANG) == 0);
    CHECK_FALSE(remove_groups(base, other).has_error());
    CHECK(died_of(wait_for(spared)) == SIGKILL);
    CHECK_FALSE(is_there(stays));
    CHECK_FALSE(remove_groups(base, id).has_error()); // there is none any more
}

TEST_CASE("the group that is to be spared stays with what runs in it") {
    auto const host = groups_here();
    auto const base = base_here(host);
    if (base.empty()) return;
    auto const id = random_id();
    auto const name = sb::cat(group_prefix, id, ".supervisor"), spared = sb::cat(base, "/", name), goes = sb::cat(base, "/", group_prefix, id, ".slot0");
    make_group(spared), make_group(goes);
    auto const inside = start_in_folder(spared);
    CHECK_FALSE(remove_groups(base, id, name).has_error());
    CHECK(is_there(spared));
    CHECK_FALSE(is_there(goes));
    CHECK(::waitpid(inside, nullptr, WNOHANG) == 0);
    CHECK_FALSE(remove_groups(base, id).has_error());
    CHECK(died_of(wait_for(inside)) == SIGKILL);
    CHECK_FALSE(is_there(spared));
}

TEST_CASE("a folder that is no control group is left alone, whatever its folders are called") {
    folder const at;
    auto const id = random_id();
    make_group(at / sb::cat(group_prefix, id));
    auto const removed = remove_groups(at.path(), id);
    REQUIRE(removed.has_error());
    CHECK(removed.error().what == at.path() + ": not a control group folder, left alone");
    CHECK(is_there(at / sb::cat(group_prefix, id)));
    CHECK(switch_off(at.path(), {"memory"})); // nothing is on there
}

TEST_CASE("a folder that is not there has no groups, and one that cannot be opened is an error") {
    folder const at;
    CHECK_FALSE(remove_groups(at / "missing", random_id()).has_error());
    CHECK(switch_off(at / "missing", {"memory"}));
    ::close(::open((at / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    auto const refused = remove_groups(at / "file", random_id());
    REQUIRE(refused.has_error());
    CHECK(refused.error().what == sb::cat("open ", at / "file", ": Not a directory"));
    REQUIRE(::symlink("/sys/fs/cgroup", (at / "link").c_str()) == 0);
    CHECK(remove_groups(at / "link", random_id()).has_error()); // a link is not followed
}

TEST_CASE("what is called like a group and is none stays, and groups below are told from files") {
    folder const at;
    make_group(at / "one"), make_group(at / "two");
    ::close(::open((at / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(::symlink("one", (at / "link").c_str()) == 0);
    auto const fd = sb::files::open_folder(AT_FDCWD, at.path().c_str());
    auto found = detail::child_groups(fd.get(), "here").value();
    std::sort(found.begin(), found.end());
    CHECK(found == std::vector<std::string>{"one", "two"});
    CHECK(detail::child_groups(-1, "here").error().what == "list here: Bad file descriptor");
    CHECK_FALSE(detail::is_cgroup_folder(fd.get()));
    CHECK_FALSE(detail::is_cgroup_folder(-1));
}

TEST_CASE("processes are killed only while they are in the group that is named") {
    folder const at; // a list of processes that a test has written: its own child, which is in no such group
    auto const child = ::fork();
    if (child == 0) ::pause(), ::_exit(0);
    {
        auto const list = sb::open_file(at / "cgroup.procs", O_WRONLY | O_CREAT, 0600).value();
        REQUIRE_FALSE(sb::write_all(list.get(), sb::cat("0\n", child, "\n"), "list").has_error());
    }
    auto const fd = sb::files::open_folder(AT_FDCWD, at.path().c_str());
    CHECK_FALSE(detail::kill_listed(fd.get(), "sandbench-0123456789ab.slot0"));
    CHECK(::waitpid(child, nullptr, WNOHANG) == 0);
    CHECK_FALSE(detail::kill_listed(fd.get(), ":")); // in every line
    CHECK(died_of(wait_for(child)) == SIGKILL);
    REQUIRE(::unlink((at / "cgroup.procs").c_str()) == 0);
    CHECK(detail::kill_listed(fd.get(), ":"));
}
