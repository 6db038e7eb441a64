// SPDX-License-Identifier: MIT
// The mount supervisor: the process that gives a sandbox its namespaces and its reaper, and renews its workspace between
// runs.
//
// How it works: the supervisor is born of a template (sandbox_template.hpp) into its own mount, network, ipc and host-name
// namespaces. It has every capability there and none outside. It runs as the payload's user, in another process namespace,
// so the payload cannot see it. Its mounts are a copy of the template root. It clones the reaper. The reaper copies the
// mounts once more, makes the template root its only root and drops all rights (sandbox_init.hpp). Meanwhile the supervisor
// prepares the network and the workspace. The workspace is mounted last, and again whenever a run has touched it. Its mounts
// are made detached in the supervisor's tree, which contains the untouched original and the scratch space, and are attached
// in the reaper's tree, which does not.
#pragma once
#include <sb/core/channel.hpp>
#include <sb/files/copy_tree.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/mount.hpp>
#include <sb/files/mount_list.hpp>
#include <sb/files/path.hpp>
#include <sb/filter/landlock.hpp>
#include <sb/process/reaper_messages.hpp>
#include <sb/sandbox/sandbox_init.hpp>
#include <sb/sandbox/template_root.hpp>
#include <sb/sandbox/tcp_leftovers.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <net/if.h>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <vector>

namespace sb::sandbox {

/// Room for what a run writes: bytes and files of workspace, /tmp, home and /dev/shm together.
struct scratch_size {
    std::int64_t bytes = 0, inodes = 0;
    friend bool operator==(scratch_size const&, scratch_size const&) = default;
};

/// The input of a supervisor; all of it is prepared before the supervisor is cloned.
struct supervisor_plan {
    template_root const* from = nullptr;
    init_plan init;
    scratch_size size;
    bool copies_work = false; ///< the workspace is a copy in memory, made anew for each run, instead of a view
};

/// The supervisor's message when all is ready, and its answer to a request.
struct supervisor_reply {
    int code = 0; ///< errno; 0: success
    pid_t reaper = -1; ///< as the supervisor sees it
    std::int64_t tasks_made = -1; ///< processes and threads ever made, where a namespace limits their number
    unsigned with = 0; ///< a bit for each supervisor_fd that is sent with it
    char what[248] = {};
};

/// Descriptors that come with the first message and with a reply to `renew`. With them the owner can see whether a run has
/// touched anything, and remove small changes, without asking. The last one comes only once and lists the sandbox's sockets.
/// The last three are not always there.
enum supervisor_fd : std::size_t { scratch_root, upper_folder, work_folder, home_folder, tmp_folder, shm_folder, supervisor_fds, work_view = supervisor_fds, rules_fd, socket_list, most_supervisor_fds };

struct supervisor_request {
    enum class kind : std::uint8_t { renew, reset_network, count_tasks } what = kind::renew;
    scratch_size size;
};

class mount_supervisor {
public:
    mount_supervisor(supervisor_plan plan, int socket, int reaper_socket, process::order_room& room)
        : plan_{std::move(plan)}, socket_{socket}, reaper_socket_{reaper_socket}, room_{&room} {}

    /// Builds the sandbox, reports it, and serves until the other end is closed.
    void serve() {
        auto const built = begin();
        if (!answer(built, true) || built.has_error()) return;
        supervisor_request asked;
        while (retry([&] { return ::recv(socket_, &asked, sizeof asked, 0); }) == static_cast<ssize_t>(sizeof asked)) {
            bool const renews = asked.what == supervisor_request::kind::renew;
            bool const counts = asked.what == supervisor_request::kind::count_tasks; // each answer has this count
            if (!answer(renews ? renew(asked.size) : counts ? result<void>{} : reset_network(), renews)) return;
        }
    }

private:
    result<void> begin() {
        SB_TRY(own_tree_, open_file("/proc/self/ns/mnt", O_RDONLY));
        SB_TRY(plan_.init.sockets4, open_file("/proc/self/net/sockstat", O_RDONLY));
        SB_TRY(plan_.init.netlinks, open_file("/proc/self/net/netlink", O_RDONLY));
        SB_TRY(plan_.init.kinds, open_file("/proc/self/net/protocols", O_RDONLY));
        SB_TRY(plan_.init.devices, open_file("/proc/self/net/dev", O_RDONLY));
        if (::sethostname(sandbox_user.data(), sandbox_user.size()) < 0) return last_error("sethostname");
        if (!plan_.init.level->runs_what_it_made) SB_CHECK(run_nothing_written());
        plan_.init.boot_id = plan_.from->boot_id();
        SB_TRY(init_, start_init(plan_.init, plan_.from->root(), reaper_socket_, *room_));
        ::close(std::exchange(reaper_socket_, -1));
        // the rest, while the init confines itself
        if (auto ends = tcp_leftovers::open(); !ends.has_error()) network_.emplace(std::move(*ends));
        if (network_) watched_[socket_list] = unique_fd{::fcntl(network_->descriptor(), F_DUPFD_CLOEXEC, 3)};
        SB_CHECK(loopback_up());
        // MPTCP sockets are in no list of TCP sockets; a program that asks for one gets TCP instead
        if (auto const knob = open_file("/proc/sys/net/mptcp/enabled", O_WRONLY); !knob.has_error()) (void)!::write(knob->get(), "0", 1);
        // the kernel would give what one connection has learnt about the route to the next, which belongs to another run
        if (auto const knob = open_file("/proc/sys/net/ipv4/tcp_no_metrics_save", O_WRONLY); !knob.has_error()) (void)!::write(knob->get(), "1", 1);
        if (plan_.size.bytes > 0) return renew(plan_.size);
        return init_.hear();
    }

