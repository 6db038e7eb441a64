// SPDX-License-Identifier: MIT
// peer_simdjson FILE [THREADS] - the same task as `sb-rank --by scenario` written as well as simdjson allows: On-Demand
// over a mapping, line by line, keys asked for in the order of the generated file. Prints name, sum, n, last score.
// It reads only what it is asked for: no check of the rest, no escaped or repeated keys, plain sums.
#include <simdjson.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace {

struct group {
    double sum = 0, last = 0;
    long n = 0;
};
using groups = std::unordered_map<std::string_view, group>;

/// Keys view the file, or a copy where an escape had to be undone.
void read_lines(char const* begin, char const* end, char const* readable_to, groups& into) {
    simdjson::ondemand::parser parser;
    for (auto const* at = begin; at < end;) {
        auto const* newline = static_cast<char const*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        if (!newline) newline = end;
        auto const size = static_cast<std::size_t>(newline - at);
        if (size > 0) {
            auto document = parser.iterate(simdjson::padded_string_view(at, size, static_cast<std::size_t>(readable_to - at)));
            auto object = document.get_object();
            std::string_view const name = object.find_field("scenario").get_string();
            double const roi = object.find_field("roi").get_double();
            double const score = object.find_field("metrics").get_object().find_field("security_score").get_double();
            auto found = into.find(name);
            if (found == into.end()) found = into.emplace(*new std::string{name}, group{}).first;
            found->second.sum += roi, ++found->second.n, found->second.last = score;
        }
        at = newline + 1;
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    auto const threads = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 1);
    int const fd = ::open(argv[1], O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (fd < 0 || ::fstat(fd, &status) < 0) return 4;
    auto const size = static_cast<std::size_t>(status.st_size);
    auto* const room = static_cast<char*>(::mmap(nullptr, size + 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    auto const* const data = static_cast<char const*>(::mmap(room, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0));
    if (data == MAP_FAILED) return 4;

    // chunks of 4 MB, merged in order so that the last score is the last
    constexpr std::size_t step = std::size_t{4} << 20;
    auto const count = (size + step - 1) / step;
    std::vector<groups> parts(count);
    std::atomic<std::size_t> next{0};
    auto const line_start = [&](std::size_t at) {
        if (at == 0 || at >= size) return std::min(at, size);
        auto const* newline = static_cast<char const*>(std::memchr(data + at - 1, '\n', size - at + 1));
        return newline ? static_cast<std::size_t>(newline - data) + 1 : size;
    };
    auto const work = [&] {
        for (;;) {
            auto const i = next++;
            if (i >= count) return;
            read_lines(data + line_start(i * step), data + line_start((i + 1) * step), data + size + 4096, parts[i]);
        }
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    for (auto& each : others) each.join();
    std::map<std::string_view, group> all;
    for (auto const& part : parts)
        for (auto const& [name, g] : part) {
            auto& to = all[name];
            to.sum += g.sum, to.n += g.n, to.last = g.last;
        }
    std::vector<std::pair<std::string_view, group>> rows(all.begin(), all.end());
    std::sort(rows.begin(), rows.end(), [](auto const& a, auto const& b) { return a.second.sum > b.second.sum; });
    for (auto const& [name, g] : rows) std::printf("%.*s %.6f %ld %.3f\n", static_cast<int>(name.size()), name.data(), g.sum, g.n, g.last);
}
