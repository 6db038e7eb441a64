// SPDX-License-Identifier: MIT
// Probes that leave something for whoever comes after: the collector of results, the purge, the next run, the neighbour.
#include "ipc_key.hpp"
#include "probe.hpp"
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <linux/fs.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

namespace probes {
namespace {

/// Where a run's files are: the folder it is in, HOME, TMPDIR.
std::vector<std::string> places() {
    std::vector<std::string> all{"."};
    for (auto const* const name : {"HOME", "TMPDIR"})
        if (char const* const folder = std::getenv(name)) all.emplace_back(folder);
    return all;
}

void make_file(std::string const& path, std::string_view text = "x") {
    int const fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd >= 0) (void)!::write(fd, text.data(), text.size()), ::close(fd);
}

/// Folders in folders, with a file of that name in the last. False when there is no way back.
bool dig(std::string const& place, long depth, char const* file) {
    int const here = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool down = ::chdir(place.c_str()) == 0;
    for (long i = 0; down && i < depth; ++i) down = ::mkdir("deep", 0700) == 0 && ::chdir("deep") == 0;
    if (file) make_file(file);
    bool const back = ::fchdir(here) == 0;
    ::close(here);
    return back;
}

} // namespace

void result_races(words const& given, attempts& tried) {
    auto const secret = given.text("secret");
    auto const folder = secret.substr(0, secret.rfind('/'));
    for (auto const& place : places()) {
        (void)!::symlink(secret.c_str(), (place + "/link").c_str());
        (void)!::symlink(folder.c_str(), (place + "/folder").c_str());
        (void)!::symlink("../../../../../../etc/passwd", (place + "/up").c_str());
        if (::link(secret.c_str(), (place + "/hard").c_str()) == 0) tried.add("a second name for the secret", true);
    }
    // a folder that is a link every other moment, until the run's end and beyond
    auto const racer = ::fork();
    if (racer == 0) {
        ::setsid(), ::close(0), ::close(1), ::close(2);
        for (auto const& place : places()) ::mkdir((place + "/now").c_str(), 0700), make_file(place + "/now/" + secret.substr(secret.rfind('/') + 1), "mine");
        for (long i = 0; i < 2000; ++i)
            for (auto const& place : places())
                ::syscall(316 /* renameat2 */, AT_FDCWD, (place + "/now").c_str(), AT_FDCWD, (place + "/folder").c_str(), 2u /* exchange */);
        ::_exit(0);
    }
    wait_for(0.05);
    tried.seen_outside("results that lead elsewhere");
}

void special_files(words const& given, attempts& tried) {
    auto const depth = given.number("depth", 3000);
    for (auto const& place : places()) {
        ::mkfifo((place + "/fifo").c_str(), 0600);
        ::mkfifo((place + "/stdout").c_str(), 0600);
        ::mknod((place + "/device").c_str(), S_IFCHR | 0600, makedev(1, 5));
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        auto const path = place + "/socket";
        if (path.size() < sizeof name.sun_path) {
            std::memcpy(name.sun_path, path.data(), path.size());
            int const fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (fd >= 0) (void)!::bind(fd, reinterpret_cast<sockaddr const*>(&name), sizeof name), ::close(fd);
        }
        make_file(place + "/" + std::string(255, 'n'));
        make_file(place + "/\xff\xfe\x80 not UTF-8");
        make_file(place + "/line\nend \x1b[2J\t\"quote\" \\");
        make_file(place + "/-rf");
        if (!dig(place, depth, nullptr)) return;
    }
    tried.seen_outside("files that are none");
}

