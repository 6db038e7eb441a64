// SPDX-License-Identifier: MIT
// A template root: the root of the sandboxes of one view. It is built once in a mount namespace, and the sandboxes copy that
// namespace.
#pragma once
#include <sb/files/folder.hpp>
#include <sb/files/mount.hpp>
#include <sb/files/path.hpp>
#include <sb/process/payload_user.hpp>
#include <sb/sandbox/public_etc.hpp>
#include <sb/sandbox/view.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <sys/random.h>
#include <utility>
#include <vector>

namespace sb::sandbox {

/// In the kernel's format: version 4, completely random.
inline std::string random_uuid() {
    unsigned char bytes[16]{};
    (void)!::getrandom(bytes, sizeof bytes, 0);
    bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40), bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
    std::string text;
    for (std::size_t i = 0; i < sizeof bytes; ++i) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(bytes[i]));
        text += cat(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", std::string_view{two, 2});
    }
    return text;
}

class template_root {
public:
    /// In a mount namespace of our own that shares nothing with the host's. `lower` is the workspace as a detached mount,
    /// `sources` are the bindings; a privileged caller prepared both. A missing one is opened by its path.
    static result<template_root> build(view const& shown, unique_fd lower, std::vector<unique_fd> sources) {
        template_root made{shown};
        made.lower_ = std::move(lower), made.sources_ = std::move(sources);
        SB_TRY(auto parts, made.collect());
        SB_TRY(auto const proc, files::copy_mount(AT_FDCWD, "/proc"));
        SB_CHECK(made.make_base(proc.get()));
        SB_CHECK(made.build_root(parts));
        made.lower_.reset();
        made.sources_.clear();
        return made;
    }

    /// A part that lies on top of the workspace or /tmp, and must be mounted again whenever that is made anew.
    struct kept_part {
        std::string target, place;
        bool folder;
    };

    view const& shown() const noexcept { return *shown_; }
    // places in the tree that supervisors begin with
    static std::string root() { return "/root"; }
    static std::string lower() { return "/lower"; } ///< the untouched workspace
    static std::string scratch() { return "/scratch"; } ///< an empty folder
    static std::string boot_id() { return "/boot_id"; } ///< file that is shown instead of the host's
    std::vector<kept_part> const& aside() const noexcept { return aside_; }
    bool work_is_on_scratch() const noexcept { return work_is_on_scratch_; } ///< in /tmp or a similar place: the path to it is made together with that
    bool has_var_tmp() const noexcept { return has_var_tmp_; } ///< the workspace is in /var/tmp; otherwise /var/tmp is a link to /tmp

    static result<void> write_file(std::string const& path, std::string_view text) {
        SB_TRY(auto const file, open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0644));
        return write_all(file.get(), text, path);
    }

    static error link_on_the_way(std::string_view target) {
        return caller_error(cat("--bind: nothing can be bound at ", target, ": the path has a link, which a run could replace; name the target of the link"));
    }

