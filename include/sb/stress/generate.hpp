// SPDX-License-Identifier: MIT
// Random presets. One draw makes the choices; it is written as bytes, or told as a record: the same preset either way.
#pragma once
#include <sb/core/random.hpp>
#include <sb/core/sha256.hpp>
#include <sb/stress/overrides.hpp>
#include <sb/stress/palette.hpp>
#include <sb/stress/preset_id.hpp>
#include <sb/stress/profile_set.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::stress {

struct generator_options {
    std::uint64_t seed = 0;
    std::string severity; ///< of the profiles that are drawn: low or high; empty: by chance
    bool misuse = false; ///< user_misuse may be drawn
    bool guests = false; ///< OS_TYPE and VM_SETTINGS may be drawn
};

namespace detail {
/// What a drawn mode sets besides its name: one of the choices; "*" is the key's own ladder.
struct side_effect {
    std::string_view mode, key, choices;
    bool raise = false; ///< keeps the greater of this and what is there
};
inline constexpr auto side_effects = std::to_array<side_effect>({
    {"api_latency", "API_LATENCY_MS", "500 1000"},
    {"concurrency_spike", "ASYNC_TASK_BURST", "*"},
    {"concurrency_spike", "CONCURRENCY_LEVEL", "20 50 100", true},
    {"concurrency_spike", "CPU_SPIKE", "true"},
    {"concurrency_spike", "MAX_THREADS", "*"},
    {"concurrency_spike", "THREAD_BURST", "*"},
    {"flaky_upstream", "SANDBOX_STUB_STRATEGY", "flaky_upstream"},
    {"flaky_upstream", "UPSTREAM_FAILURES", "*"},
    {"flaky_upstream", "UPSTREAM_REQUESTS", "*"},
    {"hostile_input", "MALICIOUS_DATA", "true"},
    {"hostile_input", "PAYLOAD_BYTES", "*"},
    {"hostile_input", "PAYLOAD_COUNT", "*"},
    {"hostile_input", "PAYLOAD_INDICATOR", families},
    {"hostile_input", "SANDBOX_STUB_STRATEGY", "hostile"},
    {"schema_drift", "SANDBOX_STUB_STRATEGY", "legacy_schema"},
    {"schema_drift", "SCHEMA_CHECKS", "*"},
    {"schema_drift", "SCHEMA_MISMATCHES", "*"},
    {"user_misuse", "INVALID_CONFIG", "true"},
    {"user_misuse", "INVALID_PARAM_TYPES", "true"},
    {"user_misuse", "MISUSE_PROBES", "*"},
    {"user_misuse", "SANDBOX_STUB_STRATEGY", "misuse"},
    {"user_misuse", "UNEXPECTED_API_CALLS", "true"},
});
} // namespace detail

/// How it works: a draw names one piece of the palette for each key it sets. Slots are bits in the order of writing, so
/// a line is a copy of pieces, and the id is the hash of the bytes just written.
class generator {
public:
    generator(generator_options options, overrides const& given)
        : options_{std::move(options)}, names_(std::size_t{1} << all_modes.size()) {
        for (auto const* name :
             {"CPU_LIMIT", "MEMORY_LIMIT", "DISK_LIMIT", "BANDWIDTH_LIMIT", "PACKET_DUPLICATION", "SECURITY_LEVEL"})
            scalars_.push_back(choices(name));
        for (auto const& each : detail::side_effects)
            effects_.push_back({mode_bit(each.mode), each.raise, choices(each.key, each.choices)});
        for (auto const& each : all_modes)
            if (options_.misuse || each.name != "user_misuse") pool_.push_back(mode_bit(each.name));
        for (auto const& p : built_in_profiles)
            if (p.canonical && (options_.misuse || p.name != "user_misuse"))
                for (std::string_view const level : {"low", "high"})
                    if (options_.severity.empty() || options_.severity == level) overlays_.push_back({&p, level, {}});
        for (std::string_view const os : {"windows", "macos"})
            guests_.push_back({pieces_.add("OS_TYPE", value{os}),
                               pieces_.add("VM_SETTINGS",
                                   value{object{{"memory", "4Gi"}, {cat(os, "_image"), cat(os, "-base.qcow2")}}})});
        take(given);
    }

