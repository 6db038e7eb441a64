// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/process/reaper_messages.hpp>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <vector>

using namespace sb::process;

namespace {

std::vector<std::string> words_of(char* const* vector) {
    std::vector<std::string> words;
    for (; *vector; ++vector) words.emplace_back(*vector);
    return words;
}
ino_t inode(int fd) {
    struct stat facts {};
    REQUIRE(::fstat(fd, &facts) == 0);
    return facts.st_ino;
}

} // namespace

TEST_CASE("each step between clone and exec has its name, and what is no step has none") {
    CHECK(std::string_view{name_of(spawn_step::none)}.empty());
    CHECK(name_of(spawn_step::clone) == std::string_view{"clone"});
    CHECK(name_of(spawn_step::limits) == std::string_view{"setrlimit"});
    CHECK(name_of(spawn_step::exec) == std::string_view{"exec"});
    CHECK(name_of(static_cast<spawn_step>(static_cast<int>(spawn_step::exec) + 1)) == std::string_view{"?"});
    CHECK(name_of(static_cast<spawn_step>(255)) == std::string_view{"?"});
    CHECK_FALSE(spawn_failure{});
    CHECK(spawn_failure{spawn_step::clone, EAGAIN});
}

TEST_CASE("what is put into the room lies there unchanged, each behind the one before") {
    auto room = order_room::make().value();
    auto* const first = room.put("one");
    auto* const nothing = room.put("");
    auto* const third = room.put(std::string_view{"a\0b", 3});
    REQUIRE((first && nothing && third));
    CHECK(first == std::string_view{"one"});
    CHECK(std::string_view{nothing}.empty());
    CHECK(std::string_view{third, 4} == std::string_view{"a\0b\0", 4});
    CHECK(nothing == first + 4);
    CHECK(third == nothing + 1);
}

TEST_CASE("a vector for exec begins with what goes before, skips as many words as asked and ends with null") {
    auto room = order_room::make().value();
    std::vector<std::string> const words{"script", "-x", ""};
    CHECK(words_of(room.put({}, words)) == words);
    CHECK(words_of(room.put({"/bin/sh", "path"}, words, 1)) == std::vector<std::string>{"/bin/sh", "path", "-x", ""});
    CHECK(words_of(room.put({"alone"}, words, 3)) == std::vector<std::string>{"alone"});
    CHECK(words_of(room.put({"alone"}, words, 99)) == std::vector<std::string>{"alone"});
    CHECK(words_of(room.put({}, {})).empty());
    (void)room.put("x"); // what comes next would not be aligned by itself
    CHECK(reinterpret_cast<std::uintptr_t>(room.put({}, words)) % alignof(char*) == 0);
}

TEST_CASE("reports are fresh, in any place of the room") {
    auto room = order_room::make().value();
    (void)room.put("x");
    auto* const reports = room.put_reports(3);
    REQUIRE(reports);
    CHECK(reinterpret_cast<std::uintptr_t>(reports) % alignof(copy_report) == 0);
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(reports[i].failure);
        CHECK(reports[i].ended == 0);
        CHECK(reports[i].own_us == -1);
        reports[i].ended = 1, reports[i].own_us = 7;
    }
    room.clear();
    (void)room.put("x");
    auto const* const again = room.put_reports(3);
    REQUIRE(again == reports);
    CHECK(again[2].ended == 0);
    CHECK(again[2].own_us == -1);
}

TEST_CASE("a room that is full takes nothing more, until it is cleared") {
    auto room = order_room::make().value();
    std::string const mebibyte(std::size_t{1} << 20, 'x');
    int fitted = 0;
    while (room.put(mebibyte)) ++fitted;
    CHECK(fitted >= 8); // more than the kernel takes for one exec: 6 MiB
    CHECK(fitted < 1000);
    CHECK(room.put_reports(mebibyte.size()) == nullptr);
    CHECK(room.put({}, std::vector<std::string>{mebibyte}) == nullptr);
    CHECK(room.put({}, std::vector<std::string>(mebibyte.size())) == nullptr);
    auto const waiting = room.ahead().expect();
    while (room.put("x")) {}
    CHECK(room.ahead().call(waiting)); // nothing was written over it
    room.clear();
    CHECK(room.put(mebibyte));
}

