// SPDX-License-Identifier: MIT
// Which profiles fit a module, by the words in its path and in its source.
#pragma once
#include <sb/stress/profile_set.hpp>
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::stress {

namespace detail {
struct keyword {
    std::string_view word, profiles;
};
inline constexpr std::string_view all_six = "high_latency_api hostile_input user_misuse concurrency_spike schema_drift flaky_upstream";
inline constexpr auto keywords = std::to_array<keyword>({
    {"api", "high_latency_api"},
    {"network", "high_latency_api"},
    {"cache", "high_latency_api"},
    {"parser", "hostile_input user_misuse"},
    {"input", "hostile_input"},
    {"concurrency", "concurrency_spike"},
    {"thread", "concurrency_spike"},
    {"database", "high_latency_api concurrency_spike schema_drift"},
    {"auth", "user_misuse hostile_input"},
    {"schema", "schema_drift"},
    {"legacy", "schema_drift"},
    {"flaky", "flaky_upstream"},
    {"upstream", "flaky_upstream"},
    {"util", all_six},
    {"utils", all_six},
    {"common", all_six},
    {"misc", all_six},
    {"shared", all_six},
});
} // namespace detail

/// Lower-case words of a path or an identifier: split at every character that is not a letter, and at the capitals of
/// camelCase.
inline std::vector<std::string> words_in(std::string_view text) {
    std::vector<std::string> found;
    std::string word;
    auto const is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    auto const is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    auto const close = [&] {
        if (!word.empty()) found.push_back(std::exchange(word, {}));
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        char const c = text[i];
        if (!is_upper(c) && !is_lower(c)) {
            close();
            continue;
        }
        bool const hump = is_upper(c) && i > 0 &&
                (is_lower(text[i - 1]) || (is_upper(text[i - 1]) && i + 1 < text.size() && is_lower(text[i + 1])));
        if (hump) close();
        word.push_back(to_lower(c));
    }
    close();
    return found;
}

class keyword_map {
public:
    keyword_map() {
        for (auto const& each : detail::keywords) {
            auto& profiles = map_.emplace_back(std::string{each.word}, std::vector<std::string>{}).second;
            key::each_word(each.profiles, [&](std::string_view p) { profiles.emplace_back(p); });
        }
    }
    /// `keyword_profiles` of the settings: each given keyword replaces that keyword; the others stay.
    result<void> merge(value const& settings, profile_set const& known) {
        auto const* const given = settings.if_object();
        if (!given) return caller_error("settings: keyword_profiles: must be a map of keywords to profiles");
        for (auto const& [word, v] : *given) {
            std::vector<std::string> profiles;
            auto const add = [&, &word = word](value const& each) -> result<void> {
                if (!each.if_string())
                    return caller_error(cat("settings: keyword_profiles: ", word,
                        ": must be a profile or a list of profiles"));
                auto const p = known.find(*each.if_string());
                if (p.has_error()) return caller_error(cat("settings: keyword_profiles: ", word, ": ", p.error().what));
                profiles.push_back(p->name);
                return {};
            };
            if (auto const* list = v.if_array())
                for (auto const& each : *list) SB_CHECK(add(each));
            else SB_CHECK(add(v));
            auto const key = lowered(word);
            auto const at = std::find_if(map_.begin(), map_.end(), [&](auto const& each) { return each.first == key; });
            if (at != map_.end()) at->second = std::move(profiles);
            else map_.emplace_back(key, std::move(profiles));
        }
        return {};
    }

    /// Profiles for the module at `path`, whose source may be given. Only whole words match ("capital" does not contain the
    /// word "api"); a plural counts as its word. All six if nothing matches. user_misuse only if it is switched on.
    std::vector<std::string> suggest(std::string_view path, std::string_view source, bool misuse) const {
        std::vector<std::string> suggested;
        auto const add = [&](std::string_view profile) {
            if (profile == "user_misuse" && !misuse) return;
            if (std::find(suggested.begin(), suggested.end(), profile) == suggested.end()) suggested.emplace_back(profile);
        };
        auto const match = [&](std::vector<std::string> const& words) {
            for (auto const& word : words)
                for (auto const& [key, profiles] : map_)
                    if (word == key || (word.size() == key.size() + 1 && word.back() == 's' && word.starts_with(key)))
                        for (auto const& p : profiles) add(p);
        };
        match(words_in(path));
        match(telling_words(source));
        if (suggested.empty()) key::each_word(detail::all_six, add);
        return suggested;
    }

private:
    /// Words of a source that show its purpose: its imports or includes, its decorators, and the names of its constants.
    static std::vector<std::string> telling_words(std::string_view source) {
        std::vector<std::string> found;
        auto const take = [&](std::string_view text) {
            for (auto& word : words_in(text)) found.push_back(std::move(word));
        };
        split(source, '\n', [&](std::string_view line) {
            line = trim(line);
            for (std::string_view const start : {"import ", "from ", "#include", "use ", "using ", "require", "@"})
                if (line.starts_with(start)) {
                    take(line.substr(start.size()));
                    return;
                }
            auto const name = trim(line.substr(0, line.find('=')));
            if (name.size() < line.size() && detail::is_preset_key(name)) take(name);
        });
        return found;
    }
    std::vector<std::pair<std::string, std::vector<std::string>>> map_;
};

} // namespace sb::stress
