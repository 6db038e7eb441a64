// SPDX-License-Identifier: MIT
// A box: the sandbox of one slot, as its owner holds it. Born with a keeper and a zygote, proven clean or put in order
// before each run, and ended as a whole.
#pragma once
#include <sb/isolate/nursery.hpp>
#include <sb/isolate/remove_tree.hpp>
#include <sb/isolate/tcp_leftovers.hpp>
#include <sb/isolate/watch.hpp>
#include <algorithm>
#include <charconv>
#include <linux/fs.h>
#include <optional>
#include <string>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <vector>

namespace sb::isolate {

/// What a box is made from, beside its nursery.
struct box_plan {
    int level = default_level;
    syscall_filter filter;
    std::int64_t most_tasks = -1; ///< see zygote_plan
};

/// How a place was found before a run.
enum class tidiness : std::uint8_t {
    untouched,
    tidied, ///< a few files were removed
    renewed ///< its memory is new
};

class box {
public:
    /// A box that is there when `await` says so; meanwhile nothing but that and `end` may be asked of it. The nursery
    /// outlives that time.
    static result<box> begin(nursery& from, box_plan const& plan, scratch_size size) {
        int to_keeper[2], to_reaper[2];
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to_keeper) < 0) return last_error("socketpair");
        box made;
        made.socket_ = unique_fd{to_keeper[0]};
        unique_fd keeper_end{to_keeper[1]};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to_reaper) < 0) return last_error("socketpair");
        made.reaper_.socket = unique_fd{to_reaper[0]};
        unique_fd reaper_end{to_reaper[1]};
        SB_TRY(made.number_, from.ask({plan.level, plan.most_tasks, size}, plan.filter, std::move(keeper_end), std::move(reaper_end)));
        made.copies_work_ = from.copies_work();
        if (from.work() >= 0) made.work_ = unique_fd{::fcntl(from.work(), F_DUPFD_CLOEXEC, 3)};
        made.unborn_of_ = &from, made.size_ = size, made.counts_tasks_ = plan.most_tasks >= 0;
        return made;
    }
    result<void> await() {
        if (!unborn_of_) return {};
        SB_TRY(keeper_, std::exchange(unborn_of_, nullptr)->hear(number_));
        auto const built = hear_keeper();
        SB_CHECK(hear_zygote(built));
        SB_CHECK(built);
        network_before_ = count_network();
        char counts[1024];
        no_sockets_ = sockets_in(read_start(sockets4_.get(), counts));
        SB_CHECK(accept_space());
        reaper_.alone = true;
        return {};
    }
    static result<box> make(nursery& from, box_plan const& plan, scratch_size size) {
        SB_TRY(auto made, begin(from, plan, size));
        SB_CHECK(made.await());
        return made;
    }
    box(box&& from) noexcept { take(from); }
    box& operator=(box&& from) noexcept {
        if (this == &from) return *this;
        end();
        take(from);
        return *this;
    }
    ~box() { end(); }

    reaper_link& reaper() noexcept { return reaper_; }
    reaper_link const& reaper() const noexcept { return reaper_; }
    pid_t keeper_pid() const noexcept { return keeper_; }
    /// False after `end`; what the last run wrote can still be looked at.
    bool alive() const noexcept { return keeper_ > 0 || unborn_of_; }

    /// What a run has left behind that the next could find; empty when there is nothing. Costs a few microseconds.
    std::vector<std::string> soiled(order_room& room) {
        std::vector<std::string> all;
        if (!is_attended()) all.emplace_back("its own processes");
        if (changed(mounts_changed_.get())) all.emplace_back("mounts");
        struct stat queues {};
        if (queues_ && (::fstat(queues_.get(), &queues) != 0 || queues.st_size != no_queues_)) all.emplace_back("message queues");
        if (room.order().tree.leftovers != 0) all.emplace_back("ipc objects");
        if (!network_is_quiet() && (ask({keeper_request::kind::reset_network, {}}).has_error() || !network_is_quiet())) all.emplace_back("sockets");
        return all;
    }

    /// Workspace, home, /tmp and /dev/shm as on the first day, with this much room.
    result<tidiness> make_clean(scratch_size size) {
        if (size == size_) {
            if (copies_work_ ? std::exchange(unused_, false) : untouched()) return tidiness::untouched; // a copy does not show that it was written to
            if (!copies_work_ && tidy()) return tidiness::tidied;
        }
        for (auto& each : watched_) each.reset(); // the last who lets go of old memory takes it down
        SB_CHECK(ask({keeper_request::kind::renew, size}));
        size_ = size;
        SB_CHECK(accept_space());
        unused_ = false;
        return tidiness::renewed;
    }
    /// Bytes that went over the sandbox's own network since the last call: received, sent.
    std::optional<std::pair<std::int64_t, std::int64_t>> network_bytes() {
        auto const now = count_network(), before = std::exchange(network_before_, now);
        if (!now || !before) return std::nullopt;
        return std::pair{now->first - before->first, now->second - before->second};
    }
    /// Processes and threads that came to be since the last call; nothing where no namespace counts them.
    std::optional<std::int64_t> tasks_made() {
        auto const before = tasks_made_;
        if (!counts_tasks_ || before < 0 || ask({keeper_request::kind::count_tasks, {}}).has_error() || tasks_made_ < before) return std::nullopt;
        return tasks_made_ - before;
    }
    bool is_full() const noexcept {
        struct statfs now {};
        return watched_[scratch_root] && ::fstatfs(watched_[scratch_root].get(), &now) == 0 && (now.f_bfree == 0 || now.f_ffree == 0);
    }
    /// The folder that holds what the last run changed in the workspace, as it was laid down; -1: there is no workspace.
    int upper() const noexcept { return watched_[upper_folder].get(); }
    /// A folder of the memory that holds all that a run writes.
    int scratch() const noexcept { return watched_[scratch_root].get(); }
    int home() const noexcept { return watched_[home_folder].get(); }
    int tmp() const noexcept { return watched_[tmp_folder].get(); }

    /// Begins its end; what it had goes while we do something else.
    void kill() noexcept {
        if (unborn_of_) be_born();
        if (keeper_ < 0) return;
        for (auto& each : watched_) each.reset();
        strike();
    }
    /// Kills what runs in it and waits until it is gone; what the last run wrote can still be looked at.
    void end() noexcept {
        if (unborn_of_) be_born();
        if (keeper_ < 0) return;
        strike();
        while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {}
        if (reaper_.pid > 0) while (::waitpid(reaper_.pid, nullptr, 0) < 0 && errno == EINTR) {} // ours now, as we adopt orphans
        keeper_ = -1;
        reaper_ = {};
    }

