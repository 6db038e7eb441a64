// SPDX-License-Identifier: MIT
// Where the presets of a run come from, in this order: standard input, preset files, SANDBOX_ENV_PRESETS,
// SANDBOX_PRESET_MODE=canonical, the generator.
#pragma once
#include <sb/stress/compose_preset.hpp>
#include <sb/stress/environment_mode.hpp>
#include <sb/stress/generate.hpp>
#include <sb/stress/read_preset.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::stress {

/// Reads a whole file; `sb::read_file` outside of tests.
using file_reader = std::function<result<std::string>(std::string const& path)>;

enum class source { standard_input, preset_file, environment, canonical, generated, none };

/// The word in run records as `preset_source`: stdin, preset-file, env, canonical, generated, none.
constexpr std::string_view name_of(source from) noexcept {
    constexpr std::string_view names[] = {"stdin", "preset-file", "env", "canonical", "generated", "none"};
    return names[static_cast<int>(from)];
}

struct source_request {
    bool standard_input = false; ///< standard input has data: the caller reads it (see preset_reader), and no other source is used
    std::vector<std::string> files; ///< --preset-file, repeatable
    std::string inline_name = "SANDBOX_ENV_PRESETS"; ///< the name under which a person gave inline presets, for messages
    std::uint64_t turn = 0; ///< number of this run of the tool: selects one file, so that they are used in rotation
    std::uint64_t seed = 0; ///< for presets that are generated here
    std::int64_t count = 3; ///< presets to generate if no other source gives any
    overrides given; ///< put into every preset that is found here; the caller changes those of standard input
};

struct sourced_presets {
    source from = source::none;
    std::string name; ///< the file or variable, for messages
    std::vector<key::preset> presets; ///< empty for standard_input
    std::vector<std::string> warnings;
};

/// The empty preset: it requests only the sandbox's own limits.
inline result<key::preset> empty_preset(std::uint64_t seed = 0) {
    preset_record p;
    p.keys[key::scenario_name.name] = "normal";
    p.keys[key::seed.name] = static_cast<std::int64_t>(seed);
    p.keys[key::severity.name] = "none";
    seal(p);
    return key::read(std::move(p));
}

/// Puts values given by hand into a preset that was read. Its id is computed again.
inline result<void> override_preset(key::preset& p, overrides const& given) {
    if (given.empty()) return {};
    given.apply(p.keys);
    SB_TRY(p.asked, key::read(p.keys));
    seal(p);
    p.asked.sort();
    return {};
}

/// Chooses the source and reads it. Errors name the file or variable, and what is wrong in it.
inline result<sourced_presets> find_presets(source_request const& request, lookup const& env, file_reader const& read) {
    sourced_presets found;
    auto const is = [&](source from, std::string name) { found.from = from, found.name = std::move(name); };
    auto const take = [&](std::string_view text) -> result<void> {
        SB_TRY(found.presets, read_presets(text, found.name, &found.warnings));
        for (auto& each : found.presets) SB_CHECK(override_preset(each, request.given));
        return {};
    };
    auto const take_one = [&](preset_record made) -> result<void> {
        SB_TRY(auto one, key::read(std::move(made)));
        found.presets.push_back(std::move(one));
        return {};
    };
    if (request.standard_input) {
        is(source::standard_input, "standard input");
        return found;
    }
    if (!request.files.empty()) {
        is(source::preset_file, request.files[request.turn % request.files.size()]);
        SB_TRY(auto const text, read(found.name));
        if (trim(text).empty()) return input_error(cat(found.name, ": empty; a preset file has presets as JSON"));
        SB_CHECK(take(text));
        return found;
    }
    if (auto const text = env("SANDBOX_ENV_PRESETS"); text && !trim(*text).empty()) {
        is(source::environment, request.inline_name);
        if (auto const got = take(*text); got.has_error()) return caller_error(got.error().what); // the tool's caller set this variable
        return found;
    }
    SB_TRY(auto const mode, preset_mode(env));
    if (mode == "canonical") {
        is(source::canonical, "SANDBOX_PRESET_MODE");
        SB_TRY(auto const made, composer(profile_set{}, {}, request.given, request.seed).canonical());
        for (auto const& each : made) SB_CHECK(take_one(each));
        return found;
    }
    if (auto const word = env("SANDBOX_GENERATE_PRESETS")) {
        auto const truth = key::truth_of_text(*word);
        if (!truth) return caller_error(cat("SANDBOX_GENERATE_PRESETS: \"", *word, "\" is neither yes nor no"));
        if (!*truth) {
            is(source::none, "SANDBOX_GENERATE_PRESETS");
            SB_TRY(auto empty, empty_preset(request.seed));
            found.presets.push_back(std::move(empty));
            SB_CHECK(override_preset(found.presets[0], request.given));
            return found;
        }
    }
    is(source::generated, "the generator");
    SB_TRY(bool const misuse, misuse_allowed(env));
    generator random{{request.seed, {}, misuse, false}, request.given};
    for (std::int64_t i = 0; i < request.count; ++i) SB_CHECK(take_one(random.make(static_cast<std::uint64_t>(i))));
    return found;
}

} // namespace sb::stress
