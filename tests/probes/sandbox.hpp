// SPDX-License-Identifier: MIT
// A probe inside the sandbox, with all that some probes need around them.
#pragma once
#include "after_run.hpp"
#include "feed_tools.hpp"
#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace probes {

class sandbox {
public:
    sandbox(host& of, tools const& with) : host_{of}, tools_{with} {}

    verdict probe(fact const& what) {
        copy_program(tools_.probe, host_.work + "/sb-probe", 0755);
        verdict worst;
        auto const add = [&](verdict const& each, std::string const& does) {
            if (each.is == verdict::held || (worst.is == verdict::broken && each.is == verdict::skipped)) return;
            if (each.is == verdict::broken && worst.is == verdict::skipped) worst = {};
            worst.is = each.is;
            if (!worst.why.empty()) worst.why += "; ";
            worst.why += (does.empty() ? "" : does + ": ") + each.why;
        };
        for (auto const& each : what.variants) {
            if (std::string_view{what.name} == "bait") add(take_bait(what, each), each.does);
            else if (what.number == 18) add(kill_supervisor(what, each), each.does);
            else if (what.number == 48) add(side_by_side(what, each), each.does);
            else if (what.name == std::string_view{"sibling_quota"}) add(beside_a_hoard(what, each), each.does);
            else add(one(what, each), each.does);
        }
        if (what.number == 47) add(feed_tools(host_, tools_), "");
        host::clear(host_.work);
        return worst;
    }

private:
    /// Nothing but us is on the machine.
    static bool full() {
        char const* const all = std::getenv("SB_PROBE_FULL");
        return all && *all;
    }

    /// The most files that the machine had at once, while this is alive.
    class file_peak {
    public:
        file_peak() : before_{now()}, most_{before_}, by_{[this] {
            while (!over_) most_ = std::max<long>(most_, now()), ::usleep(200);
        }} {}
        ~file_peak() { over_ = true, by_.join(); }
        file_peak(file_peak const&) = delete;
        file_peak& operator=(file_peak const&) = delete;
        long grown() const { return most_ - before_; }

    private:
        static long now() { return std::atol(read_whole("/proc/sys/fs/file-nr").c_str()); }
        long before_;
        std::atomic<long> most_;
        std::atomic<bool> over_{false};
        std::thread by_;
    };

    verdict one(fact const& what, variant const& run) {
        auto const tag = "sbtag" + random_word();
        if (what.number == 39 && ::geteuid() == 0) copy_program(tools_.probe, host_.work + "/suid", 04755);
        auto const o = order_for(host_, tools_, what, run, tag);
        if (what.name == std::string_view{"folder_settings"}) write_folder_settings(host_.work, host_.outside, run.does);
        auto const before = look(host_, tools_.programs());
        std::optional<file_peak> files;
        if (what.name == std::string_view{"file_table"}) files.emplace();
        auto const seen = probes::run(o);
        auto const grown = files ? files->grown() : 0;
        files.reset();
        ::unlink((host_.work + "/suid").c_str());
        std::string broken_line, bad;
        auto const say = [&](std::string const& text) { (bad += bad.empty() ? "" : "; ") += text; };
        auto const records = records_in(seen.out, broken_line);
        verdict result;
        if (seen.overdue) say("sb-exec did not end");
        if (what.name == std::string_view{"file_table"} && grown >= most_files()) say("the machine had " + std::to_string(grown) + " files more");
        if (std::getenv("SB_PROBE_SAYS")) {
            if (grown > 0) std::fprintf(stderr, "%s %s: %ld files more of %ld\n", what.name, run.does, grown, most_files());
            for (auto const& record : records) std::fprintf(stderr, "%s %s: %s\n", what.name, run.does, printable(std::string{sb::string_or(member(record, {"stdout", "head"}), "")}).c_str());
        }
        if (std::ssize(records) != what.runs) {
            auto const first = seen.err.substr(0, seen.err.find('\n'));
            say(std::to_string(records.size()) + " records, not " + std::to_string(what.runs) + (first.empty() ? "" : " (" + first + ")"));
        }
        if (!broken_line.empty()) say("no JSON: " + broken_line);
        if (!seen.exited(0)) say("sb-exec ended with " + status_words(seen.status));
        for (auto const& record : records)
            if (auto const each = judge_record(run, record); each.is == verdict::skipped) result = each;
            else if (each.is == verdict::broken) {
                say(each.why);
                break;
            }
        if (!records.empty()) check_records(what, run, seen, records, say);
        bool const names = std::string_view{what.name} == "forged_names";
        if (names) check_names(host_, seen, say), host::clear(host_.temp);
        else if (what.options == std::string_view{"--keep"}) check_kept(host_, say), host::clear(host_.temp); // reads all of it: a file without end would not do
        if (auto const more = traces(host_, tools_, before, tag); !more.empty()) say(more);
        host::clear(host_.shared);
        host::clear(host_.work), copy_program(tools_.probe, host_.work + "/sb-probe", 0755);
        if (what.number == 44) remove_ipc(tag);
        host::clear(host_.outside + "/moved"), ::rmdir((host_.outside + "/moved").c_str());
        ::unlink((host_.outside + "/marker").c_str());
        if (!bad.empty()) return {verdict::broken, bad};
        return result;
    }

