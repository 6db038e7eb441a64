// SPDX-License-Identifier: MIT
// Pipes that serve run after run: both ends are ours, and between two runs nobody else's.
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
    /// Only a pipe that is as it was born is kept; another takes the place of one that is not, or that is not to be `trusted`.
    void take_back(unique_fd near, int from, bool trusted) {
        auto& here = all_[static_cast<std::size_t>(from)];
        bool const as_born = near && trusted && here.is_as_born();
        here.ends.read = std::move(near);
        here.lent = false;
        if (as_born) return;
        ++replaced_;
        if (auto fresh = make_stream(); !fresh.has_error()) here.put(std::move(*fresh));
        else here.lent = true; // never again
    }
    /// Changes when a pipe is another.
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
        /// What a payload can change stays with the pipe, or with the end that it shares with us; locks go here, and times.
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
            return ::flistxattr(end, nullptr, 0) <= 0 && ::futimens(end, nullptr) == 0 && ::fstat(end, &facts) == 0; // whatever was written, or set
        }
    };
    static constexpr std::size_t most = 12;
    std::vector<kept> all_;
    std::uint64_t replaced_ = 0;
};

} // namespace sb::watch
