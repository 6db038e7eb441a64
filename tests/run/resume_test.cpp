// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/run/resume.hpp>
#include <string>

using namespace sb::run;

namespace {
std::string write(std::string const& path, std::string_view text) {
    auto const file = sb::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(::write(file->get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return path;
}
constexpr std::string_view whole = "{\"kind\":\"run\",\"run_id\":\"aaaa\"}\n{\"kind\":\"sample\",\"run_id\":\"no\"}\n{\"kind\":\"run\",\"run_id\":\"bbbb\"}\n";
} // namespace

TEST_CASE("runs of a file are known by their keys, other records are passed over") {
    sb::test::folder here;
    auto const done = read_finished(write(here / "runs", whole));
    REQUIRE_FALSE(done.has_error());
    CHECK(done->ids == std::unordered_set<std::string>{"aaaa", "bbbb"});
    CHECK_FALSE(done->torn);
}

TEST_CASE("a line torn after any byte is not done, and what stands before it is") {
    sb::test::folder here;
    auto const last = std::string{whole}.rfind("{\"kind\"");
    for (auto length = last + 1; length + 1 < whole.size(); ++length) {
        INFO(length);
        auto const path = write(here / "runs", whole.substr(0, length));
        auto const done = read_finished(path);
        REQUIRE_FALSE(done.has_error());
        bool const complete = length + 1 == whole.size();
        CHECK(done->ids.contains("aaaa"));
        CHECK(done->ids.contains("bbbb") == complete);
        CHECK(done->torn == !complete);
        // gone on with in the same file, it ends where a line ends
        auto const out = sb::open_file(path, O_WRONLY | O_APPEND);
        REQUIRE(*mend_end(*done, path, out->get()));
        CHECK(*sb::read_file(path) == whole.substr(0, last));
    }
}

TEST_CASE("a record that only lacks its line end is done, and gets its line end") {
    sb::test::folder here;
    auto const path = write(here / "runs", whole.substr(0, whole.size() - 1));
    auto const done = read_finished(path);
    CHECK(done->ids.contains("bbbb"));
    auto const out = sb::open_file(path, O_WRONLY | O_APPEND);
    CHECK_FALSE(*mend_end(*done, path, out->get()));
    CHECK(*sb::read_file(path) == whole);
}

TEST_CASE("a file that is not the output is left as it is") {
    sb::test::folder here;
    auto const path = write(here / "runs", whole.substr(0, whole.size() - 5));
    auto const out = sb::open_file(write(here / "other", ""), O_WRONLY | O_APPEND);
    CHECK_FALSE(*mend_end(*read_finished(path), path, out->get()));
    CHECK(*sb::read_file(path) == whole.substr(0, whole.size() - 5));
}

TEST_CASE("a line too long to be read is passed over by its number, and never cut off") {
    sb::test::folder here;
    std::string const large(std::size_t{17} << 20, 'x');
    auto const path = write(here / "runs", sb::cat(whole, "{\"kind\":\"sample\",\"text\":\"", large, "\"}\n{\"kind\":\"run\",\"run_id\":\"cccc\"}\n{\"kind\":\"ru"));
    auto done = read_finished(path);
    REQUIRE_FALSE(done.has_error());
    CHECK(done->ids == std::unordered_set<std::string>{"aaaa", "bbbb", "cccc"});
    CHECK(done->too_long == std::vector<std::int64_t>{4});
    auto out = sb::open_file(path, O_WRONLY | O_APPEND);
    REQUIRE(*mend_end(*done, path, out->get())); // the torn line is the last one
    CHECK(sb::read_file(path, std::size_t{32} << 20)->ends_with("\"cccc\"}\n"));

    for (std::string_view const end : {"", "\n"}) {
        write(path, sb::cat(whole, large, end));
        done = read_finished(path);
        REQUIRE_FALSE(done.has_error());
        CHECK_FALSE(done->torn);
        CHECK(done->open_end == end.empty());
        out = sb::open_file(path, O_WRONLY | O_APPEND);
        CHECK_FALSE(*mend_end(*done, path, out->get()));
        CHECK(*sb::read_file(path, std::size_t{32} << 20) == sb::cat(whole, large, "\n"));
    }
}

TEST_CASE("a file that is not there is the system's refusal, as elsewhere") {
    auto const got = read_finished("/nonexistent/runs");
    REQUIRE(got.has_error());
    CHECK(got.error().on == sb::blame::system);
    CHECK(got.error().what == "--resume: open /nonexistent/runs: No such file or directory");
}

TEST_CASE("what has no end is not waited for, and a command's output is taken") {
    sb::test::folder const here;
    auto const fifo = here / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    CHECK(read_finished(fifo).error().what == sb::cat("--resume ", fifo, ": is not a regular file"));
    CHECK(read_finished("/dev/zero").error().what == "--resume /dev/zero: is not a regular file");
    CHECK(read_finished(here.path()).error().on == sb::blame::caller);
    CHECK(read_finished("/dev/null")->ids.empty());
    auto ends = sb::make_pipe().value();
    REQUIRE_FALSE(sb::write_all(ends.write.get(), "{\"kind\":\"run\",\"run_id\":\"aaaa\"}\n", "pipe").has_error());
    ends.write.reset();
    CHECK(read_finished(sb::cat("/dev/fd/", ends.read.get()))->ids.contains("aaaa"));
}