    /// The path of a binding in our own copy of the template root.
    std::string place_of(binding const& one) const {
        auto const& aside = plan_.from->aside();
        auto const kept = std::find_if(aside.begin(), aside.end(), [&](auto const& each) { return each.target == one.target; });
        return kept == aside.end() ? plan_.from->root() + one.target : kept->place;
    }
    /// Forbids executing, or mapping as code, files at places where a run may write through a binding. Other mounts may show
    /// the same files: another binding is then closed as a whole, and of a system folder the part that shows them.
    result<void> run_nothing_written() {
        auto const& bindings = plan_.from->shown().bindings;
        if (!plan_.from->shown().host_writable()) return {};
        std::vector<std::string> places;
        for (auto const& each : bindings) places.push_back(place_of(each));
        SB_TRY(auto const text, read_file("/proc/self/mountinfo"));
        struct seen {
            files::listed_mount mount;
            binding const* of; ///< the binding to which it belongs
        };
        std::vector<seen> mounts, written;
        for (auto& each : files::read_mounts(text)) {
            if (!each.point.starts_with(template_root::root() + "/") && !each.point.starts_with("/aside")) continue;
            std::size_t nearest = bindings.size();
            for (std::size_t i = 0; i < bindings.size(); ++i)
                if (files::is_below(each.point, places[i]) && (nearest == bindings.size() || places[i].size() >= places[nearest].size())) nearest = i;
            mounts.push_back({std::move(each), nearest < bindings.size() ? &bindings[nearest] : nullptr});
            if (auto const& [mount, of] = mounts.back(); of && of->writable && mount.writable) written.push_back(mounts.back());
        }
        std::vector<std::pair<std::string, std::uint64_t>> parts; // parts of a mount
        for (auto const& [mount, of] : mounts) {
            bool whole = false;
            for (auto const& by : written) {
                whole = whole || by.mount.covers(mount) || (of && mount.covers(by.mount));
                if (!of && mount.covers(by.mount)) parts.emplace_back(mount.point_of(by.mount), mount.id);
            }
            if (!whole || files::mount_at(mount.point) != mount.id) continue; // another mount covers it
            SB_CHECK(files::change_mount_at(mount.point, MOUNT_ATTR_NOEXEC, 0, false));
            if (of && mount.point == place_of(*of)) closed_.push_back(of->target);
        }
        for (auto const& [place, id] : parts) { // with all mounts below it, which have been checked
            if (files::mount_at(place) != id) continue;
            SB_TRY(auto const copy, files::copy_mount(AT_FDCWD, place));
            SB_CHECK(files::attach(copy.get(), place));
            SB_CHECK(files::change_mount_at(place, MOUNT_ATTR_NOEXEC, 0, false));
        }
        return {};
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

    /// Makes a new scratch space with workspace, /tmp, home and /dev/shm in it, and replaces the old ones.
    result<void> renew(scratch_size size) {
        auto const& work = plan_.from->shown().work;
        bool const first = !scratch_;
        auto const scratch = plan_.from->scratch();
        if (!first && ::umount2(scratch.c_str(), MNT_DETACH) < 0) return last_error("unmount", scratch);
        scratch_ = false;
        bool const copies = plan_.copies_work && !work.empty(); // the copy's size is added to the limit
        SB_TRY(auto const space, files::new_mount("tmpfs", {{"size", copies ? std::string{"100%"} : cat(size.bytes)}, {"nr_inodes", cat(copies ? most_inodes : size.inodes)}, {"mode", "0755"}},
                                           MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME));
        SB_CHECK(files::attach(space.get(), scratch));
        scratch_ = true;
        for (auto const& [name, mode] : {std::pair{"upper", 0755}, {"index", 0755}, {"home", 0700}, {"tmp", 01777}, {"shm", 01777}})
            if (::mkdirat(space.get(), name, 0700) != 0 || ::fchmodat(space.get(), name, static_cast<mode_t>(mode), 0) != 0) return last_error("make folder", std::string_view{name});
        // reading a folder must not change it
        unsigned const attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME | (plan_.init.level->runs_what_it_made ? 0u : MOUNT_ATTR_NOEXEC);
        std::vector<std::pair<unique_fd, std::string>> ready;
        unique_fd laid; // over the workspace
        for (auto const& [name, target] : {std::pair{"home", sandbox_home}, {"tmp", std::string_view{"/tmp"}}, {"tmp", std::string_view{"/var/tmp"}}, {"shm", std::string_view{"/dev/shm"}}}) {
            if (target == "/var/tmp" && !plan_.from->has_var_tmp()) continue;
            SB_TRY(auto copy, files::copy_mount(space.get(), name, false));
            SB_CHECK(files::change_mount(copy.get(), attributes));
            ready.emplace_back(std::move(copy), std::string{target});
        }
        if (copies) {
            SB_CHECK(copy_work(space.get(), size));
            SB_TRY(auto copy, files::copy_mount(space.get(), "upper", false));
            SB_CHECK(files::change_mount(copy.get(), attributes));
            laid = unique_fd{::fcntl(copy.get(), F_DUPFD_CLOEXEC, 3)};
            ready.emplace_back(std::move(copy), work);
        } else if (!work.empty()) {
            auto made = files::new_mount("overlay", {{"lowerdir", plan_.from->lower()}, {"upperdir", scratch + "/upper"}, {"workdir", scratch + "/index"}, {"userxattr", ""}},
                                  attributes);
            if (made.has_error()) return system_error(cat("workspace ", work, ": ", made.error().what));
            laid = unique_fd{::fcntl(made->get(), F_DUPFD_CLOEXEC, 3)};
            watched_[work_view] = unique_fd{::fcntl(made->get(), F_DUPFD_CLOEXEC, 3)};
            ready.emplace_back(std::move(*made), work);
        }
        for (auto const& each : plan_.from->aside()) {
            SB_TRY(auto copy, files::copy_mount(AT_FDCWD, each.place));
            ready.emplace_back(std::move(copy), each.target);
        }
        for (auto const& [name, at] : {std::pair{".", scratch_root}, {"upper", upper_folder}, {"index", work_folder}, {"home", home_folder}, {"tmp", tmp_folder}, {"shm", shm_folder}}) {
            watched_[at] = unique_fd{::openat(space.get(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
            if (!watched_[at]) return last_error("open", std::string_view{name});
        }
        SB_CHECK(init_.hear());
        if (::setns(init_.mounts.get(), CLONE_NEWNS) < 0) return last_error("enter the reaper's mounts");
        auto placed = place(ready, first);
        work_ = std::move(laid);
        if (!placed.has_error()) placed = make_rules();
        if (::setns(own_tree_.get(), CLONE_NEWNS) < 0) return last_error("leave the reaper's mounts");
        return placed;
    }
    /// Copies the workspace into the folder that otherwise contains its changes.
    result<void> copy_work(int space, scratch_size size) const {
        auto const& work = plan_.from->shown().work;
        auto const from = files::open_folder(AT_FDCWD, plan_.from->lower().c_str()), to = files::open_folder(space, "upper");
        struct stat facts {};
        if (!from || !to || ::fstat(from.get(), &facts) != 0) return last_error("open the workspace", work);
        auto const copied = files::copy_tree(from.get(), to.get());
        if (copied.has_error()) return system_error(cat("workspace ", work, " cannot be copied: ", copied.error().what));
        if (!copied->failed.empty()) return system_error(cat("workspace ", work, " cannot be copied: ", copied->failed));
        timespec const times[] = {facts.st_atim, facts.st_mtim};
        struct statfs used {};
        if (::fchmod(to.get(), facts.st_mode & 01777) != 0 || ::futimens(to.get(), times) != 0 || ::fstatfs(space, &used) != 0) return last_error("copy", work);
        auto const bytes = static_cast<std::int64_t>(used.f_blocks - used.f_bfree) * used.f_bsize;
        return files::change_file_system(space, {{"size", cat(bytes + size.bytes)}, {"nr_inodes", cat(copied->inodes + size.inodes)}});
    }
    /// In the reaper's tree.
    result<void> place(std::vector<std::pair<unique_fd, std::string>> const& ready, bool first) {
        auto const& work = plan_.from->shown().work;
        auto const& aside = plan_.from->aside();
        if (!first) {
            // not by name: the payload may have renamed a part of the path, or replaced it by a link
            if (work_ && (::fchdir(work_.get()) < 0 || ::umount2(".", MNT_DETACH) < 0)) return last_error("unmount", work);
            if (::chdir("/") < 0) return last_error("change folder to", "/");
            for (std::string_view const each : {"/dev/shm", "/var/tmp", "/tmp", "/home/sandbox"})
                if ((each != "/var/tmp" || plan_.from->has_var_tmp()) && ::umount2(each.data(), MNT_DETACH | UMOUNT_NOFOLLOW) < 0) return last_error("unmount", each);
        }
        for (auto const& [mount, target] : ready) {
            if (plan_.from->work_is_on_scratch() && target == work) SB_CHECK(make_folders(target, 0755));
            auto const also = std::find_if(aside.begin(), aside.end(), [&to = target](auto const& each) { return each.target == to; }); // clang 14 captures no binding by itself
            if (also != aside.end()) {
                if (also->folder) SB_CHECK(make_folders(target, 0755));
                else if (::access(target.c_str(), F_OK) != 0) {
                    SB_CHECK(make_folders(target.substr(0, target.rfind('/')), 0755));
                    SB_CHECK(template_root::write_file(target, {}));
                }
            }
            if (also == aside.end()) {
                SB_CHECK(files::attach(mount.get(), target));
                continue;
            }
            auto const own = target.starts_with("/var/tmp/") && !plan_.from->has_var_tmp() ? target.substr(4) : target; // /var/tmp is our own link
            auto const there = files::place_at(AT_FDCWD, own.c_str(), RESOLVE_NO_SYMLINKS);
            if (!there && errno == ELOOP) return template_root::link_on_the_way(target);
            if (!there) return last_error("open", target);
            SB_CHECK(files::attach(mount.get(), there.get(), target));
        }
        return {};
    }

    /// In the reaper's tree: makes the Landlock rules for the files that a payload sees now.
    result<void> make_rules() {
        auto const& level = *plan_.init.level;
        std::vector<std::string> programs, writable{"/home/sandbox", "/tmp", "/dev/shm"};
        for (auto const folder : system_folders)
            if (auto const path = cat("/", folder); ::access(path.c_str(), F_OK) == 0) programs.push_back(path);
        for (auto const& each : plan_.from->shown().bindings) {
            if (each.writable) writable.push_back(each.target);
            else if (std::find(closed_.begin(), closed_.end(), each.target) == closed_.end()) programs.push_back(each.target);
        }
        if (auto const& work = plan_.from->shown().work; !work.empty()) writable.push_back(work);
        auto allowed = filter::rules_for_files(level, programs, writable);
        // for Landlock, POSIX message queues are files in a place without a name
        if (level.ipc_objects && !queues_)
            if (auto made = files::new_mount("mqueue", {}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC); !made.has_error()) queues_ = std::move(*made);
        if (queues_) allowed.push_back({"message queues", filter::file_right::reading | filter::file_right::write_file, queues_.get()});
        SB_TRY(auto rules, filter::landlock_rules::make(allowed));
        if (rules.version() > 0) watched_[rules_fd] = unique_fd{::fcntl(rules.descriptor(), F_DUPFD_CLOEXEC, 3)};
        return {};
    }

    /// Ends what a run has left of TCP: ports in TIME_WAIT would be closed to the next run.
    result<void> reset_network() {
        if (!network_) return system_error("the kernel does not let sockets be listed");
        SB_TRY([[maybe_unused]] auto const ended, network_->destroy_all());
        return {};
    }

    bool answer(result<void> const& done, bool with_fds) {
        supervisor_reply reply;
        reply.reaper = init_.pid;
        if (plan_.init.most_tasks >= 0) reply.tasks_made = process::numbers_given();
        if (done.has_error()) {
            reply.code = 1;
            done.error().what.copy(reply.what, sizeof reply.what - 1);
        }
        static_assert(most_supervisor_fds <= most_passed);
        int fds[most_supervisor_fds];
        std::size_t count = 0;
        if (with_fds && reply.code == 0) {
            for (std::size_t i = 0; i < watched_.size(); ++i)
                if (watched_[i]) fds[count++] = watched_[i].get(), reply.with |= 1u << i;
        }
        bool const sent = send_packet(socket_, {bytes_of(reply)}, {fds, count});
        for (auto& each : watched_) each.reset();
        return sent;
    }

    static constexpr std::int64_t most_inodes = 1'000'000'000; // a tmpfs without this limit could not get one later

    supervisor_plan plan_;
    int socket_, reaper_socket_;
    process::order_room* room_;
    unique_fd own_tree_, queues_;
    unique_fd work_; // the mount that shows the workspace, in the reaper's tree
    std::vector<std::string> closed_; // targets of bindings from which nothing may be executed
    sandbox_init init_;
    std::optional<tcp_leftovers> network_;
    std::array<unique_fd, most_supervisor_fds> watched_; // for the next answer
    bool scratch_ = false;
};

} // namespace sb::sandbox
