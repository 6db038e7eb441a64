// SPDX-License-Identifier: MIT
// Probes that go through what was left open: descriptors, the launcher's file, the terminal, privileges, variables.
#include "probe.hpp"
#include <csignal>
#include <climits>
#include <cstdio>
#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <linux/tiocl.h>

extern char** environ;

namespace probes {
namespace {

std::string whole_file(char const* path) { return payload::read_whole(path).value_or(std::string{}); }

/// A file that can be read, or a folder that has names in it that do not lead to our own folders.
bool holds_something(char const* path) {
    DIR* const open = ::opendir(path);
    if (!open) return errno == ENOTDIR && open_only(path, O_RDONLY) >= 0;
    std::string own;
    char here[PATH_MAX];
    if (::getcwd(here, sizeof here)) own = std::string{here} + "/\n";
    for (auto const* const name : {"HOME", "TMPDIR"})
        if (char const* const folder = std::getenv(name)) own += std::string{folder} + "/\n";
    bool others = false;
    while (auto const* const entry = ::readdir(open)) {
        std::string_view const name{entry->d_name};
        if (name != "." && name != ".." && own.find(std::string{path} + "/" + entry->d_name + "/") == std::string::npos) others = true;
    }
    ::closedir(open);
    errno = ENOENT;
    return others;
}

} // namespace

void leave_root(words const& given, attempts& tried) {
    auto const secret = given.text("secret");
    auto const name = secret.substr(secret.rfind('/') + 1);
    int const folder = static_cast<int>(given.number("folder", -1));
    try_open(tried, secret, O_RDONLY);
    std::string up = ".";
    for (int i = 0; i < 64; ++i) up += "/..";
    tried.call("by way of ..", open_only(up + secret, O_RDONLY));
    tried.call("in an inherited folder", ::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC));
    tried.add("above an inherited folder", in_child([&] {
        return ::fchdir(folder) == 0 && ::chdir("..") == 0 && open_only("." + secret.substr(secret.rfind('/', secret.rfind('/') - 1)), O_RDONLY) >= 0 ? 0 : errno;
    }) == 0, EBADF);
    tried.add("by chroot in chroot", in_child([&] {
        int const here = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (::mkdir("sb-jail", 0700) != 0) return errno;
        int const code = ::chroot("sb-jail") == 0 ? 0 : errno;
        int opened = code;
        if (code == 0) opened = ::fchdir(here) == 0 && open_only(up + secret, O_RDONLY) >= 0 ? 0 : errno;
        ::unlinkat(here, "sb-jail", AT_REMOVEDIR);
        return opened;
    }) == 0, EPERM);
    for (auto const* const home : {"/root", "/home", "/run", "/var/log", "/var/lib/dpkg", "/etc/shadow", "/mnt", "/media", "/srv", "/boot/grub"})
        tried.ask(std::string{"read "} + home, holds_something(home));
    tried.ask("write beside the programs", ::access("/usr/bin", W_OK) == 0 || ::access("/etc", W_OK) == 0 || ::access("/usr/lib", W_OK) == 0);
}

void inherited(words const& given, attempts& tried) {
    char const* const declared = std::getenv("SB_REPORT_FD");
    int const report = declared ? std::atoi(declared) : -1;
    std::string open;
    for (int fd = 3; fd < 1024; ++fd)
        if (fd != report && ::fcntl(fd, F_GETFD) >= 0) open += " " + std::to_string(fd);
    tried.add("descriptors" + open, !open.empty(), EBADF);
    int const leaked = static_cast<int>(given.number("leaked", 9));
    char byte = 0;
    tried.call("read a leaked file", ::pread(leaked, &byte, 1, 0));
    tried.call("reopen it", open_only("/proc/self/fd/" + std::to_string(leaked), O_RDONLY));
    tried.add("be in a leaked folder", in_child([&] {
        for (int fd = 3; fd < 64; ++fd)
            if (::chdir(("/proc/self/fd/" + std::to_string(fd)).c_str()) == 0) return 0;
        return errno;
    }) == 0, ENOENT);
    char where[PATH_MAX];
    // a folder outside the root is given the prefix "(unreachable)"
    tried.add("be outside the root", ::syscall(SYS_getcwd, where, sizeof where) > 0 && where[0] != '/', ENOENT);
}

/// CVE-2019-5736: a path-only descriptor of a running program, opened for writing as soon as it runs no more.
void overwrite_launcher(words const& given, attempts& tried) {
    auto const parent = "/proc/" + std::to_string(::getppid()) + "/exe";
    int const kept = ::open(parent.c_str(), O_PATH | O_CLOEXEC);
    tried.add("keep the launcher's file", kept >= 0, errno);
    if (auto const ready = static_cast<int>(given.number("ready", -1)); ready >= 0) (void)!::write(ready, "r", 1), ::close(ready);
    for (auto const& path : {std::string{"/proc/1/exe"}, parent, given.text("exe")})
        if (!path.empty() && (path != "/proc/1/exe" || own_pid_namespace(given))) try_open(tried, path, O_WRONLY);
    bool opened = false;
    int refused = EBADF;
    for (int i = 0; kept >= 0 && i < 50 && !opened; ++i) {
        opened = open_only("/proc/self/fd/" + std::to_string(kept), O_WRONLY) >= 0; // opened, not written
        refused = errno;
        if (!opened) wait_for(0.01);
    }
    tried.add("write the launcher's file", opened, refused);
}

