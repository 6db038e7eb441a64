// SPDX-License-Identifier: MIT
// Which limit ended a run. The key of the limit defines its name and its class of end.
#pragma once
#include <sb/key/setup.hpp>
#include <sb/record/run.hpp>
#include <cstdint>
#include <string>

namespace sb::key {

enum class end_cause : std::uint8_t {
    none,
    wall_clock, ///< we killed the tree
    wall_clock_of_rest, ///< the first process was done, but processes that it left behind were not
    output, ///< more on a stream than is allowed
    files, ///< all processes together kept too many
    file_size, ///< by the kernel's signal
    cpu_time, ///< by the kernel's signal; the end stays `signalled`
    memory, ///< the group refused memory, and the kernel killed
    sockets, ///< they held too much of the host's memory
    kernel_memory, ///< locks and sockets made the kernel keep too much
    processes, ///< a fork was refused
    disk ///< no room was left
};

/// One way in which a key ends runs.
struct end_rule {
    end_cause cause;
    end_class class_;
    std::string (*words)(setup const&); ///< for a person; the key's name and a colon precede them
};

} // namespace sb::key
