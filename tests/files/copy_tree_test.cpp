// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include <atomic>
#include <sb/files/copy_tree.hpp>
#include <sb/files/folder.hpp>
#include <sys/resource.h>
#include <thread>

using namespace sb::files;
using namespace sb::test;

namespace {

constexpr off_t mebi = off_t{1} << 20;

/// Text at these places, and holes elsewhere.
void put_at(std::string const& path, std::vector<off_t> const& places, off_t size) {
    auto const file = sb::open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0644).value();
    for (auto const at : places) REQUIRE(::pwrite(file.get(), "data", 4, at) == 4);
    REQUIRE(::ftruncate(file.get(), size) == 0);
}
struct stat about(std::string const& path) {
    struct stat facts {};
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    return facts;
}
bool equal(std::string const& a, std::string const& b) { return sb::read_file(a).value() == sb::read_file(b).value(); }

struct both {
    folder from, to;
    tree_copy copy(std::int64_t most = -1, bool opens_closed = false) {
        auto const a = sb::files::open_folder(AT_FDCWD, from.path().c_str()), b = sb::files::open_folder(AT_FDCWD, to.path().c_str());
        return copy_tree(a.get(), b.get(), {}, most, opens_closed).value();
    }
};

} // namespace

TEST_CASE("holes of a file stay holes, wherever they are, and what is between them is the same", "[copy_tree]") {
    both here;
    put_at(here.from / "empty", {}, 0);
    put_at(here.from / "nothing", {}, 40 * mebi);
    put_at(here.from / "start", {0}, 40 * mebi);
    put_at(here.from / "middle", {10 * mebi, 20 * mebi + 3}, 40 * mebi);
    put_at(here.from / "end", {40 * mebi - 4}, 40 * mebi);
    put_at(here.from / "odd", {7, 5 * mebi + 1}, 5 * mebi + 5);
    put(here.from / "full", std::string(300'000, 'x'));
    auto const told = here.copy();
    CHECK(told.files == 7);
    CHECK(told.bytes < 2 * mebi);
    for (auto const* name : {"empty", "nothing", "start", "middle", "end", "odd", "full"}) {
        INFO(name);
        CHECK(equal(here.from / name, here.to / name));
        CHECK(about(here.to / name).st_blocks * 512 <= mebi);
    }
}

TEST_CASE("holes stay holes between file systems of two kinds", "[copy_tree]") {
    folder from;
    char name[] = "/dev/shm/sb-test-XXXXXX";
    if (!::mkdtemp(name)) return;
    put_at(from / "file", {0, 10 * mebi, 30 * mebi - 4}, 40 * mebi);
    auto const a = sb::files::open_folder(AT_FDCWD, from.path().c_str()), b = sb::files::open_folder(AT_FDCWD, name);
    auto const told = copy_tree(a.get(), b.get());
    CHECK_FALSE(told.has_error());
    auto const copied = std::string{name} + "/file";
    CHECK(equal(from / "file", copied));
    CHECK(about(copied).st_blocks * 512 <= mebi);
    ::unlink(copied.c_str()), ::rmdir(name);
}

TEST_CASE("what is closed to us is opened where it is ours to change, and is let be elsewhere", "[copy_tree]") {
    if (::geteuid() == 0) {
        WARN("SKIPPED: nothing is closed to root");
        return;
    }
    for (bool const ours : {false, true}) {
        both here;
        put(here.from / "file", "text");
        REQUIRE(::mkdir((here.from / "closed").c_str(), 0700) == 0);
        put(here.from / "closed/inner", "text");
        REQUIRE((::chmod((here.from / "file").c_str(), 0) == 0 && ::chmod((here.from / "closed").c_str(), 0) == 0));
        auto const told = here.copy(-1, ours);
        CHECK(told.files == (ours ? 2 : 0));
        CHECK(told.skipped.size() == (ours ? 0u : 2u));
        CHECK((about(here.from / "file").st_mode & 0777) == (ours ? 0400u : 0u));
        CHECK((about(here.from / "closed").st_mode & 0777) == (ours ? 0700u : 0u));
        ::chmod((here.from / "closed").c_str(), 0700);
    }
}

TEST_CASE("more data than may be is skipped, told, and leaves the rest", "[copy_tree]") {
    both here;
    for (auto const* name : {"one", "two", "three", "four"}) put(here.from / name, std::string(1 << 20, 'x'));
    put_at(here.from / "sparse", {}, 400 * mebi);
    auto const told = here.copy(5 * mebi / 2);
    CHECK(told.bytes == 2 * mebi);
    CHECK(told.files == 3); // the sparse one too
    CHECK(told.skipped_count == 2);
    REQUIRE(told.skipped.size() == 2);
    CHECK(told.skipped[0].find(": more than the total that may be copied") != std::string::npos);
    CHECK(about(here.to / "sparse").st_size == 400 * mebi);
    CHECK(sb::files::names_in(sb::files::open_folder(AT_FDCWD, here.to.path().c_str()).get()).value().size() == 3);
}

TEST_CASE("names of one file are names of one file in the copy, in any folder of it", "[copy_tree]") {
    both here;
    REQUIRE(::mkdir((here.from / "a").c_str(), 0700) == 0);
    put(here.from / "one", std::string(1 << 20, 'x')), put(here.from / "other", "y");
    for (auto const* name : {"a/two", "a/three", "four"}) REQUIRE(::link((here.from / "one").c_str(), (here.from / name).c_str()) == 0);
    auto const told = here.copy(3 * mebi / 2);
    CHECK(told.skipped_count == 0);
    CHECK(told.files == 5);
    CHECK(told.bytes == mebi + 1);
    CHECK(told.inodes == 3); // with the folder
    for (auto const* name : {"a/two", "a/three", "four"}) CHECK(about(here.to / name).st_ino == about(here.to / "one").st_ino);
    CHECK(about(here.to / "one").st_nlink == 4);
    CHECK(about(here.to / "other").st_nlink == 1);
}

TEST_CASE("what cannot be made is skipped with its reason, and leaves no part and the rest", "[copy_tree]") {
    both here;
    put_at(here.from / "huge", {0}, 8 * mebi), put(here.from / "long", std::string(3 << 20, 'x')), put(here.from / "small", "s");
    REQUIRE(::mkfifo((here.from / "fifo").c_str(), 0600) == 0);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    rlimit const less{2u << 20, before.rlim_max}; // for us, as for a file system that takes no larger ones
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &less) == 0);
    auto const told = here.copy();
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    auto skipped = told.skipped;
    std::sort(skipped.begin(), skipped.end());
    CHECK(skipped == std::vector<std::string>{"fifo: not a file, folder or link", "huge: File too large", "long: File too large"});
    CHECK(told.failed.ends_with(": File too large")); // the fifo is none that could have been copied
    CHECK(told.files == 1);
    CHECK(told.bytes == 1);
    CHECK(sb::files::names_in(sb::files::open_folder(AT_FDCWD, here.to.path().c_str()).get()).value() == std::vector<std::string>{"small"});
}

