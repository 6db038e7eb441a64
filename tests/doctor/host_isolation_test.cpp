// SPDX-License-Identifier: MIT
#include "support/child.hpp"
#include "support/kernel.hpp"
#include "support/victim.hpp"
#include <sb/doctor/host_isolation.hpp>
#include <sb/files/path.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/files/workspace.hpp>
#include <cstddef>
#include <fstream>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace sb::doctor;

namespace {

sb::process::payload_user chosen_user() { return sb::process::choose_payload_user().value(); }
std::string text_of(finding const& f) { return sb::cat(f.name, " ", name_of(f.status), ": ", f.what, "\nmend: ", f.mend, "\nadvice: ", f.advice, "\n"); }

/// From now on these calls fail with EPERM, as in a container.
void forbid(std::vector<unsigned> const& calls) {
    std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (auto const call : calls) {
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
        program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    }
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    sock_fprog const all{static_cast<unsigned short>(program.size()), program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0) ::_exit(3);
}
/// What is found where these calls fail.
template <class Find>
std::string found_without(std::vector<unsigned> const& calls, Find find) {
    return sb::test::told_by_child([&] {
        forbid(calls);
        return text_of(find());
    });
}
std::string const in_a_container = sb::cat("advice: ", detail::container_advice, "\n");
bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

/// Another host's /proc/sys.
struct knobs : sb::test::folder {
    explicit knobs(std::initializer_list<std::pair<char const*, char const*>> all) {
        for (std::string const each : {"user", "kernel"}) REQUIRE_FALSE(sb::make_folders(*this / "proc/sys/" + each, 0755).has_error());
        for (auto const& [name, text] : all) std::ofstream{*this / "proc/sys/" + name} << text << "\n";
    }
    finding mended() const {
        finding f{"namespaces", finding_status::missing, {}, {}};
        detail::mend_user_namespace(f, path());
        return f;
    }
};
std::string const sudo = ::geteuid() == 0 ? "" : "sudo ";

} // namespace

TEST_CASE("where the kernel isolates, every wall that a run needs is found", "[sandbox]") {
    NEEDS_ISOLATION();
    for (auto const& f : {find_proc(chosen_user()), find_namespaces(chosen_user()), find_mounts(chosen_user()), find_seccomp()}) {
        INFO(text_of(f));
        CHECK(f.status == finding_status::ok);
        CHECK(f.mend.empty());
        CHECK(f.advice.empty());
        CHECK_FALSE(f.what.empty());
    }
    sb::test::folder const work;
    auto const temp = sb::files::temporary_folder();
    auto const overlay = find_overlay(chosen_user(), work.path(), temp);
    INFO(text_of(overlay));
    CHECK(overlay.status != finding_status::missing);
    CHECK(sb::files::names_in(sb::files::open_folder(AT_FDCWD, work.path().c_str()).get()).value().empty()); // nothing was written below
}

TEST_CASE("a call that a filter forbids is named, and a container is advised to do without that filter", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const user = chosen_user();
    auto const mounts = found_without({SYS_open_tree, SYS_fsopen, SYS_move_mount, SYS_mount_setattr}, [&] { return find_mounts(user); });
    INFO(mounts);
    CHECK(has(mounts, "mounts missing: "));
    CHECK(has(mounts, "Operation not permitted"));
    CHECK(has(mounts, in_a_container));
    auto const seccomp = found_without({SYS_seccomp}, [] { return find_seccomp(); });
    INFO(seccomp);
    CHECK(has(seccomp, "seccomp missing: install the system-call filter: Operation not permitted"));
    CHECK(has(seccomp, in_a_container));
}

TEST_CASE("without user namespaces nothing inside one was tried, and the findings point to the one that says why", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const user = chosen_user();
    auto const none = found_without({SYS_unshare}, [&] { return find_namespaces(user); });
    INFO(none);
    CHECK(has(none, "namespaces missing: none: make a user namespace: Operation not permitted"));
    CHECK_FALSE(has(none, "mend: \nadvice: \n"));
    CHECK(has(found_without({SYS_unshare}, [&] { return find_mounts(user); }), "advice: see namespaces\n"));
    CHECK(has(found_without({SYS_unshare}, [&] { return find_sockets(user); }), "advice: see namespaces\n"));
    sb::test::folder const work;
    auto const overlay = found_without({SYS_unshare}, [&] { return find_overlay(user, work.path(), work.path()); });
    INFO(overlay);
    CHECK(has(overlay, "overlay missing: no copy-on-write view of "));
    CHECK(has(overlay, "advice: see namespaces\n"));
    CHECK(has(found_without({SYS_unshare}, [&] { return find_proc(user); }), "proc ok: mounted; a sandbox's own /proc can only be tested when namespaces can be made"));
}

