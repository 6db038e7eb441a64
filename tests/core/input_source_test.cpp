// SPDX-License-Identifier: MIT
// Tests of chunks.hpp, file_window.hpp and input_source.hpp.
#include <sb/core/chunks.hpp>
#include <sb/core/file_window.hpp>
#include <sb/core/input_source.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include "support/catch.hpp"
#include "support/files.hpp"

namespace {

/// All lines of the inputs by way of a queue and some threads, in order.
std::string through_chunks(std::vector<std::string> const& paths, int threads, std::size_t limit = sb::default_line_limit) {
    sb::chunk_queue queue{paths, limit};
    std::mutex hold;
    std::vector<std::string> parts;
    auto const work = [&] {
        sb::chunk now;
        for (;;) {
            auto const more = queue.next(now);
            if (!more.value()) return;
            std::lock_guard const held{hold};
            if (parts.size() <= now.number) parts.resize(now.number + 1);
            parts[now.number] = now.text;
        }
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    for (auto& each : others) each.join();
    std::string all;
    for (auto const& p : parts) all += p;
    return all;
}

std::string numbered_lines(std::size_t bytes) {
    std::string text;
    for (int i = 0; text.size() < bytes; ++i) text += sb::cat("line ", i, std::string(static_cast<std::size_t>(i * 7 % 300), '.'), "\n");
    return text;
}

} // namespace

TEST_CASE("a pipe is delivered as whole lines, wherever its writes are split") {
    std::string const text = "one\n\ntwo\r\nthree";
    for (std::size_t split = 0; split <= text.size(); ++split) {
        auto ends = sb::make_pipe().value();
        sb::source in{ends.read.get(), "pipe"};
        int pauses = 0;
        // what comes second is written when the reader would wait, so the test needs no clock
        in.on_pause([&] {
            if (pauses++ == 0 && split < text.size()) REQUIRE(::write(ends.write.get(), text.data() + split, text.size() - split) > 0);
            else ends.write.reset();
        });
        REQUIRE(::write(ends.write.get(), text.data(), split) >= 0);
        std::string got;
        std::string_view block;
        while (in.next_block(block).value()) {
            REQUIRE_FALSE(block.empty());
            got += block;
            if (got.size() < text.size()) REQUIRE(got.ends_with('\n'));
        }
        CHECK(got == text);
        CHECK(pauses >= 1);
    }
}

TEST_CASE("a line above the limit is one error and the next lines are read") {
    auto const text = "a\n" + std::string(3'000'000, 'x') + "\nb\n";
    sb::test::scratch_file const file{text};
    auto in = sb::source::open(file.path()).value();
    in.line_limit(1'000'000);
    std::string got;
    int errors = 0;
    for (;;) {
        std::string_view block;
        auto const more = in.next_block(block);
        if (more.has_error()) {
            CHECK(more.error().what == "line longer than 1000000 bytes");
            ++errors;
            continue;
        }
        if (!*more) break;
        got += block;
    }
    CHECK(errors == 1);
    CHECK(got == "a\nb\n");
}

TEST_CASE("lines come with their numbers, those above the limit too") {
    sb::test::scratch_file const file{"a\n\n" + std::string(3'000'000, 'x') + "\nb\r\n" + std::string(3'000'000, 'y')};
    auto const read = [&](std::string const& path, std::size_t most) {
        auto in = sb::source::open(path).value();
        in.line_limit(1'000'000);
        std::vector<std::string> seen;
        auto const use = [&](sb::input_line const& line) {
            seen.push_back(sb::cat(line.number, line.is_ended ? "" : " open", " ", line.text));
            return seen.size() < most;
        };
        auto const too_long = [&](std::int64_t number, std::string_view what) {
            seen.push_back(sb::cat(number, " ", what));
            return seen.size() < most;
        };
        REQUIRE_FALSE(sb::each_line(in, use, too_long).has_error());
        return seen;
    };
    std::string const what = " line longer than 1000000 bytes";
    CHECK(read(file.path(), 9) == std::vector<std::string>{"1 a", "2 ", "3" + what, "4 b\r", "5" + what});
    CHECK(read(file.path(), 2) == std::vector<std::string>{"1 a", "2 "});
    CHECK(read(file.path(), 3) == std::vector<std::string>{"1 a", "2 ", "3" + what});
    sb::test::scratch_file const open_end{"a\nb"};
    CHECK(read(open_end.path(), 9) == std::vector<std::string>{"1 a", "2 open b"});
    auto folder = sb::source::open("/tmp").value();
    CHECK(sb::each_line(folder, [](sb::input_line const&) { return true; }, [](std::int64_t, std::string_view) { return true; }).error().what ==
          "read /tmp: Is a directory");
}

TEST_CASE("a folder and a missing file are errors that name them") {
    auto in = sb::source::open("/tmp").value();
    std::string_view block;
    CHECK(in.next_block(block).error().what == "read /tmp: Is a directory");
    CHECK(sb::source::open("/nowhere").error().what == "open /nowhere: No such file or directory");
    sb::chunk_queue queue{{"/tmp"}};
    sb::chunk now;
    CHECK(queue.next(now).error().what == "read /tmp: Is a directory");
}

TEST_CASE("chunks of files hold each line once, in order") {
    auto const text = numbered_lines(3'000'000);
    sb::test::scratch_file const a{text}, empty{""}, b{"last without newline"};
    for (int const threads : {1, 3}) CHECK((through_chunks({a.path(), empty.path(), b.path(), a.path()}, threads) == text + "last without newline" + text));
    auto const large = numbered_lines(21'000'000) + std::string(5'000'000, 'x') + "\n" + numbered_lines(5'000'000); // with windows
    sb::test::scratch_file const c{large};
    for (int const threads : {1, 3}) CHECK((through_chunks({c.path()}, threads) == large));
}

TEST_CASE("a line longer than a chunk stays whole") {
    auto const text = "first\n" + std::string(1'500'000, 'x') + "\nlast\n";
    sb::test::scratch_file const file{text};
    CHECK((through_chunks({file.path()}, 2) == text));
    // and is cut one byte above the limit, from a file as from a pipe
    auto const cut = "first\n" + std::string(600'001, 'x') + "last\n";
    CHECK((through_chunks({file.path()}, 1, 600'000) == cut));
    auto ends = sb::make_pipe().value();
    std::thread writer{[&] {
        std::string_view rest{text};
        while (!rest.empty()) {
            auto const n = ::write(ends.write.get(), rest.data(), rest.size());
            if (n <= 0) break;
            rest.remove_prefix(static_cast<std::size_t>(n));
        }
        ends.write.reset();
    }};
    CHECK((through_chunks({sb::cat("/dev/fd/", ends.read.get())}, 2, 600'000) == cut));
    ends.read.reset();
    writer.join();
}

TEST_CASE("a file that shrinks while it is read is an error, not a crash") {
    auto const text = numbered_lines(2'000'000);
    sb::test::scratch_file const file{text};
    sb::chunk_queue queue{{file.path()}};
    sb::chunk now;
    REQUIRE(queue.next(now).value());
    REQUIRE(::truncate(file.path().c_str(), 1000) == 0);
    auto const next = queue.next(now);
    REQUIRE(next.has_error());
    CHECK(next.error().what == file.path() + ": became shorter while it was read");
}

TEST_CASE("a file that shrinks under its window is an error, not a crash") {
    auto const text = numbered_lines(20'000'000);
    for (off_t const left : {off_t{1000}, off_t{19'999'000}}) {
        sb::test::scratch_file const file{text};
        sb::chunk_queue queue{{file.path()}};
        sb::chunk now;
        REQUIRE(queue.next(now).value());
        CHECK(text.starts_with(now.text));
        CHECK(now.text.size() > 4'000'000);
        CHECK_FALSE(queue.check(now).has_error());
        REQUIRE(::truncate(file.path().c_str(), left) == 0);
        std::size_t lines = 0;
        for (char const c : now.text) lines += c == '\n'; // touches what is gone
        CHECK(lines > 0);
        bool failed = queue.check(now).has_error();
        CHECK(failed == (left == 1000));
        while (!failed) {
            auto const more = queue.next(now);
            failed = more.has_error() || queue.check(now).has_error();
            if (!failed) REQUIRE(*more);
        }
    }
}
