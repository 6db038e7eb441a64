// SPDX-License-Identifier: MIT
// The host as the witness knows it: what a sandbox must not reach, and how it looked before and after.
#pragma once
#include "ipc_key.hpp"
#include "launch.hpp"
#include <algorithm>
#include <arpa/inet.h>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <map>
#include <mqueue.h>
#include <netinet/in.h>
#include <sb/core/sha256.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/remove_tree.hpp>
#include <sb/process/payload_user.hpp>
#include <set>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/un.h>

namespace probes {

inline std::string random_word() {
    std::uint64_t bits = 0;
    (void)!::getrandom(&bits, sizeof bits, 0);
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
    return text;
}

inline std::string read_whole(std::string const& path) { return payload::read_whole(path, O_NONBLOCK | O_NOCTTY | O_NOFOLLOW).value_or(std::string{}); }

/// Bytes that all TCP or UDP sockets of the host may hold (FILE: tcp_mem, udp_mem); in another network than the first nobody says.
inline std::string most_for_sockets(char const* file) {
    auto const text = read_whole(std::string{"/proc/sys/net/ipv4/"} + file);
    auto const at = text.find_last_of("\t ");
    auto const usual = std::string_view{file} == "udp_mem" ? 6 : 11; // the part of the machine's memory that the kernel takes by itself
    auto const pages = at == std::string::npos ? ::sysconf(_SC_PHYS_PAGES) / usual : std::atol(text.c_str() + at);
    return std::to_string(pages * ::sysconf(_SC_PAGESIZE));
}

inline bool write_whole(std::string const& path, std::string_view text, mode_t mode) {
    return payload::write_whole(path, text, O_WRONLY | O_CREAT | O_TRUNC, mode) && ::chmod(path.c_str(), mode) == 0; // whatever the umask
}

inline std::vector<std::string> names_of(std::string const& folder) {
    std::vector<std::string> names;
    if (auto const fd = sb::files::open_folder(AT_FDCWD, folder.c_str()))
        if (auto listed = sb::files::names_in(fd.get())) names = std::move(*listed); // else it went away meanwhile
    std::sort(names.begin(), names.end());
    return names;
}

struct process {
    pid_t pid = 0, parent = 0;
    char state = '?';
    std::string name;
};
inline std::vector<process> all_processes() {
    std::vector<process> found;
    for (auto const& each : names_of("/proc")) {
        if (each[0] < '1' || each[0] > '9') continue;
        auto const stat = read_whole("/proc/" + each + "/stat");
        auto const begin = stat.find('('), end = stat.rfind(") ");
        if (begin == std::string::npos || end == std::string::npos || end < begin) continue;
        found.push_back({std::atoi(each.c_str()), std::atoi(stat.c_str() + end + 4), stat[end + 2], stat.substr(begin + 1, end - begin - 1)});
    }
    return found;
}

/// The living processes of a run, wherever they hide: those whose command line names it, and the helpers of sb-exec below us, who have
/// no command line. Those whose parents died are our children (main makes us a subreaper).
inline std::vector<pid_t> processes_with(std::string const& tag) {
    auto const all = all_processes();
    auto const is_below_us = [&](process const* each) {
        for (int steps = 0; steps < 64; ++steps) {
            if (each->parent == ::getpid()) return true;
            auto const above = std::find_if(all.begin(), all.end(), [&](process const& other) { return other.pid == each->parent; });
            if (above == all.end()) return false;
            each = &*above;
        }
        return false;
    };
    std::vector<pid_t> found;
    for (auto const& each : all) {
        bool const is_helper = each.name.starts_with("sb-exec ") && is_below_us(&each);
        if (is_helper && each.state == 'Z' && each.parent == ::getpid()) ::waitpid(each.pid, nullptr, WNOHANG);
        if ((is_helper && each.state != 'Z' && each.state != 'X') || read_whole("/proc/" + std::to_string(each.pid) + "/cmdline").find(tag) != std::string::npos) found.push_back(each.pid);
    }
    return found;
}

/// Sees to it that nothing of a run is left before the next one; true when it had to.
inline bool end_all(std::string const& tag) {
    bool any = false;
    for (int round = 0; round < 20; ++round) {
        auto const left = processes_with(tag);
        if (left.empty()) break;
        any = true;
        for (auto const pid : left) ::kill(pid, SIGKILL);
        ::usleep(20000);
    }
    return any;
}

/// Takes hold of a process, to hear its end (wait_over). One that is ending has no command line any more, but still its files and locks.
inline sb::unique_fd hold_of(pid_t pid) { return sb::unique_fd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))}; }
inline void wait_over(sb::unique_fd const& held, double until) {
    pollfd over{held.get(), POLLIN, 0};
    if (held) ::poll(&over, 1, std::max(0, static_cast<int>((until - now_s()) * 1000)));
}

