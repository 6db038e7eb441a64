// SPDX-License-Identifier: MIT
// What is looked at when a run is over: what it left on the host, what its records must say, what was kept of it.
#pragma once
#include "sb_exec_order.hpp"
#include <set>

namespace probes {

/// After a run: who is left, what changed, who called.
inline std::string traces(host& on, tools const& with, snapshot const& before, std::string const& tag) {
    std::string bad;
    auto const say = [&](std::string const& text) { (bad += bad.empty() ? "" : "; ") += text; };
    // namespaces and groups are taken down by the kernel a moment after their last process
    auto const patience = now_s() + 3;
    std::vector<pid_t> left;
    while (!(left = processes_with(tag)).empty() && now_s() < patience) ::usleep(20000);
    if (!left.empty()) say(std::to_string(left.size()) + " processes are left"), end_all(tag);
    // what others on this host make and unmake is not there at every look; what a run leaves is
    auto changed = differences(before, look(on, with.programs()));
    while (!changed.empty() && now_s() < patience) {
        ::usleep(100000);
        auto const again = differences(before, look(on, with.programs()));
        std::erase_if(changed, [&](auto const& each) { return !again.contains(each); });
    }
    for (auto const& each : changed) say("changed on the host: " + each);
    if (!on.canary_lives()) say("the canary is dead");
    if (auto const who = on.callers(); !who.empty()) say("a listener of the host was reached:" + who);
    if (int const keys = on.typed(); keys > 0) say(std::to_string(keys) + " keys were typed at the terminal");
    return bad;
}

/// What holds for one probe alone.
template <class Say> void check_records(fact const& what, variant const& run, ended const& seen, std::vector<sb::value> const& records, Say say) {
    auto const wall = sb::number_or(member(records[0], {"wall_s"}), 0);
    if (std::string_view{run.limit} == "TIMEOUT" && wall > 1.2) say("ended " + std::to_string(wall - 1) + " s late");
    // of what they are late here, most is how long others on the machine keep it busy; that the one who ends them comes before them is held by
    // isolate's box_test
    if (what.name == std::string_view{"crowd"} && wall > 5) say("ended " + std::to_string(wall - 3) + " s late");
    if (what.number == 10) {
        auto const* const stream = std::string_view{run.does} == "err" ? "stderr" : "stdout";
        auto const cut = member(records[0], {stream, "truncated"});
        if (!cut.if_bool() || !*cut.if_bool()) say("the record does not say that the output was cut");
    }
    if ((what.number == 10 || what.number == 47) && seen.peak_kib > 64 << 10) say("our memory grew to " + std::to_string(seen.peak_kib >> 10) + " MiB");
    if (seen.out_raw) say("raw control characters came out");
    if (what.number == 12)
        for (auto const& record : records)
            if (sb::string_or(member(record, {"run_id"}), "") == "f0f0f0f0f0f0f0f0") say("a forged record was passed on");
    if (what.name == std::string_view{"folder_settings"} && seen.err.find("(found in the current folder): ignored") == std::string::npos) say("it is not said that a file is ignored");
    if (what.number == 14 && wall > 5) say("the run lasted as long as the orphan");
    if (what.number == 14 && seen.held_s > 5) say("the orphan kept the caller's pipe");
    bool const lies = std::string_view{what.name} == "forged_figures";
    if ((lies || std::string_view{what.name} == "report_flood") && !member(records[0], {"metrics", "sb_probe_honest"}).is_number()) say("no report arrived, so nothing was tried");
    if (lies) {
        for (auto const* const name : {"output_check", "value", "roi", "wall_s", "concurrency_error_rate"})
            if (member(records[0], {"metrics", name}).is_number()) say(std::string{"metrics has a forged "} + name);
        if (member(records[0], {"value"}).is_number()) say("a value was recorded of an output that nobody judged");
    }
    if (std::string_view{what.name} == "forged_ends")
        if (auto const hit = member(records[0], {"limits_hit"}); hit.if_array() && !hit.if_array()->empty()) say("limits_hit names a limit that was not reached");
}

/// What --keep kept: no content from elsewhere, no second name for a file outside.
template <class Say> void check_kept(host const& on, Say say) {
    struct stat secret {};
    ::stat(on.secret.c_str(), &secret);
    bool any = false;
    std::vector<std::string> folders{on.temp, on.data, on.home};
    for (std::size_t i = 0; i < folders.size() && i < 5000; ++i) // a folder that is too deep for a name is not read
        for (auto const& name : names_of(folders[i])) {
            struct stat facts {};
            auto const path = folders[i] + "/" + name;
            if (::lstat(path.c_str(), &facts) != 0) continue;
            any = true;
            if (S_ISDIR(facts.st_mode)) folders.push_back(path);
            if (!S_ISREG(facts.st_mode)) continue;
            if (facts.st_ino == secret.st_ino && facts.st_dev == secret.st_dev) say("the secret has a second name: " + name);
            if (read_whole(path).find(on.token) != std::string::npos) say("the secret was collected: " + name);
        }
    if (!any) say("nothing was kept");
}

/// No name of the payload's reaches a list or a terminal as it is, and one file of many names is kept once.
template <class Say> void check_names(host const& on, ended const& seen, Say say) {
    auto const forged = [](std::string const& text) {
        return text.find("\nsb-exec: a line of its own") != text.npos || text.find('\x1b') != text.npos;
    };
    if (forged(seen.err)) say("a name reached standard error as it is");
    long lists = 0, linked = 0, blocks = 0;
    std::set<ino_t> counted;
    std::vector<std::string> folders{on.temp};
    for (std::size_t i = 0; i < folders.size() && i < 100; ++i)
        for (auto const& name : names_of(folders[i])) {
            struct stat facts {};
            auto const path = folders[i] + "/" + name;
            if (::lstat(path.c_str(), &facts) != 0) continue;
            if (S_ISDIR(facts.st_mode)) folders.push_back(path);
            if (name.ends_with(".skipped") || name.ends_with(".removed")) {
                ++lists;
                if (forged(read_whole(path))) say(name + " has a forged line");
            }
            if (S_ISREG(facts.st_mode) && name.starts_with("linked")) ++linked, blocks += counted.insert(facts.st_ino).second ? facts.st_blocks : 0;
        }
    if (lists == 0) say("nothing was skipped");
    if (linked < 303) say("of 303 names of three files " + std::to_string(linked) + " were kept");
    if (blocks > (4 << 20) / 512) say("three files of 1 MiB are kept as " + std::to_string(blocks >> 11) + " MiB");
}

} // namespace probes
