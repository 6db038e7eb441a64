// SPDX-License-Identifier: MIT
// beside ROUNDS RUNS WAY[:RUNS]=NAME CMD… -- WAY[:RUNS]=NAME CMD… …: what one run costs each way, in turn, so that what else
// the machine does falls on all alike. The ways of a round:
//   each   CMD is started RUNS times, by posix_spawn, and timed from there to its end
//   lines  CMD is started once and writes a line for each of RUNS + 1 runs; timed from line to line
//   whole  CMD is started once and makes RUNS runs; its time is shared out
//   more   CMD is started twice, with RUNS and with twice as many in the place of the word @; what the second took longer
//          is shared out: what a run costs, without start and end, and nobody looks on
// Prints a line each: NAME, runs, mean (of a round; the median of the rounds), median, 90th of 100 and worst in microseconds,
// and how many times the mean of the first way it took, as the median of the rounds and of the best round of each. On a
// quiet machine the two agree. A last line says "others" and what other work took meanwhile, in percent of all processors.
// A command that fails is told on standard error and has no line.
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <spawn.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace {
struct arm {
    std::string way, name;
    int runs = 0;
    std::vector<char*> argv;
    std::vector<double> us, means; // of runs; of rounds
    double best = 1e18, best_twice = 1e18; // of whole rounds, and of those with twice the runs
    bool failed = false;
};

pid_t start(std::vector<char*> const& argv, int out) {
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (out < 0) ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    else ::posix_spawn_file_actions_adddup2(&files, out, 1);
    ::posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    if (::posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environ) != 0) child = -1;
    ::posix_spawn_file_actions_destroy(&files);
    return child;
}

