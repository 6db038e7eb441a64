// SPDX-License-Identifier: MIT
// Pipes that serve run after run: both ends are ours, and between two runs nobody else's.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <utility>
#include <vector>

namespace sb::isolate {

/// A pipe of which we read, for a payload to write to. To look at our end and to read it are two calls, and what it held a payload
/// can have taken back between them, for it can open its end to read: so ours never waits. Its own does, for each end has its flags.
inline result<pipe_ends> make_stream() {
    SB_TRY(auto ends, make_pipe());
    if (::fcntl(ends.read.get(), F_SETFL, O_NONBLOCK) < 0) return last_error("make an end of a pipe that never waits");
    return ends;
}

class pipe_pool {
public:
    /// A pipe's end for us. `from` tells which pipe it is; what is handed out is its far end.
    result<unique_fd> lend(int& from) {
        auto free = std::find_if(all_.begin(), all_.end(), [](kept const& each) { return !each.lent; });
        if (free == all_.end()) {
            SB_TRY(auto ends, make_stream());
            int const size = ::fcntl(ends.write.get(), F_GETPIPE_SZ);
            free = all_.insert(all_.end(), {std::move(ends), size, false});
        }
        free->lent = true;
        from = static_cast<int>(free - all_.begin());
        return std::move(free->ends.read);
    }
    bool has_room() const noexcept {
        return all_.size() < most || std::any_of(all_.begin(), all_.end(), [](kept const& each) { return !each.lent; });
    }
    int far(int from) const noexcept { return all_[static_cast<std::size_t>(from)].ends.write.get(); }
    /// Only a pipe that is as it was born is kept; another takes the place of one that is not, or that is not to be `trusted`.
    void take_back(unique_fd near, int from, bool trusted) {
        auto& here = all_[static_cast<std::size_t>(from)];
        int const end = here.ends.write.get();
        f_owner_ex owner{};
        bool const as_born = near && trusted && ::fcntl(end, F_GETFL) == O_WRONLY && ::fcntl(end, F_GETPIPE_SZ) == here.size && ::fcntl(end, F_GETSIG) == 0 &&
                             ::fcntl(end, F_GETOWN_EX, &owner) == 0 && owner.pid == 0;
        here.ends.read = std::move(near);
        here.lent = false;
        if (as_born) return;
        ++replaced_;
        if (auto fresh = make_stream(); !fresh.has_error()) here.ends = std::move(*fresh), here.size = ::fcntl(here.ends.write.get(), F_GETPIPE_SZ);
        else here.lent = true; // never again
    }
    /// Changes when a pipe is another.
    std::uint64_t replaced() const noexcept { return replaced_; }

private:
    struct kept {
        pipe_ends ends;
        int size = 0;
        bool lent = false;
    };
    static constexpr std::size_t most = 12;
    std::vector<kept> all_;
    std::uint64_t replaced_ = 0;
};

} // namespace sb::isolate
