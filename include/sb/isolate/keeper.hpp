// SPDX-License-Identifier: MIT
// A keeper: the process that builds a sandbox, gives it a reaper, and puts its workspace in order between runs.
//
// How it works: the keeper is born into a user, mount, network, ipc and host-name namespace of its own and has every
// capability there and none outside; it runs under the payload's user, in another process namespace, so the payload
// cannot see it. It collects what is to be shown as detached mounts, builds the payload's root from them and clones the
// reaper, which copies the mounts, makes that root its only one and drops all rights (zygote.hpp). The workspace is put on afterwards, and again whenever a run has touched it: made as
// detached mounts in the keeper's tree, where the untouched original and the scratch space are, and attached in the
// reaper's, where they are not.
#pragma once
#include <sb/isolate/landlock.hpp>
#include <sb/isolate/mount.hpp>
#include <sb/isolate/order.hpp>
#include <sb/isolate/tcp_leftovers.hpp>
#include <sb/isolate/view.hpp>
#include <sb/isolate/zygote.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <grp.h>
#include <net/if.h>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <vector>

namespace sb::isolate {

/// Room for what a run writes: bytes and files over workspace, /tmp, home and /dev/shm together.
struct scratch_size {
    std::int64_t bytes = 0, inodes = 0;
    friend bool operator==(scratch_size const&, scratch_size const&) = default;
};

/// What a keeper is given; all of it made before it is cloned.
struct keeper_plan {
    view const* shown = nullptr;
    unique_fd lower; ///< the workspace as a detached mount, prepared by a privileged caller; -1: the keeper takes it by its path
    std::vector<unique_fd> sources; ///< the same for each binding
    zygote_plan zygote;
};

/// What the keeper answers to a request.
struct keeper_reply {
    int code = 0; ///< errno; 0: done
    pid_t reaper = -1;
    char what[248] = {};
};

/// Descriptors that come with a reply to `renew`, to see without a word whether a run has touched anything.
enum keeper_fd : std::size_t { scratch_root, upper_folder, work_folder, home_folder, tmp_folder, shm_folder, keeper_fds, rules_fd = keeper_fds, most_keeper_fds };

struct keeper_request {
    enum class kind : std::uint8_t { enclose, begin, renew, reset_network } what = kind::renew;
    scratch_size size;
};

class keeper {
public:
    keeper(keeper_plan plan, int socket, int reaper_socket, order_room& room)
        : plan_{std::move(plan)}, socket_{socket}, reaper_socket_{reaper_socket}, room_{&room} {}

    /// Serves until the other end is closed.
    void serve() {
        keeper_request asked;
        while (retry([&] { return ::recv(socket_, &asked, sizeof asked, 0); }) == static_cast<ssize_t>(sizeof asked)) {
            auto const done = asked.what == keeper_request::kind::enclose ? enclose()
                              : asked.what == keeper_request::kind::begin ? begin()
                              : asked.what == keeper_request::kind::renew ? renew(asked.size)
                                                                          : reset_network();
            if (!answer(done, asked.what == keeper_request::kind::renew)) return;
        }
    }

private:
    /// Makes the control group that we are in the root of all that we shall see.
    static result<void> enclose() {
        if (::unshare(CLONE_NEWCGROUP) < 0) return last_error("make a cgroup namespace");
        return {};
    }

