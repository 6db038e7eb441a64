// SPDX-License-Identifier: MIT
// Pipes that are used for run after run. Both ends are ours, and between two runs nobody else has them.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <utility>
#include <vector>

namespace sb::watch {

/// A pipe that a payload writes and we read. Checking our end and reading it are two calls. In between a payload can take
/// its data back, because it can open its end for reading. So our end never waits. The payload's own end does wait, because
/// each end has its own flags.
inline result<pipe_ends> make_stream() {
    SB_TRY(auto ends, make_pipe());
    if (::fcntl(ends.read.get(), F_SETFL, O_NONBLOCK) < 0) return last_error("make an end of a pipe that never waits");
    return ends;
}

class pipe_pool {
public:
    /// Our end of a pipe. `from` tells which pipe it is; the result is the end for the other side.
    result<unique_fd> lend(int& from) {
        auto free = std::find_if(all_.begin(), all_.end(), [](kept const& each) { return !each.lent; });
        if (free == all_.end()) {
            SB_TRY(auto ends, make_stream());
            free = all_.emplace(all_.end());
            free->put(std::move(ends));
        }
        free->lent = true;
        from = static_cast<int>(free - all_.begin());
        return std::move(free->ends.read);
    }
    bool has_room() const noexcept {
        return all_.size() < most || std::any_of(all_.begin(), all_.end(), [](kept const& each) { return !each.lent; });
    }
    int far(int from) const noexcept { return all_[static_cast<std::size_t>(from)].ends.write.get(); }
    /// Only a pipe in its original state is kept. A changed pipe, or one that must not be `trusted`, is replaced.
    void take_back(unique_fd near, int from, bool trusted) {
        auto& here = all_[static_cast<std::size_t>(from)];
        bool const as_born = near && trusted && here.is_as_born();
        here.ends.read = std::move(near);
        here.lent = false;
        if (as_born) return;
        ++replaced_;
        if (auto fresh = make_stream(); !fresh.has_error()) here.put(std::move(*fresh));
        else here.lent = true; // it is never lent again
    }
    /// Changes when a pipe is replaced.
    std::uint64_t replaced() const noexcept { return replaced_; }

private:
    struct kept {
        pipe_ends ends;
        int size = 0;
        struct stat facts {};
        bool lent = false;

        void put(pipe_ends made) noexcept {
            ends = std::move(made);
            size = ::fcntl(ends.write.get(), F_GETPIPE_SZ);
            (void)::fstat(ends.write.get(), &facts);
        }
        /// A payload's changes stay with the pipe, or with the end that it shares with us; this removes locks and changed
        /// times.
        bool is_as_born() noexcept {
            int const end = ends.write.get();
            f_owner_ex owner{};
            struct flock whole {};
            whole.l_type = F_UNLCK;
            std::uint64_t hint = 0;
            struct stat now {};
            if (::fcntl(end, F_GETFL) != O_WRONLY || ::fcntl(end, F_GETPIPE_SZ) != size || ::fcntl(end, F_GETSIG) != 0 || ::fcntl(end, F_GETOWN_EX, &owner) != 0 ||
                owner.pid != 0 || (::fcntl(end, F_GET_RW_HINT, &hint) == 0 && hint != 0) || ::flock(end, LOCK_UN) != 0 || ::fcntl(end, F_OFD_SETLK, &whole) != 0 ||
                ::fstat(end, &now) != 0 || now.st_mode != facts.st_mode || now.st_uid != facts.st_uid || now.st_gid != facts.st_gid)
                return false;
            auto const same = [](timespec const& a, timespec const& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; };
            if (same(now.st_atim, facts.st_atim) && same(now.st_mtim, facts.st_mtim) && same(now.st_ctim, facts.st_ctim)) return true;
            return ::flistxattr(end, nullptr, 0) <= 0 && ::futimens(end, nullptr) == 0 && ::fstat(end, &facts) == 0; // resets anything that was written or set
        }
    };
    static constexpr std::size_t most = 12;
    std::vector<kept> all_;
    std::uint64_t replaced_ = 0;
};

} // namespace sb::watch
