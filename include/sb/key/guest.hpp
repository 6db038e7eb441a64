// SPDX-License-Identifier: MIT
// Keys of another system to run in: a container or a virtual machine. They do not act until there are such backends;
// Linux is supported already.
#pragma once
#include <sb/core/text.hpp>
#include <sb/key/definition.hpp>

namespace sb::key {

namespace detail {
constexpr std::string_view no_guests(host const&) noexcept { return "needs the virtual-machine backend"; }
inline outcome plan_os(word const& os, host const&, setup&) { return os.is == "linux" ? holds("linux", "the host") : outcome{}; }
} // namespace detail

inline constexpr definition os_type{
    .name = "OS_TYPE", .in = unit::word, .ladder = "windows macos", .words = "linux macos windows",
    .help = "operating system to run in",
    .note = "Guests need a disk image of yours, so random presets use one only with --guests.",
    .needs_limits = false,
    .plan = typed<detail::plan_os>,
    .why_not = detail::no_guests};

inline constexpr definition vm_settings{
    .name = "VM_SETTINGS", .in = unit::map,
    .help = "disk image, memory and time limit of a guest", .note = "{\"windows_image\":…,\"memory\":\"4Gi\",\"timeout\":600}",
    .why_not = detail::no_guests};

inline constexpr definition container_image{
    .name = "CONTAINER_IMAGE", .in = unit::text,
    .help = "image that the container backend starts",
    .note = "Never generated: name the image yourself.",
    .why_not = [](host const&) -> std::string_view { return "needs the container backend"; }};

} // namespace sb::key
