// SPDX-License-Identifier: MIT
// One output stream of a program: read without end, kept in constant space.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/sha256.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unistd.h>

namespace sb::watch {

/// The result of reading a stream.
struct captured {
    std::int64_t bytes = 0; ///< all that was written, kept or not
    std::string sha256; ///< of the bytes up to the cap
    std::string head, tail; ///< the first and the last 4 KiB up to the cap, unchanged
    bool truncated = false; ///< more came than the cap allows
};

/// Takes the bytes from a pipe. Counts all of them. Up to `cap` bytes it hashes them, keeps the beginning and the end, and
/// copies them to `keep` (a file; -1: none).
class capture {
public:
    static constexpr std::size_t kept = 4096;

    capture(std::int64_t cap, int keep) : cap_{cap}, keep_{keep} {}

    void take(std::string_view block) {
        auto const before = got_.bytes;
        got_.bytes += static_cast<std::int64_t>(block.size());
        if (cap_ >= 0 && got_.bytes > cap_) {
            got_.truncated = true;
            block = block.substr(0, static_cast<std::size_t>(std::max<std::int64_t>(cap_ - before, 0)));
        }
        if (block.empty()) return;
        hash_.update(block);
        if (got_.head.size() < kept) got_.head.append(block.substr(0, kept - got_.head.size()));
        got_.tail.append(block.substr(block.size() - std::min(block.size(), kept)));
        if (got_.tail.size() > kept) got_.tail.erase(0, got_.tail.size() - kept);
        for (auto rest = block; keep_ >= 0 && !rest.empty();) {
            auto const n = retry([&] { return ::write(keep_, rest.data(), rest.size()); });
            if (n <= 0) keep_ = -1; // the copy stops here; the figures go on
            else rest.remove_prefix(static_cast<std::size_t>(n));
        }
    }
    bool over() const noexcept { return got_.truncated; }

    captured finish() {
        got_.sha256 = got_.bytes == 0 ? std::string{nothing} : hash_.hex();
        return std::move(got_);
    }

private:
    static constexpr std::string_view nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    std::int64_t cap_;
    int keep_;
    captured got_;
    sha256 hash_;
};

} // namespace sb::watch