    /// The seed of the i-th preset. The first has the generator's own, so that each can be made again alone: a generator
    /// with a preset's SEED makes it as number 0.
    std::uint64_t seed_of(std::uint64_t i) const noexcept {
        if (i == 0) return options_.seed;
        auto state = options_.seed;
        auto mixed = split_mix(state) + i;
        return split_mix(mixed) >> 11;
    }

    preset_record make(std::uint64_t i) {
        auto const d = draw(seed_of(i));
        preset_record p;
        auto& keys = p.keys.members();
        each_slot(d, [&](unsigned slot) {
            if (slot == seed_slot) {
                keys.emplace_back("SEED", value{d.seed});
                return;
            }
            auto const& members = pieces_.members(d.piece[slot]);
            keys.insert(keys.end(), members.begin(), members.end());
        });
        seal(p);
        return p;
    }

    /// Writes the lines of the presets from `first` up to `last`, the bytes that `make` gives them, and returns their
    /// end. `to` has room for `most_bytes()` a line, all of which may change.
    char* write_lines(char* to, std::uint64_t first, std::uint64_t last) {
        for (; first + 2 <= last; first += 2) { // two hashes at once take little longer than one
            auto const one = write_keys(to, first), two = write_keys(one.end, first + 1);
            auto const digests = sha256_of(one.canonical(), two.canonical());
            one.stamp(digests[0]), two.stamp(digests[1]);
            to = two.end;
        }
        if (first < last) {
            auto const one = write_keys(to, first);
            one.stamp(sha256_of(one.canonical()));
            to = one.end;
        }
        return to;
    }
    /// The most that one line can take.
    std::size_t most_bytes() const noexcept { return head.size() + pieces_.most_bytes() + not_yet + 32; }

private:
    using id = palette::id;
    static constexpr std::string_view head = R"({"kind":"preset","v":1,"id":"0123456789abcdef",)";
    static constexpr std::size_t id_at = head.find('0');
    static constexpr std::size_t not_yet = 512; ///< what the palette may get with the next draw: modes, their names, a profile
    static constexpr unsigned seed_slot = palette::slot_of("SEED");
    static constexpr std::uint64_t seed_bit = std::uint64_t{1} << seed_slot;

    /// A line whose id is yet to come. Until then a brace stands before its first key, where the canonical text has it.
    struct unstamped {
        char *start, *end;
        std::string_view canonical() const noexcept { return {start + head.size() - 1, end - 1}; }
        void stamp(sha256_digest const& digest) const noexcept {
            write_hex(start + id_at, digest, id_digits / 2);
            start[head.size() - 1] = ',';
        }
    };
    struct ladder {
        std::vector<id> rungs;
        id fixed = palette::none; ///< given by hand: what is drawn is put aside
    };
    struct effect {
        mode_set mode;
        bool raise;
        ladder choices;
    };
    /// A profile that may be laid over a random preset.
    struct overlay {
        profile const* from;
        std::string_view level;
        std::vector<id> pieces;
    };
    struct guest {
        id os, vm;
    };
    struct mode_pieces {
        id modes = palette::none, scenario = palette::none;
    };
    /// When one of two ordered keys was given and they are the wrong way round, the other follows.
    struct follow {
        unsigned low, high;
        id piece;
    };
    struct drawn {
        std::uint64_t present, seed;
        std::array<id, 64> piece;
        bool has(unsigned slot) const noexcept { return (present >> slot & 1) != 0; }
    };

    template <class Use>
    static void each_slot(drawn const& d, Use use) {
        for (auto bits = d.present; bits != 0; bits &= bits - 1) use(static_cast<unsigned>(std::countr_zero(bits)));
    }
    void put(drawn& d, id piece) const noexcept {
        auto const slot = pieces_.slot(piece);
        d.present |= std::uint64_t{1} << slot;
        d.piece[slot] = piece;
    }
    static id one_of(ladder const& l, random_stream& chance) noexcept {
        auto const i = l.rungs.size() == 1 ? 0 : chance.below(l.rungs.size());
        return l.fixed != palette::none ? l.fixed : l.rungs[i];
    }