    /// What lies where a program is looked for, and is none.
    verdict take_bait(fact const& what, variant const& run) {
        auto const tag = "sbtag" + random_word();
        auto const fifo = host_.work + "/fifo", script = host_.work + "/script", device = host_.work + "/device";
        if (::mkfifo(fifo.c_str(), 0755) != 0) return {verdict::broken, "no FIFO can be made here"};
        ::chmod(fifo.c_str(), 0755);
        write_whole(script, "#!" + fifo + "\n", 0755), write_whole(device, "#!" + host_.terminal_name + "\n", 0755);
        std::string bad;
        for (auto const* const command : {"/bin/true", "./fifo", "./script", "./device"}) {
            auto o = order_for(host_, tools_, what, run, tag);
            o.argv.erase(std::find(o.argv.begin(), o.argv.end(), "--"), o.argv.end());
            o.argv.insert(o.argv.end(), {"--timeout", "2s", "--", command});
            auto const seen = probes::run(o);
            if (command == std::string_view{"/bin/true"}) {
                if (!seen.exited(0)) return {verdict::broken, "nothing can be run: " + seen.err.substr(0, seen.err.find('\n'))};
            } else if (seen.overdue) bad += std::string{bad.empty() ? "" : "; "} + command + ": sb-exec did not end";
        }
        for (auto const& each : {fifo, script, device}) ::unlink(each.c_str());
        return bad.empty() ? verdict{} : verdict{verdict::broken, bad};
    }

    /// The supervisor ends by SIGKILL, alone or with all its helpers; nobody clears up until the next one starts.
    verdict kill_supervisor(fact const& what, variant const& run) {
        auto const tag = "sbtag" + random_word();
        auto o = order_for(host_, tools_, what, run, tag);
        auto const before = look(host_, tools_.programs());
        bool const all = std::string_view{run.does} == "all";
        bool struck = false, sees_helpers = false; // helpers have no command line: were they not seen, none that is left would be
        std::vector<pid_t> payload;
        std::vector<sb::unique_fd> everyone;
        o.seconds = 15;
        o.meanwhile = [&](pid_t supervisor) {
            if (struck) return;
            // the payload is there when its daemon and its child are
            payload.clear();
            everyone.clear();
            for (auto const pid : processes_with(tag)) {
                everyone.push_back(hold_of(pid));
                auto const line = read_whole("/proc/" + std::to_string(pid) + "/cmdline");
                if (line.starts_with("./sb-probe")) payload.push_back(pid);
                sees_helpers = sees_helpers || line.find(tag) == std::string::npos;
            }
            if (payload.size() < 3) return;
            struck = true;
            auto const helpers = children_of(supervisor);
            ::kill(supervisor, SIGKILL);
            if (all)
                for (auto const pid : helpers) ::kill(pid, SIGKILL);
        };
        auto const seen = probes::run(o);
        std::string bad;
        auto const say = [&](std::string const& text) { (bad += bad.empty() ? "" : "; ") += text; };
        if (struck && !sees_helpers) say("no helper of sb-exec was seen");
        if (!struck) say("the payload never came to be: " + seen.err.substr(0, seen.err.find('\n')));
        auto const patience = now_s() + 3;
        std::vector<pid_t> left;
        while (!(left = processes_with(tag)).empty() && now_s() < patience) ::usleep(20000);
        if (!left.empty()) say(std::to_string(left.size()) + " processes live on without a supervisor"), end_all(tag);
        // the lease is free when the last of them has given back its files, which is after its command line went
        for (auto const& each : everyone) wait_over(each, patience);
        auto next = o;
        next.meanwhile = {};
        next.argv.erase(std::find(next.argv.begin(), next.argv.end(), "--"), next.argv.end());
        next.argv.insert(next.argv.end(), {"--", "/bin/true"});
        if (!probes::run(next).exited(0)) say("the next start failed");
        if (auto const more = traces(host_, tools_, before, tag); !more.empty()) say("after the next start: " + more);
        return bad.empty() ? verdict{} : verdict{verdict::broken, bad};
    }