void ipc_objects(words const& given, attempts& tried) {
    auto const tag = given.text("tag");
    auto const key = ipc_key(tag);
    auto const rounds = given.number("twice", 0) != 0 ? 2 : 1;
    auto const name = "/sb-probe-" + tag;
    for (int round = 0; round < rounds; ++round) {
        bool const last = round + 1 == rounds;
        // what an earlier run left is found without being made
        if (last) {
            tried.call("an earlier run's memory", ::shmget(key, 0, 0));
            tried.call("its semaphores", ::semget(key, 0, 0));
            tried.call("its messages", ::msgget(key, 0));
            int const shm = ::shm_open(name.c_str(), O_RDONLY, 0);
            tried.call("its /dev/shm file", shm);
            int const queue = ::mq_open(name.c_str(), O_RDONLY);
            tried.call("its queue", queue);
        }
        (void)::shmget(key, 4096, IPC_CREAT | 0600);
        (void)::semget(key, 1, IPC_CREAT | 0600);
        (void)::msgget(key, IPC_CREAT | 0600);
        (void)::shm_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        mq_attr small{};
        small.mq_maxmsg = 1, small.mq_msgsize = 16;
        (void)::mq_open(name.c_str(), O_RDWR | O_CREAT, 0600, &small);
    }
}

void stubborn_files(words const& given, attempts& tried) {
    auto const depth = given.number("depth", 4000);
    for (auto const& place : places()) {
        make_file(place + "/immutable");
        int const fd = ::open((place + "/immutable").c_str(), O_RDONLY | O_CLOEXEC);
        int flags = FS_IMMUTABLE_FL;
        if (fd >= 0) {
            // taken back at once: what a sandbox does not hold would stay on the host
            int const set = ::ioctl(fd, FS_IOC_SETFLAGS, &flags);
            if (place == ".") tried.call("an immutable file", set);
            flags = 0;
            if (set == 0) ::ioctl(fd, FS_IOC_SETFLAGS, &flags);
            ::close(fd);
        }
        ::mkdir((place + "/closed").c_str(), 0700), ::mkdir((place + "/closed/inner").c_str(), 0700);
        make_file(place + "/closed/inner/file");
        ::chmod((place + "/closed/inner").c_str(), 0), ::chmod((place + "/closed").c_str(), 0);
        if (!dig(place, depth, "bottom")) return;
    }
    // held open by whoever lives on
    if (::fork() == 0) ::setsid(), ::close(0), ::close(1), ::close(2), wait_for(20), ::_exit(0);
    tried.seen_outside("files that are hard to remove");
}

void neighbours(words const& given, attempts& tried) {
    auto const port = static_cast<std::uint16_t>(given.number("port", 47048));
    if (given.number("twice", 0) != 0 && ::fork() == 0) { // the control: the neighbour is our own child
        attempts ignored;
        char number[32] = "port=";
        std::strcat(number, std::to_string(port).c_str());
        char* alone[] = {number};
        neighbours(words{1, alone}, ignored);
        ::_exit(0);
    }
    if (given.number("twice", 0) != 0) wait_for(0.3);
    struct stat facts {};
    std::string const files[] = {"./sb-neighbour", "/tmp/sb-neighbour", "/dev/shm/sb-neighbour", "/var/tmp/sb-neighbour"};
    for (auto const& path : files) tried.ask("see " + path, ::lstat(path.c_str(), &facts) == 0); // all of them first: one may lead to another
    for (auto const& path : files) ::close(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    auto const taken = [&](char const* what, int family, void const* address, socklen_t size) {
        int const fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0); // stays open to the end
        int const bound = fd < 0 ? -1 : ::bind(fd, static_cast<sockaddr const*>(address), size);
        tried.ask(what, fd >= 0 && bound != 0 && errno == EADDRINUSE);
        if (bound == 0) (void)::listen(fd, 1);
    };
    sockaddr_in host{};
    host.sin_family = AF_INET, host.sin_port = htons(port), host.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    taken("meet at a port", AF_INET, &host, sizeof host);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path + 1, "sb-neighbour", 12);
    taken("meet at a name", AF_UNIX, &name, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 13));
    wait_for(1.5); // both are there at the same time
    for (auto const& path : files) ::unlink(path.c_str());
    if (given.number("twice", 0) != 0) ::waitpid(-1, nullptr, 0);
}

} // namespace probes
