// SPDX-License-Identifier: MIT
// kernel_gives isolation | group CONTROLLER: exit status 0 when the kernel gives that here, 1 and the reason when it does not. For scripts.
#include "support/kernel.hpp"
#include <iostream>

int main(int argc, char** argv) {
    std::string const word = argc > 1 ? argv[1] : "";
    if (word == "group" && argc == 3) return sb::test::kernel::gives_group(argv[2]) ? 0 : 1;
    if (word != "isolation" || argc != 2) return std::cerr << "kernel_gives isolation | group CONTROLLER\n", 2;
    auto const& why = sb::test::kernel::cannot_isolate();
    if (!why.empty()) std::cout << why << '\n';
    return why.empty() ? 0 : 1;
}