private:
    struct facts {
        struct stat folders[keeper_fds] {};
        struct statfs space {};
    };
    struct laid {
        unique_fd place;
        struct stat before {};
    };
    static constexpr keeper_fd written_folders[] = {upper_folder, home_folder, tmp_folder, shm_folder};
    /// What can be put on a folder beside what stat tells.
    struct tags {
        ssize_t names = -1;
        int flags = 0;
        static tags of(int folder) noexcept {
            tags all{::flistxattr(folder, nullptr, 0), 0};
            if (::ioctl(folder, FS_IOC_GETFLAGS, &all.flags) != 0) all.flags = -1;
            return all;
        }
        friend bool operator==(tags const&, tags const&) = default;
    };
    box() = default;
    void strike() noexcept {
        // the last who lets go of a namespace has to take it down, and that is not to be us
        mounts_changed_.reset(), queues_.reset(), sockets4_.reset(), sockets6_.reset(), devices_.reset();
        if (reaper_.pid > 0) ::kill(reaper_.pid, SIGKILL);
        ::kill(keeper_, SIGKILL);
    }
    /// A box that ends before anybody has waited for it: its keeper has to be known first.
    void be_born() noexcept {
        auto const keeper = std::exchange(unborn_of_, nullptr)->hear(number_);
        if (!keeper.has_error()) keeper_ = *keeper, (void)hear_keeper();
    }
    void take(box& from) noexcept {
        socket_ = std::move(from.socket_), reaper_ = std::exchange(from.reaper_, {}), keeper_ = std::exchange(from.keeper_, -1);
        watched_ = std::move(from.watched_), work_ = std::move(from.work_), tags_ = from.tags_, laid_ = std::move(from.laid_), laid_names_ = std::move(from.laid_names_);
        mounts_changed_ = std::move(from.mounts_changed_), queues_ = std::move(from.queues_);
        sockets4_ = std::move(from.sockets4_), sockets6_ = std::move(from.sockets6_), devices_ = std::move(from.devices_);
        unborn_of_ = std::exchange(from.unborn_of_, nullptr), number_ = from.number_, copies_work_ = from.copies_work_, unused_ = from.unused_, counts_tasks_ = from.counts_tasks_, tasks_made_ = from.tasks_made_;
        no_queues_ = from.no_queues_, no_sockets_ = from.no_sockets_, network_before_ = from.network_before_, facts_ = from.facts_, size_ = from.size_;
    }

    /// What the keeper has just made is as it should be; the reaper learns what may be done in it.
    result<void> accept_space() {
        (void)changed(mounts_changed_.get()); // that was us
        look(facts_);
        laid_.clear();
        for (auto const i : written_folders) {
            if (copies_work_) break; // nothing is looked at then
            tags_[i] = tags::of(watched_[i].get());
            laid_names_[i] = detail::names_in(watched_[i].get());
            for (auto const& each : laid_names_[i]) remember(watched_[i].get(), each);
        }
        if (auto const& rules = watched_[rules_fd]) {
            reaper_.ahead = {}; // who waits there has the old ones on, and ends when the reaper hears of these
            int const one[] = {rules.get()};
            auto const flags = static_cast<int>(landlock_rules::flags_of(landlock_version()));
            if (!detail::send_word(reaper_.socket.get(), {word::rules, flags}, one, 1)) return last_error("send to the reaper");
        }
        return {};
    }

    result<void> ask(keeper_request const& what) {
        if (::send(socket_.get(), &what, sizeof what, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof what)) return last_error("ask the keeper");
        return hear_keeper();
    }
    result<void> hear_keeper() {
        keeper_reply reply;
        alignas(cmsghdr) char control[CMSG_SPACE(most_keeper_fds * sizeof(int))];
        iovec io{&reply, sizeof reply};
        msghdr all{};
        all.msg_iov = &io, all.msg_iovlen = 1;
        all.msg_control = control, all.msg_controllen = sizeof control;
        if (retry([&] { return ::recvmsg(socket_.get(), &all, MSG_CMSG_CLOEXEC); }) != static_cast<ssize_t>(sizeof reply))
            return system_error("the keeper of a sandbox died");
        for (auto* header = CMSG_FIRSTHDR(&all); header; header = CMSG_NXTHDR(&all, header)) {
            if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
            int fds[most_keeper_fds];
            auto const n = std::min((header->cmsg_len - CMSG_LEN(0)) / sizeof(int), std::size_t{most_keeper_fds});
            std::memcpy(fds, CMSG_DATA(header), n * sizeof(int));
            for (std::size_t i = 0, next = 0; next < n && i < most_keeper_fds; ++i)
                if (reply.with >> i & 1) watched_[i] = unique_fd{fds[next++]};
        }
        reply.what[sizeof reply.what - 1] = '\0';
        if (reply.code != 0) return system_error(std::string{reply.what});
        if (reply.reaper > 0) reaper_.pid = counts_tasks_ ? keeper_ : reply.reaper; // a keeper with numbers of its own takes all with it
        tasks_made_ = reply.tasks_made;
        return {};
    }

    /// When its keeper could not build the sandbox, the zygote may know why.
    result<void> hear_zygote(result<void> const& built) {
        if (built.has_error()) {
            pollfd said{reaper_.socket.get(), POLLIN, 0};
            constexpr int patience_ms = 1000; // it says so, or its end is closed with its life
            if (::poll(&said, 1, patience_ms) <= 0 || !(said.revents & POLLIN)) return built;
        }
        message text;
        int fds[detail::most_passed];
        std::size_t count = 0;
        if (!detail::receive_word(reaper_.socket.get(), text, fds, count)) return system_error("the first process of a sandbox died");
        unique_fd got[detail::most_passed];
        for (std::size_t i = 0; i < count; ++i) got[i] = unique_fd{fds[i]};
        if (text.what == word::stop) {
            char why[1024];
            auto const n = retry([&] { return ::recv(reaper_.socket.get(), why, sizeof why, 0); });
            return system_error(cat("a sandbox cannot be walled in: ", std::string_view{why, n > 0 ? static_cast<std::size_t>(n) : 0}));
        }
        if (count < zygote_fds) return system_error("the first process of a sandbox sent no descriptors");
        mounts_changed_ = std::move(got[mounts_changed]), sockets4_ = std::move(got[socket_counts4]);
        sockets6_ = std::move(got[socket_counts6]), devices_ = std::move(got[device_counts]);
        if (text.copy == 1) queues_ = std::move(got[queues_folder]);
        struct stat queues {};
        if (queues_ && ::fstat(queues_.get(), &queues) == 0) no_queues_ = queues.st_size;
        return {};
    }

    std::optional<std::pair<std::int64_t, std::int64_t>> count_network() const {
        char text[4096];
        auto rest = read_start(devices_.get(), text);
        auto const at = rest.find("lo:");
        if (at == std::string_view::npos) return std::nullopt;
        rest.remove_prefix(at + 3);
        std::int64_t fields[9]{};
        for (auto& each : fields) {
            while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
            auto const [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), each);
            if (code != std::errc{}) return std::nullopt;
            rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        }
        return std::pair{fields[0], fields[8]};
    }
    template <std::size_t Size>
    static std::string_view read_start(int file, char (&into)[Size]) noexcept {
        auto const n = ::pread(file, into, Size, 0);
        return n > 0 ? std::string_view{into, static_cast<std::size_t>(n)} : std::string_view{};
    }
    /// Of every family, those of the keeper too.
    static std::int64_t sockets_in(std::string_view counts) noexcept {
        constexpr std::string_view before = "sockets: used ";
        std::int64_t count = -1;
        if (counts.starts_with(before)) (void)std::from_chars(counts.data() + before.size(), counts.data() + counts.size(), count);
        return count;
    }
    /// No socket is there, of TCP not even one that only waits for its time to pass.
    bool network_is_quiet() const noexcept {
        constexpr std::string_view waiting = " tw ";
        char text[1024];
        auto const all = read_start(sockets4_.get(), text); // for IPv6 too, all that is counted for it alone is counted as used
        auto const at = all.find(waiting);
        return sockets_in(all) == no_sockets_ && at != std::string_view::npos && all.substr(at + waiting.size()).starts_with("0 ");
    }

    /// Keeper and zygote hold their ends: they live.
    bool is_attended() const noexcept {
        pollfd ends[] = {{socket_.get(), 0, 0}, {reaper_.socket.get(), 0, 0}};
        return ::poll(ends, 2, 0) == 0;
    }
    static bool changed(int mountinfo) noexcept {
        pollfd one{mountinfo, POLLPRI, 0};
        return ::poll(&one, 1, 0) > 0;
    }
    bool look(facts& into) const noexcept {
        for (std::size_t i = 0; i < keeper_fds; ++i)
            if (!watched_[i] || ::fstat(watched_[i].get(), &into.folders[i]) != 0) return false;
        return ::fstatfs(watched_[scratch_root].get(), &into.space) == 0;
    }
    bool untouched() noexcept {
        facts now;
        if (!look(now) || now.space.f_bfree != facts_.space.f_bfree || now.space.f_ffree != facts_.space.f_ffree) return false;
        for (std::size_t i = 0; i < keeper_fds; ++i)
            if (differ(now.folders[i], facts_.folders[i])) return false;
        for (auto const& each : laid_)
            if (struct stat about {}; ::fstat(each.place.get(), &about) != 0 || differ(about, each.before)) return false;
        for (auto const i : written_folders)
            if (tags::of(watched_[i].get()) != tags_[i]) return false; // before Linux 6.13 a time may tell of milliseconds
        // an overlay keeps the time of the last look into its topmost folder, whatever its mount says
        auto const& upper = now.folders[upper_folder].st_atim, &before = facts_.folders[upper_folder].st_atim;
        if (upper.tv_sec == before.tv_sec && upper.tv_nsec == before.tv_nsec) return true;
        return ::futimens(watched_[upper_folder].get(), nullptr) == 0 && look(facts_);
    }

    /// Something that was laid for a mount to be put on, and all below it. A name that leads elsewhere by now shows in the times
    /// of what it led to, so a name that is skipped later on is the one that was laid.
    void remember(int folder, std::string const& name) {
        laid one{unique_fd{::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)}, {}};
        if (!one.place || ::fstat(one.place.get(), &one.before) != 0) one.before.st_ctim.tv_nsec = -1; // never as it was: all is made anew each time
        if (S_ISDIR(one.before.st_mode))
            if (auto const inner = detail::open_folder(folder, name.c_str()))
                for (auto const& each : detail::names_in(inner.get())) remember(inner.get(), each);
        laid_.push_back(std::move(one));
    }

    static bool differ(struct stat const& a, struct stat const& b) noexcept {
        return a.st_mode != b.st_mode || a.st_uid != b.st_uid || a.st_mtim.tv_sec != b.st_mtim.tv_sec || a.st_mtim.tv_nsec != b.st_mtim.tv_nsec ||
               a.st_ctim.tv_sec != b.st_ctim.tv_sec || a.st_ctim.tv_nsec != b.st_ctim.tv_nsec;
    }
    /// Removes what the last run has written, where that is a few files lying on top. False: there is, or may be, more to it.
    bool tidy() noexcept {
        facts now;
        if (!look(now) || differ(now.folders[scratch_root], facts_.folders[scratch_root]) || differ(now.folders[work_folder], facts_.folders[work_folder])) return false;
        if (facts_.space.f_ffree - now.space.f_ffree > std::size(written_folders) * most_tidied) return false; // names are not even listed then
        for (auto const& each : laid_)
            if (struct stat about {}; ::fstat(each.place.get(), &about) != 0 || differ(about, each.before)) return false;
        for (auto const i : written_folders) {
            auto const &here = now.folders[i], &before = facts_.folders[i];
            if (tags::of(watched_[i].get()) != tags_[i]) return false;
            if (!differ(here, before)) continue;
            if (here.st_mode != before.st_mode || here.st_uid != before.st_uid || here.st_gid != before.st_gid) return false;
            bool const done = i == upper_folder ? work_ && watched_[work_view] && remove_files(watched_[i].get(), laid_names_[i], watched_[work_view].get(), work_.get())
                                                : remove_files(watched_[i].get(), laid_names_[i], watched_[i].get(), -1);
            if (!done) return false;
            if (::futimens(watched_[i].get(), nullptr) != 0) return false; // times can be set to any
        }
        struct statfs space {};
        if (::fstatfs(scratch(), &space) != 0 || space.f_bfree != facts_.space.f_bfree || space.f_ffree != facts_.space.f_ffree) return false;
        return look(facts_);
    }
    /// Every name in `folder` but those that are to be there, by way of `view`; none that `below` has too, for that one is not
    /// new but changed.
    static bool remove_files(int folder, std::vector<std::string> const& laid, int view, int below) noexcept {
        auto const names = detail::names_in(folder);
        if (names.size() > laid.size() + most_tidied) return false;
        for (auto const& each : names) {
            if (std::find(laid.begin(), laid.end(), each) != laid.end()) continue;
            struct stat about {};
            if (::fstatat(folder, each.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(about.st_mode) || S_ISCHR(about.st_mode)) return false;
            if (below >= 0 && (::faccessat(below, each.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)) return false;
            if (::unlinkat(view, each.c_str(), 0) != 0) return false;
        }
        return detail::names_in(folder).size() == laid.size();
    }

    static constexpr std::size_t most_tidied = 32; // more is sooner gone with its memory

    unique_fd socket_;
    reaper_link reaper_;
    pid_t keeper_ = -1;
    nursery* unborn_of_ = nullptr; // until its keeper was heard of
    std::uint64_t number_ = 0; // with the nursery
    bool copies_work_ = false, unused_ = true;
    bool counts_tasks_ = false;
    std::int64_t tasks_made_ = -1;
    std::array<unique_fd, most_keeper_fds> watched_;
    unique_fd mounts_changed_, queues_, sockets4_, sockets6_, devices_;
    off_t no_queues_ = 0;
    std::int64_t no_sockets_ = 0;
    std::optional<std::pair<std::int64_t, std::int64_t>> network_before_;
    facts facts_;
    std::array<tags, keeper_fds> tags_;
    std::vector<laid> laid_;
    std::array<std::vector<std::string>, keeper_fds> laid_names_; // on top of each written folder
    unique_fd work_; // as it is below the workspace
    scratch_size size_;
};

} // namespace sb::isolate