private:
    static constexpr off_t largest_copied = 128 << 10;

    explicit template_root(view const& shown) : shown_{&shown} {}

    struct part {
        unique_fd mount;
        std::string target;
        std::string link; ///< a symbolic link instead of a mount
        bool folder = true;
        std::optional<std::string> text = std::nullopt; ///< a file with this content instead of a mount
        bool bound = false; ///< by the caller
    };

    /// Opened in this mount namespace.
    result<unique_fd> open_system() const {
        if (shown_->system_place) return shown_->system_place.here();
        return open_file(shown_->system, O_PATH | O_DIRECTORY);
    }
    /// In another root nothing leads out of that root. If the name itself is a link, it is not followed.
    static unique_fd open_in(int system, bool is_host, std::string const& name) {
        if (is_host) return unique_fd{::openat(system, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
        return files::place_at(system, name.c_str(), RESOLVE_IN_ROOT, O_NOFOLLOW);
    }
    static std::string opened(int fd) { return cat("/proc/self/fd/", fd); }

    /// Makes copies of all that will be shown, while we still see the host's tree.
    result<std::vector<part>> collect() {
        std::vector<part> parts;
        auto const& shown = *shown_;
        bool const is_host = shown.system == "/";
        SB_TRY(auto const system, open_system());
        auto const take = [&](std::string const& name) -> result<void> {
            auto const place = open_in(system.get(), is_host, name);
            struct stat facts {};
            if (!place || ::fstat(place.get(), &facts) != 0) return {};
            if (S_ISLNK(facts.st_mode)) {
                char to[PATH_MAX];
                auto const n = ::readlinkat(place.get(), "", to, sizeof to);
                if (n > 0) parts.push_back({unique_fd{}, "/" + name, std::string{to, static_cast<std::size_t>(n)}, false});
                return {};
            }
            if (!S_ISDIR(facts.st_mode) && !S_ISREG(facts.st_mode)) return {};
            if (S_ISREG(facts.st_mode) && facts.st_size <= largest_copied) { // each mount costs time in every sandbox
                auto text = read_file(is_host ? "/" + name : opened(place.get())); // only root can rename the host's files
                if (!text.has_error()) parts.push_back({unique_fd{}, "/" + name, {}, false, std::move(*text)});
                return {};
            }
            auto copy = files::copy_mount(place.get(), {});
            if (copy.has_error()) return system_error(cat(shown.system, is_host ? "" : "/", name, ": ", copy.error().what));
            SB_CHECK(files::change_mount(copy->get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
            parts.push_back({std::move(*copy), "/" + name, {}, S_ISDIR(facts.st_mode)});
            return {};
        };
        for (auto const folder : system_folders) SB_CHECK(take(std::string{folder}));
        SB_TRY(auto const etc, names_of_etc(system.get(), is_host));
        for (auto const& name : etc) SB_CHECK(take("etc/" + name));
        for (std::string_view const device : {"null", "zero", "full", "random", "urandom"}) {
            SB_TRY(auto copy, files::copy_mount(AT_FDCWD, cat("/dev/", device), false));
            SB_CHECK(files::change_mount(copy.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)); // times cannot be set; devices can still be written
            parts.push_back({std::move(copy), cat("/dev/", device), {}, false});
        }
        for (std::size_t i = 0; i < shown.bindings.size(); ++i) {
            auto const& each = shown.bindings[i];
            unique_fd copy;
            if (i < sources_.size() && sources_[i]) {
                copy = std::move(sources_[i]);
            } else {
                SB_TRY(copy, copy_here(each.place, each.source));
            }
            struct stat facts {};
            if (::fstat(copy.get(), &facts) != 0) return last_error("stat", each.source);
            SB_CHECK(files::change_mount(copy.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (each.writable ? 0u : MOUNT_ATTR_RDONLY)));
            parts.push_back({std::move(copy), each.target, {}, S_ISDIR(facts.st_mode), std::nullopt, true});
        }
        if (!shown.work.empty() && !lower_) {
            SB_TRY(lower_, copy_here(shown.work_place, shown.work));
            SB_CHECK(files::change_mount(lower_.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)); // changes go to the upper folder
        }
        return parts;
    }

    result<std::vector<std::string>> names_of_etc(int system, bool is_host) const {
        if (shown_->etc) return *shown_->etc;
        auto const place = open_in(system, is_host, "etc/.");
        unique_fd const etc{place ? ::open(opened(place.get()).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1};
        if (!etc) return std::vector<std::string>{};
        return public_etc{etc.get(), is_host}.of(shown_of_etc);
    }
    /// The caller has made no copy of it: it is not root, and it sees the same host files as we do.
    static result<unique_fd> copy_here(files::pinned const& place, std::string const& path) {
        if (!place) return files::copy_mount(AT_FDCWD, path);
        SB_TRY(auto const found, place.here());
        auto copy = files::copy_mount(found.get(), {});
        if (copy.has_error()) return system_error(cat(path, ": ", copy.error().what));
        return copy;
    }

    /// Replaces the host's tree by a tree of our own. Everything needed from the host has been collected by now, and every
    /// sandbox copies this tree, so it must be small. The host's /proc stays: the kernel gives a new /proc only to a process
    /// that sees a complete one.
    result<void> make_base(int proc) {
        SB_TRY(auto const base, files::new_mount("tmpfs", {{"size", "1m"}, {"nr_inodes", "4096"}, {"mode", "0755"}}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
        std::string at;
        for (char const* place : {"/tmp", "/mnt", "/run", "/usr"})
            if (at.empty() && !files::attach(base.get(), place).has_error()) at = place;
        if (at.empty()) return last_error("mount on", "/tmp");
        for (std::string_view const name : {"/root", "/lower", "/scratch", "/proc"})
            if (::mkdir(cat(at, name).c_str(), 0755) != 0) return last_error("make folder", name);
        SB_CHECK(files::attach(proc, at + "/proc"));
        SB_CHECK(files::change_root(at));
        if (lower_) SB_CHECK(files::attach(lower_.get(), lower()));
        auto const id = shown_->boot_id.empty() ? random_uuid() : shown_->boot_id;
        SB_CHECK(write_file(boot_id(), id + "\n"));
        return {};
    }

    result<void> build_root(std::vector<part>& parts) {
        SB_TRY(auto const root, files::new_mount("tmpfs", {{"size", "16m"}, {"nr_inodes", "32768"}, {"mode", "0755"}}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
        auto const top = template_root::root();
        SB_CHECK(files::attach(root.get(), top));
        for (std::string_view const folder : {"etc", "dev/shm", "proc", "tmp", "var", "home/sandbox"}) SB_CHECK(make_folders(cat(top, "/", folder), 0755));
        auto const id = cat(process::sandbox_id);
        SB_CHECK(write_file(top + "/etc/passwd", cat("root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n", sandbox_user, ":x:", id, ":", id, "::", sandbox_home,
                                                    ":/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n")));
        SB_CHECK(write_file(top + "/etc/group", cat("root:x:0:\n", sandbox_user, ":x:", id, ":\nnogroup:x:65534:\n")));
        SB_CHECK(write_file(top + "/etc/hosts", cat("127.0.0.1 localhost ", sandbox_user, "\n::1 localhost\n")));
        SB_CHECK(write_file(top + "/etc/hostname", cat(sandbox_user, "\n")));
        SB_CHECK(write_file(top + "/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n"));
        std::string_view last_parent;
        for (auto& each : parts) {
            if (is_on_scratch(each.target)) {
                SB_CHECK(set_aside(each));
                continue;
            }
            if (each.bound) {
                SB_TRY(auto const place, place_of(root.get(), each.target, each.folder, !is_below_writable(each.target)));
                SB_CHECK(files::attach(each.mount.get(), place.get(), each.target));
                each.mount.reset();
                continue;
            }
            auto const target = top + each.target;
            auto const parent = std::string_view{each.target}.substr(0, each.target.rfind('/'));
            if (parent != "" && parent != "/etc" && parent != "/dev" && parent != last_parent) SB_CHECK(make_folders(cat(top, parent), 0755));
            last_parent = parent;
            if (!each.link.empty()) {
                if (::symlink(each.link.c_str(), target.c_str()) != 0 && errno != EEXIST) return last_error("link", target);
                continue;
            }
            if (each.folder && ::mkdir(target.c_str(), 0755) != 0 && errno != EEXIST) return last_error("make folder", target);
            if (each.text) {
                SB_CHECK(write_file(target, *each.text));
                continue;
            }
            if (!each.folder && ::access(target.c_str(), F_OK) != 0) SB_CHECK(write_file(target, {}));
            SB_CHECK(files::attach(each.mount.get(), target));
            each.mount.reset();
        }
        for (auto const& [name, to] : {std::pair{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}})
            if (::symlink(to, cat(top, "/dev/", std::string_view{name}).c_str()) != 0) return last_error("link", std::string_view{name});
        work_is_on_scratch_ = is_below_scratch(shown_->work), has_var_tmp_ = files::is_below(shown_->work, "/var/tmp");
        if (has_var_tmp_) SB_CHECK(make_folders(top + "/var/tmp", 0755));
        else if (::symlink("/tmp", (top + "/var/tmp").c_str()) != 0) return last_error("link", "/var/tmp");
        if (!shown_->work.empty() && !work_is_on_scratch()) SB_CHECK(make_folders(top + shown_->work, 0755));
        return {}; // it becomes read-only after the reaper has mounted its own /proc
    }

    /// Opens the place of a binding, and makes it if it does not exist. A folder that was bound above it may contain links
    /// chosen by somebody else: no link leads out of the root that we build, nor to files that our processes have open.
    /// Where a run may write, no link is followed: the run could put another file there and so replace the binding.
    static result<unique_fd> place_of(int root, std::string const& target, bool folder, bool by_links) { // NOLINT(misc-no-recursion)
        auto const find = [&](std::string const& path) {
            return files::place_at(root, path.c_str(), RESOLVE_IN_ROOT | (by_links ? RESOLVE_NO_MAGICLINKS : RESOLVE_NO_SYMLINKS));
        };
        if (auto there = find(target)) return there;
        if (errno == ELOOP) return link_on_the_way(target);
        if (errno != ENOENT) return last_error("open", target);
        auto const slash = target.rfind('/');
        auto above = find("/");
        if (slash != 0) {
            SB_TRY(above, place_of(root, target.substr(0, slash), true, by_links));
        }
        auto const name = target.substr(slash + 1);
        if (folder && ::mkdirat(above.get(), name.c_str(), 0755) != 0 && errno != EEXIST) return last_error("make folder", target);
        if (!folder && !unique_fd{::openat(above.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)} && errno != EEXIST) return last_error("make", target);
        auto made = find(target);
        if (!made) return last_error("open", target);
        return made;
    }

    bool is_below_writable(std::string_view target) const {
        auto const& bindings = shown_->bindings;
        return std::any_of(bindings.begin(), bindings.end(), [&](binding const& each) { return each.writable && each.target != target && files::is_below(target, each.target); });
    }
    bool is_on_scratch(std::string_view target) const {
        auto const& work = shown_->work;
        return (!work.empty() && files::is_below(target, work)) || is_below_scratch(target);
    }
    static bool is_below_scratch(std::string_view target) {
        for (auto const folder : {std::string_view{"/tmp"}, std::string_view{"/var/tmp"}, sandbox_home, std::string_view{"/dev/shm"}})
            if (files::is_below(target, folder)) return true;
        return false;
    }
    /// A part that lies on top of the workspace or /tmp must be mounted again with them. Until then it stays in our tree.
    result<void> set_aside(part& each) {
        auto const place = cat("/aside", aside_.size());
        if (each.folder && ::mkdir(place.c_str(), 0755) != 0) return last_error("make folder", place);
        if (!each.folder) SB_CHECK(write_file(place, {}));
        SB_CHECK(files::attach(each.mount.get(), place));
        aside_.push_back({each.target, place, each.folder});
        return {};
    }

    view const* shown_;
    unique_fd lower_;
    std::vector<unique_fd> sources_;
    std::vector<kept_part> aside_;
    bool work_is_on_scratch_ = false, has_var_tmp_ = false;
};

} // namespace sb::sandbox
