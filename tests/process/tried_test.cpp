// SPDX-License-Identifier: MIT
#include "support/kernel.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include <sb/process/tried.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>

using namespace sb::process;
namespace kernel = sb::test::kernel;

namespace {
auto open_here() { return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{}); }
} // namespace

TEST_CASE("what is tried in a child is answered, and changes nothing here") {
    int here = 0;
    auto const said = tried([&]() -> sb::result<std::string> {
        here = 1;
        return std::string{"done"};
    });
    CHECK(said.value() == "done");
    CHECK(here == 0);
    CHECK(tried([]() -> sb::result<std::string> { return std::string{}; }).value().empty());
    std::string const large(1000, 'x');
    CHECK(tried([&]() -> sb::result<std::string> { return large; }).value() == large);
}

TEST_CASE("an attempt's error is the trial's error, word for word") {
    auto const said = tried([]() -> sb::result<std::string> { return sb::errno_error("open", "/nowhere", ENOENT); });
    REQUIRE(said.has_error());
    CHECK(said.error().what == sb::errno_error("open", "/nowhere", ENOENT).what);
}

TEST_CASE("a trial whose child dies is an error") {
    auto const killed = tried([]() -> sb::result<std::string> {
        ::raise(SIGKILL);
        return std::string{"not reached"};
    });
    REQUIRE(killed.has_error());
    CHECK(killed.error().what == "the test process died");
    CHECK(tried([]() -> sb::result<std::string> { ::_exit(0); }).has_error());
}

TEST_CASE("a trial leaves no process and no descriptor behind") {
    CHECK(sb::test::in_child([] {
        auto const before = open_here();
        (void)tried([]() -> sb::result<std::string> { return std::string{"done"}; });
        (void)tried([]() -> sb::result<std::string> { return sb::system_error("no"); });
        (void)tried([]() -> sb::result<std::string> { ::_exit(1); });
        (void)tried_inside(payload_user{65534, 65534}, CLONE_NEWNS, []() -> sb::result<std::string> { return std::string{}; });
        bool const nobody = ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
        bool const nothing = open_here() == before;
        errno = EDOM;
        return nobody && nothing ? 0 : -1;
    }) == 0);
}

TEST_CASE("inside, an attempt has every right in namespaces of its own, and is the payload's user outside", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const user = choose_payload_user().value();
    auto const host_name = kernel::text_of("/proc/sys/kernel/hostname");
    auto const said = tried_inside(user, CLONE_NEWUTS | CLONE_NEWNS, []() -> sb::result<std::string> {
        if (::sethostname("tried", 5) != 0) return sb::last_error("sethostname");
        if (::mount("none", "/tmp", "tmpfs", 0, nullptr) != 0) return sb::last_error("mount");
        return kernel::text_of("/proc/self/uid_map") + kernel::text_of("/proc/self/gid_map") + sb::cat("is ", ::geteuid(), " ", ::getegid());
    });
    INFO((said.has_error() ? said.error().what : std::string{}));
    REQUIRE_FALSE(said.has_error());
    auto text = *said;
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
    CHECK(text == sb::cat(" ", sandbox_id, " ", user.uid, " 1\n ", sandbox_id, " ", user.gid, " 1\nis ", sandbox_id, " ", sandbox_id));
    CHECK(kernel::text_of("/proc/sys/kernel/hostname") == host_name);
}

TEST_CASE("inside, an attempt's error and its death are told as outside", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const user = choose_payload_user().value();
    auto const failed = tried_inside(user, 0, []() -> sb::result<std::string> { return sb::system_error("as it was said"); });
    REQUIRE(failed.has_error());
    CHECK(failed.error().what == "as it was said");
    CHECK_FALSE(never_began(failed.error()));
    auto const killed = tried_inside(user, 0, []() -> sb::result<std::string> {
        ::raise(SIGKILL);
        return std::string{};
    });
    REQUIRE(killed.has_error());
    CHECK(killed.error().what == "the test process died");
}

TEST_CASE("a trial whose namespaces cannot be had never began", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const refused = tried_inside(choose_payload_user().value(), CLONE_PARENT, []() -> sb::result<std::string> { return std::string{}; });
    REQUIRE(refused.has_error());
    CHECK(refused.error().what.starts_with("make namespaces"));
    CHECK(never_began(refused.error()));
    CHECK(never_began(sb::errno_error("make a user namespace", {}, EPERM)));
    CHECK_FALSE(never_began(sb::errno_error("mount", "make namespaces", EPERM)));
    CHECK_FALSE(never_began(sb::system_error("")));
}