inline std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> found;
    for (auto const& each : all_processes())
        if (each.parent == parent) found.push_back(each.pid);
    return found;
}

/// Groups that root may have beside its own: root's, one of nobody's, and whose keys of the host are.
inline std::vector<gid_t> groups_of_root() {
    if (::geteuid() != 0) return {};
    struct stat keys {};
    return {0, 4242, ::stat("/etc/ssl/private", &keys) == 0 ? keys.st_gid : 0};
}

/// What a sandbox without an ipc namespace let through to the host.
inline void remove_ipc(std::string const& tag) {
    auto const key = ipc_key(tag);
    if (int const id = ::shmget(key, 0, 0); id >= 0) ::shmctl(id, IPC_RMID, nullptr);
    if (int const id = ::semget(key, 0, 0); id >= 0) ::semctl(id, 0, IPC_RMID);
    if (int const id = ::msgget(key, 0); id >= 0) ::msgctl(id, IPC_RMID, nullptr);
    auto const name = "/sb-probe-" + tag;
    ::shm_unlink(name.c_str()), ::mq_unlink(name.c_str());
}

/// What the witness sets up beside the sandbox.
class host {
public:
    std::string base, work, outside, temp, data, home, control, shared, secret, token = random_word(), word = random_word();
    int tcp_port = 0, leaked_file = -1, leaked_folder = -1, leaked_namespace = -1;
    int terminal = -1;
    std::string terminal_name;

