// SPDX-License-Identifier: MIT
// What a victim can be told to do, by the files that do it. What is returned is the exit status, unless it says otherwise.
#pragma once
#include <csignal>
#include <initializer_list>

namespace victims {

constexpr unsigned long_time_s = 600; // nothing here outlives a broken sandbox for longer

inline void ignore(std::initializer_list<int> signals) {
    for (int const s : signals) std::signal(s, SIG_IGN);
}

// take.cpp: take all of something
int fork_bomb(long n);
int flood(long bytes);
int flood_err(long bytes);
int big_file(long bytes);
int open_files();
int memory(long most);
int fill(int fd, long most);
int nameless_in(char const* folder), named_in(char const* folder); // a descriptor
int memory_tree(long most);
int processes(long n);
int threads(long n);
int inodes(long n);
int share(long seconds);
// outlive.cpp: do not end
int daemon(char const* file);
int daemon_and_leave(char const* file);
int daemon_and_stay(long seconds);
int hydra(long n);
int steal_back(long seconds);
int stop_itself();
int orphan_with_pipe();
int stubborn(long seconds);
int time_bomb(char const* file);
// hoard.cpp: take what there is of for a user, or for the machine
int hoard(long ms);
int hoard_files(long n);
int hoard_user(long pipes);
int quota();
int hoard_tcp(long n);
int hoard_filters(long n);
int hoard_attributes(long n);
int keep_files(long n, char const* said);

} // namespace victims
