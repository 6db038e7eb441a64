// SPDX-License-Identifier: MIT
// sb-witness: runs every probe inside the sandbox and judges it from outside; or, as a control, where nothing holds it.
//
// How it works: the witness makes a folder with the workspace of the run, a secret beside it, sockets that listen, a
// terminal and a canary process; it looks at the host, runs `sb-exec … -- ./sb-probe N`, looks again, and compares. A
// control runs the same probe bare (what it does is harmless and its own) or as root of throw-away namespaces.
#include "judge.hpp"
#include "sandbox.hpp"
#include "unsandboxed.hpp"
#include <cstdio>

namespace {

using probes::verdict;

struct asked {
    std::vector<int> numbers;
    bool controls = false;
    std::string page;
    std::string may_skip = "tests/probes/may_skip";
};

char const* word_for(verdict::kind is) { return is == verdict::held ? "held" : is == verdict::broken ? "broken" : "skipped"; }

/// A group above ours on v2 that we may write to and that hands the memory controller down.
bool has_memory_group() {
    auto const groups = probes::read_whole("/proc/self/cgroup");
    auto at = groups.rfind("0::", 0) == 0 ? 0 : groups.find("\n0::");
    if (at == groups.npos) return false;
    at = groups.find('/', at);
    auto path = groups.substr(at, groups.find('\n', at) - at);
    while (path.size() > 1) {
        path.resize(path.rfind('/'));
        auto const folder = "/sys/fs/cgroup" + path;
        auto enabled = probes::read_whole(folder + "/cgroup.subtree_control");
        while (!enabled.empty() && enabled.back() == '\n') enabled.pop_back();
        if (probes::has_word(enabled, "memory") && ::access((folder + "/cgroup.procs").c_str(), W_OK) == 0) return true;
    }
    return false;
}

/// Lines "NUMBER WORD… # reason"; each word is one thing that holds here: user, groupless.
std::map<int, std::string> read_may_skip(std::string const& path) {
    std::map<int, std::string> all;
    auto const text = probes::read_whole(path);
    for (std::size_t at = 0; at < text.size();) {
        auto const end = std::min(text.find('\n', at), text.size());
        auto const line = text.substr(at, end - at);
        at = end + 1;
        if (int const number = std::atoi(line.c_str()); number > 0) all[number] = line;
    }
    return all;
}

bool may_skip(std::string const& line) {
    auto const words = probes::words_of(line.substr(0, line.find('#')));
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i] == "user" && ::geteuid() == 0) return false;
        if (words[i] == "groupless" && has_memory_group()) return false;
    }
    return !words.empty();
}

int write_page(asked const& wish) {
    std::string text = "# Probes\n\n"
                       "Small programs that try to get out of the sandbox or to harm the host, each judged from outside: by the record of the\n"
                       "run, by the probe's own line, and by what a witness sees on the host before and after. Each probe has a control that\n"
                       "runs it where nothing holds it and must see it succeed. `tests/probes/run.sh` runs them; `tests/probes/run.sh --write`\n"
                       "makes this page.\n\n"
                       "| probe | name | what is tried | safe outcome | held by | may skip | control |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    auto const skips = read_may_skip(wish.may_skip);
    for (auto const& each : probes::facts()) {
        auto const skip = skips.find(each.number);
        std::string reason;
        if (skip != skips.end())
            if (auto const hash = skip->second.find("# "); hash != std::string::npos) reason = skip->second.substr(hash + 2);
        char const* const place = each.control == probes::where::plain ? "bare" : each.control == probes::where::space ? "throw-away namespaces" : "bare, as root";
        text += "| " + std::to_string(each.number) + " | " + each.name + " | " + each.tried + " | " + each.outcome + " | " + each.held_by + " | " + reason + " | " + place + " |\n";
    }
    if (wish.page == "-") return std::fputs(text.c_str(), stdout) >= 0 ? 0 : 1;
    return probes::write_whole(wish.page, text, 0644) ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    asked wish;
    for (int i = 1; i < argc; ++i) {
        std::string const word = argv[i];
        if (word == "--controls") wish.controls = true;
        else if (word == "--write" && i + 1 < argc) wish.page = argv[++i];
        else if (word == "--may-skip" && i + 1 < argc) wish.may_skip = argv[++i];
        else if (std::atoi(word.c_str()) > 0) wish.numbers.push_back(std::atoi(word.c_str()));
        else {
            bool known = false;
            for (auto const& each : probes::facts())
                if (word == each.name) wish.numbers.push_back(each.number), known = true;
            if (!known) {
                std::fprintf(stderr, "sb-witness: %s: no such probe or option\nsb-witness [--controls] [--may-skip FILE] [--write FILE] [NUMBER|NAME…]\n", argv[i]);
                return 2;
            }
        }
    }
    if (!wish.page.empty()) return write_page(wish);

    ::prctl(PR_SET_CHILD_SUBREAPER, 1); // what a control leaves behind comes to us
    std::signal(SIGPIPE, SIG_IGN);
    auto const tools = probes::tools::find(argv[0]);
    if (!tools.probe_there()) {
        std::fprintf(stderr, "sb-witness: %s: no probe there\n", tools.probe.c_str());
        return 2;
    }
    probes::host host;
    if (!host.ready()) {
        std::fputs("sb-witness: cannot make its folder, its canary or its listener (is TMPDIR writable?)\n", stderr);
        return 4;
    }
    auto const skips = read_may_skip(wish.may_skip);
    int held = 0, broken = 0, skipped = 0;
    std::printf("%-3s %-19s %-8s %s\n", "no", "probe", wish.controls ? "control" : "verdict", "why");
    for (auto const& fact : probes::facts()) {
        if (!wish.numbers.empty() && std::find(wish.numbers.begin(), wish.numbers.end(), fact.number) == wish.numbers.end()) continue;
        auto result = wish.controls ? probes::unsandboxed{host, tools}.show(fact) : probes::sandbox{host, tools}.probe(fact);
        if (result.is == verdict::skipped && !wish.controls) {
            auto const listed = skips.find(fact.number);
            if (listed == skips.end() || !may_skip(listed->second)) result = {verdict::broken, "not to be skipped here: " + result.why};
        }
        std::printf("%-3d %-19s %-8s %s\n", fact.number, fact.name,
                    wish.controls ? (result.is == verdict::held ? "shown" : result.is == verdict::broken ? "failed" : "skipped") : word_for(result.is), probes::printable(result.why).c_str());
        std::fflush(stdout);
        ++(result.is == verdict::held ? held : result.is == verdict::broken ? broken : skipped);
    }
    std::printf("%d %s, %d %s, %d skipped\n", held, wish.controls ? "shown" : "held", broken, wish.controls ? "failed" : "broken", skipped);
    return broken == 0 ? 0 : 1;
}