    result<void> begin() {
        if (::setresgid(sandbox_id, sandbox_id, sandbox_id) < 0 || ::setresuid(sandbox_id, sandbox_id, sandbox_id) < 0) return last_error("change user");
        ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a change of user forgets it
        ::umask(022);
        if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) return last_error("make mounts private");
        SB_TRY(own_tree_, open_file("/proc/self/ns/mnt", O_RDONLY));
        SB_TRY(plan_.zygote.sockets4, open_file("/proc/self/net/sockstat", O_RDONLY));
        if (auto six = open_file("/proc/self/net/sockstat6", O_RDONLY); !six.has_error()) plan_.zygote.sockets6 = std::move(*six);
        else plan_.zygote.sockets6 = unique_fd{::fcntl(plan_.zygote.sockets4.get(), F_DUPFD_CLOEXEC, 3)}; // a kernel without IPv6
        SB_TRY(plan_.zygote.devices, open_file("/proc/self/net/dev", O_RDONLY));
        if (auto ends = tcp_leftovers::open(); !ends.has_error()) network_.emplace(std::move(*ends));
        SB_CHECK(loopback_up());
        // what one connection has learnt of the way would be told to the next, whose run is another
        if (auto const knob = open_file("/proc/sys/net/ipv4/tcp_no_metrics_save", O_WRONLY); !knob.has_error()) (void)!::write(knob->get(), "1", 1);
        no_more_namespaces();
        if (::sethostname(sandbox_user.data(), sandbox_user.size()) < 0) return last_error("sethostname");
        SB_TRY(auto parts, collect());
        SB_CHECK(make_base());
        SB_CHECK(build_root(parts));
        SB_TRY(zygote_, start_zygote(plan_.zygote, base_ + "/root", reaper_socket_, *room_));
        ::close(std::exchange(reaper_socket_, -1));
        return {};
    }

    struct part {
        unique_fd mount;
        std::string target;
        std::string link; ///< a symbolic link instead of a mount
        bool folder = true;
    };