    host() {
        char const* const where = std::getenv("TMPDIR");
        auto name = std::string{where && *where ? where : "/tmp"} + "/sb-witness-XXXXXX";
        if (!::mkdtemp(name.data())) return;
        base = name;
        for (auto* const each : {&work, &outside, &temp, &data, &home, &control, &shared}) {
            static char const* const names[] = {"work", "outside", "temp", "data", "home", "control", "shared"};
            *each = base + "/" + names[at_++];
            ::mkdir(each->c_str(), 0700);
        }
        ::chmod(shared.c_str(), 0777); // whoever is bound there may write
        secret = outside + "/secret";
        write_whole(secret, "secret " + token + "\n", 0600);
        leaked_file = ::open(secret.c_str(), O_RDONLY | O_CLOEXEC);
        leaked_folder = ::open(outside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        leaked_namespace = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        listen_all();
        terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0) {
            terminal_name = ::ptsname(terminal);
            keyboard_ = ::open(terminal_name.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
            termios raw{};
            ::tcgetattr(keyboard_, &raw), ::cfmakeraw(&raw), ::tcsetattr(keyboard_, TCSANOW, &raw);
        }
        new_canary();
    }
    host(host const&) = delete;
    host& operator=(host const&) = delete;
    ~host() {
        if (canary_ > 0) ::kill(canary_, SIGKILL), ::waitpid(canary_, nullptr, 0);
        if (base.empty()) return;
        clear(base);
        ::rmdir(base.c_str());
    }

    bool ready() const { return !base.empty() && canary_ > 0 && tcp_port > 0; }
    pid_t canary() const { return canary_; }
    std::string abstract() const { return "sb-witness-" + word; }
    std::string socket() const { return outside + "/socket"; }

    static void clear(std::string const& folder) {
        if (auto const fd = sb::files::open_folder(AT_FDCWD, folder.c_str())) (void)sb::files::empty_folder(fd.get(), folder);
    }

    /// A process that ends when it is touched.
    void new_canary() {
        canary_ = ::fork();
        if (canary_ != 0) return;
        detail::default_signals();
        ::setsid();
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::prctl(PR_SET_NAME, "sb-canary");
        for (;;) ::pause();
    }
    /// Whether it was alive; a dead one is replaced.
    bool canary_lives() {
        if (canary_ > 0 && ::waitpid(canary_, nullptr, WNOHANG) == 0) return true;
        new_canary();
        return false;
    }
    /// Who has called since the last time.
    std::string callers() {
        std::string who;
        for (auto const& [name, fd] : listeners_)
            for (int call = 0; (call = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; ::close(call)) who += " " + name;
        return who;
    }
    /// Bytes that were typed at the terminal by whom nobody asked.
    int typed() {
        int bytes = 0;
        ::ioctl(keyboard_, FIONREAD, &bytes);
        ::tcflush(keyboard_, TCIFLUSH);
        return bytes;
    }

private:
    void listen_all() {
        int const tcp = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        sockaddr_in here{};
        here.sin_family = AF_INET, here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof here;
        if (::bind(tcp, reinterpret_cast<sockaddr*>(&here), size) == 0 && ::listen(tcp, 64) == 0 && ::getsockname(tcp, reinterpret_cast<sockaddr*>(&here), &size) == 0) {
            tcp_port = ntohs(here.sin_port);
            listeners_.emplace_back("tcp", tcp);
        }
        for (bool const hidden : {true, false}) {
            sockaddr_un name{};
            name.sun_family = AF_UNIX;
            auto const text = hidden ? abstract() : socket();
            if (text.size() + 2 > sizeof name.sun_path) continue;
            std::memcpy(name.sun_path + (hidden ? 1 : 0), text.data(), text.size());
            int const fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
            if (::bind(fd, reinterpret_cast<sockaddr*>(&name), static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() + 1)) == 0 && ::listen(fd, 64) == 0)
                listeners_.emplace_back(hidden ? "abstract" : "path", fd);
        }
    }

    std::size_t at_ = 0;
    pid_t canary_ = -1;
    int keyboard_ = -1;
    std::vector<std::pair<std::string, int>> listeners_;
};

/// The host at one moment, by name; what two moments differ in is what was done in between.
using snapshot = std::map<std::string, std::string>;

namespace detail {
/// Groups with our label and without a process, as a run that is over leaves them; whoever has one is somebody's.
/// True when a process is in the folder or below it.
inline bool groups_below(std::string const& folder, int depth, std::string& into) { // NOLINT(misc-no-recursion)
    bool lived_in = !read_whole(folder + "/cgroup.procs").empty();
    std::string below;
    if (depth > 0)
        for (auto const& name : names_of(folder)) {
            struct stat facts {};
            auto const path = folder + "/" + name;
            if (::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && groups_below(path, depth - 1, below)) lived_in = true;
        }
    into += below;
    if (!lived_in && folder.find("sandbench") != std::string::npos) into += folder + "\n";
    return lived_in;
}
/// Our runs make things as us or as their payloads' user; whoever else made one is a bystander.
inline bool is_of_our_runs(uid_t maker) {
    static auto const payloads = sb::process::mapped_payload_ids(read_whole("/proc/self/uid_map"));
    return maker == ::geteuid() || payloads.contains(maker);
}
inline bool is_of_our_runs(std::string const& path) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 && is_of_our_runs(facts.st_uid);
}
/// Objects of one kind (shm, sem, msg) that our runs may have made: key and id of each. What is in them changes with their owners.
inline std::string system_v_objects(std::string const& kind) {
    std::string ids;
    std::size_t maker = 0; // the column of cuid
    auto const text = read_whole("/proc/sysvipc/" + kind);
    for (std::size_t at = 0; at < text.size();) {
        auto const end = std::min(text.find('\n', at), text.size());
        auto const columns = sb::words(std::string_view{text}.substr(at, end - at));
        if (at == 0) maker = static_cast<std::size_t>(std::find(columns.begin(), columns.end(), "cuid") - columns.begin());
        else if (maker < columns.size() && is_of_our_runs(static_cast<uid_t>(std::atoll(columns[maker].c_str())))) ids += columns[0] + " " + columns[1] + "\n";
        at = end + 1;
    }
    return ids;
}
/// A folder of a session that is alive, for it holds the lock: somebody else's, as ours is over.
inline bool has_owner(std::string const& folder) {
    int const fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool const held = fd >= 0 && ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0) ::close(fd);
    return held;
}
} // namespace detail

