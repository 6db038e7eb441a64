// SPDX-License-Identifier: MIT
// Did a run let a file grow to its limit? We search where the run may write, because any process can send the signal that
// reports it.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/remove_tree.hpp>
#include <cstdint>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace sb::files {

/// Searches for one regular file, folder after folder, until it has seen so many names in all. Opens only folders and
/// follows no link.
class large_file_search {
public:
    /// The clock that file times come from. It advances by ticks.
    static std::int64_t now_ns() noexcept {
        timespec t{};
        ::clock_gettime(CLOCK_REALTIME_COARSE, &t);
        return ns_of(t.tv_sec, t.tv_nsec);
    }
    /// Waits until that clock is past the time of every existing file: Linux 6.13 gives some files the exact time, which is
    /// ahead of the clock.
    static void await_tick() noexcept {
        constexpr timespec step{0, 500'000};
        timespec exact{};
        ::clock_gettime(CLOCK_REALTIME, &exact);
        for (int naps = 0; now_ns() <= ns_of(exact.tv_sec, exact.tv_nsec) && naps < 100; ++naps) ::nanosleep(&step, nullptr);
    }

    /// `bytes`: the minimum size. `since_ns`: only files made since then, by `now_ns`; no process can set this time of a
    /// file afterwards. A file system without this time never matches. 0: made at any time.
    explicit large_file_search(std::int64_t bytes, std::int64_t since_ns = 0, int most_names = 20'000) : bytes_{bytes}, since_ns_{since_ns}, left_{most_names} {}

    /// The file or folder itself.
    bool is_at(int place) {
        struct stat facts {};
        if (place < 0 || ::fstat(place, &facts) != 0) return false;
        return S_ISDIR(facts.st_mode) ? find_in(place) : is_one(place, "");
    }
    /// Searches below this folder.
    bool find_in(int folder, int depth = 0) { // NOLINT(misc-no-recursion)
        auto again = folder >= 0 ? open_folder(folder, ".") : unique_fd{};
        std::unique_ptr<DIR, int (*)(DIR*)> const entries{again ? ::fdopendir(again.get()) : nullptr, &::closedir};
        if (!entries) return false;
        (void)again.release(); // closedir closes it
        while (auto const* const entry = ::readdir(entries.get())) {
            std::string_view const name{entry->d_name};
            if (name == "." || name == "..") continue;
            if (left_-- <= 0) return false;
            if (entry->d_type != DT_DIR && is_one(folder, entry->d_name)) return true;
            if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) || depth >= deepest) continue;
            if (auto const inner = open_folder(folder, entry->d_name); inner && find_in(inner.get(), depth + 1)) return true;
        }
        return false;
    }

private:
    static constexpr int deepest = 64;

    static constexpr std::int64_t ns_of(std::int64_t s, std::int64_t ns) noexcept { return s * 1'000'000'000 + ns; }
    bool is_one(int at, char const* name) const noexcept {
        struct statx facts {};
        if (::statx(at, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_SIZE | STATX_BTIME, &facts) != 0) return false;
        if (!S_ISREG(facts.stx_mode) || facts.stx_size < static_cast<std::uint64_t>(bytes_)) return false;
        return since_ns_ == 0 || ((facts.stx_mask & STATX_BTIME) && ns_of(facts.stx_btime.tv_sec, facts.stx_btime.tv_nsec) >= since_ns_);
    }

    std::int64_t bytes_, since_ns_;
    int left_;
};

} // namespace sb::files
