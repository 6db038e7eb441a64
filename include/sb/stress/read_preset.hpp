// SPDX-License-Identifier: MIT
// Reads presets: lines, a JSON array, an object of arrays or of levels, {"presets":[…]}, with or without `kind`.
#pragma once
#include <sb/json/dispatch.hpp>
#include <sb/key/typed_preset.hpp>
#include <sb/stress/preset_id.hpp>
#include <sb/stress/profile_set.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::stress {

/// Makes a complete preset of a flat object: checks its keys, fills in a missing name, severity and seed, and computes its
/// id. It never trusts the id in the object: `warning` reports an id that differs from the computed one. `number` (from 0)
/// names a preset without a name: scenario_3.
inline result<key::preset> preset_of(object const& from, std::uint64_t number, std::string& warning,
                                       std::string_view scenario = {}, std::string_view level = {}) {
    key::preset p;
    std::string given_id;
    bool acts = false;
    for (auto const& [name, v] : from) {
        if (name == "kind" || name == "v") continue;
        if (name == "id") {
            if (!v.if_string()) return input_error("\"id\" is not a string");
            given_id = *v.if_string();
            continue;
        }
        auto const* const k = key::find(name);
        acts = acts || !k || !k->labels();
        p.keys[name] = v;
    }
    auto read = key::read(p.keys);
    if (read.has_error()) return input_error(read.error().what);
    p.asked = std::move(*read);
    auto const add = [&](key::definition const& label, key::amount is, value v) {
        p.keys[label.name] = std::move(v);
        p.asked.add({&label, std::move(is)});
    };
    if (!p.keys.if_contains(key::scenario_name.name)) {
        std::string name{scenario};
        if (auto const* modes = p.asked.find(key::failure_modes); modes && name.empty())
            name = key::modes_scenario(key::modes_of(std::get<key::words>(*modes).are));
        if (name.empty()) name = acts ? cat("scenario_", number) : "normal";
        add(key::scenario_name, key::text{name}, value(name));
    }
    if (!p.keys.if_contains(key::severity.name)) {
        std::string_view const is = !level.empty() ? level : acts ? "custom" : "none";
        add(key::severity, key::text{std::string{is}}, value(is));
    }
    if (!p.keys.if_contains(key::seed.name)) add(key::seed, key::integer{0}, value(0));
    seal(p);
    p.asked.sort();
    if (!given_id.empty() && given_id != p.id)
        warning = cat("preset id ", given_id, " does not match its content; it is now ", p.id);
    return p;
}

/// What could not be read, and where: line and byte, both from 1.
struct bad_preset {
    std::int64_t line = 1;
    std::size_t byte = 1;
    std::string what;
    bool is_object = false; ///< it has the form of a preset, but one of its keys is wrong
};

/// Takes text in parts and returns each preset as soon as it is complete; a broken line is reported and skipped.
class preset_reader {
public:
    using take = std::function<void(key::preset)>;
    using report = std::function<void(bad_preset const&)>;
    /// A warning is also a bad_preset, sent to `warn`, but its preset was accepted.
    preset_reader(take use, report bad, report warn = {})
        : use_{std::move(use)}, bad_{std::move(bad)}, warn_{std::move(warn)} {}

    void feed(std::string_view bytes) {
        for (char const c : bytes) {
            if (held_.empty()) {
                if (is_blank(c)) {
                    pass(c);
                    continue;
                }
                start_line_ = line_, start_byte_ = byte_, quoted_ = escaped_ = false, last_ = '\0';
                open_.clear();
                loose_ = c != '{' && c != '[';
            }
            if (c == '\n' && loose_) spoiled();
            else if (c == '\n' && (quoted_ || held_.size() > largest)) torn();
            else step(c);
            pass(c);
        }
    }
    void finish() {
        if (!held_.empty()) spoiled();
    }
    std::uint64_t presets() const noexcept { return presets_; }
    /// Records of other kinds, which were skipped.
    std::uint64_t others() const noexcept { return others_; }

private:
    static constexpr std::size_t largest = std::size_t{64} << 20, deepest = 64;

