// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include <algorithm>
#include <sb/sandbox/public_etc.hpp>
#include <string>
#include <string_view>
#include <vector>

using namespace sb::sandbox;
using namespace sb::test;

namespace {

using list = std::vector<std::string>;

void make(std::string const& path, mode_t mode = 0755) { REQUIRE((::mkdir(path.c_str(), 0700) == 0 && ::chmod(path.c_str(), mode) == 0)); }
list shown(folder const& etc, bool by_all, std::vector<std::string_view> const& asked) {
    sb::unique_fd const at{::open(etc.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    auto found = public_etc{at.get(), by_all}.of(asked);
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace

TEST_CASE("of /etc what everybody may read is shown, and of a folder with closed parts the rest") {
    folder top;
    make(top / "open"), make(top / "small"), make(top / "mixed"), make(top / "mixed/closed", 0750), make(top / "mixed/inner"), make(top / "closed", 0710), make(top / "deep");
    make(top / "deep/private", 0710), make(top / "deep/certs");
    for (int i = 0; i < 30; ++i) put(top / sb::cat("open/", i), "x");
    for (auto const* const name : {"small/one", "small/two", "mixed/public", "mixed/group", "mixed/inner/file", "mixed/closed/key", "closed/key", "file", "secret", "deep/certs/a"}) put(top / name, "x");
    for (auto const* const name : {"mixed/group", "secret"}) REQUIRE(::chmod((top / name).c_str(), 0640) == 0);
    REQUIRE(::symlink("nowhere", (top / "mixed/link").c_str()) == 0);
    REQUIRE(shown(top, true, {"open", "file", "secret", "none"}) == list{"file", "open"});
    REQUIRE(shown(top, true, {"small"}) == list{"small/one", "small/two"});
    REQUIRE(shown(top, true, {"mixed"}) == list{"mixed/inner/file", "mixed/link", "mixed/public"});
    REQUIRE(shown(top, true, {"closed", "closed/key", "deep/private", "deep/certs"}) == list{"deep/certs/a"});
    REQUIRE(shown(top, false, {"secret"}) == list{"secret"});
    put(top / "small/program", "x");
    REQUIRE(::chmod((top / "small/program").c_str(), 0755) == 0);
    REQUIRE(shown(top, true, {"small"}) == list{"small"}); // a copy would lose that it can be executed
}

TEST_CASE("what is not asked for or is not there is not shown") {
    folder const etc;
    put(etc / "asked", "x"), put(etc / "other", "x");
    CHECK(shown(etc, true, {"asked", "missing", "missing/below", "asked/below"}) == list{"asked"});
    CHECK(shown(etc, true, {}).empty());
    CHECK(public_etc{-1, true}.of(std::vector<std::string_view>{"asked"}).empty());
}

TEST_CASE("a link is shown as a link, whatever it names, and a way through a link is followed") {
    folder const etc;
    make(etc / "real");
    put(etc / "real/file", "x");
    REQUIRE(::symlink("nowhere", (etc / "dead").c_str()) == 0);
    REQUIRE(::symlink("real", (etc / "way").c_str()) == 0);
    CHECK(shown(etc, true, {"dead", "way", "way/file"}) == list{"dead", "way", "way/file"});
}

TEST_CASE("what is neither a file nor a folder is not shown, and keeps its folder from being shown whole") {
    folder const etc;
    make(etc / "folder");
    REQUIRE(::mkfifo((etc / "pipe").c_str(), 0666) == 0);
    REQUIRE(::mkfifo((etc / "folder/pipe").c_str(), 0666) == 0);
    put(etc / "folder/file", "x");
    CHECK(shown(etc, true, {"pipe", "folder"}) == list{"folder/file"});
    CHECK(shown(etc, false, {"pipe", "folder"}) == list{"folder/file"});
}

TEST_CASE("a folder of a few small files is copied, and one with more, with a large one, with a program or with a folder is shown whole") {
    folder const etc;
    auto const fill = [&](std::string const& name, std::size_t count, std::size_t bytes) {
        make(etc / name);
        for (std::size_t i = 0; i < count; ++i) put(etc / sb::cat(name, "/", i), std::string(bytes, 'x'));
    };
    fill("few", public_etc::most_copied, public_etc::largest_copied);
    CHECK(shown(etc, true, {"few"}).size() == public_etc::most_copied);
    fill("many", public_etc::most_copied + 1, 1);
    CHECK(shown(etc, true, {"many"}) == list{"many"});
    fill("large", 1, public_etc::largest_copied + 1);
    CHECK(shown(etc, true, {"large"}) == list{"large"});
    fill("deep", 1, 1);
    make(etc / "deep/inner");
    CHECK(shown(etc, true, {"deep"}) == list{"deep"});
    fill("empty", 0, 0);
    CHECK(shown(etc, true, {"empty"}) == list{"empty"});
}

TEST_CASE("a folder without an end is not searched for ever") {
    folder const etc;
    std::string way = "deep";
    for (int i = 0; i < 40; ++i, way += "/deep") make(etc / way);
    put(etc / sb::cat(way.substr(0, way.rfind('/')), "/file"), "x");
    CHECK(shown(etc, true, {"deep"}).empty());
}

TEST_CASE("what this host's payloads are shown of /etc everybody may read") {
    sb::unique_fd const etc{::open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    auto const names = public_etc{etc.get(), true}.of(shown_of_etc);
    CHECK_FALSE(names.empty());
    for (auto const& name : names) {
        INFO(name);
        struct stat facts {};
        REQUIRE(::fstatat(etc.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0);
        CHECK((S_ISLNK(facts.st_mode) || (facts.st_mode & 04) != 0));
        for (std::string_view const secret : {"shadow", "gshadow", "sudoers", "hostname", "resolv.conf", "passwd", "ssl/private"}) CHECK_FALSE(sb::files::is_below(name, secret));
    }
}
