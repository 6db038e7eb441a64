// SPDX-License-Identifier: MIT
// Tests of keep_files.hpp, sandbox_backend.hpp and sandbox_site.hpp.
#include "support/kernel.hpp"
#include "support/victim.hpp"
#include <sb/files/path.hpp>
#include <sb/local/keep_files.hpp>
#include <sb/local/sandbox_backend.hpp>
#include <sb/local/sandbox_site.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace sb::local;

namespace {

constexpr char const* path = "/usr/local/bin:/usr/bin:/bin";

/// A workspace with a file in it, and a folder for our own data.
struct scene {
    sb::test::folder here;
    sandbox_choices asked;
    scene() {
        REQUIRE(::chmod(here.path().c_str(), 0755) == 0);
        for (auto const* each : {"work", "data", "out"}) REQUIRE(::mkdir((here / each).c_str(), 0755) == 0);
        REQUIRE(::chmod((here / "out").c_str(), 0777) == 0);
        std::ofstream{here / "work/file"} << "original\n";
        asked.work = here / "work";
        if (char const* const named = std::getenv("SANDBOX_CGROUP")) asked.groups_below = named;
    }
    sb::result<std::unique_ptr<sandbox_backend>> make() const { return sandbox_backend::make(asked, here / "data", path); }
    std::string text(std::string const& name) const { return sb::read_file(here / name).value(); }
    bool has(std::string const& name) const { return ::access((here / name).c_str(), F_OK) == 0; }
    std::string real(std::string const& name) const { return sb::files::real_path(here / name).value(); }
};

/// A backend with one lane.
struct opened {
    explicit opened(scene const& in) : at{in} {
        auto got = in.make();
        INFO((got.has_error() ? got.error().what : std::string{}));
        REQUIRE_FALSE(got.has_error());
        with = std::move(*got);
        auto all = with->open(1);
        INFO((all.has_error() ? all.error().what : std::string{}));
        REQUIRE_FALSE(all.has_error());
        lanes = std::move(*all);
    }
    sb::run::outcome run(std::string const& script, sb::object keys = {}, bool is_check = false) {
        sb::preset_record preset;
        preset.keys = std::move(keys);
        auto const held = with->plan(sb::key::read_any(std::move(preset)).value(), {}).value();
        sb::run::job job;
        job.path = "/bin/sh", job.argv = {"sh", "-c", script}, job.environment = {sb::cat("PATH=", path)};
        job.setup = held.setup, job.keep_output = true, job.is_check = is_check;
        REQUIRE_FALSE(lanes[0]->start({job}).has_error());
        for (;;) {
            auto got = lanes[0]->take();
            INFO((got.has_error() ? got.error().what : std::string{}));
            REQUIRE_FALSE(got.has_error());
            if (*got) return std::move(**got);
            pollfd one{lanes[0]->descriptor(), POLLIN, 0};
            REQUIRE(::poll(&one, 1, 60'000) == 1);
        }
    }
    /// What a script says that ends well.
    std::string say(std::string const& script, sb::object keys = {}, bool is_check = false) {
        auto const got = run(script, std::move(keys), is_check);
        std::string text(1 << 12, '\0');
        auto const n = ::pread(lanes[0]->output(), text.data(), text.size(), 0);
        text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
        return got.end.class_ == sb::end_class::ok ? text : sb::cat(text, got.end.reason, got.lost);
    }
    scene const& at;
    std::unique_ptr<sandbox_backend> with;
    sb::run::lanes lanes;
};
std::string wrong(scene const& at) {
    auto const got = at.make();
    REQUIRE(got.has_error());
    CHECK(got.error().on == sb::blame::caller);
    return got.error().what;
}

} // namespace

TEST_CASE("a workspace, a root or a binding that cannot be shown is refused before anything is made") {
    scene at;
    auto const good = at.asked;
    at.asked.work = "/";
    CHECK(wrong(at).starts_with("workspace /: the whole system cannot be the workspace"));
    at.asked = good, at.asked.system = at.here / "work";
    CHECK(wrong(at) == "--root " + at.here / "work" + ": has none of the system folders (usr, bin, lib)");
    at.asked = good, at.asked.bindings = {"relative"};
    CHECK(wrong(at).starts_with("--bind \"relative\": write SRC"));
    at.asked = good, at.asked.bindings = {at.here / "out" + ":/usr/sb-none"};
    CHECK(wrong(at).find("there is no /usr/sb-none") != std::string::npos);
    CHECK_FALSE(at.has("data/leases"));
}

TEST_CASE("our own folders lie neither where runs may write nor where later runs would read what was kept") {
    scene at;
    at.asked.bindings = {at.here / "data" + ":/data:rw"};
    CHECK(wrong(at).find("is in the rw binding " + at.real("data") + ", where runs could change it; choose another with ") != std::string::npos);
    at.asked.bindings = {at.here / "data" + ":/data:ro"};
    if (sb::test::kernel::cannot_isolate().empty()) CHECK_FALSE(at.make().has_error());
    char const* const before = std::getenv("TMPDIR");
    std::string const was = before ? before : "";
    ::setenv("TMPDIR", (at.here / "work").c_str(), 1);
    at.asked.bindings.clear(), at.asked.keeps = true;
    auto const kept = wrong(at);
    before ? ::setenv("TMPDIR", was.c_str(), 1) : ::unsetenv("TMPDIR");
    CHECK(kept.find("is in the workspace " + at.real("work") + ", where later runs would see what --keep saved of earlier ones") != std::string::npos);
}

TEST_CASE("a backend that sandboxes says what it isolates, and finds programs as the payload will", "[sandbox]") {
    NEEDS_ISOLATION();
    scene at;
    auto const with = at.make().value();
    auto const& facts = with->facts();
    CHECK(facts.name == "process");
    CHECK(facts.exposed.empty());
    for (std::string const layer : {"user", "pid", "mount", "network", "root", "workspace", "no_new_privs", "capabilities", "seccomp"}) {
        INFO(layer);
        CHECK(std::count(facts.layers.begin(), facts.layers.end(), layer) == 1);
    }
    CHECK(std::count(facts.layers.begin(), facts.layers.end(), "landlock") == (sb::test::kernel::landlock() >= 2 ? 1 : 0));
    CHECK(facts.sources.contains("peak_rss_bytes"));
    auto const seen = with->seen();
    CHECK(seen.folder == at.real("work"));
    CHECK_FALSE(seen.hidden("/bin/sh"));
    std::ofstream{at.here / "out/tool"} << "#!/bin/sh\n";
    REQUIRE(::chmod((at.here / "out/tool").c_str(), 0755) == 0);
    CHECK(seen.hidden(at.real("out") + "/tool"));
    CHECK(seen.outlasts_a_run("/usr/bin"));
    CHECK_FALSE(seen.outlasts_a_run(at.real("work")));
    CHECK(with->can().sandboxed);
    CHECK(with->can().jobs == 1);
}

TEST_CASE("a run changes a copy of the workspace, and the next finds it as it was", "[sandbox]") {
    NEEDS_ISOLATION();
    scene at;
    opened in{at};
    CHECK(in.say("cat file; pwd") == "original\n" + at.real("work") + "\n");
    CHECK(in.say("echo other >file; mkdir -p deep/er; echo word >$HOME/left; echo word >/tmp/left; cat file") == "other\n");
    CHECK(in.say("cat file; ls; ls $HOME /tmp | grep left || echo clean") == "original\nfile\nclean\n");
    CHECK(at.text("work/file") == "original\n");
    CHECK_FALSE(at.has("work/deep"));
}

TEST_CASE("a check sees what its run left, and no run after it does", "[sandbox]") {
    NEEDS_ISOLATION();
    scene at;
    opened in{at};
    CHECK(in.say("echo changed >file; echo said") == "said\n");
    CHECK(in.say("cat; cat file; echo $HOME", {}, true) == "said\nchanged\n/\n");
    CHECK(in.say("cat file") == "original\n");
}

TEST_CASE("a sandbox is used again where it is clean, and each run gets its own where that is asked for", "[sandbox]") {
    NEEDS_ISOLATION();
    for (bool const fresh : {false, true}) {
        scene at;
        at.asked.fresh = fresh;
        opened in{at};
        CHECK(in.run("exit 0").fresh == true);
        for (int i = 0; i < 4; ++i) CHECK(in.run("echo word >file").fresh == fresh);
        CHECK(in.say("cat file") == "original\n");
    }
}

TEST_CASE("the sandbox of a run that took its reaper with it is replaced, and its check says that it is gone", "[sandbox]") {
    NEEDS_ISOLATION();
    scene at;
    opened in{at};
    CHECK(in.run("exit 0").fresh == true);
    auto const late = in.run("sleep 600", {{"TIMEOUT", 0.05}});
    CHECK(late.end.class_ == sb::end_class::timeout);
    CHECK(in.say("cat file") == "original\n");
}

TEST_CASE("limits of the workspace hold, and each level has a sandbox of its own", "[sandbox]") {
    NEEDS_ISOLATION();
    scene at;
    opened in{at};
    auto const full = in.run("dd if=/dev/zero of=big bs=1M count=64 2>/dev/null", {{"DISK_LIMIT", "4Mi"}});
    CHECK(full.end.class_ == sb::end_class::disk);
    CHECK(full.limits_hit == std::vector<std::string>{"DISK_LIMIT"});
    CHECK(in.run("exit 0", {{"SECURITY_LEVEL", 1}}).fresh == true);
    CHECK(in.run("exit 0", {{"SECURITY_LEVEL", 1}}).fresh == false);
    CHECK(in.run("exit 0", {{"SECURITY_LEVEL", 5}}).fresh == true);
}

TEST_CASE("what a run left in its workspace, home and temporary folder is kept, with the names of what it removed", "[sandbox]") {
    NEEDS_ISOLATION();
    scene at;
    at.asked.keeps = true;
    opened in{at};
    CHECK(in.say("rm file; echo new >added; echo word >$HOME/left; echo word >/tmp/left; echo said") == "said\n");
    auto const kept = in.lanes[0]->keep("run-1");
    INFO((kept.has_error() ? kept.error().what : std::string{}));
    REQUIRE_FALSE(kept.has_error());
    CHECK(in.lanes[0]->keep("run-1").has_error()); // the name is taken
    auto const folder = in.with->leave_kept();
    in.lanes.clear();
    in.with->close();
    CHECK(sb::read_file(folder + "/run-1/work/added").value() == "new\n");
    CHECK(sb::read_file(folder + "/run-1/work.removed").value() == "file\n");
    CHECK(sb::read_file(folder + "/run-1/home/left").value() == "word\n");
    CHECK(sb::read_file(folder + "/run-1/tmp/left").value() == "word\n");
    CHECK(sb::read_file(folder + "/run-1/stdout").value() == "said\n");
    if (auto const fd = sb::files::open_folder(AT_FDCWD, folder.c_str())) (void)sb::files::empty_folder(fd.get(), folder);
    CHECK(::rmdir(folder.c_str()) == 0);
}

TEST_CASE("a list of what was removed names only so many, and how many more there are; a list of nothing is not written") {
    sb::test::folder const in;
    auto const fd = sb::files::open_folder(AT_FDCWD, in.path().c_str());
    REQUIRE_FALSE(sb::local::detail::write_list(fd.get(), "work.removed", in.path(), {"a\nb", "\\c"}, 5).has_error());
    CHECK(sb::read_file(in / "work.removed").value() == "a\\x0ab\n\\x5cc\n\\... and 3 more\n");
    REQUIRE_FALSE(sb::local::detail::write_list(fd.get(), "work.skipped", in.path(), {}, 0).has_error());
    CHECK(::access((in / "work.skipped").c_str(), F_OK) != 0);
}

TEST_CASE("a writable binding is changed on the host, a read-only one is not", "[sandbox]") {
    NEEDS_ISOLATION();
    scene at;
    at.asked.bindings = {at.here / "out" + ":/opt/out:rw", at.here / "work" + ":/opt/again:ro"};
    opened in{at};
    CHECK(in.say("echo word >/opt/out/left && echo done") == "done\n");
    CHECK(at.text("out/left") == "word\n");
    CHECK(in.say("echo word 2>/dev/null >/opt/again/file || cat /opt/again/file") == "original\n");
}

TEST_CASE("a copied workspace is changed no more than the original", "[sandbox]") {
    NEEDS_ISOLATION();
    scene at;
    at.asked.copies_work = true;
    opened in{at};
    CHECK(in.say("echo other >file; cat file") == "other\n");
    CHECK(in.say("cat file") == "original\n");
    CHECK(at.text("work/file") == "original\n");
}

TEST_CASE("a backend that is closed has given its lease back", "[sandbox]") {
    NEEDS_ISOLATION();
    scene at;
    {
        opened in{at};
        CHECK(in.say("echo said") == "said\n");
        in.lanes.clear();
        in.with->close();
        in.with->close();
    }
    if (!at.has("data/leases")) return; // where nothing had to be leased
    sb::unique_fd const leases{::open((at.here / "data/leases").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    CHECK(sb::files::names_in(leases.get()).value().empty());
}