    /// Takes copies of all that is to be shown, while the host's tree is still ours.
    result<std::vector<part>> collect() {
        std::vector<part> all;
        auto const& shown = *plan_.shown;
        auto const base = shown.system == "/" ? std::string{} : shown.system;
        auto const take = [&](std::string const& name) -> result<void> {
            auto const path = cat(base, "/", name);
            struct stat facts {};
            if (::lstat(path.c_str(), &facts) != 0) return {};
            if (S_ISLNK(facts.st_mode)) {
                char to[PATH_MAX];
                auto const n = ::readlink(path.c_str(), to, sizeof to);
                if (n > 0) all.push_back({unique_fd{}, "/" + name, std::string{to, static_cast<std::size_t>(n)}, false});
                return {};
            }
            if (!S_ISDIR(facts.st_mode) && !S_ISREG(facts.st_mode)) return {};
            auto copy = copy_mount(AT_FDCWD, path);
            if (copy.has_error()) return copy.error();
            SB_CHECK(change_mount(copy->get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
            all.push_back({std::move(*copy), "/" + name, {}, S_ISDIR(facts.st_mode)});
            return {};
        };
        for (auto const folder : detail::system_folders) SB_CHECK(take(std::string{folder}));
        for (auto const name : detail::shown_of_etc) SB_CHECK(take(cat("etc/", name)));
        for (std::string_view const device : {"null", "zero", "full", "random", "urandom"}) {
            SB_TRY(auto copy, copy_mount(AT_FDCWD, cat("/dev/", device), false));
            SB_CHECK(change_mount(copy.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)); // no times to set; devices take writes all the same
            all.push_back({std::move(copy), cat("/dev/", device), {}, false});
        }
        for (std::size_t i = 0; i < shown.bindings.size(); ++i) {
            auto const& each = shown.bindings[i];
            unique_fd copy;
            if (i < plan_.sources.size() && plan_.sources[i]) {
                copy = std::move(plan_.sources[i]);
            } else {
                SB_TRY(copy, copy_mount(AT_FDCWD, each.source));
            }
            struct stat facts {};
            if (::fstat(copy.get(), &facts) != 0) return last_error("stat", each.source);
            SB_CHECK(change_mount(copy.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (each.writable ? 0u : MOUNT_ATTR_RDONLY)));
            all.push_back({std::move(copy), each.target, {}, S_ISDIR(facts.st_mode)});
        }
        if (!shown.work.empty() && !plan_.lower) {
            SB_TRY(plan_.lower, copy_mount(AT_FDCWD, shown.work));
        }
        return all;
    }

    /// A place of our own over one of the host's folders; whatever lies below that has been collected by now. We keep the host's
    /// tree, for each unmounting makes the kernel wait for all processors: the zygote lets go of all of it at once.
    result<void> make_base() {
        SB_TRY(auto const base, new_mount("tmpfs", {{"size", "1m"}, {"nr_inodes", "4096"}, {"mode", "0755"}}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
        // not on /proc: the kernel lets nobody mount one who does not see a whole one already
        for (char const* place : {"/tmp", "/mnt", "/run", "/usr"})
            if (base_.empty() && !attach(base.get(), place).has_error()) base_ = place;
        if (base_.empty()) return last_error("mount on", "/tmp");
        for (std::string_view const name : {"/root", "/lower", "/scratch"})
            if (::mkdir(cat(base_, name).c_str(), 0755) != 0) return last_error("make folder", cat(base_, name));
        if (plan_.lower) SB_CHECK(attach(plan_.lower.get(), base_ + "/lower"));
        return {};
    }

    static result<void> write_file(std::string const& path, std::string_view text) {
        SB_TRY(auto const file, open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0644));
        if (!text.empty() && ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return last_error("write", path);
        return {};
    }

    result<void> build_root(std::vector<part>& parts) {
        SB_TRY(auto const root, new_mount("tmpfs", {{"size", "4m"}, {"nr_inodes", "4096"}, {"mode", "0755"}}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
        auto const top = base_ + "/root";
        SB_CHECK(attach(root.get(), top));
        for (std::string_view const folder : {"etc", "dev/shm", "proc", "tmp", "var", "home/sandbox"}) SB_CHECK(make_folders(top, folder));
        auto const id = cat(sandbox_id);
        SB_CHECK(write_file(top + "/etc/passwd", cat("root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n", sandbox_user, ":x:", id, ":", id, "::", sandbox_home,
                                                    ":/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n")));
        SB_CHECK(write_file(top + "/etc/group", cat("root:x:0:\n", sandbox_user, ":x:", id, ":\nnogroup:x:65534:\n")));
        SB_CHECK(write_file(top + "/etc/hosts", cat("127.0.0.1 localhost ", sandbox_user, "\n::1 localhost\n")));
        SB_CHECK(write_file(top + "/etc/hostname", cat(sandbox_user, "\n")));
        SB_CHECK(write_file(top + "/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n"));
        for (auto& each : parts) {
            if (is_on_scratch(each.target)) {
                SB_CHECK(set_aside(each));
                continue;
            }
            auto const target = top + each.target;
            auto const parent = std::string_view{each.target}.substr(0, each.target.rfind('/'));
            if (parent != "" && parent != "/etc" && parent != "/dev") SB_CHECK(make_folders(top, parent));
            if (!each.link.empty()) {
                if (::symlink(each.link.c_str(), target.c_str()) != 0 && errno != EEXIST) return last_error("link", target);
                continue;
            }
            if (each.folder && ::mkdir(target.c_str(), 0755) != 0 && errno != EEXIST) return last_error("make folder", target);
            if (!each.folder && ::access(target.c_str(), F_OK) != 0) SB_CHECK(write_file(target, {}));
            SB_CHECK(attach(each.mount.get(), target));
            each.mount.reset();
        }
        for (auto const& [name, to] : {std::pair{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}})
            if (::symlink(to, cat(top, "/dev/", std::string_view{name}).c_str()) != 0) return last_error("link", std::string_view{name});
        if (::symlink("/tmp", (top + "/var/tmp").c_str()) != 0) return last_error("link", "/var/tmp");
        work_is_in_tmp_ = detail::is_below(plan_.shown->work, "/tmp");
        if (!plan_.shown->work.empty() && !work_is_in_tmp_) SB_CHECK(make_folders(top, plan_.shown->work));
        return {}; // it becomes read-only once the reaper has put its own /proc on
    }

    bool is_on_scratch(std::string_view target) const {
        auto const& work = plan_.shown->work;
        if (!work.empty() && detail::is_below(target, work)) return true;
        return detail::is_below(target, "/tmp") || detail::is_below(target, sandbox_home) || detail::is_below(target, "/dev/shm");
    }
    /// What is to be seen on top of the workspace or /tmp has to be put on again with them; until then it stays in our tree.
    result<void> set_aside(part& each) {
        auto const place = cat(base_, "/aside", aside_.size());
        if (each.folder && ::mkdir(place.c_str(), 0755) != 0) return last_error("make folder", place);
        if (!each.folder) SB_CHECK(write_file(place, {}));
        SB_CHECK(attach(each.mount.get(), place));
        aside_.push_back({each.target, place, each.folder});
        return {};
    }

    /// The kernel itself then refuses user namespaces below this one, whatever gets past the filter.
    static void no_more_namespaces() {
        if (auto const knob = open_file("/proc/sys/user/max_user_namespaces", O_WRONLY); !knob.has_error()) (void)!::write(knob->get(), "0", 1);
    }

    result<void> loopback_up() {
        unique_fd const any{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
        ifreq lo{};
        std::memcpy(lo.ifr_name, "lo", 3);
        if (!any || ::ioctl(any.get(), SIOCGIFFLAGS, &lo) < 0) return last_error("find the loopback device");
        lo.ifr_flags = static_cast<short>(lo.ifr_flags | IFF_UP);
        if (::ioctl(any.get(), SIOCSIFFLAGS, &lo) < 0) return last_error("start the loopback device");
        return {};
    }

    /// A new scratch space, and workspace, /tmp, home and /dev/shm in it, in place of the old ones.
    result<void> renew(scratch_size size) {
        auto const& work = plan_.shown->work;
        bool const first = !scratch_;
        auto const scratch = base_ + "/scratch";
        if (!first && ::umount2(scratch.c_str(), MNT_DETACH) < 0) return last_error("unmount", scratch);
        scratch_ = false;
        SB_TRY(auto const space, new_mount("tmpfs", {{"size", cat(size.bytes)}, {"nr_inodes", cat(size.inodes)}, {"mode", "0755"}}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME));
        SB_CHECK(attach(space.get(), scratch));
        scratch_ = true;
        for (auto const& [name, mode] : {std::pair{"upper", 0755}, {"index", 0755}, {"home", 0700}, {"tmp", 01777}, {"shm", 01777}})
            if (::mkdirat(space.get(), name, 0700) != 0 || ::fchmodat(space.get(), name, static_cast<mode_t>(mode), 0) != 0) return last_error("make folder", std::string_view{name});
        // a folder that was only looked at is to stay as it was
        unsigned const attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME | (plan_.zygote.level->runs_what_it_made ? 0u : MOUNT_ATTR_NOEXEC);
        std::vector<std::pair<unique_fd, std::string>> ready;
        for (auto const& [name, target] : {std::pair{"home", sandbox_home}, {"tmp", std::string_view{"/tmp"}}, {"shm", std::string_view{"/dev/shm"}}}) {
            SB_TRY(auto copy, copy_mount(space.get(), name, false));
            SB_CHECK(change_mount(copy.get(), attributes));
            ready.emplace_back(std::move(copy), std::string{target});
        }
        if (!work.empty()) {
            auto made = new_mount("overlay", {{"lowerdir", base_ + "/lower"}, {"upperdir", scratch + "/upper"}, {"workdir", scratch + "/index"}, {"userxattr", ""}},
                                  attributes);
            if (made.has_error()) return system_error(cat("workspace ", work, ": ", made.error().what));
            ready.emplace_back(std::move(*made), work);
        }
        for (auto const& each : aside_) {
            SB_TRY(auto copy, copy_mount(AT_FDCWD, each.place));
            ready.emplace_back(std::move(copy), each.target);
        }
        for (auto const& [name, at] : {std::pair{".", scratch_root}, {"upper", upper_folder}, {"index", work_folder}, {"home", home_folder}, {"tmp", tmp_folder}, {"shm", shm_folder}}) {
            watched_[at] = unique_fd{::openat(space.get(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
            if (!watched_[at]) return last_error("open", std::string_view{name});
        }
        if (::setns(zygote_.mounts.get(), CLONE_NEWNS) < 0) return last_error("enter the reaper's mounts");
        auto placed = place(ready, first);
        if (!placed.has_error()) placed = make_rules();
        if (::setns(own_tree_.get(), CLONE_NEWNS) < 0) return last_error("leave the reaper's mounts");
        return placed;
    }
    /// In the reaper's tree.
    result<void> place(std::vector<std::pair<unique_fd, std::string>> const& ready, bool first) {
        if (!first) {
            if (!plan_.shown->work.empty() && ::umount2(plan_.shown->work.c_str(), MNT_DETACH) < 0) return last_error("unmount", plan_.shown->work);
            for (auto const* each : {"/dev/shm", "/tmp", "/home/sandbox"})
                if (::umount2(each, MNT_DETACH) < 0) return last_error("unmount", std::string_view{each});
        }
        for (auto const& [mount, target] : ready) {
            if (work_is_in_tmp_ && target == plan_.shown->work) SB_CHECK(make_folders("", target));
            auto const also = std::find_if(aside_.begin(), aside_.end(), [&to = target](auto const& each) { return each.target == to; }); // clang 14 captures no binding by itself
            if (also != aside_.end()) {
                if (also->folder) SB_CHECK(make_folders("", target));
                else if (::access(target.c_str(), F_OK) != 0) {
                    SB_CHECK(make_folders("", target.substr(0, target.rfind('/'))));
                    SB_CHECK(write_file(target, {}));
                }
            }
            SB_CHECK(attach(mount.get(), target));
        }
        return {};
    }

    /// In the reaper's tree: what Landlock lets a payload do with the files that it sees now.
    result<void> make_rules() {
        auto const& level = *plan_.zygote.level;
        std::vector<std::string> programs, writable{"/home/sandbox", "/tmp", "/dev/shm"};
        for (auto const folder : detail::system_folders)
            if (auto const path = cat("/", folder); ::access(path.c_str(), F_OK) == 0) programs.push_back(path);
        for (auto const& each : plan_.shown->bindings) (each.writable ? writable : programs).push_back(each.target);
        if (!plan_.shown->work.empty()) writable.push_back(plan_.shown->work);
        auto all = rules_for_files(level, programs, writable);
        // POSIX message queues are files to Landlock, in a place without a name
        if (level.ipc_objects && !queues_)
            if (auto made = new_mount("mqueue", {}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC); !made.has_error()) queues_ = std::move(*made);
        if (queues_) all.push_back({"message queues", file_right::reading | file_right::write_file, queues_.get()});
        SB_TRY(auto rules, landlock_rules::make(all));
        if (rules.version() > 0) watched_[rules_fd] = unique_fd{::fcntl(rules.descriptor(), F_DUPFD_CLOEXEC, 3)};
        return {};
    }

    /// Ends what a run has left of TCP: ports in time-wait would be closed to the next.
    result<void> reset_network() {
        if (!network_) return system_error("the kernel does not let sockets be listed");
        SB_TRY([[maybe_unused]] auto const ended, network_->destroy_all());
        return {};
    }

    bool answer(result<void> const& done, bool with_fds) {
        keeper_reply reply;
        reply.reaper = zygote_.pid;
        if (done.has_error()) {
            reply.code = 1;
            done.error().what.copy(reply.what, sizeof reply.what - 1);
        }
        alignas(cmsghdr) char control[CMSG_SPACE(most_keeper_fds * sizeof(int))]{};
        iovec io{&reply, sizeof reply};
        msghdr all{};
        all.msg_iov = &io, all.msg_iovlen = 1;
        if (with_fds && reply.code == 0) {
            int fds[most_keeper_fds];
            std::size_t count = 0;
            for (auto const& each : watched_)
                if (each) fds[count++] = each.get();
            all.msg_control = control, all.msg_controllen = CMSG_SPACE(count * sizeof(int));
            auto* const header = CMSG_FIRSTHDR(&all);
            header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(count * sizeof(int));
            std::memcpy(CMSG_DATA(header), fds, count * sizeof(int));
        }
        bool const sent = ::sendmsg(socket_, &all, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof reply);
        for (auto& each : watched_) each.reset();
        return sent;
    }

    keeper_plan plan_;
    int socket_, reaper_socket_;
    order_room* room_;
    unique_fd own_tree_, queues_;
    std::string base_; // where our own mounts are
    zygote zygote_;
    std::optional<tcp_leftovers> network_;
    struct kept_part {
        std::string target, place;
        bool folder;
    };
    std::vector<kept_part> aside_;
    std::array<unique_fd, most_keeper_fds> watched_; // for the next answer
    bool scratch_ = false, work_is_in_tmp_ = false;
};

} // namespace sb::isolate
