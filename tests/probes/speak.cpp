// SPDX-License-Identifier: MIT
// Probes that say what the listener cannot bear.
#include "probe.hpp"
#include <csignal>

namespace probes {
namespace {

bool say(int fd, std::string_view text) {
    while (!text.empty()) {
        auto const n = ::write(fd, text.data(), text.size());
        if (n <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

int report_channel() {
    char const* const number = std::getenv("SB_REPORT_FD");
    return number ? std::atoi(number) : -1;
}

/// A reader such as nobody should write: one call deeper for each bracket.
long naive_depth(char const* text) { // NOLINT(misc-no-recursion)
    volatile char frame[256];
    frame[0] = *text;
    return frame[0] == '[' ? 1 + naive_depth(text + 1) + (frame[0] - '[') : 0;
}

} // namespace

void output_flood(words const& given, attempts& tried) {
    auto const mib = given.number("mib", 1024);
    std::signal(SIGPIPE, SIG_IGN);
    int const to = given.does("err") ? 2 : 1;
    bool const all = write_mib(to, mib);
    int const refused = errno;
    say(to, "\n");
    tried.add(std::to_string(mib) + " MiB of output", all, refused);
}

void raw_bytes(words const&, attempts& tried) {
    using namespace std::string_view_literals;
    // clears the screen, names the window, asks the terminal to answer; NUL, half a character, a lone surrogate, C1
    auto const text = "\x1b[2J\x1b]0;owned\x07\x1b[6n\x1bP$q\"p\x1b\\\x00\x01\x08\x7f\xff\xc3\xed\xa0\x80\xc2\x9b\x32J\r"sv;
    say(1, text), say(2, text);
    say(1, "\n"), say(2, "\n");
    tried.seen_outside("bytes that are no text");
}

void forged_records(words const& given, attempts& tried) {
    auto const line = R"({"kind":"run","v":1,"run_id":"f0f0f0f0f0f0f0f0","scenario":")" + given.text("tag") +
                      R"(","end":{"class":"failed","code":99,"signal":null,"reason":"forged"}})" "\n";
    for (int const fd : {1, 2, report_channel()})
        if (fd >= 0) say(fd, line), say(fd, "\n\r" + line);
    for (int fd = 3; fd < 64; ++fd)
        if (fd != report_channel()) say(fd, line);
    tried.seen_outside("records in our name");
}

void bombs(words const& given, attempts& tried) {
    std::signal(SIGPIPE, SIG_IGN);
    if (given.does("naive")) { // the control: what the same bomb does to a reader without a bound
        std::string const deep(4 << 20, '[');
        auto const child = ::fork();
        if (child == 0) ::_exit(naive_depth(deep.c_str()) > 0 ? 0 : 1);
        int status = 0;
        ::waitpid(child, &status, 0);
        return tried.add("break a reader without a bound", WIFSIGNALED(status));
    }
    int const channel = report_channel();
    if (channel < 0) return tried.add("report", false, EBADF);
    say(channel, std::string(1 << 20, '[') + "\n");
    std::string const piece(1 << 20, 'k');
    say(channel, "{\"");
    for (int i = 0; i < 32; ++i) say(channel, piece); // 32 MiB in one line
    say(channel, "\":1}\n");
    say(channel, "{\"n\":" + std::string(1 << 20, '9') + "}\n");
    std::string keys = "{";
    for (int i = 0; i < 100000; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
    say(channel, keys + "\"last\":1}\n");
    for (int i = 0; i < 100000; ++i)
        if (!say(channel, "{\"k" + std::to_string(i) + "\":1}\n")) break;
    tried.seen_outside("bombs in the report channel");
}

} // namespace probes
