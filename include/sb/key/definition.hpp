// SPDX-License-Identifier: MIT
// All there is to know of a preset key: what it takes, what it is for, and how it acts. Each key is defined in a file of its own
// or of its family; list.hpp names them all.
#pragma once
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/key/amount.hpp>
#include <sb/key/end.hpp>
#include <sb/key/host.hpp>
#include <sb/key/setup.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sb::key {

/// What a plan came to, beside what it set up.
struct outcome {
    std::optional<value> achieved = {}; ///< what holds; nothing when the key cannot act here
    std::string by = {}; ///< by which mechanism; or why it cannot act
    std::string more = {}; ///< what is said of the mechanism after who asked for it
    std::string loose = {}; ///< it acts, but not on the whole tree: how ("holds for each process: …")
    std::string machine = {}; ///< what the machine has, where more was asked for
    bool lowered = false; ///< that holds instead
};
inline outcome holds(value achieved, std::string by) { return {.achieved = std::move(achieved), .by = std::move(by)}; }
inline outcome not_here(std::string why) { return {.by = std::move(why)}; }
/// ": why", or nothing.
inline std::string because(std::string const& why) { return why.empty() ? why : cat(": ", why); }

/// A row of the manual on limits. What control groups change has a way of its own without one.
struct manual_row {
    std::string_view how = {}, without = {}, reached = {};
};

struct definition {
    std::string_view name;
    unit in;
    double least = 0, most = 0; ///< valid range, where the unit counts
    std::string_view ladder = {}; ///< rungs for random presets and for adaptation, mildest name first, blank between
    std::string_view words = {}; ///< what is valid, for word and words, blank between
    std::string_view help; ///< one line
    std::string_view note = {}; ///< decisions that a user should know
    bool is_limit = false; ///< it holds a program down, as opposed to what harms it
    bool needs_limits = true; ///< false: it acts where nothing is limited too
    /// Sets up what was asked for. None: the key does not act, or not yet.
    outcome (*plan)(amount const&, host const&, setup&) = nullptr;
    /// The same where a preset is silent. None, or nothing in the answer: nothing holds then.
    std::optional<outcome> (*by_default)(host const&, setup&) = nullptr;
    /// What depends on other keys, when all of them are planned.
    void (*finish)(outcome&, host const&, setup&) = nullptr;
    /// What it waits for. Beside a plan: some of its values still wait. Without both the key only names or labels.
    std::string_view (*why_not)(host const&) = nullptr;
    std::span<end_rule const> ends = {}; ///< how it ends runs
    manual_row manual = {}; ///< for a key that acts
    definition const* not_above = nullptr; ///< the key whose value this one's must not exceed
    std::string_view not_by_hand = {}; ///< why nobody sets it: what follows its name
    value (*tidy)(key::words const&) = nullptr; ///< one way to write several words; none: as given

    constexpr bool acts() const noexcept { return plan && !why_not; }
    constexpr bool labels() const noexcept { return !plan && !why_not; }
    /// How it ends runs for that cause; null if it does not.
    constexpr end_rule const* rule_of(end_cause cause) const noexcept {
        for (auto const& each : ends)
            if (each.cause == cause) return &each;
        return nullptr;
    }
};

namespace detail {
template <class Amount>
Amount amount_of_plan(outcome (*)(Amount, host const&, setup&));
} // namespace detail

/// A plan that takes the amount in its own type, as the entry of a definition.
template <auto Plan>
outcome typed(amount const& a, host const& here, setup& to) {
    return Plan(std::get<std::decay_t<decltype(detail::amount_of_plan(Plan))>>(a), here, to);
}

/// Calls `use(word)` for each word of a blank-separated list.
template <class Use>
constexpr void each_word(std::string_view list, Use use) {
    while (!list.empty()) {
        auto const end = list.find(' ');
        use(list.substr(0, end));
        if (end == std::string_view::npos) return;
        list.remove_prefix(end + 1);
    }
}

inline constexpr double ki = 1024, mi = ki * ki, gi = mi * ki, day = 86400;

} // namespace sb::key