TEST_CASE("a cleared room has an empty order, and a child still waits on it") {
    auto room = order_room::make().value();
    auto const waiting = room.ahead().expect();
    room.order().copies = 3, room.order().grouped = true, room.order().tree.cleared = 1;
    room.clear();
    CHECK(room.order().copies == 0);
    CHECK_FALSE(room.order().grouped);
    CHECK(room.order().tree.cleared == 0);
    CHECK(room.order().tree.traffic.read_chars == -1);
    CHECK(room.ahead().call(waiting));
}

TEST_CASE("a process that was forked sees the order at the same addresses, and its maker sees the report") {
    auto room = order_room::make().value();
    room.order().path = room.put("/bin/true");
    room.order().argv = room.put({}, {"true", "word"});
    room.order().reports = room.put_reports(1);
    auto const child = ::fork();
    if (child == 0) {
        auto& order = room.order();
        bool const same = order.path == std::string_view{"/bin/true"} && words_of(order.argv) == std::vector<std::string>{"true", "word"};
        order.reports[0].status = 17;
        order.tree.cleared = 1;
        ::_exit(same ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(room.order().reports[0].status == 17);
    CHECK(room.order().tree.cleared == 1);
}

TEST_CASE("a room that was moved keeps what lies in it") {
    auto first = order_room::make().value();
    auto const* const text = first.put("text");
    auto second = std::move(first);
    CHECK(text == std::string_view{"text"});
    CHECK(second.put("more") == text + 5);
    auto third = order_room::make().value();
    third = std::move(second);
    CHECK(third.put("last") == text + 10);
}

TEST_CASE("a message arrives as it was sent, with its descriptors, which exec closes") {
    auto const socket = sb::make_channel().value();
    auto const pipe = sb::make_pipe().value();
    int sent[sb::most_passed];
    for (std::size_t i = 0; i < sb::most_passed; ++i) sent[i] = i % 2 == 0 ? pipe.read.get() : pipe.write.get();
    for (std::size_t const count : {std::size_t{0}, std::size_t{1}, std::size_t{3}, sb::most_passed}) {
        INFO(count);
        REQUIRE(send_message(socket.ours.get(), {word::start, 41}, {sent, count}));
        message text;
        sb::passed_files came;
        REQUIRE(receive_message(socket.theirs.get(), text, came));
        CHECK(text.what == word::start);
        CHECK(text.copy == 41);
        REQUIRE(came.left() == count);
        for (std::size_t i = 0; i < count; ++i) {
            auto const one = came.take();
            CHECK(inode(one.get()) == inode(sent[i]));
            CHECK((::fcntl(one.get(), F_GETFL) & O_ACCMODE) == (i % 2 == 0 ? O_RDONLY : O_WRONLY));
            CHECK(::fcntl(one.get(), F_GETFD) == FD_CLOEXEC);
        }
    }
}

TEST_CASE("messages keep their order and do not run into each other") {
    auto const socket = sb::make_channel().value();
    for (int i = 0; i < 10; ++i) REQUIRE(send_message(socket.ours.get(), {i % 2 ? word::stop : word::rules, i}));
    message text;
    sb::passed_files came;
    for (int i = 0; i < 10; ++i) {
        REQUIRE(receive_message(socket.theirs.get(), text, came));
        CHECK(text.what == (i % 2 ? word::stop : word::rules));
        CHECK(text.copy == i);
    }
    CHECK_FALSE(receive_message(socket.theirs.get(), text, came, MSG_DONTWAIT));
    CHECK(came.left() == 0);
}

TEST_CASE("when the other end is gone nothing is sent or received, and nobody is killed by it") {
    auto socket = sb::make_channel().value();
    REQUIRE(send_message(socket.ours.get(), {word::stop, 1}));
    socket.ours.reset();
    message text;
    sb::passed_files came;
    CHECK(receive_message(socket.theirs.get(), text, came)); // it was sent before
    CHECK_FALSE(receive_message(socket.theirs.get(), text, came));
    CHECK(came.left() == 0);
    CHECK_FALSE(send_message(socket.theirs.get(), {word::done, 0}));
    CHECK_FALSE(send_message(-1, {word::done, 0}));
    CHECK_FALSE(receive_message(-1, text, came));
}

TEST_CASE("what is too short to be a message is none") {
    auto const socket = sb::make_channel().value();
    REQUIRE(::send(socket.ours.get(), "x", 1, 0) == 1);
    message text;
    sb::passed_files came;
    CHECK_FALSE(receive_message(socket.theirs.get(), text, came));
}