bool ended_well(pid_t child) {
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

double us_since(std::int64_t from) { return static_cast<double>(sb::monotonic_ns() - from) / 1e3; }

bool round_of_each(arm& a) {
    for (int i = 0; i < a.runs; ++i) {
        auto const from = sb::monotonic_ns();
        if (!ended_well(start(a.argv, -1))) return false;
        a.us.push_back(us_since(from));
    }
    return true;
}

bool round_of_lines(arm& a) {
    auto pipe = sb::make_pipe();
    if (pipe.has_error()) return false;
    ::fcntl(pipe->read.get(), F_SETPIPE_SZ, 1 << 20); // we are never what it waits for
    auto const child = start(a.argv, pipe->write.get());
    pipe->write.reset();
    std::vector<char> block(1 << 16);
    std::int64_t last = 0;
    int lines = 0;
    for (;;) {
        auto const n = sb::retry([&] { return ::read(pipe->read.get(), block.data(), block.size()); });
        if (n <= 0) break;
        auto const now = sb::monotonic_ns();
        auto const ends = std::count(block.begin(), block.begin() + n, '\n');
        // lines that came together share the time since the last one
        for (auto i = ends; i > 0; --i, ++lines)
            if (lines > 0) a.us.push_back(static_cast<double>(now - last) / 1e3 / static_cast<double>(ends));
        if (ends > 0) last = now;
    }
    return ended_well(child) && lines == a.runs + 1;
}

bool round_of_whole(arm& a) {
    auto const from = sb::monotonic_ns();
    if (!ended_well(start(a.argv, -1))) return false;
    a.us.insert(a.us.end(), static_cast<std::size_t>(a.runs), us_since(from) / a.runs);
    return true;
}

bool round_of_more(arm& a) {
    double took[2];
    for (int i = 0; i < 2; ++i) {
        auto count = std::to_string(a.runs * (i + 1));
        auto argv = a.argv;
        for (auto& each : argv)
            if (each && std::strcmp(each, "@") == 0) each = count.data();
        auto const from = sb::monotonic_ns();
        if (!ended_well(start(argv, -1))) return false;
        took[i] = us_since(from);
    }
    a.us.insert(a.us.end(), static_cast<std::size_t>(a.runs), (took[1] - took[0]) / a.runs);
    a.best = std::min(a.best, took[0]), a.best_twice = std::min(a.best_twice, took[1]);
    return true;
}

void make_round(arm& a) {
    auto const before = a.us.size();
    bool const well = a.way == "each" ? round_of_each(a) : a.way == "lines" ? round_of_lines(a) : a.way == "more" ? round_of_more(a) : round_of_whole(a);
    if (!well || a.us.size() == before) {
        std::fprintf(stderr, "beside: %s failed: %s\n", a.name.c_str(), a.argv[0]);
        a.failed = true;
        return;
    }
    auto const from = a.us.begin() + static_cast<std::ptrdiff_t>(before);
    a.means.push_back(std::accumulate(from, a.us.end(), 0.0) / static_cast<double>(a.us.size() - before));
}

double middle(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all.empty() ? 0 : (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

double best_of(arm const& a) { return a.way == "more" ? (a.best_twice - a.best) / a.runs : *std::min_element(a.means.begin(), a.means.end()); }

void report(arm const& a, arm const& first) {
    std::vector<double> ratios, us = a.us;
    for (std::size_t i = 0; i < std::min(a.means.size(), first.means.size()); ++i) ratios.push_back(a.means[i] / first.means[i]);
    std::sort(us.begin(), us.end());
    std::printf("%s\t%zu\t%.1f\t%.1f\t%.1f\t%.1f\t%.3f\t%.3f\n", a.name.c_str(), us.size(), middle(a.means), middle(us), us[us.size() * 9 / 10], us.back(), middle(ratios),
                first.means.empty() ? 0 : best_of(a) / best_of(first));
}

/// Seconds of processor time: of all processors since the start, and of us and those we waited for.
struct machine_time {
    double busy = 0, ours = 0, at = static_cast<double>(sb::monotonic_ns()) / 1e9;
};
machine_time time_so_far() {
    machine_time now;
    if (auto* const stat = std::fopen("/proc/stat", "r")) {
        double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal = 0;
        if (std::fscanf(stat, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &waiting, &irq, &softirq, &steal) == 8)
            now.busy = (user + nice + system + irq + softirq + steal) / static_cast<double>(::sysconf(_SC_CLK_TCK));
        std::fclose(stat);
    }
    for (int const who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        ::getrusage(who, &used);
        for (auto const& part : {used.ru_utime, used.ru_stime}) now.ours += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) / 1e6;
    }
    return now;
}
} // namespace

int main(int argc, char** argv) {
    auto const wrong = [] { return std::fputs("usage: beside ROUNDS RUNS WAY[:RUNS]=NAME CMD… [-- WAY[:RUNS]=NAME CMD…]…; WAY is each, lines, whole or more\n", stderr), 2; };
    if (argc < 5) return wrong();
    std::vector<arm> all;
    for (int i = 3; i < argc; ++i) {
        std::string const head{argv[i]};
        auto const equals = head.find('='), colon = std::min(head.find(':'), equals);
        if (equals == std::string::npos) return wrong();
        auto& made = all.emplace_back();
        made.way = head.substr(0, colon), made.name = head.substr(equals + 1);
        made.runs = std::atoi(colon < equals ? head.c_str() + colon + 1 : argv[2]);
        while (++i < argc && std::strcmp(argv[i], "--") != 0)
            made.argv.push_back(std::strcmp(argv[i], "---") == 0 ? const_cast<char*>("--") : argv[i]); // a "--" of the command's own
        made.argv.push_back(nullptr);
        if (made.argv.size() < 2 || made.runs < 1 || std::string{"each lines whole more"}.find(made.way) == std::string::npos) return wrong();
    }
    auto const before = time_so_far();
    for (int round = std::atoi(argv[1]); round > 0; --round)
        for (auto& each : all)
            if (!each.failed) make_round(each);
    for (auto const& each : all)
        if (!each.failed) report(each, all.front());
    auto const after = time_so_far();
    auto const others = (after.busy - before.busy - (after.ours - before.ours)) / (after.at - before.at) / static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
    std::printf("others\t%.0f\n", std::max(others, 0.0) * 100);
    return 0;
}
