// SPDX-License-Identifier: MIT
// Presets as they will be enforced: the limits, the program that each finds, and its environment.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/key/typed_preset.hpp>
#include <sb/process/spawn.hpp>
#include <sb/record/preset.hpp>
#include <sb/run/backend.hpp>
#include <sb/run/check.hpp>
#include <sb/run/enforcement.hpp>
#include <sb/run/find_program.hpp>
#include <sb/run/payload_environment.hpp>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sb::run {

/// Where the variables of a workload come from, besides its preset.
struct variable_sources {
    variables base; ///< of the caller's environment
    variables given; ///< by hand: wins over preset keys
};

class prepared_presets {
public:
    /// The backend and `presets` outlive this object.
    prepared_presets(backend const& with, std::vector<std::string> const& command, std::vector<key::preset> const& presets, variable_sources from, overrides wins)
        : with_{&with}, program_{command.empty() ? std::string{} : command.front()}, presets_{&presets}, from_{std::move(from)}, wins_{std::move(wins)}, seen_{with.seen()} {}

    sight const& seen() const noexcept { return seen_; }

    /// Computes how all presets will be enforced. An error for a preset that cannot be enforced and, if limits are required,
    /// for a limit that is not enforced here for the whole tree. The answer lists limits that are lower than requested, one
    /// line each.
    result<std::vector<std::string>> check_limits(bool required) const {
        struct lower {
            std::string first; ///< scenario
            std::size_t presets;
        };
        std::map<std::string, lower> lowered;
        for (auto const& preset : *presets_) {
            auto const name = [&] { return cat("preset ", preset.id, " (", preset.scenario(), "): "); };
            auto const held = with_->plan(preset, wins_);
            if (held.has_error()) return error{held.error().on, cat(name(), held.error().what)};
            if (required && !held->loose.empty()) return system_error(cat("--require-limits: ", name(), held->loose.front()));
            for (auto const& each : held->lowered) ++lowered.try_emplace(each, lower{std::string{preset.scenario()}, 0}).first->second.presets;
        }
        std::vector<std::string> lines;
        for (auto const& [what, of] : lowered)
            lines.push_back(cat(of.first, of.presets > 1 ? cat(" and ", of.presets - 1, of.presets > 2 ? " more presets" : " more preset") : std::string{}, ": ", what));
        return lines;
    }

    struct ready {
        preset_record const* preset;
        enforcement held;
        result<std::string> program;
        bool hidden = false; ///< the program exists, and the sandbox hides it
        std::vector<std::string> environment = {}; ///< complete except for the seed
        std::ptrdiff_t seed_at = -1; ///< index of the seed in it; -1: the caller's own value is used
    };
    using ready_ptr = std::shared_ptr<ready const>;
    /// A preset, ready to run. It is cached, because its other repetitions need the same.
    result<ready_ptr> at(std::size_t index) {
        if (auto const there = ready_.find(index); there != ready_.end()) return there->second;
        auto const& preset = (*presets_)[index];
        SB_TRY(auto held, with_->plan(preset, wins_));
        bool hidden = false;
        auto const around = variables_of(preset, held, 0);
        auto program = find_program(program_, around.at("PATH"), seen_, &hidden);
        auto const seed_at = from_.given.contains(seed_name) ? -1 : std::distance(around.begin(), around.find(seed_name));
        if (ready_.size() >= most_ready) ready_.clear();
        return ready_[index] = std::make_shared<ready const>(ready{&preset, std::move(held), std::move(program), hidden, as_strings(around), seed_at});
    }

    /// The environment that the workload would find, without what its lane adds.
    variables variables_of(preset_record const& preset, enforcement const& held, std::int64_t seed) const {
        auto given = from_.base;
        for (auto const& [name, v] : preset.keys) given[name] = variable_text(v);
        for (auto const& [name, text] : held.variables) given[name] = text;
        given[seed_name] = cat(seed);
        given["SB_REPORT_FD"] = cat(process::report_descriptor);
        for (auto const& [name, text] : from_.given) given[name] = text;
        given.erase("HOME"), given.erase("TMPDIR"); // the lane sets them
        return given;
    }
    /// Finds a program with the first preset that has it.
    result<std::string> look_up(std::string const& name, bool for_check) const {
        result<std::string> found = std::string{};
        for (auto const& preset : *presets_) {
            SB_TRY(auto const held, with_->plan(preset, wins_));
            auto around = variables_of(preset, held, 0);
            if (for_check) around = check_variables(std::move(around), seen_);
            auto got = find_program(name, around.at("PATH"), seen_);
            if (!got.has_error()) return got;
            if (!found.has_error()) found = std::move(got);
        }
        return found;
    }

private:
    static constexpr std::size_t most_ready = 4096;
    static inline std::string const seed_name{preset_record::seed};

    backend const* with_;
    std::string program_;
    std::vector<key::preset> const* presets_;
    variable_sources from_;
    overrides wins_;
    sight seen_;
    std::map<std::size_t, ready_ptr> ready_;
};

} // namespace sb::run
