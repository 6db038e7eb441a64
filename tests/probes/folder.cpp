// SPDX-License-Identifier: MIT
// The probe of what the folder of a run says of its own sandbox. The files that say it are the witness's: see sandbox.hpp.
#include "probe.hpp"

namespace probes {

void folder_settings(words const& given, attempts& tried) {
    tried.add("isolate: a process of the host is in sight", !own_pid_namespace(given));
    tried.call("bind: a folder of the host is shown", ::access(given.text("bound").c_str(), F_OK));
}

} // namespace probes
