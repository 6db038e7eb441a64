// SPDX-License-Identifier: MIT
// What a watcher and its reaper say to each other. The order of a run and its report lie in shared memory. Descriptors and
// wake-ups go through a socket.
//
// How it works: the memory is mapped before the reaper is forked, so an address in it means the same to both, and the reaper
// can use its argument vectors as they are. The watcher trusts nothing that it reads there: reports are plain numbers, and
// the watcher never follows a pointer or trusts a size from them.
#pragma once
#include <sb/core/channel.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/process/ahead_call.hpp>
#include <sb/process/limits.hpp>
#include <sb/process/rlimit_list.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace sb::process {

/// The step between clone and exec that failed.
enum class spawn_step : std::uint8_t { none, clone, prctl, setsid, signals, descriptors, folder, affinity, landlock, limits, exec };

inline char const* name_of(spawn_step step) noexcept {
    static constexpr char const* names[] = {"", "clone", "prctl", "setsid", "sigaction", "dup2", "change folder", "sched_setaffinity", "landlock", "setrlimit", "exec"};
    auto const at = static_cast<std::size_t>(step);
    return at < std::size(names) ? names[at] : "?";
}

struct spawn_failure {
    spawn_step step = spawn_step::none;
    int code = 0;
    explicit operator bool() const noexcept { return step != spawn_step::none; }
};

/// Processor time, memory and traffic of processes that were waited for; -1 is unknown.
struct raw_usage {
    std::int64_t user_us = 0, system_us = 0;
    std::int64_t peak_rss_bytes = 0; ///< of the largest process
    std::int64_t read_bytes = 0, written_bytes = 0; ///< read from storage; made dirty for storage
    std::int64_t processes = 0; ///< processes that these figures cover
};

/// Traffic of all processes that were waited for; -1 is unknown.
struct raw_traffic {
    std::int64_t read_chars = -1, written_chars = -1; ///< requested from the system, cached or not
    std::int64_t cancelled_bytes = -1; ///< made dirty and removed again before they were stored
};

/// The result of one copy, as the reaper saw it.
struct copy_report {
    spawn_failure failure;
    std::int64_t exec_ns = 0, end_ns = 0; ///< monotonic
    int status = 0;
    int ended = 0;
    std::int64_t before_ns = 0; ///< its processor time before exec, which is our own cost
    raw_usage used; ///< since exec
    std::int64_t own_us = -1; ///< its processor time without that of the children it waited for; -1: not measured
};

/// The result of all processes that no copy waited for.
struct tree_report {
    raw_usage orphans;
    raw_traffic traffic; ///< of the copies and of the orphans
    std::int64_t processes_made = -1; ///< processes and threads ever made, the copies too
    std::int64_t left_running = 0; ///< processes that were alive when the run ended
    int orphan_broke_file_limit = 0;
    int cleared = 0; ///< 1: nothing of the run is alive
    std::int64_t last_end_ns = 0;
    std::int64_t own_cpu_ns = 0; ///< the reaper's own processor time since the order came
    std::int64_t leftovers = 0; ///< System V objects that remain after the run
};

/// A run, ready to be executed.
struct run_request {
    int copies = 0;
    bool wait_tree = false;
    bool affine = false;
    bool grouped = false; ///< each start message carries a control group's folder, as the last descriptor
    std::uint64_t clone_key = 0;
    ahead_call::number ahead = 0; ///< number of a child to clone for the next run, when this run is over; the next run must have the same pipes and no input
    bool awake = false; ///< that child may keep a processor busy for as long as a wake-up would take
    cpu_set_t cpus{};
    rlimit_list rlimits;
    char const* path = nullptr;
    char const* folder = nullptr; ///< becomes the working folder; null: the reaper's own
    char* const* argv = nullptr;
    char* const* shell_argv = nullptr;
    char* const* environment = nullptr;
    copy_report* reports = nullptr; ///< one for each copy
    tree_report tree;
};

