// SPDX-License-Identifier: MIT
// Keys of devices: graphics processors and the speed of disks. They do not act until backends support them.
#pragma once
#include <sb/key/definition.hpp>

namespace sb::key {

inline constexpr definition gpu_limit{
    .name = "GPU_LIMIT", .in = unit::integer, .least = 0, .most = 64, .ladder = "0 1 2 4",
    .help = "graphics processors that are visible", .note = "Drawn for every second random preset.",
    .is_limit = true,
    .why_not = [](host const& here) -> std::string_view { return here.sandboxed ? "needs devices; the sandbox has none" : "needs devices of its own; the plain backend shows the host's"; }};

inline constexpr definition disk_io_throttle{
    .name = "DISK_IO_THROTTLE", .in = unit::integer, .least = 1, .most = 1000000, .ladder = "50 100 200 500 1000",
    .help = "disk operations per second of the whole tree", .note = "Not drawn for random presets.",
    .is_limit = true,
    .why_not = [](host const&) -> std::string_view { return "needs an io control group"; }};

} // namespace sb::key
