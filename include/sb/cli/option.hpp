// SPDX-License-Identifier: MIT
// One option of a tool, declared once: parsing, help, manual, completion, environment, settings and --explain read it.
#pragma once
#include <sb/core/did_you_mean.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/core/units.hpp>
#include <sb/json/number.hpp>
#include <algorithm>
#include <charconv>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::cli {

namespace detail {

inline result<void> read_text(std::string_view text, std::string& into) {
    into = text;
    return {};
}
inline result<void> read_text(std::string_view text, bool& into) {
    auto const word = lowered(text);
    for (auto const* yes : {"1", "true", "yes", "on"})
        if (word == yes) return into = true, result<void>{};
    for (auto const* no : {"0", "false", "no", "off"})
        if (word == no) return into = false, result<void>{};
    return caller_error(cat("\"", text, "\" is neither yes nor no"));
}
template <std::integral T>
result<void> read_text(std::string_view text, T& into) {
    auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (code == std::errc::result_out_of_range) return caller_error(cat("\"", text, "\" is out of range"));
    if (code != std::errc{} || end != text.data() + text.size() || text.empty())
        return caller_error(cat("\"", text, "\" is not a whole number"));
    return {};
}
inline result<void> read_text(std::string_view text, double& into) {
    auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (code != std::errc{} || end != text.data() + text.size() || text.empty() || !std::isfinite(into))
        return caller_error(cat("\"", text, "\" is not a number"));
    return {};
}
inline result<void> read_text(std::string_view text, bytes& into) {
    SB_TRY(into, parse_bytes(text));
    return {};
}
inline result<void> read_text(std::string_view text, seconds& into) {
    SB_TRY(into, parse_seconds(text));
    return {};
}
template <class T>
result<void> read_text(std::string_view text, std::optional<T>& into) {
    T item{};
    SB_CHECK(read_text(text, item));
    into = std::move(item);
    return {};
}
template <class T>
result<void> read_text(std::string_view text, std::vector<T>& into) {
    T item{};
    SB_CHECK(read_text(text, item));
    into.push_back(std::move(item));
    return {};
}

inline std::string show(std::string const& s) { return s; }
inline std::string show(bool b) { return b ? "yes" : "no"; }
template <std::integral T>
    requires(!std::same_as<T, bool>)
std::string show(T n) {
    return cat(n);
}
inline std::string show(double x) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}
inline std::string show(bytes b) { return cat(b.count); }
inline std::string show(seconds s) { return show(s.count) + "s"; }
template <class T>
std::string show(std::optional<T> const& v) {
    return v ? show(*v) : std::string{};
}
template <class T>
std::string show(std::vector<T> const& items) {
    return joined(items, ",", [](T const& each) { return show(each); });
}

template <class T>
struct is_list : std::false_type {};
template <class T>
struct is_list<std::vector<T>> : std::true_type {};

} // namespace detail

class option {
public:
    std::string flag; ///< "--by"
    char letter = 0; ///< 'h' for -h
    std::string meta; ///< "NAME"; empty for a switch
    std::string help;
    std::vector<std::string> environment_names; ///< the first is the name, the others mean the same
    struct old_name {
        std::string name, instead;
    };
    std::vector<old_name> deprecated; ///< environment names that still work and warn
    std::vector<std::string> foreign_names; ///< of the environment names, those that other programs read too
    std::vector<std::string> aliases; ///< other flags that mean the same
    std::string setting_key; ///< top-level key of the settings file; the tool's section takes the flag's own name
    std::vector<std::string> words; ///< the only values, when given
    std::vector<std::pair<std::string, std::string>> synonyms; ///< what others call one of them, and the word
    std::vector<std::string> verbs; ///< of the tool's, that it is for; none: for all
    bool list = false, greedy = false, shared = false;
    bool is_harmless = false; ///< a file that was only found in the current folder may set it: see cli/trust.hpp
    std::vector<std::string> harmless_words; ///< if not empty, only these of its words are harmless
    std::function<result<void>(std::string_view)> set;
    std::function<std::string()> show;
    std::function<void()> clear; ///< lists: a stronger source replaces, it does not add
    std::string source = "default"; ///< where the value came from
    std::string default_text;

    option& env(std::string name) { return environment_names.push_back(std::move(name)), *this; }
    /// A variable that other programs read too: a value that means nothing here is ignored with a warning.
    option& foreign_env(std::string name) { return foreign_names.push_back(name), env(std::move(name)); }
    option& old_env(std::string name, std::string instead) {
        return deprecated.push_back({std::move(name), std::move(instead)}), *this;
    }
    option& alias(std::string other) { return aliases.push_back(std::move(other)), *this; }
    option& short_name(char c) { return letter = c, *this; }
    option& setting(std::string key) { return setting_key = std::move(key), *this; }
    option& choices(std::vector<std::string> these) { return words = std::move(these), *this; }
    option& synonym(std::string theirs, std::string ours) { return synonyms.emplace_back(std::move(theirs), std::move(ours)), *this; }
    /// Whatever its value (or: whichever of `words`), it changes neither what is run, nor where, nor what a run may do. What is
    /// not declared so is never taken from a file that nobody named.
    option& harmless(std::vector<std::string> these = {}) { return is_harmless = true, harmless_words = std::move(these), *this; }
    /// Only for these of the tool's verbs.
    option& of(std::vector<std::string> these) { return verbs = std::move(these), *this; }
    /// Takes all arguments up to the next option: `--profile a b c`.
    option& many() { return greedy = true, *this; }

    bool is_switch() const noexcept { return meta.empty(); }
    std::string section_key() const {
        std::string key = flag.substr(2);
        for (auto& c : key)
            if (c == '-') c = '_';
        return key;
    }
    bool is_set_by(std::string_view variable) const {
        auto const is = [&](std::string const& name) { return name == variable; };
        return std::any_of(environment_names.begin(), environment_names.end(), is) ||
               std::any_of(deprecated.begin(), deprecated.end(), [&](old_name const& each) { return is(each.name); });
    }
    /// The one of the words that the text means; empty when it is none.
    std::string_view word_of(std::string_view text) const {
        std::string_view known;
        for (std::string_view const word : words)
            if (lowered(word) == lowered(text)) known = word;
        for (auto const& [theirs, ours] : synonyms)
            if (theirs == lowered(text)) known = ours;
        return known;
    }
    /// May a file that was only found set it to this?
    bool may_be_found(std::string_view text) const {
        if (!is_harmless || list) return false;
        return harmless_words.empty() || std::find(harmless_words.begin(), harmless_words.end(), word_of(text)) != harmless_words.end();
    }
    /// Sets from text; the error says which name the text came from.
    result<void> take(std::string_view text, std::string_view named) {
        if (!words.empty()) {
            auto const known = word_of(text);
            if (known.empty()) return caller_error(cat(named, ": \"", text, "\" is not one of ", joined(words, ", "), did_you_mean(text, words)));
            text = known;
        }
        if (auto const taken = set(text); taken.has_error()) return caller_error(cat(named, ": ", taken.error().what));
        return {};
    }
};

/// Binds an option to the variable that it fills.
template <class T>
void bind_option(option& o, T& target) {
    o.list = detail::is_list<T>::value;
    o.set = [&target](std::string_view text) { return detail::read_text(text, target); };
    o.show = [&target] { return detail::show(target); };
    o.clear = [] {};
    if constexpr (detail::is_list<T>::value) o.clear = [&target] { target.clear(); };
    o.default_text = detail::show(target);
}

} // namespace sb::cli
