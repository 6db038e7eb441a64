// SPDX-License-Identifier: MIT
// Runs a command confined and measured: confine FOLDER CMD [ARG…]
#include <sb/json/compiled_once.hpp> // in one source file of a program
#include <sb/local/confine.hpp>
#include <cstdio>

int main(int argc, char** argv) {
    if (argc < 3) return std::fputs("usage: confine FOLDER CMD [ARG...]\n", stderr), 2;
    sb::local::confine_request what;
    what.work = argv[1]; // the command sees it and may write in it: its writes go to a copy
    what.argv.assign(argv + 2, argv + argc);
    what.wall_s = 5;
    what.memory_bytes = 256 << 20;
    what.processes = 64;

    auto const got = sb::local::confine(what);
    if (got.has_error()) return std::fprintf(stderr, "confine: %s\n", got.error().what.c_str()), 4;
    for (auto const& each : got->loose) std::fprintf(stderr, "confine: %s\n", each.c_str());
    std::fwrite(got->out.data(), 1, got->out.size(), stdout);
    std::fwrite(got->err.data(), 1, got->err.size(), stderr);
    std::fprintf(stderr, "%s; %.3f s, %.3f s of processor time, %.1f MiB at most, %lld left running\n", got->how().c_str(), got->wall_s,
                 got->cpu_s.value_or(-1), static_cast<double>(got->peak_bytes.value_or(-1)) / (1 << 20), static_cast<long long>(got->left_running));
    return got->ok() ? 0 : 1;
}
