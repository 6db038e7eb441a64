// SPDX-License-Identifier: MIT
// Probes that lie to whoever measures, judges or collects.
#include "probe.hpp"
#include <csignal>
#include <ctime>
#include <string>
#include <sys/resource.h>

namespace probes {
namespace {

constexpr std::string_view lie = R"({"output_check":1,"value":1e308,"roi":7,"wall_s":0,"concurrency_error_rate":0})" "\n";

/// The channel of reports, with a figure in it that the witness looks for; below 0 where there is none.
int report_channel() {
    constexpr std::string_view honest = "{\"sb_probe_honest\":1}\n";
    char const* const number = std::getenv("SB_REPORT_FD");
    int const channel = number ? std::atoi(number) : -1;
    return channel >= 0 && ::write(channel, honest.data(), honest.size()) == std::ssize(honest) ? channel : -1;
}

double processor_time() {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

double seconds_now() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

} // namespace

void forged_figures(words const& given, attempts& tried) {
    if (given.does("naive")) { // the control: a reader that takes every number it is told
        auto const at = lie.find("\"output_check\":"), value = lie.find("\"value\":");
        return tried.add("a reader of every number believes in the check and the value", std::atof(lie.data() + at + 15) == 1 && std::atof(lie.data() + value + 8) > 1e300);
    }
    int const channel = report_channel();
    if (channel < 0) return tried.add("report", false, EBADF);
    for (int i = 0; i < 3; ++i) (void)!::write(channel, lie.data(), lie.size());
    tried.seen_outside("a check passed, a value of 1e308 and no time used, as reports");
}

void forged_ends(words const& given, attempts& tried) {
    bool const kills = given.does("kill");
    if (kills || given.does("xcpu")) // time that others used, each less than the limit
        for (int i = 0; i < 2; ++i)
            in_child([] {
                while (processor_time() < 0.7) {}
                return 0;
            });
    int const which = given.does("sys") ? SIGSYS : kills ? SIGKILL : given.does("xcpu") ? SIGXCPU : SIGXFSZ;
    std::signal(which, SIG_DFL);
    ::raise(which);
    tried.add("outlive a signal", false);
}

void forged_names(words const&, attempts& tried) {
    constexpr auto forged = "\x1b[31mred\nsb-exec: a line of its own";
    for (std::string const folder : {".", "/tmp", std::getenv("HOME") ? std::getenv("HOME") : "."}) {
        auto const at = [&](std::string const& name) { return folder + "/" + name; };
        if (int const fd = ::open(at("huge" + std::string{forged}).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600); fd >= 0) {
            bool taken = false; // as large as its file system allows
            for (off_t size = (off_t{1} << 62) - 1 + (off_t{1} << 62) - 4095; size > 1 << 20 && !taken; size /= 2) taken = ::ftruncate(fd, size) == 0;
            ::close(fd);
        }
        ::mkfifo(at("fifo" + std::string{forged}).c_str(), 0600);
        (void)::mknod(at("gone" + std::string{forged}).c_str(), S_IFCHR | 0600, 0); // as an overlay marks what was removed
        if (int const fd = ::open(at("linked").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600); fd >= 0) {
            (void)write_mib(fd, 1);
            ::close(fd);
            for (int i = 0; i < 100; ++i) (void)!::link(at("linked").c_str(), at("linked" + std::to_string(i)).c_str());
        }
    }
    tried.seen_outside("names that forge lines, a file larger than any disk, one file of a hundred names");
}

void bait(words const&, attempts& tried) {
    ::mkfifo("fifo", 0755);
    ::chmod("fifo", 0755);
    tried.seen_outside("a FIFO where a program is looked for");
}

void report_flood(words const& given, attempts& tried) {
    std::signal(SIGPIPE, SIG_IGN);
    int channel = given.does("naive") ? -1 : report_channel();
    if (given.does("naive")) { // the control: a reader that reads for as long as there is anything
        int ends[2];
        if (::pipe(ends) != 0) return tried.add("pipe", false, errno);
        auto const reader = ::fork();
        if (reader == 0) {
            static char block[65536];
            ::close(ends[1]);
            while (::read(ends[0], block, sizeof block) > 0) {}
            ::_exit(0);
        }
        ::close(ends[0]);
        channel = ends[1];
    }
    if (channel < 0) return tried.add("report", false, EBADF);
    static char block[65536];
    std::memset(block, ' ', sizeof block);
    constexpr long much = 32 << 20;
    long bytes = 0;
    ::fcntl(channel, F_SETFL, O_NONBLOCK);
    for (auto const until = seconds_now() + static_cast<double>(given.number("seconds", 1)); bytes <= much && seconds_now() < until;)
        if (auto const n = ::write(channel, block, sizeof block); n > 0) bytes += n;
        else if (errno != EAGAIN) break;
        else ::usleep(100);
    ::close(channel);
    tried.add("a reader kept busy with " + std::to_string(bytes >> 20) + " MiB of reports", bytes > much);
    while (given.does("naive") && ::waitpid(-1, nullptr, 0) < 0 && errno == EINTR) {}
}

} // namespace probes
