// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include <regex>
#include <sb/sandbox/template_root.hpp>

using namespace sb::sandbox;
using namespace sb::test;

TEST_CASE("a made-up boot id looks like one of the kernel's, and each is another", "[root]") {
    std::regex const form{"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"};
    auto const first = random_uuid(), second = random_uuid();
    REQUIRE(std::regex_match(first, form));
    REQUIRE(std::regex_match(second, form));
    REQUIRE(first != second);
}

TEST_CASE("a payload is told a boot id that is not the host's, and the same one again", "[sandbox][root]") {
    NEEDS_ISOLATION();
    slot one;
    auto const host = sb::read_file("/proc/sys/kernel/random/boot_id").value();
    auto const told = one.shell("cat /proc/sys/kernel/random/boot_id");
    REQUIRE(told.size() == host.size());
    REQUIRE(told != host);
    REQUIRE(one.shell("cat /proc/sys/kernel/random/boot_id") == told);
    REQUIRE(one.shell("{ echo x >/proc/sys/kernel/random/boot_id; chmod 777 /proc/sys/kernel/random/boot_id; } 2>/dev/null; cat /proc/sys/kernel/random/boot_id") == told);
}

TEST_CASE("a root names its user and this host, and nobody of the host", "[sandbox][root]") {
    NEEDS_ISOLATION();
    slot here;
    CHECK(here.shell("cut -d: -f1,3,6 /etc/passwd") == "root:0:/nonexistent\nsandbox:1000:/home/sandbox\nnobody:65534:/nonexistent\n");
    CHECK(here.shell("cut -d: -f1,3 /etc/group; cat /etc/hostname; grep -c localhost /etc/hosts") == "root:0\nsandbox:1000\nnogroup:65534\nsandbox\n2\n");
    CHECK(here.shell("ls -d /etc/shadow /root /home/* 2>/dev/null") == "/home/sandbox\n");
}

TEST_CASE("a root has a few devices, and nothing of it can be written but the payload's own places", "[sandbox][root]") {
    NEEDS_ISOLATION();
    slot here;
    CHECK(here.shell("cd /dev; ls") == "fd\nfull\nnull\nrandom\nshm\nstderr\nstdin\nstdout\nurandom\nzero\n");
    CHECK(here.shell("readlink /var/tmp /dev/fd /dev/stdin") == "/tmp\n/proc/self/fd\n/proc/self/fd/0\n");
    CHECK(here.shell("for f in /x /etc/x /usr/x /dev/x /opt/x /home/x /var/x; do (echo x >$f) 2>/dev/null && echo wrote $f; done; "
                     "for f in /tmp/x /var/tmp/y /dev/shm/x /home/sandbox/x ./x; do (echo x >$f) 2>/dev/null || echo not $f; done; echo done") == "done\n");
}

TEST_CASE("a file of a root is new, or it is refused", "[root]") {
    folder const at;
    REQUIRE_FALSE(template_root::write_file(at / "file", "text").has_error());
    CHECK(sb::read_file(at / "file").value() == "text");
    auto const again = template_root::write_file(at / "file", "other");
    REQUIRE(again.has_error());
    CHECK(again.error().what == sb::cat("open ", at / "file", ": File exists"));
    CHECK(sb::read_file(at / "file").value() == "text");
    CHECK(template_root::link_on_the_way("/a/b").on == sb::blame::caller);
    CHECK(template_root::link_on_the_way("/a/b").what.find("/a/b") != std::string::npos);
}