TEST_CASE("a file that grows or shrinks while it is copied is copied to an end", "[copy_tree]") {
    for (bool const grows : {true, false}) {
        both here;
        put(here.from / "file", std::string(8 << 20, 'x'));
        auto const file = sb::open_file(here.from / "file", O_WRONLY).value();
        std::atomic<bool> begun = false, over = false;
        std::thread other{[&] {
            for (off_t size = 8 * mebi; !over;) {
                size = grows ? std::min(size + 4096, 64 * mebi) : std::max<off_t>(size - 4096, 0);
                bool const done = grows ? ::pwrite(file.get(), std::string(4096, 'y').data(), 4096, size - 4096) == 4096 : ::ftruncate(file.get(), size) == 0;
                begun = true, begun.notify_one();
                if (!done) return;
            }
        }};
        begun.wait(false);
        auto const told = here.copy();
        over = true;
        other.join();
        CHECK(told.files == 1);
        auto const size = about(here.to / "file").st_size;
        CHECK(size <= 64 * mebi);
        auto const text = sb::read_file(here.to / "file").value();
        if (grows) CHECK(size >= 8 * mebi);
        CHECK(text.find_first_not_of("xy") == std::string::npos); // no zeros for what is gone
    }
}

TEST_CASE("what is copied for a reader is what that user may read", "[copy_tree]") {
    if (::geteuid() != 0) {
        WARN("SKIPPED: only root reads more than others");
        return;
    }
    constexpr uid_t reader = 65533, other = 65534;
    both here;
    REQUIRE(::chown(here.from.path().c_str(), reader, reader) == 0);
    auto const make = [&](char const* name, uid_t owner, mode_t mode) {
        put(here.from / name, name);
        REQUIRE((::chown((here.from / name).c_str(), owner, owner) == 0 && ::chmod((here.from / name).c_str(), mode) == 0));
    };
    make("own", reader, 0600), make("closed", other, 0600), make("open", other, 0644), make("roots", 0, 0640), make("grouped", other, 0640);
    REQUIRE(::chown((here.from / "grouped").c_str(), other, reader) == 0);
    for (auto const* name : {"room", "locked"}) REQUIRE((::mkdir((here.from / name).c_str(), 0755) == 0 && ::chown((here.from / name).c_str(), other, other) == 0));
    make("room/in", other, 0644), make("locked/in", other, 0644);
    REQUIRE(::chmod((here.from / "locked").c_str(), 0700) == 0);
    auto const a = sb::files::open_folder(AT_FDCWD, here.from.path().c_str()), b = sb::files::open_folder(AT_FDCWD, here.to.path().c_str());
    auto const told = copy_tree(a.get(), b.get(), tree_owner{12345, 12345}, -1, false, tree_owner{reader, reader}).value();
    auto names = sb::files::names_in(b.get()).value();
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"grouped", "open", "own", "room"});
    CHECK(equal(here.from / "room/in", here.to / "room/in"));
    CHECK(about(here.to / "open").st_uid == 12345);
    CHECK(told.skipped_count == 3);
    CHECK(told.failed.empty());
    CHECK(::geteuid() == 0);
}