TEST_CASE("a sandbox that can mount nothing has no /proc of its own", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const user = chosen_user();
    auto const proc = found_without({SYS_fsopen}, [&] { return find_proc(user); });
    INFO(proc);
    CHECK(has(proc, "proc missing: a sandbox cannot have a /proc of its own: "));
    CHECK(has(proc, "Operation not permitted"));
}

TEST_CASE("descriptors of processes are there since Linux 5.3, and are missed where they are forbidden") {
    auto const f = find_pidfd();
    if (sb::test::kernel::is_at_least(5, 3)) CHECK(f.status == finding_status::ok);
    auto const forbidden = found_without({SYS_pidfd_open}, [] { return find_pidfd(); });
    CHECK(has(forbidden, "pidfd missing: pidfd_open: Operation not permitted"));
    CHECK(has(forbidden, "advice: use a kernel 5.3 or newer"));
}

TEST_CASE("Landlock is found where the kernel has a version that forbids no renames, and is never what a run needs") {
    auto const version = sb::test::kernel::landlock();
    auto const f = find_landlock();
    INFO(text_of(f));
    if (version >= 2) {
        CHECK(f.status == finding_status::ok);
        CHECK(f.what.starts_with(sb::cat("version ", version, ": files")));
        CHECK((version >= 6) == (f.what.find("abstract unix sockets") != std::string::npos));
    } else {
        CHECK(f.status == finding_status::limited);
    }
    auto const forbidden = found_without({SYS_landlock_create_ruleset}, [] { return find_landlock(); });
    CHECK(has(forbidden, "landlock limited: Operation not permitted; only the mounts protect files"));
    CHECK(has(forbidden, in_a_container));
    if (version >= 2) {
        auto const late = found_without({SYS_landlock_restrict_self}, [] { return find_landlock(); });
        CHECK(has(late, "landlock limited: landlock_restrict_self: Operation not permitted; only the mounts protect files"));
    }
}

TEST_CASE("sockets that a run leaves are closed where the kernel can end them", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const f = find_sockets(chosen_user());
    INFO(text_of(f));
    CHECK((f.status == finding_status::ok) == sb::test::kernel::ends_tcp());
    CHECK(f.status != finding_status::missing);
    if (f.status != finding_status::ok) CHECK(f.mend == sudo + "modprobe tcp_diag");
}

TEST_CASE("owners need no mapping for a payload that runs as its caller, and are asked of the folder's file system for root's") {
    sb::test::folder const work;
    auto const f = find_owners(chosen_user(), work.path());
    INFO(text_of(f));
    if (::geteuid() != 0) {
        CHECK(f.status == finding_status::ok);
        CHECK(f.what == "a payload runs as the caller, so no owner needs mapping");
        return;
    }
    auto const proc = find_owners(chosen_user(), "/proc"); // which shows none under another owner
    CHECK(proc.status == finding_status::limited);
    CHECK(proc.what.starts_with("the file system of /proc cannot show files under another owner ("));
    CHECK_FALSE(proc.advice.empty());
}

TEST_CASE("a workspace that is not there is told with its name", "[sandbox]") {
    NEEDS_ISOLATION();
    sb::test::folder const here;
    auto const f = find_overlay(chosen_user(), here / "none", here / "none either");
    INFO(text_of(f));
    CHECK(f.status == finding_status::missing);
    CHECK(f.what.find("No such file or directory") != std::string::npos);
}

TEST_CASE("a switch of the kernel that forbids user namespaces is named with the command that turns it") {
    CHECK(knobs{{"user/max_user_namespaces", "0"}}.mended().mend == sudo + "sysctl -w user.max_user_namespaces=10000");
    CHECK(knobs{{"user/max_user_namespaces", "100"}, {"kernel/unprivileged_userns_clone", "0"}}.mended().mend == sudo + "sysctl -w kernel.unprivileged_userns_clone=1");
    CHECK(knobs{{"kernel/unprivileged_userns_clone", "1"}, {"kernel/apparmor_restrict_unprivileged_userns", "1"}}.mended().mend ==
          sudo + "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
    auto const open = knobs{{"user/max_user_namespaces", "100"}, {"kernel/apparmor_restrict_unprivileged_userns", "0"}}.mended();
    CHECK(open.mend.empty());
    CHECK_FALSE(open.advice.empty());
}

TEST_CASE("a filter of somebody else's is noticed, and the absence of one too") {
    CHECK(sb::test::told_by_child([] { return std::string{detail::is_filtered() ? "filtered" : "free"}; }) ==
          (sb::test::kernel::text_of("/proc/self/status").find("\nSeccomp:\t2") != std::string::npos ? "filtered" : "free"));
    CHECK(sb::test::told_by_child([] {
        forbid({SYS_landlock_create_ruleset});
        return std::string{detail::is_filtered() ? "filtered" : "free"};
    }) == "filtered");
}
