// SPDX-License-Identifier: MIT
// A probe inside the sandbox, with all that some probes need around them.
#pragma once
#include "judge.hpp"
#include <climits>

namespace probes {

/// Where the programs are: the probe beside the witness, the tools in $SB_BIN or in ../bin.
struct tools {
    std::string probe, bin;

    static tools find(char const* witness) {
        char real[PATH_MAX];
        std::string here = ::realpath("/proc/self/exe", real) ? real : witness;
        here.erase(here.rfind('/'));
        char const* const bin = std::getenv("SB_BIN");
        return {here + "/sb-probe", bin && *bin ? bin : here + "/../bin"};
    }
    bool probe_there() const { return ::access(probe.c_str(), X_OK) == 0; }
    std::string exec() const { return bin + "/sb-exec"; }
};

inline std::string copy_program(std::string const& from, std::string const& to, mode_t mode) {
    return write_whole(to, read_whole(from), mode) ? to : std::string{};
}

/// Sees to it that nothing of a run is left before the next one; true when it had to.
inline bool end_all(std::string const& tag) {
    bool any = false;
    for (int round = 0; round < 20; ++round) {
        auto const left = processes_with(tag);
        if (left.empty()) break;
        any = true;
        for (auto const pid : left) ::kill(pid, SIGKILL);
        ::usleep(20000);
    }
    return any;
}

inline std::string status_words(int status) {
    return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : "status " + std::to_string(WEXITSTATUS(status));
}

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
            if (what.number == 18) add(kill_supervisor(what, each), each.does);
            else if (what.number == 48) add(side_by_side(what, each), each.does);
            else add(one(what, each), each.does);
        }
        if (what.number == 47) add(feed_tools(), "");
        host::clear(host_.work);
        return worst;
    }

