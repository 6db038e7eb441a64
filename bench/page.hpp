// SPDX-License-Identifier: MIT
// A table that a benchmark makes goes between two marks of a page.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <cstdio>
#include <string>
#include <string_view>

namespace bench {

/// Between "<!-- made by bench/NAME -->" and the next "<!-- end -->", each on a line of its own. The exit status: 0, or 4.
inline int put_between_marks(char const* page, std::string_view name, std::string_view rows) {
    constexpr std::string_view end = "<!-- end -->\n";
    auto const begin = sb::cat("<!-- made by bench/", name, " -->\n");
    auto const failed = [&](char const* why) { return std::fprintf(stderr, "%.*s: %s: %s\n", static_cast<int>(name.size()), name.data(), page, why), 4; };
    auto const old = sb::read_file(page);
    if (old.has_error()) return failed(old.error().what.c_str());
    auto const from = old->find(begin), to = from == std::string::npos ? from : old->find(end, from);
    if (to == std::string::npos) return failed("its two marks are not there");
    auto const text = sb::cat(old->substr(0, from + begin.size()), rows, old->substr(to));
    auto const file = sb::open_file(page, O_WRONLY | O_TRUNC);
    if (file.has_error() || ::write(file->get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return failed("cannot be written");
    return 0;
}

} // namespace bench
