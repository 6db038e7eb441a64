// SPDX-License-Identifier: MIT
// Probes that see what is for others: by groups of the caller's, in what the kernel tells of the host's work, by mapping as code
// what was written.
#include "probe.hpp"
#include <algorithm>
#include <ftw.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace probes {
namespace {

attempts* walked = nullptr;
int look_at(char const* path, struct stat const* facts, int kind, FTW*) {
    if (kind != FTW_F || (facts->st_mode & S_IROTH)) return 0;
    walked->add(std::string{"read "} + path, payload::has_byte(path), errno);
    return 0;
}

/// A function that returns 42.
#if defined(__x86_64__)
constexpr unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};
#elif defined(__aarch64__)
constexpr unsigned char code[] = {0x40, 0x05, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};
#else
#error "which processor is this?"
#endif
constexpr int answer = 42;

int run_mapped(int fd, int flags) {
    void* const at = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, flags, fd, 0);
    if (at == MAP_FAILED) return errno;
    int (*function)() = nullptr;
    std::memcpy(&function, &at, sizeof at);
    return function() == answer ? 0 : EINVAL;
}

int ends_with_answer(char* const* argv) {
    return in_child([&] {
        auto const child = ::fork();
        if (child < 0) return errno;
        if (child == 0) {
            ::execv(argv[0], argv);
            ::_exit(errno == answer ? EIO : errno);
        }
        int status = 0;
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
        return WIFEXITED(status) && WEXITSTATUS(status) == answer ? 0 : WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : EINVAL;
    });
}

bool copy_file(std::string const& from, std::string const& to) {
    int const in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC), out = ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    static char block[1 << 16];
    bool fine = in >= 0 && out >= 0;
    for (ssize_t n = 0; fine && (n = ::read(in, block, sizeof block)) > 0;) fine = ::write(out, block, static_cast<std::size_t>(n)) == n;
    ::close(in), ::close(out);
    return fine;
}

} // namespace

/// The caller's supplementary groups, and what of /etc is closed to all but some.
void kept_groups(words const&, attempts& tried) {
    gid_t groups[64];
    int const count = ::getgroups(64, groups);
    tried.add("a supplementary group", std::any_of(groups, groups + std::max(count, 0), [](gid_t each) { return each != ::getegid(); }), count < 0 ? errno : EPERM);
    walked = &tried;
    ::nftw("/etc/ssl", look_at, 16, FTW_PHYS); // a few, for the line is to stay short
    for (auto const* const name : {"/etc/shadow", "/etc/gshadow"}) tried.ask(std::string{"read "} + name, payload::has_byte(name));
}

/// What the host does, in fine grain.
void host_at_work(words const& given, attempts& tried) {
    for (auto const* const name : {"interrupts", "softirqs", "schedstat", "timer_list", "locks", "diskstats", "vmstat", "zoneinfo", "buddyinfo", "cmdline", "pressure/cpu",
                                   "pressure/io", "pressure/memory", "irq/default_smp_affinity", "fs/jbd2", "fs/ext4", "fs/xfs/stat"})
        tried.ask(std::string{"read "} + name, payload::has_byte(std::string{"/proc/"} + name) || errno == EISDIR);
    int const trigger = ::open("/proc/pressure/cpu", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    static char const word[] = "some 500000 2000000";
    tried.call("a trigger on the host's pressure", trigger < 0 ? -1 : ::write(trigger, word, sizeof word));
    if (trigger >= 0) ::close(trigger);
    char id[64]{};
    int const boot = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    auto const n = boot < 0 ? -1 : ::read(boot, id, 36);
    if (boot >= 0) ::close(boot);
    tried.add("the host's boot_id", n == 36 && given.text("boot") == id, n < 0 ? errno : EINVAL);
    if (given.text("boot") == id || n == 36) return;
    tried.add("no boot_id at all", true); // programs read it
}

/// Code from where a run may write.
void mapped_code(words const& given, attempts& tried) {
    auto const write_to = given.text("bound", ".");
    auto const name = "/sb-code-" + given.text("tag"), program = name + "-program";
    bool const made = [&] {
        int const fd = ::open((write_to + name).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
        bool const done = fd >= 0 && ::write(fd, code, sizeof code) == static_cast<ssize_t>(sizeof code);
        if (fd >= 0) ::close(fd);
        return done && copy_file("/bin/sh", write_to + program);
    }();
    if (!made) tried.add("the witness gave no place to write", true);
    auto const loader = ::access("/lib64/ld-linux-x86-64.so.2", F_OK) == 0 ? "/lib64/ld-linux-x86-64.so.2" : "/lib/ld-linux-aarch64.so.1";
    for (auto const* const key : {"bound", "again", "inner", "nested"}) {
        auto const folder = given.text(key, key == std::string_view{"bound"} ? "." : "");
        if (folder.empty()) continue;
        int const fd = ::open((folder + name).c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            tried.add("find it by " + folder, true);
            continue;
        }
        for (auto const& [how, flags] : {std::pair{"map ", MAP_PRIVATE}, {"share ", MAP_SHARED}}) {
            int const code_of_end = in_child([&, flags = flags] { return run_mapped(fd, flags); });
            tried.add(how + folder, code_of_end == 0, code_of_end);
        }
        ::close(fd);
        auto path = folder + program;
        char c[] = "-c", script[] = "exit 42";
        char* const direct[] = {path.data(), c, script, nullptr};
        int const executed = ends_with_answer(direct);
        tried.add("execute in " + folder, executed == 0, executed);
        std::string by{loader};
        char* const loaded[] = {by.data(), path.data(), c, script, nullptr};
        int const interpreted = ends_with_answer(loaded);
        tried.add("ld.so on " + folder, interpreted == 0, interpreted == 127 ? EACCES : interpreted);
    }
    ::unlink((write_to + name).c_str()), ::unlink((write_to + program).c_str());
    for (auto const* const each : {"/tmp", "/dev/shm", "."}) {
        int const file = nameless_file(each);
        if (file < 0) continue;
        (void)!::write(file, code, sizeof code);
        int const mapped = in_child([&] { return run_mapped(file, MAP_PRIVATE); });
        ::close(file);
        tried.add(std::string{"map a file of "} + each, mapped == 0, mapped);
    }
    int const memory = static_cast<int>(::syscall(SYS_memfd_create, "code", 1u /* close-on-exec */));
    if (memory >= 0) {
        (void)!::write(memory, code, sizeof code);
        int const mapped = in_child([&] { return run_mapped(memory, MAP_SHARED); });
        tried.add("map memory that is a file", mapped == 0, mapped);
        ::close(memory);
    } else tried.call("memory that is a file", memory);
}

} // namespace probes
