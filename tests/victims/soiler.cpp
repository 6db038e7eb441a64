// SPDX-License-Identifier: MIT
// A payload that leaves something behind for the next one, in the way it is told: soiler WAY, in its workspace. It says
// "done", or why it could not. `soiler look` prints what a payload can see of its sandbox and of itself, numbers that
// the kernel hands out in order and moments left out: two runs that know nothing of each other print the same.
#include "soil.hpp"
#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    if (argc > 2) return 2;
    soil::ways all{{"nothing", [] { return true; }}};
    for (auto each : {soil::of_files(), soil::of_sockets(), soil::of_processes(), soil::of_others()}) all.merge(each);
    if (argc < 2) {
        for (auto const& each : all) std::puts(each.first.c_str());
        return 0;
    }
    if (std::string_view{argv[1]} == "look") {
        soil::look();
        return 0;
    }
    auto const way = all.find(argv[1]);
    if (way == all.end()) return std::fprintf(stderr, "soiler: no way %s\n", argv[1]), 2;
    errno = 0;
    bool const done = way->second();
    std::string const answer = done ? "done" : std::string{"refused: "} + std::strerror(errno);
    (void)!::write(1, (answer + "\n").c_str(), answer.size() + 1);
    return 0;
}
