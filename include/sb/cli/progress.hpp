// SPDX-License-Identifier: MIT
// One line on a terminal's standard error that says how far the work is and how long it will take.
#pragma once
#include <sb/cli/terminal.hpp>
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/units.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <unistd.h>

namespace sb::cli {

/// Draws at most ten times a second, or never if `shown` is false. Erase it before other output on standard error.
class progress {
public:
    explicit progress(bool shown) : shown_{shown}, start_ns_{monotonic_ns()} {}
    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;
    ~progress() { erase(); }

    void total(std::size_t count) {
        all_ = count;
        start_ns_ = monotonic_ns();
        draw(true);
    }
    void step(bool good) {
        ++done_;
        if (!good) ++bad_;
        draw(done_ == all_);
    }
    void erase() {
        if (!drawn_) return;
        put("\r\x1b[K");
        drawn_ = false;
    }

private:
    void draw(bool now) {
        auto const at = monotonic_ns();
        if (!shown_ || all_ == 0 || (!now && at - drawn_ns_ < 100'000'000)) return;
        drawn_ns_ = at, drawn_ = true;
        auto const share = static_cast<double>(done_) / static_cast<double>(all_);
        auto text = cat(" ", done_, "/", all_);
        if (bad_ > 0) text += cat(", ", bad_, " not ok");
        if (done_ > 0 && done_ < all_) {
            auto const spent = static_cast<double>(at - start_ns_) / 1e9;
            text += cat(", ", show_seconds(spent / share - spent), " left");
        }
        auto const room = columns(2, 80) - static_cast<int>(width(text)) - 3;
        std::string bar;
        if (auto const wide = std::min(room, 40); wide >= 8) {
            auto const full = static_cast<std::size_t>(share * wide);
            bar = cat("[", std::string(full, '#'), std::string(static_cast<std::size_t>(wide) - full, '.'), "]");
        }
        put(cat("\r", bar, text, "\x1b[K"));
    }
    static void put(std::string const& text) {
        (void)retry([&] { return ::write(2, text.data(), text.size()); }); // a terminal that is gone needs no progress
    }

    bool shown_, drawn_ = false;
    std::int64_t start_ns_, drawn_ns_ = 0;
    std::size_t all_ = 0, done_ = 0, bad_ = 0;
};

} // namespace sb::cli
