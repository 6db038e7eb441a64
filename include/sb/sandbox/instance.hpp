// SPDX-License-Identifier: MIT
// One sandbox, from its owner's side. It is born with a supervisor and an init, is checked or cleaned before
// each run, and ends as a whole.
//
// How it works: the owner asks the template for a sandbox. The template clones the supervisor, and the supervisor clones the
// init. The owner has a socket to each of the two. The supervisor renews the writable folders on request; the init is the
// reaper that takes the orders of runs. To end a sandbox, the owner kills both and waits for them: the supervisor is its
// child, and the init becomes its child when the supervisor is dead.
#pragma once
#include <sb/core/channel.hpp>
#include <sb/core/sole.hpp>
#include <sb/sandbox/sandbox_template.hpp>
#include <sb/sandbox/scratch_view.hpp>
#include <sb/sandbox/tcp_leftovers.hpp>
#include <sb/watch/watcher.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace sb::sandbox {

/// What a sandbox is made from, besides its template.
struct instance_plan {
    int level = filter::default_level;
    filter::syscall_filter filter;
    std::int64_t most_tasks = -1; ///< see init_plan
};

/// The state in which a place was found before a run.
enum class tidiness : std::uint8_t {
    untouched,
    tidied, ///< a few files were removed
    renewed ///< its memory is new
};

class instance {
public:
    /// Begins a sandbox, which is ready when `await` says so. Until then only `await` and `end` may be called. The template
    /// outlives that time.
    static result<instance> begin(sandbox_template& from, instance_plan const& plan, scratch_size size) {
        SB_TRY(auto to_supervisor, make_channel());
        SB_TRY(auto to_reaper, make_channel());
        instance made;
        made.socket_ = std::move(to_supervisor.ours), made.reaper_.socket = std::move(to_reaper.ours);
        SB_TRY(made.number_, from.ask({plan.level, plan.most_tasks, size}, plan.filter, std::move(to_supervisor.theirs), std::move(to_reaper.theirs)));
        made.copies_work_ = from.copies_work();
        made.written_.set_below(from.work());
        made.unborn_of_ = &from, made.size_ = size, made.counts_tasks_ = plan.most_tasks >= 0;
        return made;
    }
    result<void> await() {
        if (!unborn_of_) return {};
        SB_TRY(supervisor_, std::exchange(unborn_of_, nullptr)->hear(number_));
        auto const built = hear_supervisor();
        SB_CHECK(hear_init(built));
        SB_CHECK(built);
        network_before_ = count_network();
        char counts[1024];
        no_sockets_ = sockets_in(read_start(sockets4_.get(), counts));
        no_known_ = machine::socket_kinds::in(kinds_.get()).all;
        SB_CHECK(accept_space());
        reaper_.alone = true;
        return {};
    }
    static result<instance> make(sandbox_template& from, instance_plan const& plan, scratch_size size) {
        SB_TRY(auto made, begin(from, plan, size));
        SB_CHECK(made.await());
        return made;
    }
    instance(instance&&) noexcept = default;
    instance& operator=(instance&& from) noexcept { return take_over(*this, std::move(from)); }
    ~instance() { end(); }

    process::reaper_link& reaper() noexcept { return reaper_; }
    process::reaper_link const& reaper() const noexcept { return reaper_; }
    pid_t supervisor_pid() const noexcept { return supervisor_; }
    /// False after `end`. What the last run wrote can still be read.
    bool alive() const noexcept { return supervisor_ > 0 || unborn_of_; }

    /// Traces of a run that the next run could find; empty when there are none. Costs a few microseconds.
    std::vector<std::string> soiled(process::order_room& room) {
        std::vector<std::string> traces;
        if (!is_attended()) traces.emplace_back("its own processes");
        if (changed(mounts_changed_.get())) traces.emplace_back("mounts");
        struct stat queues {};
        if (queues_ && (::fstat(queues_.get(), &queues) != 0 || queues.st_size != no_queues_)) traces.emplace_back("message queues");
        if (room.order().tree.leftovers != 0) traces.emplace_back("ipc objects");
        if (!network_is_quiet() && (ask({supervisor_request::kind::reset_network, {}}).has_error() || !network_is_quiet())) traces.emplace_back("sockets");
        return traces;
    }

