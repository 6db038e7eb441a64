// SPDX-License-Identifier: MIT
#include "support/box_slot.hpp"
#include <atomic>
#include <sb/isolate/copy_tree.hpp>
#include <thread>

using namespace sb::isolate;
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
    tree_copy copy(std::int64_t most = -1) {
        auto const a = sb::isolate::detail::open_folder(AT_FDCWD, from.path().c_str()), b = sb::isolate::detail::open_folder(AT_FDCWD, to.path().c_str());
        return copy_tree(a.get(), b.get(), {}, most).value();
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
    auto const a = sb::isolate::detail::open_folder(AT_FDCWD, from.path().c_str()), b = sb::isolate::detail::open_folder(AT_FDCWD, name);
    auto const told = copy_tree(a.get(), b.get());
    CHECK_FALSE(told.has_error());
    auto const copied = std::string{name} + "/file";
    CHECK(equal(from / "file", copied));
    CHECK(about(copied).st_blocks * 512 <= mebi);
    ::unlink(copied.c_str()), ::rmdir(name);
}

TEST_CASE("more data than may be is skipped, told, and leaves the rest", "[copy_tree]") {
    both here;
    put(here.from / "one", std::string(1 << 20, 'x'));
    for (auto const* name : {"two", "three", "four"}) REQUIRE(::link((here.from / "one").c_str(), (here.from / name).c_str()) == 0);
    put_at(here.from / "sparse", {}, 400 * mebi);
    auto const told = here.copy(5 * mebi / 2);
    CHECK(told.bytes == 2 * mebi);
    CHECK(told.files == 3); // the sparse one too
    CHECK(told.skipped_count == 2);
    REQUIRE(told.skipped.size() == 2);
    CHECK(told.skipped[0].find(": more than may be copied in all") != std::string::npos);
    CHECK(about(here.to / "sparse").st_size == 400 * mebi);
    CHECK(sb::isolate::detail::names_in(sb::isolate::detail::open_folder(AT_FDCWD, here.to.path().c_str()).get()).value().size() == 3);
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