    void pass(char c) {
        if (c == '\n') ++line_, byte_ = 1;
        else ++byte_;
    }
    /// One byte of a value that has begun. Counts brackets. If a value begins where none can, as on the line after an
    /// incomplete one, the attempt ends. The parser checks everything else.
    void step(char c) {
        auto const opens = [&] { return !loose_ && !quoted_ && (c == '{' || c == '['); };
        auto const fits = [&] {
            if (open_.size() > deepest) return false;
            return open_.empty() || (open_.back() == '{' ? last_ == ':' : last_ == '[' || last_ == ',');
        };
        while (opens() && !held_.empty() && !fits()) torn();
        bool const bracket = opens();
        if (bracket && held_.empty()) start_line_ = line_, start_byte_ = byte_, open_.clear();
        if (held_.size() <= largest) held_.push_back(c);
        if (loose_) return;
        if (quoted_) {
            if (escaped_) escaped_ = false;
            else if (c == '\\') escaped_ = true;
            else if (c == '"') quoted_ = false;
        } else if (c == '"') quoted_ = true;
        else if (bracket) open_.push_back(c);
        else if (c == '}' || c == ']') {
            open_.pop_back();
            if (open_.empty()) return whole();
        }
        if (!is_blank(c)) last_ = c;
    }
    void whole() {
        value v;
        if (json::parse(held_, v)) return spoiled();
        held_.clear();
        expand(v, start_line_, start_byte_, {}, {});
    }
    json::fault fault_in(std::string_view text) const {
        value v;
        if (text.size() > largest) return {0, "longer than 64 MiB"};
        return json::parse(text, v).value_or(json::fault{});
    }
    /// The value or the text ended, and it is not JSON. Reports this once, and accepts the lines of it that are complete by
    /// themselves.
    void spoiled() {
        auto const held = std::exchange(held_, {});
        auto const text = trim(held);
        auto const wrong = fault_in(text);
        std::int64_t line = start_line_;
        std::size_t byte = start_byte_;
        for (std::size_t i = 0; i < wrong.at && i < text.size(); ++i)
            if (text[i] == '\n') ++line, byte = 1;
            else ++byte;
        no(line, byte, wrong.what.empty() ? no_preset(text) : std::string{wrong.what});
        if (text.find('\n') == std::string_view::npos) return;
        line = start_line_;
        split(text, '\n', [&](std::string_view each) {
            if (value one; !trim(each).empty() && !json::parse(each, one) && one.if_object())
                expand(one, line, 1, {}, {});
            ++line;
        });
    }
    /// The first line in `held_` cannot continue like this: reports it, and reads what came after it again.
    void torn() {
        auto const text = std::exchange(held_, {});
        auto const end = static_cast<std::size_t>(std::find(text.begin(), text.end(), '\n') - text.begin());
        auto const wrong = fault_in(std::string_view{text}.substr(0, end));
        no(start_line_, start_byte_ + wrong.at,
            std::string{wrong.what.empty() ? "unexpected value" : wrong.what});
        if (end == text.size()) return;
        auto const line = std::exchange(line_, start_line_ + 1);
        auto const byte = std::exchange(byte_, 1);
        feed(std::string_view{text}.substr(end + 1));
        line_ = line, byte_ = byte;
    }

    static std::string no_preset(std::string_view text) { return cat("a preset is an object of upper-case keys, not ", text.substr(0, 40)); }
    void no(std::int64_t line, std::size_t byte, std::string what, bool is_object = false) { bad_({line, byte, std::move(what), is_object}); }

    void expand(value const& v, std::int64_t line, std::size_t byte, std::string_view scenario,
        std::string_view level) {
        if (auto const* list = v.if_array()) {
            for (auto const& each : *list) expand(each, line, byte, scenario, level);
            return;
        }
        auto const* const o = v.if_object();
        if (!o)
            return no(line, byte, no_preset(json::text_of(v)));
        if (auto const* const kind = json::kind_of(*o); kind && *kind->if_string() != preset_record::kind) return void(++others_);
        if (auto const* list = o->if_contains("presets")) return expand(*list, line, byte, scenario, level);
        if (auto const* levels = o->if_contains("levels")) return expand(*levels, line, byte, scenario, level);
        bool flat = true;
        for (auto const& [name, each] : *o) flat = flat && !(each.if_object() || each.if_array());
        for (auto const& [name, each] : *o) flat = flat || detail::is_preset_key(name);
        if (flat) return one(*o, line, byte, scenario, level);
        for (auto const& [name, each] : *o) { // profile → preset, levels or list; or level → preset
            if (name == "kind" || name == "v" || name == "id") continue;
            if (!each.if_object() && !each.if_array()) {
                no(line, byte, cat("\"", name, "\" is neither a preset nor a list of them"));
                continue;
            }
            if (scenario.empty()) expand(each, line, byte, name, level);
            else expand(each, line, byte, scenario, name);
        }
    }
    void one(object const& o, std::int64_t line, std::size_t byte, std::string_view scenario, std::string_view level) {
        std::string warning;
        auto got = preset_of(o, presets_, warning, scenario, level);
        if (got.has_error()) return no(line, byte, got.error().what, true);
        if (!warning.empty() && warn_) warn_({line, byte, warning});
        ++presets_;
        use_(std::move(*got));
    }

    take use_;
    report bad_, warn_;
    std::string held_;
    bool loose_ = false, quoted_ = false, escaped_ = false;
    char last_ = '\0'; ///< the last byte of the value that was not a blank
    std::string open_; ///< brackets that are still open
    std::int64_t line_ = 1, start_line_ = 1;
    std::size_t byte_ = 1, start_byte_ = 1;
    std::uint64_t presets_ = 0, others_ = 0;
};

/// All presets of a document. The first problem in it is the error, with its line and byte. `name` is that of the file or
/// the variable.
inline result<std::vector<key::preset>> read_presets(std::string_view text, std::string_view name,
                                                       std::vector<std::string>* warnings = nullptr) {
    std::vector<key::preset> presets;
    std::optional<error> wrong;
    auto const located = [&](bad_preset const& bad) {
        return cat(name, ": line ", bad.line, ", byte ", bad.byte, ": ", bad.what);
    };
    preset_reader reader{[&](key::preset p) { presets.push_back(std::move(p)); },
                         [&](bad_preset const& bad) {
                             if (!wrong) wrong = input_error(located(bad));
                         },
                         [&](bad_preset const& bad) {
                             if (warnings) warnings->push_back(located(bad));
                         }};
    reader.feed(text);
    reader.finish();
    if (wrong) return *wrong;
    if (presets.empty()) return input_error(cat(name, ": no preset in it"));
    return presets;
}

} // namespace sb::stress
