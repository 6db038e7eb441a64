// SPDX-License-Identifier: MIT
// How many files a run keeps in the kernel's file table. There is one table for the whole machine, and no Linux limit bounds
// the sum for a run.
//
// How it works: while a run lasts, the machine's own count is read now and then, which costs next to nothing. The run is
// examined only when this count has grown by as much as the run may have. Its processes are the descendants of process 1 of
// its sandbox, to which orphans go. For each process two numbers are added up: its table of open files, and its mappings of
// files, because a mapping may keep a closed file. Everybody may read who descends from whom, and how long a table is.
// Mappings are different: a program that may be run but not read hides them from a caller without rights. A hidden number
// counts as its possible maximum. The sum of all hidden numbers counts as no more than the machine's growth. Files under way
// in sockets cannot be seen, but the kernel bounds them by RLIMIT_NOFILE of each process.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <dirent.h>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace sb::machine {

/// The first number in a file of the kernel; -1 where it is unknown.
inline std::int64_t first_number_in(char const* path) {
    auto const text = read_file(path);
    std::int64_t number = -1;
    if (text.has_error() || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc{}) return -1;
    return number;
}
/// What all processes of the machine together may have open.
inline std::int64_t most_files_here() { return first_number_in("/proc/sys/fs/file-max"); }
/// The part of that which all runs of a session may have together: one in so many.
inline constexpr std::int64_t files_part = 10;
/// Mappings that a process may have.
inline std::int64_t most_mappings_here() { return first_number_in("/proc/sys/vm/max_map_count"); }

namespace detail {

/// Counts the files of the processes of one sandbox; see above.
class file_census {
public:
    /// `reaper`: process 1 of the sandbox, or one that it descends from.
    explicit file_census(pid_t reaper) : proc_{::opendir("/proc"), ::closedir}, reaper_{reaper} {}

