// SPDX-License-Identifier: MIT
// Which runs a session makes, in which order, under which keys and seeds.
#pragma once
#include <sb/core/random.hpp>
#include <sb/core/sha256.hpp>
#include <sb/core/text.hpp>
#include <sb/json/write.hpp>
#include <cstdint>
#include <cstddef>
#include <map>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace sb::run {

enum class run_order { interleaved, grouped };

/// One run to make.
struct planned_run {
    std::size_t preset = 0; ///< index of the preset
    int rep = 0; ///< from 0; -1 for a warm-up, which writes no record
    std::int64_t seed = 0;
    std::string run_id;
};

/// What makes two runs the same run, besides preset and repetition.
struct run_identity {
    std::vector<std::string> command;
    std::string input; ///< identifies the standard input
    std::string limits; ///< limits that were given by hand
    std::string check;
    std::uint64_t seed = 0;
};

/// The same preset and repetition always get the same seed, on every machine. At most 2^53 - 1, exact in every reader.
inline std::int64_t derive_seed(std::uint64_t base, std::string_view preset_id, int rep) noexcept {
    auto state = base;
    state = split_mix(state); // similar bases must not meet similar ids
    for (char const c : preset_id) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u; // FNV-1a's step
    state += static_cast<std::uint64_t>(rep) * 0x9e3779b97f4a7c15u;
    return static_cast<std::int64_t>(split_mix(state) >> 11);
}

/// All runs of a session, computed on demand: a million presets need no list of a million runs.
class run_plan {
public:
    run_plan(std::vector<std::string> preset_ids, run_identity identity, int repeat, int warmup, run_order order)
        : ids_{std::move(preset_ids)}, identity_{std::move(identity)}, repeat_{repeat}, warmup_{warmup}, order_{order} {
        // what all runs of this session have in common; unambiguous, because each part is a JSON string
        auto const& i = identity_;
        for (auto const* part : {&i.input, &i.limits, &i.check}) json::append_string(content_, *part, true);
        for (auto const& word : i.command) json::append_string(content_, word, true);
        std::map<std::string_view, int> seen; // equal presets share an id: the second continues the count of the first
        first_rep_.reserve(ids_.size());
        for (auto const& id : ids_) first_rep_.push_back(seen[id]++ * repeat_);
    }

    std::size_t size() const noexcept { return ids_.size() * static_cast<std::size_t>(repeat_ + warmup_); }

    /// The i-th run. Interleaved goes through all presets once for each repetition (A B A B), so that a drift of the machine
    /// affects all alike. Grouped makes all repetitions of a preset before the next (A A B B).
    planned_run at(std::size_t i) const {
        using ranges::views::cartesian_product;
        auto const rounds = ranges::views::iota(0, repeat_ + warmup_);
        auto const presets = ranges::views::iota(std::size_t{0}, ids_.size());
        auto const place = static_cast<std::ptrdiff_t>(i);
        int round = 0;
        std::size_t preset = 0;
        if (order_ == run_order::interleaved) std::tie(round, preset) = cartesian_product(rounds, presets)[place];
        else std::tie(preset, round) = cartesian_product(presets, rounds)[place];
        planned_run run;
        run.preset = preset;
        run.rep = round < warmup_ ? -1 : first_rep_[preset] + round - warmup_;
        run.seed = derive_seed(identity_.seed, ids_[preset], run.rep);
        run.run_id = id_of(run);
        return run;
    }

private:
    std::string id_of(planned_run const& run) const {
        auto const content = cat(content_, "\n", ids_[run.preset], "\non\n", run.rep, "\n", run.seed, "\n");
        std::string id(16, '0');
        write_hex(id.data(), sha256_of(content), 8);
        return id;
    }

    std::vector<std::string> ids_;
    run_identity identity_;
    int repeat_, warmup_;
    run_order order_;
    std::string content_;
    std::vector<int> first_rep_;
};

} // namespace sb::run
