// SPDX-License-Identifier: MIT
// latency start N COMMAND… -- COMMAND… [-- …]   start to end of each command on the record in $RECORD, interleaved
// latency pipe N COMMAND… -- COMMAND… [-- …]    one record through a running pipe of these, and back
// Prints one line a command (start) or one line (pipe): median and p99 in microseconds.
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <vector>

extern char** environ;

namespace {

using command = std::vector<char*>;

std::vector<command> commands(int argc, char** argv, int from) {
    std::vector<command> all(1);
    for (int i = from; i < argc; ++i) {
        if (std::strcmp(argv[i], "--") == 0) all.emplace_back();
        else if (std::strcmp(argv[i], "---") == 0) all.back().push_back(const_cast<char*>("--")); // a "--" of the command's own
        else all.back().push_back(argv[i]);
    }
    for (auto& each : all) each.push_back(nullptr);
    return all;
}

pid_t start(command& c, int in, int out) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    if (::posix_spawnp(&child, c[0], &actions, nullptr, c.data(), environ) != 0) {
        std::fprintf(stderr, "latency: cannot run %s\n", c[0]);
        std::exit(4);
    }
    ::posix_spawn_file_actions_destroy(&actions);
    return child;
}

void report(char const* name, std::vector<double>& us) {
    std::sort(us.begin(), us.end());
    std::printf("%.1f %.1f %s\n", us[us.size() / 2], us[us.size() * 99 / 100], name);
}

int starts(int n, std::vector<command> all) {
    char const* const record = std::getenv("RECORD");
    if (!record) return std::fprintf(stderr, "latency: RECORD must name a file\n"), 2;
    auto const null = sb::open_file("/dev/null", O_WRONLY).value();
    std::vector<std::vector<double>> us(all.size());
    for (int i = 0; i < n; ++i)
        for (std::size_t k = 0; k < all.size(); ++k) {
            auto const in = sb::open_file(record, O_RDONLY).value();
            auto const from = sb::monotonic_ns();
            pid_t const child = start(all[k], in.get(), null.get());
            int status = 0;
            ::waitpid(child, &status, 0);
            us[k].push_back(static_cast<double>(sb::monotonic_ns() - from) / 1e3);
        }
    for (std::size_t k = 0; k < all.size(); ++k) report(all[k][0], us[k]);
    return 0;
}

int round_trips(int n, std::vector<command> all) {
    ::signal(SIGPIPE, SIG_IGN);
    auto first = sb::make_pipe().value();
    auto from = std::move(first.read);
    std::vector<pid_t> children;
    for (auto& each : all) {
        auto next = sb::make_pipe().value();
        children.push_back(start(each, from.get(), next.write.get()));
        from = std::move(next.read);
    }
    std::string record = "{\"kind\":\"sample\",\"v\":1,\"scenario\":\"normal\",\"roi\":0.5,\"pad\":\"" + std::string(500, 'x') + "\"}\n";
    std::vector<double> us;
    int result = 0;
    for (int i = 0; i < n + 50 && result == 0; ++i) {
        auto const sent = sb::monotonic_ns();
        if (::write(first.write.get(), record.data(), record.size()) < 0) result = 1;
        std::size_t back = 0;
        while (back < record.size() && result == 0) {
            pollfd waiting{from.get(), POLLIN, 0};
            char block[4096];
            if (::poll(&waiting, 1, 5000) <= 0) result = 1; // five seconds: the pipe holds it back
            else if (auto const got = ::read(from.get(), block, sizeof block); got > 0) back += static_cast<std::size_t>(got);
            else result = 1;
        }
        if (i >= 50) us.push_back(static_cast<double>(sb::monotonic_ns() - sent) / 1e3);
    }
    first.write.reset();
    from.reset();
    for (pid_t const child : children) ::kill(child, SIGTERM), ::waitpid(child, nullptr, 0);
    if (result != 0) return std::fprintf(stderr, "latency: the record did not come back\n"), 1;
    report(all[0][0], us);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) return std::fprintf(stderr, "usage: latency start|pipe N COMMAND… [-- COMMAND…]\n"), 2;
    int const n = std::atoi(argv[2]);
    return std::strcmp(argv[1], "start") == 0 ? starts(n, commands(argc, argv, 3)) : round_trips(n, commands(argc, argv, 3));
}
