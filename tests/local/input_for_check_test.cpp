// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/text.hpp>
#include <sb/local/input_for_check.hpp>
#include <cerrno>
#include <string>
#include <unistd.h>
#include <vector>

using namespace sb::local;

namespace {

std::string text_of(int fd) {
    std::string text(1 << 20, '\0');
    auto const n = ::pread(fd, text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
}
sb::unique_fd output_with(std::string const& text) {
    sb::unique_fd made{::memfd_create("test", MFD_CLOEXEC)};
    REQUIRE(::write(made.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return made;
}

} // namespace

TEST_CASE("a check finds no HOME of the run where programs look for theirs") {
    std::vector<std::string> environment{"PATH=/bin", "HOME=/home/sandbox", "HOMER=x"};
    hide_home(environment);
    CHECK(environment == std::vector<std::string>{"PATH=/bin", "SB_HOME=/home/sandbox", "HOMER=x", "HOME=/"});
}

TEST_CASE("the copy of an output is whole, and the output is as it was") {
    for (auto const& text : {std::string{}, std::string{"said\n"}, std::string(300'000, 'x') + "end"}) {
        auto const output = output_with(text);
        auto const copy = sealed_copy(output.get()).value();
        CHECK(text_of(copy.get()) == text);
        CHECK(text_of(output.get()) == text);
        CHECK(::lseek(output.get(), 0, SEEK_CUR) == static_cast<off_t>(text.size())); // as the run left it
    }
}

TEST_CASE("nobody can change the copy: not by writing, growing, shortening, nor by opening it anew") {
    auto const output = output_with("said\n");
    auto const copy = sealed_copy(output.get()).value();
    CHECK((::pwrite(copy.get(), "x", 1, 0) < 0 && errno == EPERM));
    CHECK((::pwrite(copy.get(), "x", 1, 5) < 0 && errno == EPERM));
    CHECK((::ftruncate(copy.get(), 0) < 0 && errno == EPERM));
    CHECK((::ftruncate(copy.get(), 10) < 0 && errno == EPERM));
    CHECK((::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, copy.get(), 0) == MAP_FAILED && errno == EPERM));
    sb::unique_fd const again{::open(sb::cat("/proc/self/fd/", copy.get()).c_str(), O_RDWR | O_CLOEXEC)};
    CHECK((!again || ::pwrite(again.get(), "x", 1, 0) < 0));
    CHECK(text_of(copy.get()) == "said\n");
}

TEST_CASE("an output that is not there is an error") {
    auto const got = sealed_copy(-1);
    REQUIRE(got.has_error());
    CHECK(got.error().what.find("for the output") != std::string::npos);
}
