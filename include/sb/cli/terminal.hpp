// SPDX-License-Identifier: MIT
// What the terminal can show, and whether there is one.
#pragma once
#include <sb/core/printable.hpp>
#include <sb/core/text.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sb::cli {

enum class color_mode { automatic, always, never };

/// NO_COLOR and a dumb terminal mean no; CLICOLOR_FORCE means yes; else a terminal decides.
inline bool use_color(int fd, color_mode mode) {
    auto const set = [](char const* name) {
        char const* const v = std::getenv(name);
        return v && *v && std::string_view{v} != "0";
    };
    if (mode != color_mode::automatic) return mode == color_mode::always;
    if (char const* const no = std::getenv("NO_COLOR"); no && *no) return false;
    if (set("CLICOLOR_FORCE")) return true;
    char const* const term = std::getenv("TERM");
    return ::isatty(fd) == 1 && term && std::string_view{term} != "dumb";
}

/// Columns of the terminal at `fd`; `otherwise` if it is no terminal.
inline int columns(int fd, int otherwise = 100) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return otherwise;
}

/// Cells that UTF-8 text takes: wide East Asian and emoji two, combining marks none.
inline std::size_t width(std::string_view text) {
    std::size_t cells = 0;
    for (std::size_t i = 0; i < text.size();) {
        auto const n = utf8_length(text.substr(i));
        std::uint32_t const code = n > 0 ? code_point(text.substr(i, n)) : 0xfffd;
        bool const none = (code >= 0x300 && code < 0x370) || code == 0x200b || code == 0x200d || (code >= 0xfe00 && code <= 0xfe0f);
        bool const wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
                          (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
                          (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
                          (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd);
        cells += none ? 0 : wide ? 2 : 1;
        i += n > 0 ? n : 1;
    }
    return cells;
}

/// Text broken into lines of at most `wide` cells, each after the first indented.
inline std::string wrapped(std::string_view text, std::size_t indent, std::size_t wide) {
    std::string out;
    std::size_t used = 0;
    split(text, ' ', [&](std::string_view word) {
        auto const cells = width(word);
        if (used > 0 && indent + used + 1 + cells > wide) out += "\n" + std::string(indent, ' '), used = 0;
        if (used > 0) out += ' ', ++used;
        out += word;
        used += cells;
    });
    return out;
}

using sb::printable;

} // namespace sb::cli
