// SPDX-License-Identifier: MIT
#include "support/shell_job.hpp"
#include "support/victim.hpp"
#include <sb/local/plain_site.hpp>
#include <sb/local/worker.hpp>
#include <csignal>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace sb::local;
using sb::test::shell_job;

namespace {

/// A worker in a folder of its own, ended at the end of the test.
struct one_worker {
    explicit one_worker(std::size_t number = 0, site_maker const& make_site = &plain_site::make)
        : session{sb::files::session_folder::make().value()}, made{std::make_unique<worker>(worker::make(session, number, {}, make_site, {}).value())} {}
    one_worker(one_worker const&) = delete;
    one_worker& operator=(one_worker const&) = delete;
    ~one_worker() {
        if (!made) return;
        ::kill(made->pid(), SIGTERM), made->hang_up();
        made->await_end(sb::monotonic_ns() + 10'000'000'000);
    }
    worker* operator->() const { return made.get(); }
    worker::answer run(sb::run::job const& job) const {
        REQUIRE_FALSE(made->send({job}).has_error());
        auto got = made->receive();
        INFO((got.has_error() ? got.error().what : std::string{}));
        REQUIRE_FALSE(got.has_error());
        return std::move(*got);
    }
    std::string output() const {
        std::string text(1 << 12, '\0');
        auto const n = ::pread(made->out(), text.data(), text.size(), 0);
        text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
        return text;
    }
    sb::files::session_folder session;
    std::unique_ptr<worker> made;
};
/// A place that writes down what is asked of it, in a file that its worker shares with us.
class recording_site final : public site {
public:
    recording_site(std::unique_ptr<site> inner, int log) : inner_{std::move(inner)}, log_{log} {}
    sb::result<void> prepare(int level) override {
        say(sb::cat("prepare ", level));
        return level == 5 ? sb::result<void>{sb::system_error("no such level here")} : inner_->prepare(level);
    }
    sb::result<void> make_ready(sb::watch::job& job) override { return say("make_ready"), inner_->make_ready(job); }
    sb::result<void> look(sb::watch::job& job) override {
        say("look");
        return gone_ ? sb::result<void>{sb::system_error("it is gone")} : inner_->look(job);
    }
    sb::process::reaper_link& reaper() override { return inner_->reaper(); }
    std::int64_t helpers_cpu_ns() const override { return inner_->helpers_cpu_ns(); }
    void release() override { say("release"); }
    void finish(sb::watch::outcome& got) override {
        say("finish");
        gone_ = got.killed_by != sb::watch::killer::nobody;
        inner_->finish(got);
    }
    sb::result<void> keep(sb::files::session_folder const& in, std::string const& name) override { return say("keep " + name), inner_->keep(in, name); }
    void close() override { say("close"), inner_->close(); }

private:
    void say(std::string const& word) const { (void)!::write(log_, (word + "\n").data(), word.size() + 1); }
    std::unique_ptr<site> inner_;
    int log_;
    bool gone_ = false;
};

int exit_status(worker::answer const& of) {
    REQUIRE(of.got.copies.size() == 1);
    INFO(of.got.trouble);
    return WIFEXITED(of.got.copies[0].status) ? WEXITSTATUS(of.got.copies[0].status) : -1;
}
bool ends_soon(int pidfd) {
    pollfd at{pidfd, POLLIN, 0};
    return ::poll(&at, 1, 30'000) == 1;
}
sb::unique_fd pidfd_of(pid_t pid) { return sb::unique_fd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))}; }

} // namespace

TEST_CASE("a worker makes one run after the other, and answers with the number of each") {
    one_worker const by{7};
    CHECK(by->number() == 7);
    for (int const n : {3, 0, 1}) REQUIRE_FALSE(by->send({shell_job(sb::cat("exit ", n), static_cast<std::uint64_t>(100 + n))}).has_error());
    for (int const n : {3, 0, 1}) {
        auto const got = by->receive().value();
        CHECK(got.number == static_cast<std::uint64_t>(100 + n));
        CHECK(exit_status(got) == n);
    }
}