    /// Resets workspace, home, /tmp and /dev/shm to their original state, with this much room.
    result<tidiness> make_clean(scratch_size size) {
        if (size == size_) {
            if (std::exchange(unused_, false)) return tidiness::untouched;
            if (!copies_work_ && written_.untouched()) return tidiness::untouched; // a copy does not show whether it was written to
            if (!copies_work_ && written_.tidy()) return tidiness::tidied;
        }
        written_.let_go(); // the last holder of old memory must free it, so we let go first
        SB_CHECK(ask({supervisor_request::kind::renew, size}));
        size_ = size;
        SB_CHECK(accept_space());
        unused_ = false;
        return tidiness::renewed;
    }
    /// Bytes that the sandbox's own network received and sent since the last call.
    std::optional<std::pair<std::int64_t, std::int64_t>> network_bytes() {
        auto const now = count_network(), before = std::exchange(network_before_, now);
        if (!now || !before) return std::nullopt;
        return std::pair{now->first - before->first, now->second - before->second};
    }
    /// Processes and threads made since the last call; no value where no namespace counts them.
    std::optional<std::int64_t> tasks_made() {
        auto const before = tasks_made_;
        if (!counts_tasks_ || before < 0 || ask({supervisor_request::kind::count_tasks, {}}).has_error() || tasks_made_ < before) return std::nullopt;
        return tasks_made_ - before;
    }
    /// Where the sockets of a run in it can be checked.
    machine::socket_place sockets(machine::socket_share const& share, std::int64_t memory_bytes) const noexcept {
        return {-1, 0, sockets4_.get(), list_.get(), netlinks_.get(), no_sockets_, share, share.uncounted_beside(memory_bytes), kinds_.get(), no_known_};
    }
    bool is_full() const noexcept { return written_.is_full(); }
    /// The folder with the last run's changes to the workspace, as the overlay stores them; -1: there is no workspace.
    int upper() const noexcept { return written_.of(upper_folder); }
    /// A folder of the memory that contains everything a run writes.
    int scratch() const noexcept { return written_.of(scratch_root); }
    int home() const noexcept { return written_.of(home_folder); }
    int tmp() const noexcept { return written_.of(tmp_folder); }

    /// Begins to end it. Its resources are freed while we do something else.
    void kill() noexcept {
        if (unborn_of_) be_born();
        if (supervisor_ < 0) return;
        written_.let_go();
        strike();
    }
    /// Kills what runs in it and waits until it is gone. What the last run wrote can still be read.
    void end() noexcept {
        if (unborn_of_) be_born();
        if (supervisor_ < 0) return;
        strike();
        while (::waitpid(supervisor_, nullptr, 0) < 0 && errno == EINTR) {}
        if (reaper_.pid > 0) while (::waitpid(reaper_.pid, nullptr, 0) < 0 && errno == EINTR) {} // it is our child now, because we adopt orphans
        supervisor_ = -1;
        reaper_ = {};
    }

private:
    instance() = default;
    void strike() noexcept {
        // the last holder of a namespace must take it down; we let go first so that this is not us
        mounts_changed_.reset(), queues_.reset(), sockets4_.reset(), netlinks_.reset(), kinds_.reset(), devices_.reset(), list_.reset();
        if (reaper_.pid > 0) ::kill(reaper_.pid, SIGKILL);
        ::kill(supervisor_, SIGKILL);
    }
    /// For a sandbox that ends before anybody has waited for it: first we must learn its supervisor's pid.
    void be_born() noexcept {
        auto const supervisor = std::exchange(unborn_of_, nullptr)->hear(number_);
        if (!supervisor.has_error()) supervisor_ = *supervisor, (void)hear_supervisor();
    }
    /// Checks what the supervisor has just made, and tells the reaper which files the payload may use.
    result<void> accept_space() {
        (void)changed(mounts_changed_.get()); // this change was our own
        if (!copies_work_) written_.remember();
        if (rules_) {
            reaper_.ahead = {}; // a waiting child has the old rules; it ends when the reaper gets the new ones
            int const one[] = {rules_.get()};
            auto const flags = static_cast<int>(filter::landlock_rules::flags_of(filter::landlock_version()));
            if (!process::send_message(reaper_.socket.get(), {process::word::rules, flags}, one)) return last_error("send to the reaper");
        }
        return {};
    }