    unstamped write_keys(char* to, std::uint64_t i) {
        auto const d = draw(seed_of(i));
        std::memcpy(to, head.data(), head.size());
        to[head.size() - 1] = '{';
        char* at = to + head.size();
        each_slot(d, [&](unsigned slot) {
            if (slot != seed_slot) {
                at = pieces_.write(at, d.piece[slot]);
                return;
            }
            std::memcpy(at, "\"SEED\":", 7);
            at = std::to_chars(at + 7, at + 32, d.seed).ptr;
            *at++ = ',';
        });
        at[-1] = '}';
        *at++ = '\n';
        return {to, at};
    }

    drawn draw(std::uint64_t seed) {
        random_stream chance{seed};
        drawn d;
        d.present = seed_bit, d.seed = seed;
        for (auto const& each : scalars_) put(d, one_of(each, chance));
        auto const latency = one_of(latency_, chance), jitter = one_of(jitter_, chance), loss = one_of(loss_, chance);
        auto const api = one_of(api_, chance), copies = one_of(copies_, chance), threat = one_of(threat_, chance);
        for (auto const piece : {latency, jitter, loss, api, copies}) put(d, piece);
        auto const least = chance.below(min_.rungs.size());
        put(d, min_.rungs[least]);
        put(d, max_.rungs[least + chance.below(max_.rungs.size() - least)]);
        if (chance.chance(0.5)) put(d, one_of(gpu_, chance));
        if (options_.guests && chance.chance(0.3)) {
            auto const& g = guests_[chance.below(guests_.size())];
            put(d, g.os), put(d, g.vm);
        }
        put(d, random_severity_);

        auto const modes = draw_modes(chance);
        if (modes != 0) {
            add_modes(d, modes, threat);
            add_effects(d, modes, chance);
        } else if (given_modes_) {
            put(d, random_name_);
        } else if (auto const slow = label(latency, jitter, loss, api); slow != 0) {
            add_modes(d, slow, threat);
            put(d, latency_name_);
        } else if (chance.chance(0.3)) {
            for (auto const piece : overlay_pieces(overlays_[chance.below(overlays_.size())])) put(d, piece);
        } else {
            put(d, random_name_);
        }
        if (!given_.empty()) apply_given(d);
        return d;
    }

    /// Two or three modes in one of five presets, else one or none, each as likely as the other.
    mode_set draw_modes(random_stream& chance) const noexcept {
        if (given_modes_) return *given_modes_;
        if (!chance.chance(0.2)) {
            auto const i = chance.below(pool_.size() + 1);
            return i < pool_.size() ? pool_[i] : mode_set{0};
        }
        auto const wanted = 2 + static_cast<int>(chance.below(2));
        unsigned set = 0;
        while (std::popcount(set) < wanted) set |= pool_[chance.below(pool_.size())];
        return static_cast<mode_set>(set);
    }
    void add_modes(drawn& d, mode_set modes, id threat) {
        auto& names = names_[modes];
        if (names.modes == palette::none)
            names = {pieces_.add("FAILURE_MODES", modes_value(modes)),
                pieces_.add("SCENARIO_NAME", value{modes_scenario(modes)})};
        put(d, names.modes), put(d, names.scenario), put(d, threat);
    }
    void add_effects(drawn& d, mode_set modes, random_stream& chance) const noexcept {
        if ((modes & effective_) == 0) return;
        for (auto const& each : effects_) {
            if ((modes & each.mode) == 0) continue;
            auto const piece = one_of(each.choices, chance);
            if (!each.raise || pieces_.amount(piece) > pieces_.amount(d.piece[pieces_.slot(piece)])) put(d, piece);
        }
    }
    /// Limits that were drawn so hard that they are a failure mode by themselves; 0 when they are not.
    mode_set label(id latency, id jitter, id loss, id api) const noexcept {
        bool const slow_api = pieces_.amount(api) >= 500;
        bool const slow_link = pieces_.amount(latency) >= 200 &&
                               (pieces_.amount(jitter) >= 20 || pieces_.amount(loss) >= 0.05);
        return slow_api ? mode_bit("api_latency") : slow_link ? mode_bit("network") : mode_set{0};
    }
    void apply_given(drawn& d) const noexcept {
        for (auto const piece : given_) put(d, piece);
        for (auto const& each : follows_)
            if (d.has(each.low) && d.has(each.high) &&
                pieces_.amount(d.piece[each.low]) > pieces_.amount(d.piece[each.high]))
                put(d, each.piece);
    }