    /// How many files they keep, or `enough` when there are at least that many. What we may not read, or what would take too
    /// long to read, counts as `most_hidden` in sum at most.
    std::int64_t count(std::int64_t enough, std::int64_t most_hidden) {
        find_processes();
        tally files;
        auto const sum = [&] { return std::min(files.seen + std::min(files.hidden, most_hidden), enough); };
        for (auto const each : processes_)
            if (files.seen += open_files_of(each); sum() >= enough) return enough;
        auto const most_mappings = most_mappings_here();
        auto const begun = monotonic_ns();
        for (auto const each : processes_) {
            if (monotonic_ns() - begun < longest_count_ns) count_mappings(each, enough - files.seen, most_mappings, files);
            else files.hidden += most_hidden_of(cat(each), most_mappings);
            if (sum() >= enough) return enough;
        }
        return sum();
    }
    /// Was `process` one of the run's when this was first asked, or when the run was last counted?
    bool holds(pid_t process) {
        if (!found_) find_processes();
        return std::find(processes_.begin(), processes_.end(), process) != processes_.end();
    }
    /// Has one of them a lock that belongs to an open file? Also true where this takes too long to read, or may not be read.
    bool has_locks_of_files(std::int64_t longest_ns) {
        if (!found_) find_processes();
        auto const begun = monotonic_ns();
        for (auto const each : processes_) {
            bool has = false;
            auto const folder = cat(each, "/fdinfo");
            for_each_in(folder, [&](std::string_view descriptor) {
                if (has) return;
                char text[2048];
                auto const info = read_start(cat(folder, "/", descriptor), text, sizeof text);
                has = info.find("OFDLCK") != info.npos || info.find("FLOCK") != info.npos || monotonic_ns() - begun > longest_ns;
            });
            if (has || (errno = 0, ::faccessat(at(), folder.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES)) return true;
        }
        return false;
    }
    /// Kills the processes that were counted. Their reaper does the same in the end, but it may have to wait for a
    /// processor, and until then they go on.
    void kill_all() const {
        std::set<pid_t> sure{reaper_};
        for (auto const each : processes_) { // a parent before its children
            // another process may have the number by now: so open a pidfd first, then check once more whose child it is
            unique_fd const held{static_cast<int>(::syscall(SYS_pidfd_open, each, 0))};
            if (!held || !sure.contains(parent_of(cat(each)))) continue;
            bool const first = sure.size() < most_firsts && is_first(each);
            sure.insert(each);
            if (!first) ::syscall(SYS_pidfd_send_signal, held.get(), SIGKILL, nullptr, 0);
        }
    }

private:
    struct tally {
        std::int64_t seen = 0, hidden = 0; // `hidden`: an upper bound
    };
    struct descent {
        pid_t pid, parent;
    };
    static constexpr std::int64_t longest_count_ns = 50'000'000; // for lists of mappings: a process can make them long, and the caller has more to do
    static constexpr std::size_t most_firsts = 4; // first processes of nested namespaces: they are found before all others

    int at() const noexcept { return ::dirfd(proc_.get()); }
    static pid_t number_of(std::string_view text) {
        pid_t number = -1;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }
    std::string_view read_start(std::string const& path, char* text, std::size_t size) const {
        unique_fd const file{::openat(at(), path.c_str(), O_RDONLY | O_CLOEXEC)};
        auto const n = file ? ::read(file.get(), text, size) : -1;
        return {text, n > 0 ? static_cast<std::size_t>(n) : 0};
    }
    /// -1 when it is gone.
    pid_t parent_of(std::string const& process) const {
        char text[256];
        auto const stat = read_start(process + "/stat", text, sizeof text);
        auto const name_end = stat.rfind(')'); // the name may contain any character; a blank, a letter and a blank follow it
        return name_end == stat.npos || name_end + 4 > stat.size() ? -1 : number_of(stat.substr(name_end + 4));
    }
    /// Is it process 1 of its namespace?
    bool is_first(pid_t pid) const {
        char text[2048];
        auto const status = read_start(cat(pid, "/status"), text, sizeof text);
        auto const line = status.find("\nNSpid:"), end = status.find('\n', line + 1); // its numbers, the innermost last
        return line != status.npos && end != status.npos && status.substr(line, end - line).ends_with("\t1");
    }
    /// The descendants of the reaper, a parent before its children.
    void find_processes() {
        processes_.clear(), found_ = true;
        if (!proc_) return;
        std::vector<descent> processes;
        std::vector<pid_t> pids;
        ::rewinddir(proc_.get());
        while (auto const* const entry = ::readdir(proc_.get())) {
            if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
            if (auto const parent = parent_of(entry->d_name); parent > 0) processes.push_back({number_of(entry->d_name), parent}), pids.push_back(processes.back().pid);
        }
        std::sort(pids.begin(), pids.end());
        for (auto& each : processes) // a process whose parent ended meanwhile has a new parent now
            if (each.parent != reaper_ && !std::binary_search(pids.begin(), pids.end(), each.parent)) each.parent = parent_of(cat(each.pid));
        std::sort(processes.begin(), processes.end(), [](descent const& a, descent const& b) { return a.parent < b.parent; });
        auto const add_children = [&](pid_t of) {
            auto const by_parent = [](descent const& each, pid_t parent) { return each.parent < parent; };
            for (auto at = std::lower_bound(processes.begin(), processes.end(), of, by_parent); at != processes.end() && at->parent == of; ++at) processes_.push_back(at->pid);
        };
        add_children(reaper_);
        for (std::size_t i = 0; i < processes_.size(); ++i) add_children(processes_[i]);
    }
    /// Entries of one table: the kernel gives the number as the folder's size. An old kernel (before 6.2) gives only the
    /// capacity, a power of two. Listing the entries would take longer than making them.
    std::int64_t table_size(std::string const& task) const {
        struct stat facts {};
        if (::fstatat(at(), (task + "/fd").c_str(), &facts, 0) == 0 && facts.st_size > 0) return facts.st_size;
        char text[2048];
        constexpr std::string_view name = "\nFDSize:\t";
        auto const status = read_start(task + "/status", text, sizeof text);
        return number_after(status, name).value_or(0);
    }
    /// The process's only table: no thread may have its own (argument_rules.hpp). If the first thread is gone, the files
    /// cannot be seen through the process's own name; then another thread shows them.
    std::int64_t open_files_of(pid_t process) const {
        auto const folder = cat(process, "/task");
        auto size = table_size(cat(process));
        struct stat facts {};
        if (size > 0 || ::fstatat(at(), folder.c_str(), &facts, 0) != 0 || facts.st_nlink <= 3) return size; // two names, and a thread
        for_each_in(folder, [&](std::string_view thread) {
            if (size == 0) size = table_size(cat(folder, "/", thread));
        });
        return size;
    }
    void count_mappings(pid_t process, std::int64_t enough, std::int64_t most, tally& files) const {
        auto const count_of = [&](std::string const& task) {
            auto const found = mapped_files(task + "/maps", enough);
            if (found < 0) files.hidden += most_hidden_of(task, most);
            else files.seen += found;
            return found != 0;
        };
        if (count_of(cat(process))) return; // every program maps its own file
        // its first thread is gone, so the process's own name shows nothing
        bool found = false;
        auto const folder = cat(process, "/task");
        for_each_in(folder, [&](std::string_view thread) { found = found || count_of(cat(folder, "/", thread)); });
    }
    /// The largest possible number of mappings: the pages of its address space, because no mapping is smaller.
    std::int64_t most_hidden_of(std::string const& task, std::int64_t most) const {
        char text[128];
        auto statm = read_start(task + "/statm", text, sizeof text);
        auto const pages = take_number(statm).value_or(0);
        return most > 0 ? std::min(most, pages) : pages;
    }
    /// Mappings of files, including shared memory without a name; -1 where we may not read them. The fourth word of a line
    /// is the device of the file, or zeros if there is no file. (The file's number may be 0: a System V segment has 0.)
    std::int64_t mapped_files(std::string const& path, std::int64_t enough) const {
        unique_fd const file{::openat(at(), path.c_str(), O_RDONLY | O_CLOEXEC)};
        if (!file) return errno == EACCES || errno == EPERM ? -1 : 0;
        constexpr int before_device = 3;
        std::int64_t files = 0;
        int blanks = 0;
        char block[1 << 14];
        while (files < enough) {
            auto const n = ::read(file.get(), block, sizeof block);
            if (n <= 0) break;
            for (char const* at = block; at != block + n; ++at) {
                if (*at == '\n') blanks = 0;
                else if (*at == ' ') ++blanks;
                else if (blanks == before_device && *at != '0' && *at != ':') ++files, ++blanks; // the rest of the line is skipped
            }
        }
        return files;
    }
    template <class Say>
    void for_each_in(std::string const& folder, Say say) const {
        int const fd = ::openat(at(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0) return;
        std::unique_ptr<DIR, int (*)(DIR*)> const names{::fdopendir(fd), ::closedir};
        while (auto const* const entry = names ? ::readdir(names.get()) : nullptr)
            if (entry->d_name[0] != '.') say(std::string_view{entry->d_name});
    }

    std::unique_ptr<DIR, int (*)(DIR*)> proc_;
    pid_t reaper_;
    bool found_ = false;
    std::vector<pid_t> processes_;
};

} // namespace detail

/// Checks whether a run keeps too many files. The first look comes when a sixteenth of the allowed files can have been made,
/// so a short run is never checked. A run must end when the machine has more files by a quarter of the allowed number and
/// the run has half of its share of that quarter. The rest is a reserve for files that are made until the run is counted and
/// killed, by a worker that may have to wait for a processor.
class file_watch {
public:
    static constexpr std::int64_t shortest_ns = 1'000'000, longest_rest_ns = 50'000'000, longest_trust_ns = 250'000'000;

