// SPDX-License-Identifier: MIT
// What a payload leaves in files and folders.
#include "soil.hpp"
#include "../support/payload.hpp"
#include <algorithm>
#include <climits>
#include <cstdint>
#include <dirent.h>
#include <linux/fs.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <vector>

namespace soil {

bool write_to(char const* path, char const* text, int flags) { return payload::write_whole(path, text, flags); }

std::string read_of(std::string const& path) {
    auto const text = payload::read_whole(path);
    return text ? *text : std::string{"("} + std::strerror(errno) + ")";
}

bool list(char const* path) {
    auto* const all = ::opendir(path);
    if (!all) return false;
    while (::readdir(all)) {}
    ::closedir(all);
    return true;
}

/// A program of the host, the same one for all runs in this folder. A lock on it is one for all of the host, and whoever
/// runs this beside us, in a folder of its own, locks another.
std::string a_program() {
    char folder[PATH_MAX] = "";
    (void)!::getcwd(folder, sizeof folder);
    std::vector<std::string> all;
    if (auto* const listed = ::opendir("/usr/bin")) {
        while (auto const* const each = ::readdir(listed))
            if (each->d_type == DT_REG && ::faccessat(::dirfd(listed), each->d_name, R_OK, 0) == 0) all.push_back(std::string{"/usr/bin/"} + each->d_name);
        ::closedir(listed);
    }
    std::sort(all.begin(), all.end());
    return all.empty() ? "/usr/bin/env" : all[std::hash<std::string_view>{}(folder) % all.size()];
}

namespace {

bool fill() {
    int const fd = ::open("full", O_WRONLY | O_CREAT, 0600);
    static char const block[1 << 16]{};
    while (::write(fd, block, sizeof block) > 0) {}
    return errno == ENOSPC;
}

bool deep() {
    for (int i = 0; i < 1000; ++i)
        if (::mkdir("deeper", 0700) != 0 || ::chdir("deeper") != 0) return false;
    return true;
}

bool closed_folder() { return ::mkdir("closed", 0700) == 0 && write_to("closed/file", "x") && ::chmod("closed", 0) == 0; }

bool set_acl(char const* path) {
    struct __attribute__((packed)) {
        std::uint32_t version = 2;
        struct __attribute__((packed)) { std::uint16_t tag, rights; std::uint32_t id; } entries[5] = {{1, 7, ~0u}, {2, 7, 1000}, {4, 7, ~0u}, {16, 7, ~0u}, {32, 7, ~0u}};
    } const acl;
    return ::setxattr(path, "system.posix_acl_access", &acl, sizeof acl, 0) == 0;
}

bool set_flag(char const* path) {
    int const fd = ::open(path, O_RDONLY);
    int flags = 0;
    if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return false;
    flags |= FS_NODUMP_FL;
    return ::ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}

bool touch(char const* path) { return ::utimensat(AT_FDCWD, path, nullptr, 0) == 0; }

bool shared_write() { // through memory, no write call
    int const fd = ::open("file", O_RDWR);
    auto* const at = static_cast<char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    return at != MAP_FAILED && (std::memcpy(at, "SOIL", 4), ::msync(at, 4096, MS_SYNC)) == 0;
}

bool exchange() {
    return write_to("other", "soil") && ::syscall(SYS_renameat2, AT_FDCWD, "other", AT_FDCWD, "file", RENAME_EXCHANGE) == 0;
}

} // namespace

ways of_files() {
    return {
        {"file-new", [] { return write_to("new", "soil"); }},
        {"file-changed", [] { return write_to("file", "soil"); }},
        {"file-truncated", [] { return ::truncate("file", 0) == 0; }},
        {"file-mapped", shared_write},
        {"file-exchanged", exchange},
        {"file-deleted", [] { return ::unlink("file") == 0; }},
        {"file-renamed", [] { return ::rename("file", "renamed") == 0; }},
        {"file-linked", [] { return ::link("file", "linked") == 0 && write_to("linked", "soil"); }},
        {"file-mode", [] { return ::chmod("file", 0777) == 0; }},
        {"file-times", [] { return touch("file"); }},
        {"file-xattr", [] { return ::setxattr("file", "user.soil", "x", 1, 0) == 0; }},
        {"folder-below", [] { return write_to("folder/new", "soil"); }},
        {"folder-removed", [] { return ::unlink("folder/inner") == 0 && ::rmdir("folder") == 0; }},
        {"root-mode", [] { return ::chmod(".", 0700) == 0; }},
        {"root-xattr", [] { return ::setxattr(".", "user.soil", "x", 1, 0) == 0; }},
        {"root-acl", [] { return set_acl("."); }},
        {"root-removed", [] { char path[PATH_MAX]; return ::getcwd(path, sizeof path) && ::chdir("/") == 0 && ::rmdir(path) == 0; }},
        {"made-and-removed", [] { return write_to("new", "soil") && ::unlink("new") == 0; }},
        {"home", [] { return write_to("/home/sandbox/new", "soil"); }},
        {"home-acl", [] { return set_acl("/home/sandbox"); }},
        {"home-flag", [] { return set_flag("/home/sandbox"); }},
        {"home-mode", [] { return ::chmod("/home/sandbox", 0777) == 0; }},
        {"tmp", [] { return write_to("/tmp/new", "soil"); }},
        {"tmp-acl", [] { return set_acl("/tmp"); }},
        {"tmp-removed", [] { return write_to("/tmp/new", "soil") && ::unlink("/tmp/new") == 0; }},
        {"tmp-times", [] { timespec const old[2]{{1, 0}, {1, 0}}; return ::utimensat(AT_FDCWD, "/tmp", old, 0) == 0; }},
        {"looked-at", [] { return list(".") && list("folder") && list("/tmp") && list("/home/sandbox") && list("/dev/shm") && list("/usr/bin") && !read_of("file").empty(); }},
        {"shm-file", [] { return write_to("/dev/shm/new", "soil"); }},
        {"var-tmp", [] { return write_to("/var/tmp/new", "soil"); }},
        {"deep", deep},
        {"closed-folder", closed_folder},
        {"full", fill},
        {"link-out", [] { return ::symlink("/etc/shadow", "out") == 0 && ::unlink("file") == 0 && ::symlink("/usr/bin/env", "file") == 0; }},
        {"read-only-bind", [] { return write_to("/opt/read/soil", "soil"); }},
        {"read-only-bind-times", [] { return touch("/opt/read"); }},
        {"system-file", [] { return write_to("/usr/soil", "soil"); }},
        {"masked-folder", [] { return touch("/proc/bus"); }},
        {"device-times", [] { return touch("/dev/null"); }},
        {"device-made", [] { return ::mknod("/tmp/null", S_IFCHR | 0666, 0x103) == 0; }},
    };
}

} // namespace soil
