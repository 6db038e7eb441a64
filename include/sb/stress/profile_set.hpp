// SPDX-License-Identifier: MIT
// Profiles by name: those of the table, and those in a user's files.
#pragma once
#include <sb/json/parse.hpp>
#include <sb/key/typed_preset.hpp>
#include <sb/stress/profile.hpp>
#include <sb/stress/severity.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::stress {

/// A profile's keys at each of its levels, mildest first.
struct leveled_profile {
    std::string name, category, help;
    std::vector<std::pair<std::string, object>> levels;

    object const* level(std::string_view name_of_level) const noexcept {
        for (auto const& [each, keys] : levels)
            if (each == name_of_level) return &keys;
        return nullptr;
    }
    std::string level_names() const {
        return joined(levels, ", ", [](auto const& each) -> std::string_view { return each.first; });
    }
};

namespace detail {
/// A row of the table as keys. The texts are our own and valid; a test checks this.
inline object keys_of(std::span<setting const> settings, bool high) {
    object keys;
    for (auto const& each : settings)
        if (auto v = key::value_of_text(*key::find(each.key), high ? each.high : each.low); v.has_value())
            keys[each.key] = std::move(*v);
    return keys;
}
inline bool is_preset_key(std::string_view name) noexcept {
    if (!key::own_variable(name).empty()) return true;
    if (name.empty() || name[0] < 'A' || name[0] > 'Z') return false;
    for (char const c : name)
        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
    return true;
}
} // namespace detail

inline leveled_profile levels_of(profile const& p) {
    leveled_profile leveled{std::string{p.name}, std::string{p.category}, std::string{p.help}, {}};
    if (p.settings.empty()) leveled.levels.emplace_back("none", object{});
    else
        for (bool const high : {false, true})
            leveled.levels.emplace_back(high ? "high" : "low", detail::keys_of(p.settings, high));
    return leveled;
}

class profile_set {
public:
    /// Adds the profiles of a file. The forms are `{"name":{"levels":{"low":{…},"high":{…}}}}`, the same without the word
    /// `levels`, `{"name":{KEYS}}`, or one flat preset. The name of a flat preset is its scenario, or else `otherwise`. Keys
    /// beside levels apply at each level. A user's profile hides one of ours with the same name.
    result<void> add(std::string_view text, std::string_view file, std::string_view otherwise) {
        if (trim(text).empty())
            return input_error(cat(file, ": empty; a profile file is a JSON object of profiles"));
        SB_TRY(auto const document, json::parse_document(text, file));
        auto const* const profiles = document.if_object();
        if (!profiles) return input_error(cat(file, ": not a JSON object of profiles"));
        bool flat = false;
        for (auto const& [name, v] : *profiles) flat = flat || detail::is_preset_key(name);
        if (flat) {
            auto const* const name = profiles->if_contains(key::scenario_name.name);
            return add_one(std::string{name ? string_or(*name, otherwise) : otherwise}, *profiles, file);
        }
        bool any = false;
        for (auto const& [name, v] : *profiles) {
            if (name == "kind" || name == "v") continue;
            if (!v.if_object()) return input_error(cat(file, ": profile \"", name, "\" is not an object"));
            SB_CHECK(add_one(name, *v.if_object(), file));
            any = true;
        }
        if (!any) return input_error(cat(file, ": no profile in it"));
        return {};
    }

    /// The profile of that name or alias; the error suggests the nearest name and lists all.
    result<leveled_profile> find(std::string_view name) const {
        for (auto const& each : custom_)
            if (each.name == name) return each;
        for (auto const& alias : profile_aliases)
            if (alias.name == name) name = alias.means;
        for (auto const& each : built_in_profiles)
            if (each.name == name) return levels_of(each);
        auto const known = names();
        return caller_error(cat("unknown profile \"", name, "\"", key::hint(name, known), "known are ", joined(known, ", ")));
    }
    /// A level must exist in some profile, and each name in a severity map must be a profile or an alias. The returned map
    /// has the profiles' own names.
    result<severity> resolve(severity const& asked) const {
        severity own{asked.for_all, {}};
        std::vector<std::string> levels{"low", "high"};
        for (auto const& each : custom_)
            for (auto const& [level, keys] : each.levels)
                if (std::find(levels.begin(), levels.end(), level) == levels.end()) levels.push_back(level);
        if (!own.for_all.empty() && std::find(levels.begin(), levels.end(), own.for_all) == levels.end()) {
            return caller_error(cat("no profile has a severity \"", own.for_all, "\"", key::hint(own.for_all, levels), "known are ", joined(levels, ", ")));
        }
        for (auto const& [name, level] : asked.by_profile) {
            SB_TRY(auto const p, find(name));
            if (!p.level(level)) return no_level(p, level);
            auto const [at, is_first] = own.by_profile.try_emplace(p.name, level);
            if (!is_first && at->second != level) return caller_error(cat("severity: profile ", p.name, " is given ", at->second, " under one of its names and ", level, " under another; write one of them"));
        }
        return own;
    }
    /// The requested level; a profile with a single level is always at that one. Without a request it is `otherwise`, or the
    /// last level if `otherwise` does not exist.
    result<std::string> choose(leveled_profile const& p, severity const& asked, std::string_view otherwise) const {
        if (auto const at = asked.by_profile.find(p.name); at != asked.by_profile.end()) return at->second;
        if (p.levels.size() == 1) return p.levels.front().first;
        if (!asked.for_all.empty()) {
            if (!p.level(asked.for_all)) return no_level(p, asked.for_all);
            return asked.for_all;
        }
        return p.level(otherwise) ? std::string{otherwise} : p.levels.back().first;
    }

