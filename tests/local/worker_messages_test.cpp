// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/local/worker_messages.hpp>
#include <string>
#include <sys/socket.h>
#include <thread>

using namespace sb::local;

namespace {

struct socket_pair {
    int ends[2] = {-1, -1};
    socket_pair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0); }
    ~socket_pair() { ::close(ends[0]), close_sender(); }
    void close_sender() {
        if (ends[1] >= 0) ::close(ends[1]);
        ends[1] = -1;
    }
};

} // namespace

TEST_CASE("messages that arrive together are taken one by one") {
    socket_pair between;
    outbox sender;
    for (char const* each : {"one", "", "three"}) sender.put(each);
    REQUIRE(sender.send(between.ends[1], true));
    inbox receiver;
    CHECK_FALSE(receiver.has_one());
    CHECK(receiver.receive(between.ends[0]) == "one");
    CHECK(receiver.has_one());
    CHECK(receiver.receive(between.ends[0]) == "");
    CHECK(receiver.has_one());
    CHECK(receiver.receive(between.ends[0]) == "three");
    CHECK_FALSE(receiver.has_one());
    between.close_sender();
    CHECK(receiver.receive(between.ends[0]) == std::nullopt);
}

TEST_CASE("two ends that send more than the socket holds, and read only then, do not wait for each other") {
    socket_pair between;
    std::string const much(4 << 20, 'x');
    bool sent = false, received = false;
    std::thread session{[&] { // as a session: it sends all of its jobs before it reads an answer
        outbox jobs;
        jobs.put(much);
        sent = jobs.send(between.ends[1], true);
        inbox answers;
        received = answers.receive(between.ends[1]) == much;
    }};
    outbox answers;
    inbox orders;
    answers.put(much);
    CHECK(send_and_take_in(answers, orders, between.ends[0]));
    CHECK(orders.receive(between.ends[0]) == much);
    session.join();
    CHECK(sent);
    CHECK(received);
    answers.put(much);
    between.close_sender();
    CHECK_FALSE(send_and_take_in(answers, orders, between.ends[0]));
}

TEST_CASE("a message is whole wherever it was cut") {
    std::string const text = "the second one";
    std::string const first(20'000, 'x'); // more than is read at once
    std::string bytes;
    for (auto const& each : {first, text}) {
        auto const size = each.size();
        bytes.append(reinterpret_cast<char const*>(&size), sizeof size).append(each);
    }
    auto const from = sizeof(std::size_t) + first.size();
    for (std::size_t cut = from - 2; cut <= bytes.size(); ++cut) {
        socket_pair between;
        inbox receiver;
        REQUIRE(::send(between.ends[1], bytes.data(), cut, 0) == static_cast<ssize_t>(cut));
        std::thread rest{[&] { (void)::send(between.ends[1], bytes.data() + cut, bytes.size() - cut, 0); }};
        CHECK(receiver.receive(between.ends[0]) == first);
        CHECK(receiver.receive(between.ends[0]) == text);
        rest.join();
        CHECK_FALSE(receiver.has_one());
    }
}

TEST_CASE("a message may be long, and half a message is none") {
    socket_pair between;
    std::string const text(3'000'000, 'y');
    std::thread sending{[&] {
        outbox sender;
        sender.put(text), sender.put("short");
        (void)sender.send(between.ends[1], true);
        std::size_t const promised = 100;
        (void)::send(between.ends[1], &promised, sizeof promised, 0);
        (void)::send(between.ends[1], "half", 4, 0);
        between.close_sender();
    }};
    inbox receiver;
    CHECK(receiver.receive(between.ends[0]) == text);
    CHECK(receiver.receive(between.ends[0]) == "short");
    CHECK(receiver.receive(between.ends[0]) == std::nullopt);
    sending.join();
}

TEST_CASE("a part of a message is taken and not waited for") {
    std::string const text(1000, 'x');
    auto const size = text.size();
    auto const bytes = std::string{reinterpret_cast<char const*>(&size), sizeof size} + text;
    socket_pair between;
    inbox receiver;
    CHECK(receiver.take_in(between.ends[0], MSG_DONTWAIT)); // nothing yet, and somebody is there
    CHECK_FALSE(receiver.has_one());
    REQUIRE(::send(between.ends[1], bytes.data(), 500, 0) == 500);
    CHECK(receiver.take_in(between.ends[0], MSG_DONTWAIT));
    CHECK_FALSE(receiver.has_one());
    REQUIRE(::send(between.ends[1], bytes.data() + 500, bytes.size() - 500, 0) == static_cast<ssize_t>(bytes.size() - 500));
    CHECK(receiver.take_in(between.ends[0], MSG_DONTWAIT));
    REQUIRE(receiver.has_one());
    CHECK(receiver.receive(between.ends[0]) == text);
    between.close_sender();
    CHECK_FALSE(receiver.take_in(between.ends[0], MSG_DONTWAIT));
}
