// SPDX-License-Identifier: MIT
#include <sb/core/sole.hpp>
#include <support/catch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

std::vector<int> ended;

struct holder {
    explicit holder(int what) : what_{what}, name_{std::to_string(what)} {}
    holder(holder&&) noexcept = default;
    holder& operator=(holder&& from) noexcept { return sb::take_over(*this, std::move(from)); }
    ~holder() {
        if (what_ >= 0) ended.push_back(what_);
    }
    sb::sole<int, -1> what_;
    std::string name_;
};

} // namespace

TEST_CASE("what one object holds is ended once, however often it changes its owner") {
    ended.clear();
    {
        holder first{1};
        holder second{std::move(first)};
        CHECK(first.what_ == -1); // NOLINT(bugprone-use-after-move)
        CHECK((second.what_ == 1 && second.name_ == "1"));
        CHECK(ended.empty());
    }
    CHECK(ended == std::vector{1});
}

TEST_CASE("who takes something over ends what it held before, at once") {
    ended.clear();
    {
        holder first{1}, second{2};
        first = std::move(second);
        CHECK(ended == std::vector{1});
        CHECK((first.what_ == 2 && first.name_ == "2"));
        auto& same = first;
        first = std::move(same);
        CHECK(ended == std::vector{1});
    }
    CHECK(ended == std::vector{1, 2});
}

TEST_CASE("a pointer is held like a number") {
    std::string const text = "abc";
    sb::sole<std::string const*, nullptr> one{&text};
    auto const two = std::move(one);
    CHECK(!one); // NOLINT(bugprone-use-after-move)
    CHECK(two->size() == 3);
}