TEST_CASE("answers that have come are read without waiting") {
    one_worker const by;
    CHECK(by->look_for_answers());
    CHECK_FALSE(by->has_answer());
    REQUIRE_FALSE(by->send({shell_job("exit 0", 5)}).has_error());
    while (!by->has_answer()) {
        pollfd at{by->socket(), POLLIN, 0};
        REQUIRE(::poll(&at, 1, 30'000) == 1);
        REQUIRE(by->look_for_answers());
    }
    CHECK(by->receive().value().number == 5);
    CHECK_FALSE(by->has_answer());
}

TEST_CASE("many large jobs are sent at once, and their large answers read after that") {
    one_worker const by;
    std::vector<sb::run::job> jobs;
    for (std::uint64_t number = 1; number <= 4; ++number) {
        auto& each = jobs.emplace_back(shell_job("head -c 200000 /dev/zero >&3", number));
        for (int i = 0; i < 8; ++i) each.argv.emplace_back(100'000, 'x');
        each.reports = true, each.setup.copies = 2;
    }
    REQUIRE_FALSE(by->send(jobs).has_error());
    for (std::uint64_t number = 1; number <= 4; ++number) {
        auto const got = by->receive().value();
        CHECK(got.number == number);
        CHECK(got.got.reports == std::vector<std::string>(2, std::string(200'000, '\0')));
    }
}

TEST_CASE("each run finds its folders empty, and a check those of its run, which it gets under another name") {
    one_worker const by;
    auto const leave = by.run(shell_job("test -d \"$HOME\" && test -d \"$TMPDIR\" && echo word >\"$HOME/left\" && echo said"));
    CHECK(exit_status(leave) == 0);
    CHECK(by.output() == "said\n");
    auto look = shell_job("test \"$HOME\" = / && cat \"$SB_HOME/left\" && cat");
    look.is_check = true;
    CHECK(exit_status(by.run(look)) == 0);
    CHECK(by.output() == "word\nsaid\n");
    CHECK(exit_status(by.run(shell_job("test ! -e \"$HOME/left\" && test -d \"$TMPDIR\""))) == 0);
}

TEST_CASE("a check cannot change the output that it reads") {
    one_worker const by;
    by.run(shell_job("echo said"));
    auto change = shell_job("echo other 2>/dev/null >/proc/self/fd/0 || echo refused; cat");
    change.is_check = true;
    by.run(change);
    CHECK(by.output() == "refused\nsaid\n");
}

TEST_CASE("a limit is that of the job") {
    one_worker const by;
    auto late = shell_job("sleep 600");
    late.setup.wall_ns = 50'000'000;
    CHECK(by.run(late).got.killed_by == sb::watch::killer::wall);
    auto loud = shell_job("while :; do echo words; done");
    loud.setup.output_bytes = 1000;
    CHECK(by.run(loud).got.killed_by == sb::watch::killer::output);
    CHECK(exit_status(by.run(shell_job("exit 4"))) == 4);
}

TEST_CASE("what a run left is moved to a folder under the given name, and a name twice is an error that ends nothing") {
    one_worker const by;
    by.run(shell_job("echo word >\"$HOME/left\""));
    for (bool const again : {false, true}) {
        REQUIRE_FALSE(by->send_keep("kept").has_error());
        CHECK(by->receive().has_error() == again);
    }
    CHECK(sb::read_file(by.session.path() + "/kept/home/left").value() == "word\n");
    CHECK(exit_status(by.run(shell_job("test ! -e \"$HOME/left\""))) == 0);
}

TEST_CASE("a worker whose place cannot be made answers everything with the reason") {
    one_worker const by{0, [](auto&, std::size_t number, auto&) -> sb::result<std::unique_ptr<site>> { return sb::system_error(sb::cat("no place for ", number)); }};
    REQUIRE_FALSE(by->send_prepare(3).has_error());
    CHECK(by->receive().error().what == "no place for 0");
    REQUIRE_FALSE(by->send({shell_job("exit 0")}).has_error());
    CHECK(by->receive().error().what == "no place for 0");
}

TEST_CASE("the place of the runs is prepared, made ready before a run, looked at before a check, and closed at the end") {
    sb::unique_fd const log{::memfd_create("log", MFD_CLOEXEC)};
    {
        one_worker const by{0, [&](auto& session, std::size_t number, auto& room) -> sb::result<std::unique_ptr<site>> {
                                SB_TRY(auto inner, plain_site::make(session, number, room));
                                return std::unique_ptr<site>{new recording_site{std::move(inner), log.get()}};
                            }};
        for (int const level : {3, 5}) {
            REQUIRE_FALSE(by->send_prepare(level).has_error());
            auto const done = by->receive();
            CHECK(done.has_error() == (level == 5));
            if (done.has_error()) CHECK(done.error().what == "no such level here");
        }
        by.run(shell_job("exit 0"));
        auto check = shell_job("exit 0");
        check.is_check = true;
        by.run(check);
        REQUIRE_FALSE(by->send_keep("kept").has_error());
        CHECK_FALSE(by->receive().has_error());
        auto late = shell_job("sleep 600");
        late.setup.wall_ns = 50'000'000;
        by.run(late);
        CHECK(by.run(check).got.trouble == "it is gone"); // and that is the check's own trouble, no error of the worker
    }
    std::string text(1 << 12, '\0');
    auto const n = ::pread(log.get(), text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    CHECK(text == "prepare 3\nprepare 5\nmake_ready\nfinish\nlook\nfinish\nkeep kept\nmake_ready\nrelease\nfinish\nlook\nclose\n");
}

TEST_CASE("a worker that dies is an error with its number, and not only for the run that it had") {
    one_worker by{3};
    REQUIRE_FALSE(by->send({shell_job("sleep 600")}).has_error());
    ::kill(by->pid(), SIGKILL);
    auto const dead = sb::cat("worker 3 (process ", by->pid(), ") died");
    CHECK(by->receive().error().what == dead);
    CHECK(by->receive().error().what == dead);
    CHECK_FALSE(by->await_end(sb::monotonic_ns()));
    by.made.reset();
}

TEST_CASE("a worker ends when its session hangs up, although a later one lives") {
    auto session = sb::files::session_folder::make().value();
    std::vector<worker> all;
    for (std::size_t i = 0; i < 2; ++i) all.push_back(worker::make(session, i, all, &plain_site::make, {}).value());
    auto const until = sb::monotonic_ns() + 30'000'000'000;
    all[0].hang_up();
    CHECK(all[0].await_end(until));
    REQUIRE_FALSE(all[1].send({shell_job("exit 0")}).has_error());
    CHECK_FALSE(all[1].receive().has_error());
    all[1].hang_up();
    CHECK(all[1].await_end(until));
    CHECK(sb::files::names_in(session.fd()).value() == std::vector<std::string>{"owner"}); // each has cleared up
}

TEST_CASE("a worker that does not end in time is killed") {
    one_worker by;
    auto const pid = by->pid();
    REQUIRE(::kill(pid, SIGSTOP) == 0);
    by->hang_up();
    CHECK_FALSE(by->await_end(sb::monotonic_ns()));
    CHECK(::waitpid(pid, nullptr, WNOHANG) < 0);
    by.made.reset();
}

TEST_CASE("when the session dies its workers end their runs and clear up") {
    sb::test::folder const here;
    sb::test::named_pipe begun{here / "pid"};
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    auto const session = ::fork();
    REQUIRE(session >= 0);
    if (session == 0) {
        auto folder = sb::files::session_folder::make(here.path());
        auto by = worker::make(*folder, 0, {}, &plain_site::make, {});
        auto job = shell_job(sb::cat("echo $$ >", begun.path(), " && exec sleep 600"));
        auto const pid = by->pid();
        if (by->send({job}).has_error() || ::write(ends[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
        for (;;) ::pause();
    }
    ::close(ends[1]);
    pid_t worker_pid = -1;
    REQUIRE(::read(ends[0], &worker_pid, sizeof worker_pid) == sizeof worker_pid);
    ::close(ends[0]);
    auto const by = pidfd_of(worker_pid), run = pidfd_of(static_cast<pid_t>(std::stol(begun.line())));
    REQUIRE((by && run));
    ::kill(session, SIGKILL);
    ::waitpid(session, nullptr, 0);
    CHECK(ends_soon(run.get()));
    CHECK(ends_soon(by.get()));
    sb::unique_fd const left{::open(here.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    CHECK(sb::files::names_in(left.get()).value() == std::vector<std::string>{"pid"}); // the folder of the session is gone too
}
