// SPDX-License-Identifier: MIT
// Everything that a run can write, seen from outside: was it touched, and is what was left so little that it can be removed?
//
// How it works: the supervisor sends descriptors of the folders that it has made, once. The state of these files at that
// moment is remembered and compared after each run: free bytes and files, times, modes, attributes. Files that were put
// there as mount points must keep their times too. A few new files directly in a folder are removed by name; those of the
// workspace through its overlay. If the place is not exactly as before afterwards, the result is not trusted, and the owner
// asks for new memory.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/remove_tree.hpp>
#include <sb/sandbox/mount_supervisor.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/fs.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::sandbox {

class scratch_view {
public:
    /// `work`: the workspace below the overlay; -1: there is none, or nobody checks.
    void set_below(int work) {
        if (work >= 0) below_ = unique_fd{::fcntl(work, F_DUPFD_CLOEXEC, 3)};
    }
    void take(supervisor_fd which, unique_fd fd) noexcept { fds_[which] = std::move(fd); }
    void let_go() noexcept {
        for (auto& each : fds_) each.reset();
        laid_.clear();
    }
    int of(supervisor_fd which) const noexcept { return fds_[which].get(); }
    bool is_full() const noexcept {
        struct statfs now {};
        return fds_[scratch_root] && ::fstatfs(of(scratch_root), &now) == 0 && (now.f_bfree == 0 || now.f_ffree == 0);
    }

    /// Call it before anybody has written: the current state is the wanted state.
    void remember() {
        (void)look(first_);
        laid_.clear();
        all_known_ = true;
        for (auto const i : written) {
            tags_[i] = tags::of(of(i));
            names_[i] = names_of(of(i));
            for (auto const& each : names_[i]) remember_laid(of(i), each);
        }
    }
    bool untouched() noexcept {
        facts now;
        if (!look(now) || is_bent() || now.space.f_bfree != first_.space.f_bfree || now.space.f_ffree != first_.space.f_ffree) return false;
        for (std::size_t i = 0; i < supervisor_fds; ++i)
            if (differ(now.folders[i], first_.folders[i])) return false;
        // an overlay updates the access time of its topmost folder, whatever the mount's options are
        auto const& upper = now.folders[upper_folder].st_atim, &before = first_.folders[upper_folder].st_atim;
        if (upper.tv_sec == before.tv_sec && upper.tv_nsec == before.tv_nsec) return true;
        return ::futimens(of(upper_folder), nullptr) == 0 && look(first_);
    }
    /// Removes what was written, if that is a few files directly in the folders. False: there is, or may be, more.
    bool tidy() {
        facts now;
        if (!look(now) || is_bent() || differ(now.folders[scratch_root], first_.folders[scratch_root]) || differ(now.folders[work_folder], first_.folders[work_folder])) return false;
        if (first_.space.f_ffree - now.space.f_ffree > std::size(written) * most_removed) return false; // then the names are not even listed
        for (auto const i : written) {
            auto const &here = now.folders[i], &before = first_.folders[i];
            if (!differ(here, before)) continue;
            if (here.st_mode != before.st_mode || here.st_uid != before.st_uid || here.st_gid != before.st_gid) return false;
            bool const is_work = i == upper_folder;
            if (is_work && !(below_ && fds_[work_view])) return false;
            if (!remove_files(of(i), names_[i], is_work ? of(work_view) : of(i), is_work ? below_.get() : -1)) return false;
            if (::futimens(of(i), nullptr) != 0) return false; // a program may have set the times to any value
        }
        return look(now) && now.space.f_bfree == first_.space.f_bfree && now.space.f_ffree == first_.space.f_ffree && look(first_);
    }

private:
    struct facts {
        struct stat folders[supervisor_fds] {};
        struct statfs space {};
    };
    struct laid {
        unique_fd place;
        struct stat before {};
    };
    /// Properties of a folder that stat does not show.
    struct tags {
        ssize_t names = -1;
        int flags = 0;
        static tags of(int folder) noexcept {
            tags now{::flistxattr(folder, nullptr, 0), 0};
            if (::ioctl(folder, FS_IOC_GETFLAGS, &now.flags) != 0) now.flags = -1;
            return now;
        }
        friend bool operator==(tags const&, tags const&) = default;
    };
    static constexpr supervisor_fd written[] = {upper_folder, home_folder, tmp_folder, shm_folder};
    static constexpr std::size_t most_removed = 32; // per folder; for more it is faster to replace the memory

