// SPDX-License-Identifier: MIT
// A part of a file in memory that survives the file's shrinking.
//
// How it works. Touching a mapped page that the file no longer has raises SIGBUS. A handler, installed with the first
// window, looks the address up among the windows; if it is one's, a page of zeros takes the place and the window is
// marked torn; any other SIGBUS goes where it went before.
#pragma once
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace sb {

namespace detail {

struct window_slot {
    std::atomic<std::uintptr_t> begin{0}, end{0}; // end 0: free
    std::atomic<bool> taken{false}, torn{false};
};
/// As many windows as can be open at once; more threads than that read without.
inline constinit std::array<window_slot, 64> window_slots{};
inline struct sigaction window_before; // what handled SIGBUS

inline void on_bus_error(int number, siginfo_t* info, void* context) {
    auto const at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    for (auto& slot : window_slots) {
        if (at < slot.begin.load() || at >= slot.end.load()) continue;
        slot.torn.store(true);
        auto const page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        auto* const place = reinterpret_cast<void*>(at / page * page); // NOLINT: the address the kernel gave
        if (::mmap(place, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == place) return;
    }
    if ((window_before.sa_flags & SA_SIGINFO) != 0) return window_before.sa_sigaction(number, info, context);
    ::sigaction(SIGBUS, &window_before, nullptr); // the access happens again and ends as it would have
}

inline void guard_windows() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction act {};
        act.sa_sigaction = on_bus_error;
        act.sa_flags = SA_SIGINFO;
        ::sigemptyset(&act.sa_mask);
        ::sigaction(SIGBUS, &act, &window_before);
    });
}

} // namespace detail

class file_window {
public:
    file_window() = default;
    file_window(file_window const&) = delete;
    file_window& operator=(file_window const&) = delete;
    ~file_window() {
        unmap();
        if (slot_) slot_->taken.store(false);
    }

    /// Maps `size` bytes at `from`, all of which the file must have now; false if that fails.
    bool map(int fd, off_t from, std::size_t size) noexcept {
        unmap();
        if (!slot_) {
            detail::guard_windows();
            for (auto& each : detail::window_slots)
                if (!each.taken.exchange(true)) {
                    slot_ = &each;
                    break;
                }
            if (!slot_) return false;
        }
        auto const page = ::sysconf(_SC_PAGESIZE);
        auto const lead = static_cast<std::size_t>(from % page);
        auto* const mapped = ::mmap(nullptr, size + lead, PROT_READ, MAP_SHARED, fd, from - static_cast<off_t>(lead));
        if (mapped == MAP_FAILED) return false;
        fd_ = fd, until_ = from + static_cast<off_t>(size);
        mapping_ = static_cast<char*>(mapped), size_ = size + lead, lead_ = lead;
        slot_->torn.store(false);
        slot_->begin.store(reinterpret_cast<std::uintptr_t>(mapped));
        slot_->end.store(reinterpret_cast<std::uintptr_t>(mapped) + size_);
        return true;
    }
    void unmap() noexcept {
        if (!mapping_) return;
        slot_->end.store(0);
        ::munmap(mapping_, size_);
        mapping_ = nullptr;
    }
    char const* data() const noexcept { return mapping_ + lead_; }
    /// True when the file lost some of this since it was mapped. (Within its last page nothing is raised, so the size
    /// is asked too; the descriptor must still be open.)
    bool torn() const noexcept {
        if (!mapping_) return false;
        struct stat status {};
        return slot_->torn.load() || ::fstat(fd_, &status) != 0 || status.st_size < until_;
    }

private:
    detail::window_slot* slot_ = nullptr;
    char* mapping_ = nullptr;
    std::size_t size_ = 0, lead_ = 0;
    int fd_ = -1;
    off_t until_ = 0;
};

} // namespace sb
