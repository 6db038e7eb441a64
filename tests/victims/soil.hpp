// SPDX-License-Identifier: MIT
// What the parts of the soiler share: names that one run leaves and the next looks for, and the ways to leave something.
#pragma once
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <unistd.h>

namespace soil {

inline constexpr int tcp_port = 20'777, udp_port = 20'778;
inline constexpr key_t ipc_key = 0x5b0b;
inline constexpr char abstract_name[] = "\0soil";
inline constexpr char queue_name[] = "soil";

/// A way to leave something behind; false when it cannot, and errno says why.
using ways = std::map<std::string, std::function<bool()>>;
ways of_files();     // soil_files.cpp
ways of_sockets();   // soil_sockets.cpp: network, System V and POSIX messages
ways of_processes(); // soil_processes.cpp: others and itself
ways of_others();    // soil_first.cpp: whoever starts the next run, and what is nobody's to change
void look();         // soil_look.cpp

bool write_to(char const* path, char const* text, int flags = O_WRONLY | O_CREAT);
std::string read_of(std::string const& path);
bool list(char const* path);
std::string a_program();
int socket_at(int family, int kind, int port, bool any = false);
int abstract_socket();
bool bind_to_one(pid_t pid), idle(pid_t pid), rare_io(int which, pid_t pid);

/// What is left behind is there for this long at most, should nobody take it away.
[[noreturn]] inline void stay() {
    ::sleep(600);
    ::_exit(0);
}

/// A child that goes on when we are gone, in a session of its own; its `work` gives false when it cannot begin.
template <class Work>
bool daemon_with(Work work) {
    int ready[2];
    if (::pipe(ready) != 0) return false;
    if (::fork() == 0) {
        ::setsid();
        if (::fork() != 0) ::_exit(0);
        for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_IGN);
        if (work()) (void)!::write(ready[1], "y", 1);
        ::close(ready[1]);
        stay();
    }
    ::close(ready[1]);
    char said = 0;
    return ::read(ready[0], &said, 1) == 1;
}

} // namespace soil
