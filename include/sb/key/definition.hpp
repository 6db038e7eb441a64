// SPDX-License-Identifier: MIT
// Everything about a preset key: its values, its purpose, and how it acts. Each key is defined in its own file or in that of
// its family; list.hpp names them all.
#pragma once
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/key/amount.hpp>
#include <sb/key/end_rule.hpp>
#include <sb/key/host.hpp>
#include <sb/key/setup.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sb::key {

/// The result of a plan, besides what it set up.
struct outcome {
    std::optional<value> achieved = {}; ///< what is enforced; no value when the key cannot act here
    std::string by = {}; ///< the mechanism; or why it cannot act
    std::string more = {}; ///< an addition about the mechanism, printed after the origin of the request
    std::string loose = {}; ///< it acts, but not on the whole tree: how ("holds for each process: …")
    std::string machine = {}; ///< what the machine has, if more was requested
    bool lowered = false; ///< the machine's amount is enforced instead
};
inline outcome holds(value achieved, std::string by) { return {.achieved = std::move(achieved), .by = std::move(by)}; }
inline outcome not_here(std::string why) { return {.by = std::move(why)}; }
/// ": why", or empty.
inline std::string because(std::string const& why) { return why.empty() ? why : cat(": ", why); }

/// A row of the manual on limits. A key that control groups change has a second text, for hosts without them.
struct manual_row {
    std::string_view how = {}, without = {}, reached = {};
};

struct definition {
    std::string_view name;
    unit in;
    double least = 0, most = 0; ///< valid range, if the unit counts
    std::string_view ladder = {}; ///< steps for random presets and for adaptation, mildest first, separated by blanks
    std::string_view words = {}; ///< the valid words, for word and words, separated by blanks
    std::string_view help; ///< one line
    std::string_view note = {}; ///< design decisions that a user should know
    bool is_limit = false; ///< it limits a program, as opposed to a fault, which harms it
    bool needs_limits = true; ///< false: it also acts when nothing is limited
    /// Sets up what was requested. Null: the key does not act, or not yet.
    outcome (*plan)(amount const&, host const&, setup&) = nullptr;
    /// The same if a preset does not have the key. Null, or an empty answer: nothing is enforced then.
    std::optional<outcome> (*by_default)(host const&, setup&) = nullptr;
    /// The part that depends on other keys; called when all of them are planned.
    void (*finish)(outcome&, host const&, setup&) = nullptr;
    /// What it waits for. Together with a plan: some of its values still wait. A key without both is only a name or a label.
    std::string_view (*why_not)(host const&) = nullptr;
    std::span<end_rule const> ends = {}; ///< how it ends runs
    manual_row manual = {}; ///< for a key that acts
    definition const* not_above = nullptr; ///< the value of this key must not exceed the value of that one
    std::string_view not_by_hand = {}; ///< why nobody sets it: the text after its name
    value (*tidy)(key::words const&) = nullptr; ///< puts several words into one form; null: unchanged

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

/// A plan that takes the amount in its own type; used in a definition.
template <auto Plan>
outcome typed(amount const& a, host const& here, setup& to) {
    return Plan(std::get<std::decay_t<decltype(detail::amount_of_plan(Plan))>>(a), here, to);
}

/// Calls `use(word)` for each word of a list separated by blanks.
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