    bool look(facts& into) const noexcept {
        for (std::size_t i = 0; i < supervisor_fds; ++i)
            if (!fds_[i] || ::fstat(fds_[i].get(), &into.folders[i]) != 0) return false;
        return ::fstatfs(of(scratch_root), &into.space) == 0;
    }
    static bool differ(struct stat const& a, struct stat const& b) noexcept {
        return a.st_mode != b.st_mode || a.st_uid != b.st_uid || a.st_mtim.tv_sec != b.st_mtim.tv_sec || a.st_mtim.tv_nsec != b.st_mtim.tv_nsec ||
               a.st_ctim.tv_sec != b.st_ctim.tv_sec || a.st_ctim.tv_nsec != b.st_ctim.tv_nsec;
    }
    /// For `remember`: a folder that cannot be listed counts as changed from the start, so everything is made anew each
    /// time.
    std::vector<std::string> names_of(int folder) {
        auto names = files::names_in(folder);
        if (names) return std::move(*names);
        all_known_ = false;
        return {};
    }
    /// A mount point, or a folder's attributes, have changed.
    bool is_bent() const noexcept {
        if (!all_known_) return true;
        for (auto const& each : laid_)
            if (struct stat now {}; ::fstat(each.place.get(), &now) != 0 || differ(now, each.before)) return true;
        return std::any_of(std::begin(written), std::end(written), [&](supervisor_fd i) { return tags::of(of(i)) != tags_[i]; }); // before Linux 6.13 times are coarse: milliseconds
    }
    /// Remembers a file or folder that serves as a mount point, and everything below it. If a name leads elsewhere by now,
    /// this changed the times of the original. So a name that is skipped later is still the original.
    void remember_laid(int folder, std::string const& name) {
        laid one{unique_fd{::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)}, {}};
        if (one.place) (void)::fstat(one.place.get(), &one.before); // a file that cannot be opened counts as changed from the start
        if (S_ISDIR(one.before.st_mode))
            if (auto const inner = files::open_folder(folder, name.c_str()))
                for (auto const& each : names_of(inner.get())) remember_laid(inner.get(), each);
        laid_.push_back(std::move(one));
    }
    /// Removes every name in `folder` except the expected ones, through `view`. Refuses names that also exist in `below`:
    /// such a file is not new but changed.
    static bool remove_files(int folder, std::vector<std::string> const& to_be, int view, int below) {
        auto const names = files::names_in(folder);
        if (!names || names->size() > to_be.size() + most_removed) return false;
        for (auto const& each : *names) {
            if (std::find(to_be.begin(), to_be.end(), each) != to_be.end()) continue;
            struct stat about {};
            if (::fstatat(folder, each.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(about.st_mode) || S_ISCHR(about.st_mode)) return false;
            if (below >= 0 && (::faccessat(below, each.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)) return false;
            if (::unlinkat(view, each.c_str(), 0) != 0) return false;
        }
        auto const left = files::names_in(folder);
        return left && left->size() == to_be.size();
    }

    std::array<unique_fd, supervisor_fds + 1> fds_; // including the workspace's overlay
    unique_fd below_;
    facts first_;
    std::array<tags, supervisor_fds> tags_;
    std::array<std::vector<std::string>, supervisor_fds> names_; // names directly in each written folder
    std::vector<laid> laid_;
    bool all_known_ = false; // everything in the folders could be listed
};

} // namespace sb::sandbox
