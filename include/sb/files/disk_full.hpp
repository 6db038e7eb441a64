// SPDX-License-Identifier: MIT
// Was a file system full while a run wrote to it? A tmpfs counts no refusals and keeps no peak, so somebody must look.
#pragma once
#include <algorithm>
#include <cstdint>
#include <sys/statfs.h>

namespace sb::files {

/// Looks at the earliest moment at which it can be full, given how fast memory is written, and rarely while nothing changes.
/// It may miss a file system that is full for less than `shortest_ns`, or a refused write that did not fill it.
class disk_full_watch {
public:
    static constexpr std::int64_t shortest_ns = 1'000'000, longest_rest_ns = 16'000'000;

    /// `root`: a folder of the file system, -1 for none; `bytes`, `files`: its size. Costs no system call.
    void begin(int root, std::int64_t bytes, std::int64_t files, std::int64_t now_ns) noexcept {
        root_ = root, full_ = false, rest_ns_ = shortest_ns;
        before_ = {bytes, files};
        due_ns_ = root < 0 ? -1 : now_ns + earliest(before_);
    }
    /// When to look next; -1: never.
    std::int64_t due_ns() const noexcept { return full_ ? -1 : due_ns_; }
    void look(std::int64_t now_ns) noexcept {
        if (due_ns() < 0 || now_ns < due_ns_) return;
        struct statfs now {};
        if (::fstatfs(root_, &now) != 0) {
            due_ns_ = -1;
            return;
        }
        learn(static_cast<std::int64_t>(now.f_bfree) * now.f_bsize, static_cast<std::int64_t>(now.f_ffree), now_ns);
    }
    /// The result of a look: this much is left.
    void learn(std::int64_t bytes, std::int64_t files, std::int64_t now_ns) noexcept {
        full_ = full_ || bytes == 0 || files == 0;
        room const left{bytes, files};
        rest_ns_ = left == before_ ? std::min(rest_ns_ * 2, longest_rest_ns) : shortest_ns;
        before_ = left;
        due_ns_ = now_ns + std::max(rest_ns_, earliest(left));
    }
    bool was_full() const noexcept { return full_; }

private:
    struct room {
        std::int64_t bytes = 0, files = 0;
        bool operator==(room const&) const = default;
    };
    static constexpr std::int64_t bytes_a_ns = 16, ns_a_file = 500; // memory is filled, and files are made, more slowly than that
    static std::int64_t earliest(room const& left) noexcept { return std::max(shortest_ns, std::min(left.bytes / bytes_a_ns, left.files * ns_a_file)); }

    int root_ = -1;
    bool full_ = false;
    std::int64_t rest_ns_ = 0, due_ns_ = -1;
    room before_;
};

} // namespace sb::files
