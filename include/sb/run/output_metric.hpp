// SPDX-License-Identifier: MIT
// Numbers that are found in the output of a workload (--metric).
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/process/signals.hpp>
#include <sb/run/reserved_names.hpp>
#include <charconv>
#include <cmath>
#include <csignal>
#include <memory>
#include <optional>
#include <regex.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::run {

/// `NAME=REGEX`: a number from the output. POSIX extended, line by line. The last match counts, and in it the first
/// bracketed part, or the whole match if there is none.
class output_metric {
public:
    static result<output_metric> parse(std::string_view text) {
        auto const equals = text.find('=');
        if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size())
            return caller_error(cat("--metric \"", text, "\": write NAME=REGEX"));
        output_metric made;
        made.name_ = text.substr(0, equals);
        if (is_reserved(made.name_)) return caller_error(cat("--metric ", made.name_, ": this name is reserved for a figure of sb-exec; choose another"));
        std::string const pattern{text.substr(equals + 1)};
        auto compiled = std::make_unique<regex_t>();
        if (int const code = ::regcomp(compiled.get(), pattern.c_str(), REG_EXTENDED); code != 0) {
            char why[200];
            ::regerror(code, compiled.get(), why, sizeof why);
            return caller_error(cat("--metric ", made.name_, ": \"", pattern, "\": ", std::string_view{why}));
        }
        made.regex_.reset(compiled.release());
        return made;
    }
    std::string const& name() const noexcept { return name_; }

    /// Searches one line; keeps the number if it has one.
    void look(char const* line) {
        regmatch_t found[2];
        if (::regexec(regex_.get(), line, 2, found, 0) != 0) return;
        auto const& part = regex_->re_nsub > 0 && found[1].rm_so >= 0 ? found[1] : found[0];
        std::string_view text{line + part.rm_so, static_cast<std::size_t>(part.rm_eo - part.rm_so)};
        text = trim(text);
        if (text.starts_with('+')) text.remove_prefix(1);
        double x = 0;
        auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), x);
        if (code == std::errc{} && end == text.data() + text.size() && std::isfinite(x)) number_ = x;
    }
    void found(std::optional<double> number) noexcept { number_ = number; }
    /// The number of this run, if there was one. Resets it for the next run.
    std::optional<double> take() noexcept { return std::exchange(number_, std::nullopt); }

private:
    struct release {
        void operator()(regex_t* r) const noexcept { ::regfree(r), delete r; }
    };
    output_metric() = default;
    std::string name_;
    std::unique_ptr<regex_t, release> regex_;
    std::optional<double> number_;
};

namespace detail {

/// Line by line in constant space; a line longer than 64 KiB is searched in parts.
inline void look_through(std::vector<output_metric>& metrics, int file) {
    constexpr std::size_t block = std::size_t{64} << 10;
    std::string held;
    auto const look = [&](std::string& line) {
        for (auto& c : line)
            if (c == '\0') c = ' '; // a C string ends at NUL; a number after it counts too
        for (auto& each : metrics) each.look(line.c_str());
    };
    auto const bytes = std::make_unique<char[]>(block);
    for (off_t at = 0;;) {
        auto const n = retry([&] { return ::pread(file, bytes.get(), block, at); });
        if (n <= 0) break;
        at += n;
        std::string_view rest{bytes.get(), static_cast<std::size_t>(n)};
        for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
            held.append(rest.substr(0, end));
            look(held);
            held.clear();
            rest.remove_prefix(end + 1);
        }
        held.append(rest);
        if (held.size() > block) look(held), held.clear();
    }
    if (!held.empty()) look(held);
}

} // namespace detail

inline constexpr int most_seconds_to_look = 2; // of processor time

/// Searches for all metrics in `file`, from its beginning. The output decides how long a pattern takes, so a child process
/// searches and writes the numbers into a pipe. A timer kills the child when it takes too long. Then, or when no child can be
/// made, the answer is false and nothing is found.
inline bool look_for(std::vector<output_metric>& metrics, int file, int most_seconds = most_seconds_to_look) {
    if (metrics.empty()) return true;
    auto words = make_pipe();
    if (words.has_error()) return false;
    auto const parent = ::getpid();
    std::optional<process::signals_blocked> quiet{std::in_place};
    auto const child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        for (int const s : {SIGHUP, SIGINT, SIGTERM, SIGPROF}) std::signal(s, SIG_DFL);
        itimerval const until{{0, 0}, {most_seconds, 0}};
        ::setitimer(ITIMER_PROF, &until, nullptr);
        quiet.reset();
        detail::look_through(metrics, file);
        for (auto& each : metrics) {
            auto const x = each.take();
            double const said[2] = {x ? 1.0 : 0.0, x.value_or(0)};
            if (::write(words->write.get(), said, sizeof said) != static_cast<ssize_t>(sizeof said)) ::_exit(1);
        }
        ::_exit(0);
    }
    quiet.reset();
    words->write.reset();
    if (child < 0) return false;
    std::vector<std::optional<double>> found;
    for (double said[2]; retry([&] { return ::read(words->read.get(), said, sizeof said); }) == static_cast<ssize_t>(sizeof said);)
        found.push_back(said[0] != 0 ? std::optional{said[1]} : std::nullopt);
    int status = 0;
    retry([&] { return ::waitpid(child, &status, 0); });
    if (found.size() != metrics.size()) return false;
    for (std::size_t i = 0; i < found.size(); ++i) metrics[i].found(found[i]);
    return true;
}

} // namespace sb::run
