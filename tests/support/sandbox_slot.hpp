// SPDX-License-Identifier: MIT
// One slot with a sandbox, as tests handle it.
#pragma once
#include "support/files.hpp"
#include "support/kernel.hpp"
#include "support/victim.hpp"
#include <sb/files/path.hpp>
#include <sb/sandbox/instance.hpp>
#include <sb/sandbox/lend_work.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <vector>

namespace sb::test {

/// One slot as its owner handles it: a box that is proven clean or put in order before each run, and else replaced.
class slot {
public:
    /// `below`: where the workspace lies in a folder of /tmp.
    explicit slot(int level = filter::default_level, std::string const& below = {})
        : out_{::memfd_create("out", MFD_CLOEXEC)}, runs_{*watch::watcher::make(out_.get())}, room_{*process::order_room::make()} {
        at_ = work_.path() + below;
        REQUIRE_FALSE(sb::make_folders(at_, 0755).has_error());
        put(at_ + "/file", "original\n");
        REQUIRE(::mkdir((at_ + "/folder").c_str(), 0755) == 0);
        put(at_ + "/folder/inner", "inner\n");
        put(read_ / "file", "read\n");
        REQUIRE(::chmod(read_.path().c_str(), 0777) == 0); // its mode is not what protects it
        REQUIRE(::chmod(write_.path().c_str(), 0777) == 0);
        plan_.shown.work = at_;
        auto const victims = victim_path();
        plan_.shown.bindings = {{files::real_path(victims.substr(0, victims.rfind('/'))).value(), "/opt/victims", false}, {read_.path(), "/opt/read", false}, {write_.path(), "/opt/write", true}};
        plan_.user = process::choose_payload_user().value();
        walls_.level = level;
        walls_.filter = filter::make_filter(filter::level_of(level)).value();
        lent_ = sandbox::lend_work(files::pinned::open(at_).value(), plan_.user).value();
        plan_.lower = lent_.lower;
        plan_.owners = std::move(lent_.owners);
    }

    /// The soiler's answer. Before it begins, the sandbox is as it should be.
    std::string run(std::vector<std::string> words, std::int64_t wall_ns = 20'000'000'000) {
        words.insert(words.begin(), "soiler");
        return start("/opt/victims/soiler", std::move(words), watch::nothing_to_read, wall_ns);
    }
    std::string shell(std::string const& script, std::int64_t wall_ns = 20'000'000'000) { return start(program, {"sh", "-c", script}, input, wall_ns); }
    /// Where the next run would happen.
    void make_ready() {
        was_soiled.clear(), renewed = in_order = false;
        if (sandbox_ && sandbox_->alive()) was_soiled = sandbox_->soiled(room_);
        if (sandbox_ && (!sandbox_->alive() || !was_soiled.empty())) sandbox_.reset();
        if (!sandbox_) {
            renewed = true;
            if (!origin_) origin_ = std::make_unique<sandbox::sandbox_template>(sandbox::sandbox_template::make(plan_, room_, nullptr).value());
            auto made = sandbox::instance::make(*origin_, walls_, {4 << 20, 4096});
            INFO((made.has_error() ? made.error().what : std::string{}));
            REQUIRE_FALSE(made.has_error());
            sandbox_ = std::make_unique<sandbox::instance>(std::move(*made));
        }
        auto const anew = sandbox_->make_clean({4 << 20, 4096});
        INFO((anew.has_error() ? anew.error().what : std::string{}));
        REQUIRE_FALSE(anew.has_error());
        in_order = *anew != sandbox::tidiness::untouched, tidied = *anew == sandbox::tidiness::tidied;
    }
    watch::outcome const& last() const { return last_; }
    sandbox::instance& place() { return *sandbox_; }
    std::string work(std::string_view name) const { return sb::cat(at_, "/", name); }
    std::string bound(std::string_view name) const { return write_ / name; }
    std::string read_only(std::string_view name) const { return read_ / name; } ///< seen in /opt/read

    std::vector<std::string> was_soiled; ///< what the sandbox was discarded for, before the last run
    bool renewed = false, in_order = false, tidied = false; ///< for the last run: made, put in order, the latter by removing a few files
    std::string program = "/bin/sh", input = "/dev/null"; ///< of `shell`
    bool spare = true; ///< nobody else needs the second processor
    bool again = true; ///< a child is cloned ahead of the next run

private:
    std::string start(std::string const& path, std::vector<std::string> argv, std::string in, std::int64_t wall_ns) {
        make_ready();
        watch::job what;
        what.path = path, what.argv = std::move(argv), what.in = std::move(in);
        what.environment = {"PATH=/usr/bin:/bin", "HOME=/home/sandbox", "TMPDIR=/tmp"};
        what.folder = at_;
        what.held.wall_ns = wall_ns, what.held.output_bytes = 1 << 20;
        what.keep_output = what.reports = true;
        REQUIRE(::ftruncate(out_.get(), 0) == 0);
        ::lseek(out_.get(), 0, SEEK_SET);
        last_ = runs_.run(what, room_, sandbox_->reaper(), {{}, {}, spare, again});
        (void)sandbox_->network_bytes();
        if (last_.reaper_lost) sandbox_->end();
        std::string text(1 << 16, '\0');
        auto const n = ::pread(out_.get(), text.data(), text.size(), 0);
        text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
        return text;
    }
    folder work_, read_, write_;
    std::string at_; // the workspace
    sb::unique_fd out_;
    watch::watcher runs_;
    process::order_room room_;
    sandbox::template_plan plan_;
    sandbox::instance_plan walls_;
    sandbox::lent_work lent_;
    std::unique_ptr<sandbox::sandbox_template> origin_;
    std::unique_ptr<sandbox::instance> sandbox_;
    watch::outcome last_;
};

} // namespace sb::test
