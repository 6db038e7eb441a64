// SPDX-License-Identifier: MIT
// Jobs for tests: a victim (tests/victims/) under limits, in a folder that goes away.
#pragma once
#include "support/catch.hpp"
#include <sb/files/folder.hpp>
#include <sb/files/remove_tree.hpp>
#include <sb/watch/watcher.hpp>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace sb::test {

inline std::string victim_path() {
    char const* const bin = std::getenv("SB_BIN");
    return std::string{bin ? bin : "build/bin"} + "/../victims/victim";
}

/// Two seconds, 1 MiB a stream, no variables.
inline watch::job victim(std::vector<std::string> words) {
    watch::job job;
    job.path = victim_path();
    job.argv = {"victim"};
    job.argv.insert(job.argv.end(), words.begin(), words.end());
    job.held.wall_ns = 2'000'000'000;
    job.held.output_bytes = 1 << 20;
    return job;
}

/// A watcher and its reaper, used from test to test.
struct runner {
    watch::watcher watcher;
    process::order_room room;
    process::reaper_link reaper;
};
inline runner& the_runner() {
    static runner made{*watch::watcher::make(), *process::order_room::make(), process::reaper_link{}};
    if (!made.reaper.socket) made.reaper = *process::reaper_link::fork_here(made.room);
    return made;
}

inline watch::outcome run(watch::job const& job) {
    auto& r = the_runner();
    return r.watcher.run(job, r.room, r.reaper);
}

/// A fresh folder, gone with all it holds at the end.
class folder {
public:
    folder() {
        char name[] = "/tmp/sb-test-XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        path_ = name;
    }
    folder(folder const&) = delete;
    folder& operator=(folder const&) = delete;
    ~folder() {
        if (auto const fd = files::open_folder(AT_FDCWD, path_.c_str())) (void)files::empty_folder(fd.get(), path_);
        ::rmdir(path_.c_str());
    }
    std::string const& path() const noexcept { return path_; }
    std::string operator/(std::string_view name) const { return cat(path_, "/", name); }

private:
    std::string path_;
};

} // namespace sb::test