private:
    std::string preset(fact const& what, variant const& run) const {
        std::string text = "{\"SCENARIO_NAME\":\"" + std::string{what.name} + "\"";
        if (!std::string_view{run.preset}.empty()) text += "," + std::string{run.preset};
        if (std::string_view{run.preset}.find("TIMEOUT") == std::string_view::npos) text += ",\"TIMEOUT\":20";
        return text + "}\n";
    }

    order make_order(fact const& what, variant const& run, std::string const& tag) const {
        order o;
        o.argv = {tools_.exec()};
        char const* const options = std::getenv("SB_PROBE_OPTIONS");
        for (auto const& each : words_of(options ? options : "")) o.argv.push_back(each);
        for (auto const& each : words_of(what.options)) o.argv.push_back(each);
        for (auto const& each : {std::string{"--data-dir"}, host_.data, std::string{"--"}, std::string{"./sb-probe"}, std::to_string(what.number), "tag=" + tag}) o.argv.push_back(each);
        if (*run.does) o.argv.push_back(std::string{"do="} + run.does);
        auto const say = [&](std::string_view key, std::string const& text) { o.argv.push_back(std::string{key} + "=" + text); };
        switch (what.number) {
        case 15: say("marker", host_.outside + "/marker"); break;
        case 16: case 19: case 20: case 25: say("canary", std::to_string(host_.canary())); break;
        case 30: say("canary", std::to_string(host_.canary())), say("exe", tools_.exec()); break;
        case 27: say("namespace", "11"); break;
        case 28: say("folder", "10"); break;
        case 29: say("leaked", "9"); break;
        case 31: say("tty", host_.terminal_name); break;
        case 34: say("abstract", host_.abstract()); break;
        case 35: say("socket", host_.socket()); break;
        case 36: say("tcp", std::to_string(host_.tcp_port)); break;
        default: break;
        }
        if (what.number == 20 || what.number == 28 || what.number == 37) say("secret", host_.secret);
        if (what.number == 39 && ::geteuid() == 0) say("suid", host_.work + "/suid");
        o.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + host_.home, "TMPDIR=" + host_.temp, "LANG=C.UTF-8",
                         "SB_PROBE_SECRET=" + tag, "AWS_SECRET_ACCESS_KEY=" + tag, "LD_PRELOAD=/nonexistent/" + tag + ".so", "GCONV_PATH=/nonexistent/" + tag,
                         "HTTP_PROXY=http://" + tag + ".invalid", "SSH_AUTH_SOCK=" + host_.socket(), "DBUS_SESSION_BUS_ADDRESS=unix:path=" + host_.socket()};
        if (what.number != 42) o.environment.erase(o.environment.begin() + 6, o.environment.begin() + 9);
        o.folder = host_.work;
        o.in = preset(what, run);
        o.inherits = {{host_.leaked_file, 9}, {host_.leaked_folder, 10}, {host_.leaked_namespace, 11}};
        o.terminal = host_.terminal_name;
        return o;
    }

    std::vector<std::string> programs() const { return {tools_.exec(), tools_.probe}; }

    /// After a run: who is left, what changed, who called.
    std::string traces(snapshot const& before, std::string const& tag) {
        std::string bad;
        auto const say = [&](std::string const& text) { (bad += bad.empty() ? "" : "; ") += text; };
        // namespaces and groups are taken down by the kernel a moment after their last process
        auto const patience = now_s() + 3;
        std::vector<pid_t> left;
        while (!(left = processes_with(tag)).empty() && now_s() < patience) ::usleep(20000);
        if (!left.empty()) say(std::to_string(left.size()) + " processes are left"), end_all(tag);
        // what others on this host make and unmake is not there at every look; what a run leaves is
        auto changed = differences(before, look(host_, programs()));
        while (!changed.empty() && now_s() < patience) {
            ::usleep(100000);
            auto const again = differences(before, look(host_, programs()));
            std::erase_if(changed, [&](auto const& each) { return !again.contains(each); });
        }
        for (auto const& each : changed) say("changed on the host: " + each);
        if (!host_.canary_lives()) say("the canary is dead");
        if (auto const who = host_.callers(); !who.empty()) say("a listener of the host was reached:" + who);
        if (int const keys = host_.typed(); keys > 0) say(std::to_string(keys) + " keys were typed at the terminal");
        return bad;
    }

    verdict one(fact const& what, variant const& run) {
        auto const tag = "sbtag" + random_word();
        if (what.number == 39 && ::geteuid() == 0) copy_program(tools_.probe, host_.work + "/suid", 04755);
        auto const o = make_order(what, run, tag);
        auto const before = look(host_, programs());
        auto const seen = probes::run(o);
        ::unlink((host_.work + "/suid").c_str());
        std::string broken_line, bad;
        auto const say = [&](std::string const& text) { (bad += bad.empty() ? "" : "; ") += text; };
        auto const records = records_in(seen.out, broken_line);
        verdict result;
        if (seen.overdue) say("sb-exec did not end");
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
        if (!records.empty()) special(what, run, seen, records, say);
        if (what.options == std::string_view{"--keep"}) check_kept(say), host::clear(host_.temp);
        if (auto const more = traces(before, tag); !more.empty()) say(more);
        host::clear(host_.work), copy_program(tools_.probe, host_.work + "/sb-probe", 0755);
        if (what.number == 44) remove_ipc(tag);
        ::unlink((host_.outside + "/marker").c_str());
        if (!bad.empty()) return {verdict::broken, bad};
        return result;
    }

    template <class Say> void special(fact const& what, variant const& run, ended const& seen, std::vector<sb::value> const& records, Say say) {
        auto const wall = member(records[0], {"wall_s"}).number_or(0);
        if (std::string_view{run.limit} == "TIMEOUT" && wall > 1.2) say("ended " + std::to_string(wall - 1) + " s late");
        if (what.number == 10) {
            auto const* const stream = std::string_view{run.does} == "err" ? "stderr" : "stdout";
            auto const cut = member(records[0], {stream, "truncated"});
            if (!cut.if_bool() || !*cut.if_bool()) say("the record does not say that the output was cut");
        }
        if ((what.number == 10 || what.number == 47) && seen.peak_kib > 64 << 10) say("our memory grew to " + std::to_string(seen.peak_kib >> 10) + " MiB");
        if (seen.out_raw) say("raw control characters came out");
        if (what.number == 12)
            for (auto const& record : records)
                if (member(record, {"run_id"}).string_or("") == "f0f0f0f0f0f0f0f0") say("a forged record was passed on");
        if (what.number == 14 && wall > 5) say("the run lasted as long as the orphan");
        if (what.number == 14 && seen.held_s > 5) say("the orphan kept the caller's pipe");
    }

    /// What --keep kept: no content from elsewhere, no second name for a file outside.
    template <class Say> void check_kept(Say say) {
        struct stat secret {};
        ::stat(host_.secret.c_str(), &secret);
        bool any = false;
        std::vector<std::string> folders{host_.temp, host_.data, host_.home};
        for (std::size_t i = 0; i < folders.size() && i < 5000; ++i) // a folder that is too deep for a name is not read
            for (auto const& name : names_of(folders[i])) {
                struct stat facts {};
                auto const path = folders[i] + "/" + name;
                if (::lstat(path.c_str(), &facts) != 0) continue;
                any = true;
                if (S_ISDIR(facts.st_mode)) folders.push_back(path);
                if (!S_ISREG(facts.st_mode)) continue;
                if (facts.st_ino == secret.st_ino && facts.st_dev == secret.st_dev) say("the secret has a second name: " + name);
                if (read_whole(path).find(host_.token) != std::string::npos) say("the secret was collected: " + name);
            }
        if (!any) say("nothing was kept");
    }

    /// The supervisor ends by SIGKILL, alone or with all its helpers; nobody clears up until the next one starts.
    verdict kill_supervisor(fact const& what, variant const& run) {
        auto const tag = "sbtag" + random_word();
        auto o = make_order(what, run, tag);
        auto const before = look(host_, programs());
        bool const all = std::string_view{run.does} == "all";
        bool struck = false;
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
                if (read_whole("/proc/" + std::to_string(pid) + "/cmdline").starts_with("./sb-probe")) payload.push_back(pid);
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
        if (auto const more = traces(before, tag); !more.empty()) say("after the next start: " + more);
        return bad.empty() ? verdict{} : verdict{verdict::broken, bad};
    }

    /// Two sessions in the same folder at the same time.
    verdict side_by_side(fact const& what, variant const& run) {
        auto const tag = "sbtag" + random_word();
        auto const before = look(host_, programs());
        auto o = make_order(what, run, tag);
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
        if (auto const more = traces(before, tag); !more.empty()) say(more);
        return bad.empty() ? verdict{} : verdict{verdict::broken, bad};
    }

    /// Input to our own tools: each says what is wrong, in bounded time and memory.
    verdict feed_tools() {
        auto const keys = [] {
            std::string text = "{\"kind\":\"preset\"";
            for (int i = 0; i < 200000; ++i) text += ",\"k" + std::to_string(i) + "\":" + std::to_string(i);
            return text + "}\n";
        }();
        std::pair<char const*, std::string> const inputs[] = {
            {"deep arrays", std::string(8 << 20, '[')},
            {"deep objects", [] {
                 std::string text;
                 for (int i = 0; i < 1000000; ++i) text += "{\"a\":";
                 return text;
             }()},
            {"one long line", "{\"kind\":\"run\",\"x\":\"" + std::string(64 << 20, 'x') + "\"}\n"},
            {"a huge number", "{\"kind\":\"preset\",\"SEED\":" + std::string(4 << 20, '9') + "}\n"},
            {"a huge exponent", "{\"kind\":\"preset\",\"TIMEOUT\":1e999999999}\n"},
            {"many keys", keys},
            {"NULs", std::string(8 << 20, '\0')},
            {"a gzip head", std::string{"\x1f\x8b\x08\x00", 4} + std::string(1 << 20, '\xff')}};
        std::string aliases = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
        for (int i = 1; i < 12; ++i) {
            auto const last = "*a" + std::to_string(i - 1);
            aliases += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
            for (int k = 1; k < 10; ++k) aliases += "," + last;
            aliases += "]\n";
        }
        write_whole(host_.work + "/aliases.yaml", aliases, 0600);
        write_whole(host_.work + "/deep.yaml", "a: " + std::string(1 << 20, '[') + "\n", 0600);
        std::string bad;
        auto const feed = [&](char const* name, std::vector<std::string> argv, std::string const& in) {
            auto const tool = argv[0];
            argv[0] = tools_.bin + "/" + tool;
            if (::access(argv[0].c_str(), X_OK) != 0) return;
            order o;
            o.argv = std::move(argv), o.in = in, o.folder = host_.work, o.seconds = 30;
            o.environment = {"PATH=" + tools_.bin + ":/usr/bin:/bin", "HOME=" + host_.home, "TMPDIR=" + host_.temp};
            auto const seen = probes::run(o);
            auto const about = tool + " with " + name + ": ";
            if (seen.overdue) bad += about + "took more than 30 s; ";
            else if (!WIFEXITED(seen.status) || WEXITSTATUS(seen.status) > 4) bad += about + status_words(seen.status) + "; ";
            if (seen.peak_kib > 512 << 10) bad += about + std::to_string(seen.peak_kib >> 10) + " MiB; ";
            if (seen.out_raw) bad += about + "raw control characters; ";
        };
        for (auto const& [name, text] : inputs) {
            feed(name, {"sb-exec", "--data-dir", host_.data, "--dry-run", "--", "/bin/true"}, text);
            feed(name, {"sb-rank"}, text);
        }
        feed("aliases of aliases", {"sb-settings", "--json", "aliases.yaml"}, "");
        feed("deep YAML", {"sb-settings", "--json", "deep.yaml"}, "");
        feed("aliases as settings", {"sb-presets", "--settings", "aliases.yaml", "--count", "1"}, "");
        ::unlink((host_.work + "/aliases.yaml").c_str()), ::unlink((host_.work + "/deep.yaml").c_str());
        return bad.empty() ? verdict{} : verdict{verdict::broken, bad};
    }

    host& host_;
    tools const& tools_;
};

} // namespace probes