    /// Two sessions in the same folder at the same time.
    verdict side_by_side(fact const& what, variant const& run) {
        auto const tag = "sbtag" + random_word();
        auto const before = look(host_, tools_.programs());
        auto o = order_for(host_, tools_, what, run, tag);
        int channel[2];
        if (::pipe2(channel, O_CLOEXEC) != 0) return {verdict::broken, "no pipe"};
        auto const other = ::fork();
        if (other == 0) {
            auto const seen = probes::run(o);
            (void)!::write(channel[1], seen.out.data(), std::min<std::size_t>(seen.out.size(), 60000));
            ::_exit(0);
        }
        ::close(channel[1]);
        auto const seen = probes::run(o);
        std::string theirs;
        char block[4096];
        for (ssize_t n = 0; (n = ::read(channel[0], block, sizeof block)) > 0;) theirs.append(block, static_cast<std::size_t>(n));
        ::close(channel[0]), ::waitpid(other, nullptr, 0);
        std::string bad, broken_line;
        auto const say = [&](std::string const& text) { (bad += bad.empty() ? "" : "; ") += text; };
        for (auto const& out : {seen.out, theirs}) {
            auto const records = records_in(out, broken_line);
            if (records.size() != 1) say(std::to_string(records.size()) + " records of one of them");
            for (auto const& record : records)
                if (auto const each = judge_record(run, record); each.is != verdict::held) say(each.why);
        }
        for (auto const* const each : {"/tmp/sb-neighbour", "/dev/shm/sb-neighbour", "/var/tmp/sb-neighbour"}) ::unlink(each);
        if (auto const more = traces(host_, tools_, before, tag); !more.empty()) say(more);
        return bad.empty() ? verdict{} : verdict{verdict::broken, bad};
    }

    /// A session, while another of the same caller has all that it can get.
    verdict beside_a_hoard(fact const& what, variant const& run) {
        auto const tag = "sbtag" + random_word(), other_tag = "sbtag" + random_word();
        auto const before = look(host_, tools_.programs());
        auto hoard = order_for(host_, tools_, what, run, tag);
        if (full()) hoard.argv.emplace_back("full=1");
        auto const other = ::fork();
        if (other == 0) probes::run(hoard), ::_exit(0);
        bool ready = false;
        for (auto const patience = now_s() + 60; !ready && now_s() < patience; ::usleep(10000))
            for (auto const pid : processes_with(tag)) ready = ready || read_whole("/proc/" + std::to_string(pid) + "/comm") == "sb-hoards\n";
        auto o = order_for(host_, tools_, what, {"check"}, other_tag);
        o.argv.emplace_back(::geteuid() == 0 ? "whole=1" : "whole=0");
        auto const seen = probes::run(o);
        for (auto const pid : processes_with(tag)) // it ends as it would for its caller
            if (read_whole("/proc/" + std::to_string(pid) + "/cmdline").starts_with(tools_.exec())) ::kill(pid, SIGTERM);
        ::waitpid(other, nullptr, 0);
        std::string bad, broken_line;
        auto const say = [&](std::string const& text) { (bad += bad.empty() ? "" : "; ") += text; };
        if (!ready) say("the other session never had what it wanted");
        auto const records = records_in(seen.out, broken_line);
        if (records.size() != 1) say(std::to_string(records.size()) + " records: " + seen.err.substr(0, seen.err.find('\n')));
        for (auto const& record : records) {
            if (auto const each = judge_record(run, record); each.is != verdict::held) say(each.why);
            if (std::getenv("SB_PROBE_SAYS")) std::fprintf(stderr, "%s: %s\n", what.name, std::string{sb::string_or(member(record, {"stdout", "head"}), "")}.c_str());
        }
        if (auto const more = traces(host_, tools_, before, tag); !more.empty()) say(more);
        return bad.empty() ? verdict{} : verdict{verdict::broken, bad};
    }

    host& host_;
    tools const& tools_;
};

} // namespace probes