void terminal(words const& given, attempts& tried) {
    auto const name = given.text("tty");
    int const controlling = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
    tried.add("open /dev/tty", controlling >= 0, errno);
    int const named = ::open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    tried.add("open the caller's terminal", named >= 0, errno);
    auto const ask = [&](char const* what, unsigned long request, void* argument) {
        int refused = ENOTTY;
        bool done = false;
        for (int const fd : {0, 1, 2, controlling, named}) {
            if (fd < 0) continue;
            if (::syscall(SYS_ioctl, fd, request, argument) == 0) done = true;
            else if (errno != ENOTTY) refused = errno;
        }
        tried.add(what, done, refused);
    };
    char key = '#';
    ask("type a key", TIOCSTI, &key);
    ask("type a key, high bits set", TIOCSTI | 0xffff'ffff'0000'0000UL, &key);
    char paste = TIOCL_GETSHIFTSTATE; // asks, changes nothing
    ask("the console's call", TIOCLINUX, &paste);
    ask("the console's call, high bits set", TIOCLINUX | 0x1'0000'0000UL, &paste);
    if (::getsid(0) == ::getpid() && controlling < 0) ask("take the terminal", TIOCSCTTY, nullptr);
}

void set_user_id(words const& given, attempts& tried) {
    auto const status = whole_file("/proc/self/status");
    auto const field = [&](std::string_view name) {
        auto const at = status.find("\n" + std::string{name} + ":");
        return at == std::string::npos ? std::string{} : status.substr(at + name.size() + 3, status.find('\n', at + 1) - at - name.size() - 3);
    };
    tried.add("gain privileges by exec", field("NoNewPrivs") != "1", EPERM);
    for (auto const* const set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) tried.add(set, field(set) != "0000000000000000", EPERM);
    // lines "inside outside count": who we are on the host
    auto const map = whole_file("/proc/self/uid_map");
    bool host_root = false;
    for (std::size_t at = 0; at < map.size(); at = map.find('\n', at) + 1) {
        unsigned long inside = 0, outside = 0, count = 0;
        unsigned long const self = ::getuid();
        if (std::sscanf(map.c_str() + at, "%lu %lu %lu", &inside, &outside, &count) == 3 && self >= inside && self - inside < count) host_root = host_root || self - inside + outside == 0;
        if (map.find('\n', at) == std::string::npos) break;
    }
    tried.add("be the host's root", host_root, EPERM);
    if (auto const program = given.text("suid"); !program.empty()) {
        auto const before = ::geteuid();
        auto const pid = ::fork();
        if (pid == 0) {
            ::execl(program.c_str(), "sb-probe", "--euid", nullptr);
            ::_exit(99);
        }
        int state = 0;
        ::waitpid(pid, &state, 0);
        tried.add("be root by a set-user-id file", before != 0 && WIFEXITED(state) && WEXITSTATUS(state) == 42, EACCES);
    }
    tried.add("setuid(0)", ::getuid() != 0 && in_child([] { return ::setuid(0) == 0 ? 0 : errno; }) == 0, EPERM);
    tried.add("setgroups", in_child([] {
        gid_t const root = 0;
        return ::syscall(SYS_setgroups, 1, &root) == 0 ? 0 : errno;
    }) == 0, EPERM);
}

void core_dump(words const&, attempts& tried) {
    rlimit all{RLIM_INFINITY, RLIM_INFINITY}, now{};
    ::getrlimit(RLIMIT_CORE, &now);
    // a program of the host's that takes cores gets them whatever the limit is, unless that is 1
    rlimit const before = now, other{now.rlim_cur == 0 ? std::min<rlim_t>(now.rlim_max, 7) : 0, now.rlim_max};
    auto const changed = [&] { // whatever was answered
        ::getrlimit(RLIMIT_CORE, &now);
        return now.rlim_cur != before.rlim_cur || now.rlim_max != before.rlim_max ? 0 : EPERM;
    };
    tried.add("another RLIMIT_CORE", in_child([&] { return ::setrlimit(RLIMIT_CORE, &other), changed(); }) == 0, EPERM);
    tried.add("another RLIMIT_CORE by prlimit", in_child([&] { return ::prlimit(0, RLIMIT_CORE, &other, nullptr), changed(); }) == 0, EPERM);
    ::setrlimit(RLIMIT_CORE, &all);
    if (changed(); before.rlim_max != RLIM_INFINITY) tried.add("raise RLIMIT_CORE", now.rlim_max > before.rlim_max, EPERM);
    auto const pattern = whole_file("/proc/sys/kernel/core_pattern");
    if (now.rlim_cur != 1 && pattern.starts_with('|')) return tried.add("hand a core to the host's program", true); // true already; it is not called
    auto const pid = ::fork();
    if (pid == 0) {
        static char dirty[16 << 20];
        std::memset(dirty, 1, sizeof dirty);
        asm volatile("" : : "r"(dirty) : "memory");
        std::signal(SIGSEGV, SIG_DFL);
        ::raise(SIGSEGV);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    tried.add("dump core", WIFSIGNALED(status) && WCOREDUMP(status), EPERM);
}

void environment(words const& given, attempts& tried) {
    auto const token = given.text("tag");
    std::string seen;
    for (auto** each = environ; *each; ++each) {
        std::string_view const variable{*each};
        for (auto const* const name : {"LD_PRELOAD=", "LD_LIBRARY_PATH=", "GCONV_PATH=", "HTTP_PROXY=", "http_proxy=", "SSH_AUTH_SOCK=", "AWS_SECRET_ACCESS_KEY=",
                                       "SB_PROBE_SECRET=", "DBUS_SESSION_BUS_ADDRESS=", "PYTHONPATH=", "BASH_ENV=", "MALLOC_CHECK_="})
            if (variable.starts_with(name)) (seen += ' ') += std::string_view{name}.substr(0, std::strlen(name) - 1);
        if (!token.empty() && variable.find(token) != variable.npos) seen += " (the secret)";
    }
    tried.add("variables" + seen, !seen.empty(), ENOENT);
}

} // namespace probes
