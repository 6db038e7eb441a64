// SPDX-License-Identifier: MIT
// What else happened on the machine while runs were made. It is read between two runs, never within one.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace sb::machine {

/// Processor time over a period that contains at least one complete run.
struct machine_noise {
    double window_s = 0;
    double steal_s = 0; ///< taken by a hypervisor, sum over all processors
    double others_cpu_s = 0; ///< used by processes that are not ours
};

/// Ticks of all processors since boot, from the first line of /proc/stat.
struct machine_ticks {
    std::int64_t busy = 0, steal = 0;
    static std::optional<machine_ticks> parse(std::string_view line) noexcept {
        enum { user, nice, system, idle, wait, irq, soft_irq, stolen, fields };
        std::int64_t ticks[fields]{};
        if (!line.starts_with("cpu ")) return std::nullopt;
        line.remove_prefix(4);
        for (auto& each : ticks) {
            auto const number = take_number(line);
            if (!number) return std::nullopt;
            each = *number;
        }
        return machine_ticks{ticks[user] + ticks[nice] + ticks[system] + ticks[irq] + ticks[soft_irq], ticks[stolen]};
    }
};

/// Looks at most once in `least_window`, so that a short run pays only for two clock readings.
class noise_watch {
public:
    static constexpr std::int64_t least_window_ns = 100'000'000; ///< the kernel counts in hundredths of a second

    /// `file`: /proc/stat or a file like it. Without a file nothing is ever known.
    explicit noise_watch(unique_fd file) : file_{std::move(file)} {}
    static noise_watch of_this_machine() {
        auto file = open_file("/proc/stat", O_RDONLY);
        return noise_watch{file.has_error() ? unique_fd{} : std::move(*file)};
    }

    /// Before a run. `ours` gives our own processor time so far, in ns; it is called only when there is a look.
    template <class Ours>
    void before(std::int64_t now_ns, Ours const& ours) {
        if (!since_ || now_ns - since_->ns >= least_window_ns) since_ = look(now_ns, ours);
    }
    /// After a run: what happened since a look before it, if that was long enough ago.
    template <class Ours>
    std::optional<machine_noise> after(std::int64_t now_ns, Ours const& ours) {
        if (!since_ || now_ns - since_->ns < least_window_ns) return std::nullopt;
        auto const then = std::exchange(since_, look(now_ns, ours));
        if (!since_) return std::nullopt;
        static auto const tick_s = 1.0 / static_cast<double>(std::max(::sysconf(_SC_CLK_TCK), 1L));
        machine_noise found;
        found.window_s = static_cast<double>(now_ns - then->ns) / 1e9;
        found.steal_s = std::max(0.0, static_cast<double>(since_->ticks.steal - then->ticks.steal) * tick_s);
        auto const mine = static_cast<double>(since_->ours_ns - then->ours_ns) / 1e9;
        auto const others = static_cast<double>(since_->ticks.busy - then->ticks.busy) * tick_s - mine;
        found.others_cpu_s = std::max(0.0, std::round(others * 1e3) / 1e3); // as coarse as it was counted
        return found;
    }

private:
    struct moment {
        std::int64_t ns = 0, ours_ns = 0;
        machine_ticks ticks;
    };
    template <class Ours>
    std::optional<moment> look(std::int64_t now_ns, Ours const& ours) const {
        char text[256];
        auto const n = file_ ? ::pread(file_.get(), text, sizeof text, 0) : -1;
        auto const ticks = n > 0 ? machine_ticks::parse({text, static_cast<std::size_t>(n)}) : std::nullopt;
        if (!ticks) return std::nullopt;
        return moment{now_ns, ours(), *ticks};
    }
    unique_fd file_;
    std::optional<moment> since_;
};

} // namespace sb::machine
