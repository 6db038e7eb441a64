// SPDX-License-Identifier: MIT
// Which limit ended a run. What each is called and which class of end it is says the key that holds it.
#pragma once
#include <sb/key/setup.hpp>
#include <sb/record/run.hpp>
#include <cstdint>
#include <string>

namespace sb::key {

enum class end_cause : std::uint8_t {
    none,
    wall_clock, ///< we killed the tree
    wall_clock_of_rest, ///< the first process was done, what it left behind was not
    output, ///< more on a stream than is taken
    files, ///< all processes together kept too many
    file_size, ///< the kernel's signal
    cpu_time, ///< the kernel's signal; the end stays `signalled`
    memory, ///< the group refused, and the kernel killed
    sockets, ///< they held too much of the host's memory
    kernel_memory, ///< locks and sockets made the kernel keep too much
    processes, ///< a fork was refused
    disk ///< no room was left
};

/// One way in which a key ends runs.
struct end_rule {
    end_cause cause;
    end_class class_;
    std::string (*words)(setup const&); ///< for a person; the key's name and a colon stand before them
};

} // namespace sb::key
