// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/files.hpp"
#include <sb/watch/capture.hpp>
#include <string>

using sb::watch::capture;

namespace {
// of FIPS 180-2: "abc", a million times "a"; and of nothing
constexpr auto of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr auto of_million = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
constexpr auto of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
} // namespace

TEST_CASE("a stream is counted and hashed, however it is cut") {
    for (std::string const text : {"abc", "ab|c", "a|b|c", "||abc|"}) {
        INFO(text);
        capture into{-1, -1};
        for (std::size_t from = 0, bar; from <= text.size(); from = bar + 1) {
            bar = std::min(text.find('|', from), text.size());
            into.take(std::string_view{text}.substr(from, bar - from));
        }
        CHECK_FALSE(into.over());
        auto const got = into.finish();
        CHECK(got.bytes == 3);
        CHECK(got.sha256 == of_abc);
        CHECK(got.head == "abc");
        CHECK(got.tail == "abc");
        CHECK_FALSE(got.truncated);
    }
}

TEST_CASE("an empty stream has the hash of nothing") {
    auto const got = capture{-1, -1}.finish();
    CHECK(got.bytes == 0);
    CHECK(got.sha256 == of_nothing);
    CHECK((got.head.empty() && got.tail.empty()));
    CHECK_FALSE(got.truncated);
    capture none{0, -1};
    none.take("");
    CHECK_FALSE(none.over());
    CHECK(none.finish().sha256 == of_nothing);
}

TEST_CASE("of a long stream the beginning and the end are kept, and the whole is hashed") {
    capture into{-1, -1};
    std::string const block(1000, 'a');
    for (int i = 0; i < 1000; ++i) into.take(block);
    auto const got = into.finish();
    CHECK(got.bytes == 1'000'000);
    CHECK(got.sha256 == of_million);
    CHECK(got.head == std::string(capture::kept, 'a'));
    CHECK(got.tail == got.head);

    capture parts{-1, -1};
    std::string all;
    for (int i = 0; i < 10'000; ++i) all += std::to_string(i) + ' ';
    for (std::size_t from = 0; from < all.size(); from += 777) parts.take(std::string_view{all}.substr(from, 777));
    auto const kept = parts.finish();
    CHECK(kept.head == all.substr(0, 4096));
    CHECK(kept.tail == all.substr(all.size() - 4096));
    capture whole{-1, -1};
    whole.take(all);
    CHECK(whole.finish().tail == kept.tail);
}

TEST_CASE("what comes behind the cap is counted, and no part of hash, beginning or end") {
    for (int const first : {1, 3, 6}) {
        INFO(first);
        capture into{3, -1};
        std::string_view const text{"abcdef"};
        into.take(text.substr(0, static_cast<std::size_t>(first)));
        CHECK(into.over() == (first > 3));
        into.take(text.substr(static_cast<std::size_t>(first)));
        into.take("more");
        CHECK(into.over());
        auto const got = into.finish();
        CHECK(got.bytes == 10);
        CHECK(got.truncated);
        CHECK(got.sha256 == of_abc);
        CHECK(got.head == "abc");
        CHECK(got.tail == "abc");
    }
}

TEST_CASE("a stream as long as its cap is whole, and with a cap of nothing one byte is too many") {
    capture exact{3, -1};
    exact.take("abc");
    CHECK_FALSE(exact.over());
    CHECK(exact.finish().sha256 == of_abc);
    capture none{0, -1};
    none.take("x");
    CHECK(none.over());
    auto const got = none.finish();
    CHECK(got.bytes == 1);
    CHECK(got.sha256 == of_nothing);
    CHECK(got.head.empty());
}

TEST_CASE("the copy has what is within the cap, byte by byte") {
    sb::test::scratch_file const file{""};
    auto const to = sb::open_file(file.path(), O_WRONLY).value();
    capture into{5, to.get()};
    into.take(std::string_view{"a\0b", 3});
    into.take("cdef");
    (void)into.finish();
    CHECK(sb::read_file(file.path()).value() == std::string{"a\0bcd", 5});
}

TEST_CASE("a copy that cannot be written stops, and the figures go on") {
    sb::test::scratch_file const file{"untouched"};
    auto const to = sb::open_file(file.path(), O_RDONLY).value();
    capture into{-1, to.get()};
    into.take("ab");
    into.take("c");
    CHECK(into.finish().sha256 == of_abc);
    CHECK(sb::read_file(file.path()).value() == "untouched");

    auto pipe = sb::make_pipe(O_NONBLOCK).value(); // full after 64 KiB
    capture full{-1, pipe.write.get()};
    std::string const block(1000, 'a');
    for (int i = 0; i < 1000; ++i) full.take(block);
    CHECK(full.finish().sha256 == of_million);
}
