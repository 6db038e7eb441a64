// SPDX-License-Identifier: MIT
// sb-witness: runs every probe inside the sandbox and judges it from outside; or, as a control, where nothing holds it.
//
// How it works: the witness makes a folder with the workspace of the run, a secret beside it, sockets that listen, a
// terminal and a canary process; it looks at the host, runs `sb-exec … -- ./sb-probe N`, looks again, and compares. A
// control runs the same probe bare (what it does is harmless and its own) or as root of throw-away namespaces.
#include "judge.hpp"
#include "sandbox.hpp"
#include "unsandboxed.hpp"
#include "../support/kernel.hpp"
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

probes::fact const* find_probe(std::string_view name_or_number) {
    for (auto const& each : probes::facts())
        if (name_or_number == each.name || name_or_number == std::to_string(each.number)) return &each;
    return nullptr;
}

/// A probe that may be skipped where all of `if_all` hold.
struct skip {
    std::vector<std::string> if_all;
    std::string reason;
};
using skips = std::map<std::string, skip>;

/// Lines "NAME WORD… # reason"; each word is one thing that holds here: user, groupless. Nothing when a line names no probe or
/// has another word: it would hold nobody to anything.
std::optional<skips> read_may_skip(std::string const& path) {
    skips found;
    auto const text = probes::read_whole(path);
    auto const wrong = [&](std::string const& what) {
        std::fprintf(stderr, "sb-witness: %s: %s\n", path.c_str(), what.c_str());
        return std::nullopt;
    };
    for (std::size_t at = 0; at < text.size();) {
        auto const end = std::min(text.find('\n', at), text.size());
        auto const line = text.substr(at, end - at);
        at = end + 1;
        auto const hash = line.find('#');
        auto words = sb::words(line.substr(0, hash));
        if (words.empty()) continue;
        auto const name = words.front();
        words.erase(words.begin());
        if (auto const* const named = find_probe(name); !named || name != named->name) return wrong(name + ": no such probe");
        for (auto const& each : words)
            if (each != "user" && each != "groupless") return wrong(name + ": " + each + ": neither user nor groupless");
        found[name] = {words, hash == line.npos ? "" : line.substr(std::min(hash + 2, line.size()))};
    }
    return found;
}

bool may_skip(skips const& listed, std::string const& name) {
    auto const found = listed.find(name);
    return found != listed.end() && std::all_of(found->second.if_all.begin(), found->second.if_all.end(), [](std::string const& each) {
        return each == "user" ? ::geteuid() != 0 : !sb::test::kernel::gives_group("memory");
    });
}

int write_page(asked const& wish, skips const& listed) {
    std::string text = "# Probes\n\n"
                       "Small programs that try to get out of the sandbox or to harm the host, each judged from outside: by the record of the\n"
                       "run, by the probe's own line, and by what a witness sees on the host before and after. Each probe has a control that\n"
                       "runs it where nothing holds it and must see it succeed. `tests/probes/run.sh` runs them; `tests/probes/run.sh --write`\n"
                       "makes this page.\n\n"
                       "| probe | name | what is tried | safe outcome | held by | may skip | control |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    for (auto const& each : probes::facts()) {
        auto const skip = listed.find(each.name);
        auto const reason = skip == listed.end() ? "" : skip->second.reason;
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
        else if (auto const* const named = find_probe(word)) wish.numbers.push_back(named->number);
        else {
            std::fprintf(stderr, "sb-witness: %s: no such probe or option\nsb-witness [--controls] [--may-skip FILE] [--write FILE] [NUMBER|NAME…]\n", argv[i]);
            return 2;
        }
    }
    auto const listed = read_may_skip(wish.may_skip);
    if (!listed) return 2;
    if (!wish.page.empty()) return write_page(wish, *listed);

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
    int held = 0, broken = 0, skipped = 0;
    std::printf("%-3s %-19s %-8s %s\n", "no", "probe", wish.controls ? "control" : "verdict", "why");
    for (auto const& fact : probes::facts()) {
        if (!wish.numbers.empty() && std::find(wish.numbers.begin(), wish.numbers.end(), fact.number) == wish.numbers.end()) continue;
        auto result = wish.controls ? probes::unsandboxed{host, tools}.show(fact) : probes::sandbox{host, tools}.probe(fact);
        if (result.is == verdict::skipped && !wish.controls && !may_skip(*listed, fact.name)) result = {verdict::broken, "not to be skipped here: " + result.why};
        std::printf("%-3d %-19s %-8s %s\n", fact.number, fact.name,
                    wish.controls ? (result.is == verdict::held ? "shown" : result.is == verdict::broken ? "failed" : "skipped") : word_for(result.is), probes::printable(result.why).c_str());
        std::fflush(stdout);
        ++(result.is == verdict::held ? held : result.is == verdict::broken ? broken : skipped);
    }
    std::printf("%d %s, %d %s, %d skipped\n", held, wish.controls ? "shown" : "held", broken, wish.controls ? "failed" : "broken", skipped);
    return broken == 0 ? 0 : 1;
}