/// Lines, one for each thing. `programs`: those that nobody may change.
inline snapshot look(host const& at, std::vector<std::string> const& programs) {
    snapshot all;
    for (auto const* const name : {"kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "kernel/pid_max", "kernel/randomize_va_space", "kernel/shmmax", "kernel/sysrq",
                                   "vm/overcommit_memory", "vm/panic_on_oom", "fs/protected_symlinks", "fs/suid_dumpable", "net/ipv4/ip_forward", "net/core/somaxconn",
                                   "user/max_user_namespaces"})
        all[std::string{"/proc/sys/"} + name] = read_whole(std::string{"/proc/sys/"} + name);
    all["mounts"] = read_whole("/proc/self/mountinfo");
    for (auto const* const name : {"shm", "sem", "msg"}) all[std::string{"System V "} + name] = detail::system_v_objects(name);
    for (auto const* const folder : {"/dev/shm", "/dev/mqueue"}) {
        std::string names;
        for (auto const& name : names_of(folder))
            if (name.find("sb-") != std::string::npos && detail::is_of_our_runs(std::string{folder} + "/" + name)) names += name + "\n";
        all[folder] = names;
    }
    std::string keys;
    auto const table = read_whole("/proc/keys");
    for (std::size_t at_key = table.find("sb-probe"); at_key != std::string::npos; at_key = table.find("sb-probe", at_key + 1)) keys += std::to_string(at_key) + "\n";
    all["keys"] = keys;
    std::string groups;
    detail::groups_below("/sys/fs/cgroup", 6, groups);
    all["control groups"] = groups;
    for (auto const& program : programs) all["bytes of " + program] = sb::sha256_hex(read_whole(program));
    all["the secret"] = read_whole(at.secret);
    std::string listed;
    struct stat facts {};
    for (auto const& name : names_of(at.outside)) listed += name + "\n";
    ::stat(at.secret.c_str(), &facts);
    all["files outside"] = listed + std::to_string(facts.st_nlink) + " " + std::to_string(facts.st_mtim.tv_sec);
    listed.clear();
    for (auto const& name : names_of(at.temp)) listed += name + "\n";
    all["temporary folder"] = listed;
    listed.clear();
    for (auto const& folder : {std::string{"/tmp"}, std::string{"/var/tmp"}, std::string{"/run"}})
        for (auto const& name : names_of(folder))
            if ((name.starts_with("sb-exec") || name.starts_with("sb-probe") || name.starts_with("sb-neighbour") || (name.starts_with("sandbench") && !name.starts_with("sandbench-vm"))) &&
                detail::is_of_our_runs(folder + "/" + name) && !detail::has_owner(folder + "/" + name))
                listed += folder + "/" + name + "\n";
    all["/tmp, /var/tmp, /run"] = listed;
    listed.clear();
    for (auto const& name : names_of(at.work))
        if (name != "sb-probe" && name != "suid") listed += name + "\n";
    all["folder of the run"] = listed;
    timespec wall{}, since{};
    ::clock_gettime(CLOCK_REALTIME, &wall), ::clock_gettime(CLOCK_BOOTTIME, &since);
    auto const offset = static_cast<double>(wall.tv_sec - since.tv_sec) + static_cast<double>(wall.tv_nsec - since.tv_nsec) / 1e9;
    static double const first = offset;
    all["clock"] = std::to_string(std::lround((offset - first) / 4)); // steps of 2 s and more, against the first look
    return all;
}

/// What differs: "thing: + line" and "thing: - line".
inline std::set<std::string> differences(snapshot const& before, snapshot const& after) {
    auto const lines = [](std::string const& text) {
        auto const each = sb::words(text, "\n");
        return std::set<std::string>{each.begin(), each.end()};
    };
    std::set<std::string> found;
    for (auto const& [name, was] : before) {
        auto const now = after.find(name);
        if (now == after.end() || now->second == was) continue;
        auto const old = lines(was), fresh = lines(now->second);
        for (auto const& line : fresh)
            if (!old.contains(line)) found.insert(name + ": + " + line.substr(0, 120));
        // that somebody else's folder or group goes away is nobody's harm
        bool const gone_is_well = name == "control groups" || name == "/tmp, /var/tmp, /run";
        for (auto const& line : old)
            if (!gone_is_well && !fresh.contains(line)) found.insert(name + ": - " + line.substr(0, 120));
    }
    return found;
}

} // namespace probes