    /// `most`: what all `shares` concurrent runs may have; below 0: no limit. `cpus`: processors on which they make files.
    /// Costs no system call.
    void begin(std::int64_t most, std::int64_t shares, pid_t reaper, int cpus, std::int64_t now_ns) noexcept {
        reaper_ = reaper, files_a_us_ = files_a_us_a_cpu * std::max(cpus, 1);
        much_ = most / 4, own_ = much_ / 2 / std::max<std::int64_t>(shares, 1);
        least_ = -1, wanted_ = 0, trusted_until_ns_ = 0;
        due_ns_ = most < 0 || reaper <= 0 ? -1 : now_ns + rest(most / 16);
    }
    /// When to look next; -1: never.
    std::int64_t due_ns() const noexcept { return due_ns_; }
    /// True when the run must be ended.
    bool look(std::int64_t now_ns) {
        if (due_ns_ < 0 || now_ns < due_ns_) return false;
        if (!number_) number_ = unique_fd{::open("/proc/sys/fs/file-nr", O_RDONLY | O_CLOEXEC)};
        char text[64];
        auto const n = number_ ? ::pread(number_.get(), text, sizeof text, 0) : -1;
        std::int64_t files = 0;
        if (n <= 0 || std::from_chars(text, text + n, files).ec != std::errc{}) return due_ns_ = -1, false;
        if (!learn(files, now_ns)) return false;
        detail::file_census run{reaper_};
        bool const too_many = learn_own(run.count(own_, files_ - least_), now_ns);
        if (too_many) run.kill_all();
        return too_many;
    }
    /// The machine has so many files. True when the run's own files must be counted.
    bool learn(std::int64_t files, std::int64_t now_ns) noexcept {
        files_ = files;
        least_ = least_ < 0 ? files : std::min(least_, files);
        auto const grown = files - least_;
        due_ns_ = now_ns + rest(std::max(much_, wanted_) - grown);
        return grown >= much_ && (grown >= wanted_ || now_ns >= trusted_until_ns_);
    }
    /// The run keeps so many of them. If they are few, others made the number grow. The run is counted again when half of
    /// the missing number may have been made, or after a while.
    bool learn_own(std::int64_t files, std::int64_t now_ns) noexcept {
        if (files >= own_) return due_ns_ = -1, true;
        wanted_ = files_ - least_ + std::max<std::int64_t>((own_ - files) / 2, 1);
        trusted_until_ns_ = now_ns + longest_trust_ns;
        due_ns_ = now_ns + rest(wanted_ - (files_ - least_));
        return false;
    }

private:
    static constexpr std::int64_t files_a_us_a_cpu = 2; // a pipe takes at least half a microsecond, and is two files
    std::int64_t rest(std::int64_t files) const noexcept { return std::clamp(files * 1000 / files_a_us_, shortest_ns, longest_rest_ns); }

    unique_fd number_;
    pid_t reaper_ = -1;
    std::int64_t files_a_us_ = 1, much_ = 0, own_ = 0; // growth that is too much: of the machine, and of the run
    std::int64_t due_ns_ = -1;
    std::int64_t files_ = 0, least_ = -1; // files of the machine: now, and the fewest since the run began
    std::int64_t wanted_ = 0, trusted_until_ns_ = 0; // a count is valid until there are so many more files, or until then
};

} // namespace sb::machine
