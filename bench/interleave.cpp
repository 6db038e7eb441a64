// SPDX-License-Identifier: MIT
// interleave ROUNDS NAME=COMMAND… - runs each command (by /bin/sh -c exec, output to the null device) in turn, ROUNDS
// times, and prints a line each: name, best and median of its wall time in seconds, largest peak memory in KiB, least
// processor time in seconds (which tells more than the wall where other work disturbs).
// A command that fails is told on standard error and has no line.
#include <sb/core/clock.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <vector>

extern char** environ;

namespace {
struct command {
    std::string name, text;
    std::vector<double> seconds;
    long peak = 0;
    double cpu = 1e9;
    bool failed = false;
};

void run(command& c) {
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    std::string line = "exec " + c.text;
    char shell[] = "/bin/sh", flag[] = "-c";
    char* argv[] = {shell, flag, line.data(), nullptr};
    pid_t child = 0;
    auto const start = sb::monotonic_ns();
    int const spawned = ::posix_spawn(&child, shell, &files, nullptr, argv, environ);
    ::posix_spawn_file_actions_destroy(&files);
    int status = 0;
    rusage used{};
    if (spawned != 0 || ::wait4(child, &status, 0, &used) < 0 || status != 0) {
        std::fprintf(stderr, "interleave: %s failed: %s\n", c.name.c_str(), c.text.c_str());
        c.failed = true;
        return;
    }
    c.seconds.push_back(static_cast<double>(sb::monotonic_ns() - start) * 1e-9);
    c.peak = std::max(c.peak, used.ru_maxrss);
    auto const seconds = [](timeval t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
    c.cpu = std::min(c.cpu, seconds(used.ru_utime) + seconds(used.ru_stime));
}
} // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    std::vector<command> all;
    for (int i = 2; i < argc; ++i) {
        std::string const given{argv[i]};
        auto const equals = given.find('=');
        if (equals == std::string::npos) return 2;
        all.push_back({given.substr(0, equals), given.substr(equals + 1), {}, 0, 1e9, false});
    }
    for (int round = std::atoi(argv[1]); round > 0; --round)
        for (auto& c : all)
            if (!c.failed) run(c);
    for (auto& c : all) {
        if (c.failed || c.seconds.empty()) continue;
        std::sort(c.seconds.begin(), c.seconds.end());
        std::printf("%s\t%.6f\t%.6f\t%ld\t%.6f\n", c.name.c_str(), c.seconds.front(), c.seconds[c.seconds.size() / 2], c.peak, c.cpu);
    }
}
