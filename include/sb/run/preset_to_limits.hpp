// SPDX-License-Identifier: MIT
// Turns a preset's keys into limits that are enforced, or a reason why not. The meaning of each key is in its own file
// (sb/key).
#pragma once
#include <sb/core/text.hpp>
#include <sb/json/write.hpp>
#include <sb/key/typed_preset.hpp>
#include <sb/run/backend.hpp>
#include <sb/run/enforcement.hpp>
#include <sb/run/payload_environment.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::run {

namespace detail {

/// Goes through the keys of a preset, then through the keys that the preset does not name.
class enforcing {
public:
    enforcing(key::amounts const& asked, overrides const& wins, key::host const& here, enforcement& into) : asked_{asked}, wins_{wins}, here_{here}, into_{into} {}

    result<void> take(key::asked const& one, value const& written) {
        if (one.key && !one.key->labels()) return plan(*one.key, one.is, written);
        if (auto const variable = key::own_variable(one.name()); !one.key && !variable.empty()) {
            auto const text = written.if_string() ? std::string{*written.if_string()} : json::text_of(written);
            into_.variables[std::string{variable}] = text;
            into_.applied.push_back({std::string{one.name()}, written, value(text), "environment variable"});
        } else {
            into_.informational.emplace_back(one.name());
        }
        return {};
    }
    /// What applies if the preset does not have this key.
    void take_silent(key::definition const& silent) {
        if (asked_.find(silent)) return;
        if (auto const by_hand = given(silent))
            return acted(silent, value(key::size_of(*by_hand)), silent.plan(*by_hand, here_, into_.setup), said_by_hand);
        if (!silent.by_default) return;
        if (auto told = silent.by_default(here_, into_.setup)) acted(silent, value(), std::move(*told), ", by default");
    }
    void finish() {
        for (auto& each : planned_) {
            if (each.key->finish) each.key->finish(each.told, here_, into_.setup);
            into_.applied[each.place].by = cat(each.told.by, each.how, each.told.more);
        }
    }

private:
    static constexpr std::string_view said_by_hand = ", by --timeout";
    struct planned {
        key::definition const* key;
        key::outcome told;
        std::string_view how;
        std::size_t place; // in `applied`
    };

    /// The value on the command line that replaces the preset's.
    std::optional<key::amount> given(key::definition const& of) const {
        if (&of == &key::timeout && wins_.timeout_s) return key::seconds{*wins_.timeout_s};
        return std::nullopt;
    }
    void acted(key::definition const& which, value const& written, key::outcome told, std::string_view how) {
        if (!told.loose.empty()) into_.loose.push_back(cat(which.name, " ", told.loose));
        into_.applied.push_back({std::string{which.name}, written, std::move(*told.achieved), {}});
        planned_.push_back({&which, std::move(told), how, into_.applied.size() - 1});
    }
    result<void> plan(key::definition const& which, key::amount const& is, value const& written) {
        auto const by_hand = given(which);
        key::outcome told;
        if (which.plan && (here_.limits || !which.needs_limits)) told = which.plan(by_hand ? *by_hand : is, here_, into_.setup);
        // a preset may come from a larger machine, but a limit given by hand was meant for this one
        if (!told.machine.empty() && asked_.is_by_hand(which))
            return caller_error(cat(which.name, " ", variable_text(written), " limits nothing: this machine has only ", told.machine));
        if (told.lowered) into_.lowered.push_back(cat(which.name, " ", variable_text(written), " is more than this machine has; capped at ", told.machine));
        if (told.achieved) {
            acted(which, written, std::move(told), by_hand ? said_by_hand : std::string_view{});
            return {};
        }
        auto why = !here_.limits ? std::string{"--isolate none limits only time and output"} : !told.by.empty() ? std::move(told.by) : std::string{which.why_not(here_)};
        if (which.is_limit) into_.loose.push_back(cat(which.name, " cannot be enforced: ", why));
        into_.unsupported.push_back({std::string{which.name}, written, std::move(why)});
        return {};
    }

    key::amounts const& asked_;
    overrides const& wins_;
    key::host const& here_;
    enforcement& into_;
    std::vector<planned> planned_;
};

} // namespace detail

/// The effect of a preset on a backend with these abilities.
inline result<enforcement> enforce(key::preset const& preset, overrides const& wins, key::host const& here, key::key_list const& keys = key::all_keys) {
    enforcement held;
    detail::enforcing each{preset.asked, wins, here, held};
    auto written = preset.keys.begin();
    for (auto const& one : preset.asked) SB_CHECK(each.take(one, (written++)->value()));
    for (auto const* silent : keys.in_order) each.take_silent(*silent);
    each.finish();
    return held;
}

} // namespace sb::run