    result<void> ask(supervisor_request const& what) {
        if (!send_packet(socket_.get(), {bytes_of(what)})) return last_error("ask the supervisor");
        return hear_supervisor();
    }
    result<void> hear_supervisor() {
        supervisor_reply reply;
        passed_files came;
        if (!receive_packet_as(reply, socket_.get(), came)) return system_error("the supervisor of a sandbox died");
        for (std::size_t i = 0; came.left() > 0 && i < most_supervisor_fds; ++i) {
            if (!(reply.with >> i & 1)) continue;
            if (i == rules_fd) rules_ = came.take();
            else if (i == socket_list) list_ = came.take();
            else written_.take(static_cast<supervisor_fd>(i), came.take());
        }
        reply.what[sizeof reply.what - 1] = '\0';
        if (reply.code != 0) return system_error(std::string{reply.what});
        if (reply.reaper > 0) reaper_.pid = counts_tasks_ ? supervisor_ : reply.reaper; // a supervisor with process numbers of its own takes all processes with it
        tasks_made_ = reply.tasks_made;
        return {};
    }

    /// When its supervisor could not build the sandbox, the init may know why.
    result<void> hear_init(result<void> const& built) {
        if (built.has_error()) {
            pollfd said{reaper_.socket.get(), POLLIN, 0};
            constexpr int patience_ms = 1000; // the init reports the reason, or its end of the socket closes when it dies
            if (::poll(&said, 1, patience_ms) <= 0 || !(said.revents & POLLIN)) return built;
        }
        process::message text;
        passed_files came;
        if (!process::receive_message(reaper_.socket.get(), text, came))
            return built.has_error() ? built : system_error("the first process of a sandbox died");
        if (text.what == process::word::stop) {
            char why[1024];
            auto const n = retry([&] { return ::recv(reaper_.socket.get(), why, sizeof why, 0); });
            return system_error(cat("cannot isolate a sandbox: ", std::string_view{why, n > 0 ? static_cast<std::size_t>(n) : 0}));
        }
        if (came.left() < init_fds) return system_error("the first process of a sandbox sent no descriptors");
        unique_fd got[init_fds];
        for (auto& each : got) each = came.take();
        mounts_changed_ = std::move(got[mounts_changed]), sockets4_ = std::move(got[socket_counts4]);
        netlinks_ = std::move(got[netlink_sockets]), kinds_ = std::move(got[socket_kind_counts]), devices_ = std::move(got[device_counts]);
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
            auto const number = take_number(rest);
            if (!number) return std::nullopt;
            each = *number;
        }
        return std::pair{fields[0], fields[8]};
    }
    template <std::size_t Size>
    static std::string_view read_start(int file, char (&into)[Size]) noexcept {
        auto const n = ::pread(file, into, Size, 0);
        return n > 0 ? std::string_view{into, static_cast<std::size_t>(n)} : std::string_view{};
    }
    /// Sockets of every family, the supervisor's too.
    static std::int64_t sockets_in(std::string_view counts) noexcept {
        return number_after(counts, "sockets: used ").value_or(-1);
    }
    /// True when there is no socket. For TCP not even one in TIME_WAIT.
    bool network_is_quiet() const noexcept {
        constexpr std::string_view waiting = " tw ";
        char text[1024];
        auto const counts = read_start(sockets4_.get(), text); // covers IPv6 too: everything counted separately for IPv6 is also in `used`
        auto const at = counts.find(waiting);
        return sockets_in(counts) == no_sockets_ && at != std::string_view::npos && counts.substr(at + waiting.size()).starts_with("0 ");
    }

    /// Supervisor and init are alive: their ends of the sockets are open.
    bool is_attended() const noexcept {
        pollfd ends[] = {{socket_.get(), 0, 0}, {reaper_.socket.get(), 0, 0}};
        return ::poll(ends, 2, 0) == 0;
    }
    static bool changed(int mountinfo) noexcept {
        pollfd one{mountinfo, POLLPRI, 0};
        return ::poll(&one, 1, 0) > 0;
    }
    unique_fd socket_;
    process::reaper_link reaper_;
    sole<pid_t, -1> supervisor_;
    sole<sandbox_template*, nullptr> unborn_of_; // until we have its supervisor's pid
    std::uint64_t number_ = 0; // its number at the template
    bool copies_work_ = false, unused_ = true;
    bool counts_tasks_ = false;
    std::int64_t tasks_made_ = -1;
    scratch_view written_;
    unique_fd rules_; // Landlock rules for the reaper
    unique_fd mounts_changed_, queues_, sockets4_, netlinks_, kinds_, devices_, list_;
    off_t no_queues_ = 0;
    std::int64_t no_sockets_ = 0, no_known_ = 0; // sockets that exist at rest; those of them that a protocol knows
    std::optional<std::pair<std::int64_t, std::int64_t>> network_before_;
    scratch_size size_;
};

} // namespace sb::sandbox
