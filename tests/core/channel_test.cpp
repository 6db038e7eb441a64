// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/channel.hpp>
#include <sys/stat.h>
#include <vector>

using namespace sb;

namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
ino_t file_behind(int fd) {
    struct stat facts {};
    REQUIRE(::fstat(fd, &facts) == 0);
    return facts.st_ino;
}

} // namespace

TEST_CASE("a message arrives whole, with its files in order, and the sender keeps its own") {
    auto const between = make_channel().value();
    auto const one = make_pipe().value(), two = make_pipe().value();
    int const sent[] = {one.read.get(), two.write.get()};
    int const number = 7;
    char const text[] = "after it";
    REQUIRE(send_packet(between.ours.get(), {bytes_of(number), bytes_of(text)}, sent));
    REQUIRE(send_packet(between.ours.get(), {bytes_of(number)}));
    CHECK((is_open(sent[0]) && is_open(sent[1])));

    passed_files came;
    std::vector<char> room(100);
    REQUIRE(receive_packet(between.theirs.get(), room, came) == static_cast<ssize_t>(sizeof number + sizeof text));
    CHECK(std::memcmp(room.data(), &number, sizeof number) == 0);
    CHECK(std::string_view{room.data() + sizeof number} == text);
    REQUIRE(came.left() == 2);
    auto const first = came.take(), second = came.take();
    CHECK(file_behind(first.get()) == file_behind(sent[0]));
    CHECK(file_behind(second.get()) == file_behind(sent[1]));
    CHECK((::fcntl(first.get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK_FALSE(came.take());

    int again = 0;
    CHECK(receive_packet_as(again, between.theirs.get(), came));
    CHECK((again == number && came.left() == 0));
}

TEST_CASE("files that nobody takes are closed, also those that came with a message of a wrong size") {
    auto const between = make_channel().value();
    auto const pipe = make_pipe().value();
    int const sent[] = {pipe.read.get()};
    int arrived = -1;
    {
        passed_files came;
        char const letter = 'x';
        REQUIRE(send_packet(between.ours.get(), {bytes_of(letter)}, sent));
        int number = 0;
        CHECK_FALSE(receive_packet_as(number, between.theirs.get(), came));
        REQUIRE(came.left() == 1);
        auto taken = came.take();
        arrived = taken.release();
        came.add(arrived);
    }
    CHECK_FALSE(is_open(arrived));
}

TEST_CASE("nobody at the other end is told, and so is a message that has not come") {
    auto between = make_channel().value();
    passed_files came;
    int number = 0;
    CHECK_FALSE(receive_packet_as(number, between.ours.get(), came, MSG_DONTWAIT));
    CHECK(errno == EAGAIN);
    between.theirs.reset();
    char room[8];
    CHECK(receive_packet(between.ours.get(), room, came) == 0);
    CHECK_FALSE(send_packet(between.ours.get(), {bytes_of(number)}));
}
