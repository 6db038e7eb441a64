// SPDX-License-Identifier: MIT
// Hostile input to our own tools.
#pragma once
#include "sb_exec_order.hpp"
#include <utility>

namespace probes {

/// Input to our own tools: each says what is wrong, in bounded time and memory.
inline verdict feed_tools(host const& on, tools const& with) {
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
    write_whole(on.work + "/aliases.yaml", aliases, 0600);
    write_whole(on.work + "/deep.yaml", "a: " + std::string(1 << 20, '[') + "\n", 0600);
    std::string bad;
    auto const feed = [&](char const* name, std::vector<std::string> argv, std::string const& in) {
        auto const tool = argv[0];
        argv[0] = with.bin + "/" + tool;
        if (::access(argv[0].c_str(), X_OK) != 0) return;
        order o;
        o.argv = std::move(argv), o.in = in, o.folder = on.work, o.seconds = 30;
        o.environment = {"PATH=" + with.bin + ":/usr/bin:/bin", "HOME=" + on.home, "TMPDIR=" + on.temp};
        auto const seen = probes::run(o);
        auto const about = tool + " with " + name + ": ";
        if (seen.overdue) bad += about + "took more than 30 s; ";
        else if (!WIFEXITED(seen.status) || WEXITSTATUS(seen.status) > 4) bad += about + status_words(seen.status) + "; ";
        if (seen.peak_kib > 512 << 10) bad += about + std::to_string(seen.peak_kib >> 10) + " MiB; ";
        if (seen.out_raw) bad += about + "raw control characters; ";
    };
    for (auto const& [name, text] : inputs) {
        feed(name, {"sb-exec", "--data-dir", on.data, "--dry-run", "--", "/bin/true"}, text);
        feed(name, {"sb-rank"}, text);
    }
    feed("aliases of aliases", {"sb-settings", "--json", "aliases.yaml"}, "");
    feed("deep YAML", {"sb-settings", "--json", "deep.yaml"}, "");
    feed("aliases as settings", {"sb-presets", "--settings", "aliases.yaml", "--count", "1"}, "");
    ::unlink((on.work + "/aliases.yaml").c_str()), ::unlink((on.work + "/deep.yaml").c_str());
    return bad.empty() ? verdict{} : verdict{verdict::broken, bad};
}

} // namespace probes
