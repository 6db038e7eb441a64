// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/run/payload_environment.hpp>
#include <string>

using namespace sb::run;

TEST_CASE("what passes from the caller's environment is on the list and nothing else is") {
    char const* const caller[] = {"PATH=/bin", "LC_ALL=C", "LANG=de", "TZ=UTC", "USER=me", "API_TOKEN=secret", "LD_PRELOAD=x.so",
                                  "http_proxy=p", "HOME=/home/me", "SSH_AUTH_SOCK=/s", "PATHS=no", "LCX=no", "LC_API_TOKEN=no", "LC_=no", "LC_TIME=C", nullptr};
    auto const got = passed_on(caller);
    CHECK(got == variables{{"LANG", "de"}, {"LC_ALL", "C"}, {"LC_TIME", "C"}, {"PATH", "/bin"}, {"TZ", "UTC"}, {"USER", "me"}});
}

TEST_CASE("there is always a PATH") {
    char const* const none[] = {nullptr};
    CHECK(passed_on(none).at("PATH") == default_path);
}

TEST_CASE("values of a preset as variables") {
    CHECK(variable_text("512Mi") == "512Mi");
    CHECK(variable_text(5) == "5");
    CHECK(variable_text(0.05) == "0.05");
    CHECK(variable_text(true) == "true");
    CHECK(variable_text(nullptr) == "");
    CHECK(variable_text(sb::array{"disk", "network"}) == "disk,network");
    CHECK(variable_text(sb::object{{"memory", "4Gi"}}) == "{\"memory\":\"4Gi\"}");
}

TEST_CASE("--env takes NAME=VALUE or the caller's value, and says when there is none") {
    variables to;
    ::setenv("SB_TEST_HERE", "v", 1);
    ::unsetenv("SB_TEST_GONE");
    CHECK_FALSE(add_variable(to, "A=b=c").has_error());
    CHECK_FALSE(add_variable(to, "SB_TEST_HERE").has_error());
    CHECK(to == variables{{"A", "b=c"}, {"SB_TEST_HERE", "v"}});
    CHECK(add_variable(to, "SB_TEST_GONE").error().what == "--env SB_TEST_GONE: the variable is not set here; write SB_TEST_GONE=VALUE");
    CHECK(add_variable(to, "=x").has_error());
}