/// The shared memory. Each `put` goes behind the one before, until `clear`.
class order_room {
public:
    static result<order_room> make() {
        void* const all = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) return last_error("mmap", "memory shared with a reaper");
        new (static_cast<char*>(all) + room) ahead_call{};
        return order_room{static_cast<char*>(all)};
    }
    order_room(order_room&& from) noexcept : base_{std::exchange(from.base_, nullptr)}, used_{from.used_} {}
    order_room& operator=(order_room&& from) noexcept {
        std::swap(base_, from.base_), std::swap(used_, from.used_);
        return *this;
    }
    ~order_room() {
        if (base_) ::munmap(base_, size);
    }

    run_request& order() noexcept { return *std::launder(reinterpret_cast<run_request*>(base_)); }
    /// Not cleared: a child waits on it between two orders.
    ahead_call& ahead() noexcept { return *std::launder(reinterpret_cast<ahead_call*>(base_ + room)); }
    void clear() noexcept {
        used_ = sizeof(run_request);
        new (base_) run_request{};
    }
    /// Null when there is no room left.
    char* put(std::string_view text) noexcept {
        auto* const at = take(text.size() + 1, 1);
        if (at) std::memcpy(at, text.data(), text.size()), at[text.size()] = '\0';
        return at;
    }
    /// A vector for exec: `before`, then `words` from the `skip`-th on, then null.
    char** put(std::vector<char const*> const& before, std::vector<std::string> const& words, std::size_t skip = 0) noexcept {
        auto const count = before.size() + words.size() - std::min(skip, words.size());
        auto* const all = reinterpret_cast<char**>(take((count + 1) * sizeof(char*), alignof(char*)));
        if (!all) return nullptr;
        std::size_t i = 0;
        for (auto const* each : before) all[i++] = const_cast<char*>(each);
        for (auto at = skip; at < words.size(); ++at)
            if (!(all[i++] = put(words[at]))) return nullptr;
        all[i] = nullptr;
        return all;
    }
    copy_report* put_reports(std::size_t count) noexcept {
        auto* const all = take(count * sizeof(copy_report), alignof(copy_report));
        if (!all) return nullptr;
        for (std::size_t i = 0; i < count; ++i) new (all + i * sizeof(copy_report)) copy_report{};
        return std::launder(reinterpret_cast<copy_report*>(all));
    }

private:
    static constexpr std::size_t size = std::size_t{32} << 20; // more than exec takes; only pages that are written use memory
    static constexpr std::size_t room = size - alignof(std::max_align_t) * ((sizeof(ahead_call) + alignof(std::max_align_t) - 1) / alignof(std::max_align_t));
    explicit order_room(char* base) : base_{base} { clear(); }
    char* take(std::size_t bytes, std::size_t align) noexcept {
        auto const at = (used_ + align - 1) / align * align;
        if (bytes > room - std::min(at, room)) return nullptr;
        used_ = at + bytes;
        return base_ + at;
    }
    char* base_;
    std::size_t used_ = 0;
};

enum class word : std::uint8_t {
    start, ///< a copy, with its descriptors: in, out, err, and optionally the report channel and the control group
    let_go, ///< the waiting child: the reaper answers `done` when there is none
    rules, ///< Landlock rules for all copies from now on; `copy` is their flags
    stop, ///< kill all processes of this run
    done ///< from the reaper: reports are complete, nothing is alive
};

struct message {
    word what = word::done;
    int copy = 0;
};

/// Never waits for room: a reaper reads its orders at once, so a full socket means a broken reaper.
inline bool send_message(int socket, message const& text, std::span<int const> files = {}) noexcept {
    return send_packet(socket, {bytes_of(text)}, files);
}
/// False when the other end is gone.
inline bool receive_message(int socket, message& text, passed_files& files, int flags = 0) noexcept {
    return receive_packet_as(text, socket, files, flags);
}

} // namespace sb::process