    ladder choices(std::string_view name, std::string_view words = "*") {
        auto const& k = *find_key(name);
        ladder l;
        each_word(words == "*" ? k.ladder : words,
            [&](std::string_view word) { l.rungs.push_back(pieces_.add(name, *parse_value(k, word))); });
        return l;
    }
    /// Made when first drawn: most runs want few presets.
    std::vector<id> const& overlay_pieces(overlay& o) {
        if (!o.pieces.empty()) return o.pieces;
        for (auto const& [name, v] : detail::keys_of(o.from->settings, o.level == "high"))
            o.pieces.push_back(pieces_.add(name, v));
        o.pieces.push_back(pieces_.add("SCENARIO_NAME", value{o.from->name}));
        o.pieces.push_back(pieces_.add("SEVERITY", value{o.level}));
        return o.pieces;
    }
    void take(overrides const& given) {
        if (given.empty()) return;
        array names;
        std::vector<object::member> variables;
        for (auto const& [name, v] : given.keys()) {
            names.emplace_back(name);
            if (!own_variable(name).empty()) {
                variables.emplace_back(name, v);
            } else if (name == "FAILURE_MODES") {
                given_modes_ = modes_of(*words_of(*find_key(name), v));
            } else {
                auto const piece = pieces_.add(name, v);
                given_.push_back(piece);
                for (auto* each : {&latency_, &jitter_, &loss_, &api_, &copies_, &threat_})
                    if (pieces_.slot(each->rungs[0]) == pieces_.slot(piece)) each->fixed = piece;
            }
        }
        auto const by_name = [](auto const& l, auto const& r) { return l.first < r.first; };
        std::sort(variables.begin(), variables.end(), by_name);
        if (!variables.empty()) given_.push_back(pieces_.add_variables(std::move(variables)));
        std::sort(names.begin(), names.end(),
            [](value const& l, value const& r) { return *l.if_string() < *r.if_string(); });
        given_.push_back(pieces_.add("OVERRIDES", value{std::move(names)}));
        for (auto const& [low, high] : ordered_keys) {
            auto const *const a = given.keys().find(low), *const b = given.keys().find(high);
            if (!a == !b) continue;
            follows_.push_back({palette::slot_of(low), palette::slot_of(high), 
                                a ? pieces_.add(high, *a) : pieces_.add(low, *b)});
        }
    }

    generator_options options_;
    palette pieces_;
    std::vector<ladder> scalars_;
    ladder latency_ = choices("NETWORK_LATENCY_MS"), jitter_ = choices("NETWORK_JITTER_MS"),
           loss_ = choices("PACKET_LOSS"), api_ = choices("API_LATENCY_MS"), copies_ = choices("CONCURRENCY_LEVEL"),
           threat_ = choices("THREAT_INTENSITY"),
           min_ = choices("MIN_BANDWIDTH"), max_ = choices("MAX_BANDWIDTH"), gpu_ = choices("GPU_LIMIT");
    id random_name_ = pieces_.add("SCENARIO_NAME", value{"random"}),
       random_severity_ = pieces_.add("SEVERITY", value{"random"}),
       latency_name_ = pieces_.add("SCENARIO_NAME", value{"high_latency_api"});
    std::vector<effect> effects_;
    mode_set effective_ = [] {
        unsigned set = 0;
        for (auto const& each : detail::side_effects) set |= mode_bit(each.mode);
        return static_cast<mode_set>(set);
    }();
    std::vector<mode_set> pool_;
    std::vector<overlay> overlays_;
    std::vector<guest> guests_;
    std::vector<mode_pieces> names_; ///< by set of modes, filled as they are met
    std::vector<id> given_; ///< pieces given by hand
    std::vector<follow> follows_;
    std::optional<mode_set> given_modes_;
};

} // namespace sb::stress