    std::vector<std::string> names() const {
        auto names = custom_names();
        for (auto const& each : built_in_profiles)
            if (std::find(names.begin(), names.end(), each.name) == names.end()) names.emplace_back(each.name);
        return names;
    }
    std::vector<std::string> custom_names() const {
        std::vector<std::string> names;
        for (auto const& each : custom_) names.push_back(each.name);
        return names;
    }
    /// Parts of the files that have no effect, for people.
    std::vector<std::string> const& remarks() const noexcept { return remarks_; }

private:
    static error no_level(leveled_profile const& p, std::string_view level) {
        std::vector<std::string_view> known;
        for (auto const& [each, keys] : p.levels) known.push_back(each);
        return caller_error(cat("profile ", p.name, " has no severity \"", level, "\"", key::hint(level, known), "it has ",
            p.level_names()));
    }

    result<void> add_one(std::string const& name, object const& from, std::string_view file) {
        auto const wrong = [&](std::string_view what) {
            return input_error(cat(file, ": profile \"", name, "\": ", what));
        };
        if (name.empty() || name.find_first_of("+,= \t\n") != std::string::npos)
            return wrong("write a name without blanks, +, comma or =");
        leveled_profile p{name, "custom", cat("from ", file), {}};
        object common, beside; // `common`: keys that apply at each level; `beside`: levels without the word
        object const* levels = nullptr;
        for (auto const& [member, v] : from) {
            if (detail::is_preset_key(member)) common[member] = v;
            else if (member == "levels" && v.if_object()) levels = v.if_object();
            else if (member == "category" && v.if_string()) p.category = *v.if_string();
            else if (member == "help" && v.if_string()) p.help = *v.if_string();
            else if (member == "kind" || member == "v" || member == "id") continue;
            else if (v.if_object()) beside[member] = v; // {"low":{…},"high":{…}}
            else return wrong(cat("unknown member \"", member, "\"; it takes levels, or preset keys in upper case"));
        }
        if (!beside.empty()) {
            if (levels) return wrong(cat("\"", std::string_view{beside.begin()->key()}, "\" belongs beside levels, not in them"));
            levels = &beside;
        }
        if (levels) {
            for (auto const& [level, v] : *levels) {
                if (!v.if_object()) return wrong(cat("level \"", level, "\" is not an object"));
                auto keys = common;
                for (auto const& [name_of_key, each] : *v.if_object()) keys[name_of_key] = each;
                p.levels.emplace_back(level, std::move(keys));
            }
        } else if (!common.empty()) {
            auto const* const own = common.if_contains(key::severity.name);
            p.levels.emplace_back(own ? string_or(*own, "custom") : "custom", common);
        }
        if (p.levels.empty()) return wrong("no level in it");
        bool seeded = false;
        for (auto& [level, keys] : p.levels) {
            seeded = seeded || keys.if_contains(key::seed.name);
            for (auto const* label : {&key::scenario_name, &key::severity, &key::seed, &key::overrides}) keys.stable_erase(label->name); // the generator sets them
            if (auto const got = key::read(keys); got.has_error()) return wrong(got.error().what);
        }
        if (seeded) remarks_.push_back(cat(file, ": profile \"", name, "\": its ", key::seed.name, " is ignored; use --seed"));
        std::erase_if(custom_, [&](auto const& each) { return each.name == name; });
        custom_.push_back(std::move(p));
        return {};
    }
    std::vector<leveled_profile> custom_;
    std::vector<std::string> remarks_;
};

} // namespace sb::stress
