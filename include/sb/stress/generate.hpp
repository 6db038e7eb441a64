// SPDX-License-Identifier: MIT
// Random presets. One draw makes the choices. It is written as bytes, or returned as a record; both are the same preset.
#pragma once
#include <sb/core/random.hpp>
#include <sb/core/sha256.hpp>
#include <sb/stress/overrides.hpp>
#include <sb/stress/palette.hpp>
#include <sb/stress/preset_id.hpp>
#include <sb/stress/profile_set.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sb::stress {

struct generator_options {
    std::uint64_t seed = 0;
    std::string severity; ///< of the profiles that are drawn: low or high; empty: random
    bool misuse = false; ///< user_misuse may be drawn
    bool guests = false; ///< other systems to run in may be drawn
};

namespace detail {
/// What a drawn mode sets besides its name: one of the choices; "*" is the key's own ladder.
struct side_effect {
    std::string_view mode;
    key::definition const* sets;
    std::string_view choices;
    bool raise = false; ///< keeps the greater of this and the present value
};
inline constexpr auto side_effects = std::to_array<side_effect>({
    {"api_latency", &key::api_latency_ms, "500 1000"},
    {"concurrency_spike", &key::async_task_burst, "*"},
    {"concurrency_spike", &key::concurrency_level, "20 50 100", true},
    {"concurrency_spike", &key::cpu_spike, "true"},
    {"concurrency_spike", &key::max_threads, "*"},
    {"concurrency_spike", &key::thread_burst, "*"},
    {"flaky_upstream", &key::sandbox_stub_strategy, "flaky_upstream"},
    {"flaky_upstream", &key::upstream_failures, "*"},
    {"flaky_upstream", &key::upstream_requests, "*"},
    {"hostile_input", &key::malicious_data, "true"},
    {"hostile_input", &key::payload_bytes, "*"},
    {"hostile_input", &key::payload_count, "*"},
    {"hostile_input", &key::payload_indicator, key::payload_families},
    {"hostile_input", &key::sandbox_stub_strategy, "hostile"},
    {"schema_drift", &key::sandbox_stub_strategy, "legacy_schema"},
    {"schema_drift", &key::schema_checks, "*"},
    {"schema_drift", &key::schema_mismatches, "*"},
    {"user_misuse", &key::invalid_config, "true"},
    {"user_misuse", &key::invalid_param_types, "true"},
    {"user_misuse", &key::misuse_probes, "*"},
    {"user_misuse", &key::sandbox_stub_strategy, "misuse"},
    {"user_misuse", &key::unexpected_api_calls, "true"},
});
} // namespace detail

/// How it works: a draw selects one piece of the palette for each key that it sets. Slots are bits in writing order, so a
/// line is a copy of pieces, and the id is the hash of the bytes just written.
class generator {
public:
    generator(generator_options options, overrides const& given)
        : options_{std::move(options)} {
        for (auto const* each : {&key::cpu_limit, &key::memory_limit, &key::disk_limit, &key::bandwidth_limit, &key::packet_duplication, &key::security_level})
            scalars_.push_back(choices(*each));
        for (auto const& each : detail::side_effects)
            effects_.push_back({key::mode_bit(each.mode), each.raise, choices(*each.sets, each.choices)});
        for (auto const& each : key::all_modes)
            if (options_.misuse || each.name != "user_misuse") pool_.push_back(key::mode_bit(each.name));
        for (auto const& p : built_in_profiles)
            if (p.canonical && (options_.misuse || p.name != "user_misuse"))
                for (std::string_view const level : {"low", "high"})
                    if (options_.severity.empty() || options_.severity == level) overlays_.push_back({&p, level, {}});
        for (std::string_view const os : {"windows", "macos"})
            guests_.push_back({pieces_.add(key::os_type.name, value(os)),
                               pieces_.add(key::vm_settings.name,
                                   value(object{{"memory", "4Gi"}, {cat(os, "_image"), cat(os, "-base.qcow2")}}))});
        take(given);
    }

    /// The seed of the i-th preset. The first has the generator's own seed. So each preset can be made again alone: a
    /// generator with a preset's own seed makes that preset as number 0.
    std::uint64_t seed_of(std::uint64_t i) const noexcept {
        if (i == 0) return options_.seed;
        auto state = options_.seed;
        auto mixed = split_mix(state) + i;
        return split_mix(mixed) >> 11;
    }

    preset_record make(std::uint64_t i) {
        auto const d = draw(seed_of(i));
        preset_record p;
        auto& keys = p.keys;
        each_slot(d, [&](unsigned slot) {
            if (slot == seed_slot) {
                keys.emplace(key::seed.name, static_cast<std::int64_t>(d.seed));
                return;
            }
            auto const& members = pieces_.members(d.piece[slot]);
            for (auto const& [name_of_key, v] : members) keys.emplace(name_of_key, v);
        });
        seal(p);
        return p;
    }

    /// Writes the lines of the presets from `first` up to `last`, with the same bytes as `make`, and returns their end. `to`
    /// has room for `most_bytes()` per line; all of it may change.
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
    static constexpr std::size_t not_yet = 512; ///< what the next draw may add to the palette: modes, their names, a profile
    static constexpr unsigned seed_slot = palette::slot_of(key::seed.name);

    /// A line without its id yet. Until it has one, a brace precedes its first key, as in the canonical text.
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
        id fixed = palette::none; ///< given by hand: the drawn value is ignored
    };
    struct effect {
        key::mode_set mode;
        bool raise;
        ladder choices;
    };
    /// A profile that may be combined with a random preset.
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
    /// If one of two ordered keys was given and they are in the wrong order, the other is adjusted.
    struct follow {
        unsigned low, high;
        id piece;
    };
    struct drawn {
        palette::slot_set present;
        std::uint64_t seed;
        std::array<id, palette::slots> piece;
        bool has(unsigned slot) const noexcept { return present[slot]; }
    };

    template <class Use>
    static void each_slot(drawn const& d, Use use) {
        key::each_bit(d.present, [&](std::size_t slot) { use(static_cast<unsigned>(slot)); });
    }
    void put(drawn& d, id piece) const noexcept {
        auto const slot = pieces_.slot(piece);
        d.present[slot] = true;
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
            constexpr auto name = key::seed.name;
            *at++ = '"';
            std::memcpy(at, name.data(), name.size());
            at += name.size();
            *at++ = '"', *at++ = ':';
            at = std::to_chars(at, at + 25, d.seed).ptr;
            *at++ = ',';
        });
        at[-1] = '}';
        *at++ = '\n';
        return {to, at};
    }

    drawn draw(std::uint64_t seed) {
        random_stream chance{seed};
        drawn d;
        d.present[seed_slot] = true, d.seed = seed;
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
        if (modes.any()) {
            add_modes(d, modes, threat);
            add_effects(d, modes, chance);
        } else if (given_modes_) {
            put(d, random_name_);
        } else if (auto const slow = label(latency, jitter, loss, api); slow.any()) {
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

    /// Two or three modes in one of five presets; else one or none, each with the same probability.
    key::mode_set draw_modes(random_stream& chance) const noexcept {
        if (given_modes_) return *given_modes_;
        if (!chance.chance(0.2)) {
            auto const i = chance.below(pool_.size() + 1);
            return i < pool_.size() ? pool_[i] : key::mode_set{};
        }
        auto const wanted = 2 + static_cast<std::size_t>(chance.below(2));
        key::mode_set set;
        while (set.count() < wanted) set |= pool_[chance.below(pool_.size())];
        return set;
    }
    void add_modes(drawn& d, key::mode_set modes, id threat) {
        auto& names = names_[modes];
        if (names.modes == palette::none)
            names = {pieces_.add(key::failure_modes.name, key::modes_value(modes)), pieces_.add(key::scenario_name.name, value(key::modes_scenario(modes)))};
        put(d, names.modes), put(d, names.scenario), put(d, threat);
    }
    void add_effects(drawn& d, key::mode_set modes, random_stream& chance) const noexcept {
        if ((modes & effective_).none()) return;
        for (auto const& each : effects_) {
            if ((modes & each.mode).none()) continue;
            auto const piece = one_of(each.choices, chance);
            if (!each.raise || pieces_.amount(piece) > pieces_.amount(d.piece[pieces_.slot(piece)])) put(d, piece);
        }
    }
    /// Limits that are so strict that they are a failure mode themselves; empty if they are not.
    key::mode_set label(id latency, id jitter, id loss, id api) const noexcept {
        bool const slow_api = pieces_.amount(api) >= 500;
        bool const slow_link = pieces_.amount(latency) >= 200 &&
                               (pieces_.amount(jitter) >= 20 || pieces_.amount(loss) >= 0.05);
        return slow_api ? slow_api_ : slow_link ? slow_link_ : key::mode_set{};
    }
    void apply_given(drawn& d) const noexcept {
        for (auto const piece : given_) put(d, piece);
        for (auto const& each : follows_)
            if (d.has(each.low) && d.has(each.high) &&
                pieces_.amount(d.piece[each.low]) > pieces_.amount(d.piece[each.high]))
                put(d, each.piece);
    }

    ladder choices(key::definition const& k, std::string_view words = "*") {
        ladder l;
        key::each_word(words == "*" ? k.ladder : words,
            [&](std::string_view word) { l.rungs.push_back(pieces_.add(k.name, *key::value_of_text(k, word))); });
        return l;
    }
    /// Made at the first draw: most runs want few presets.
    std::vector<id> const& overlay_pieces(overlay& o) {
        if (!o.pieces.empty()) return o.pieces;
        for (auto const& [name, v] : detail::keys_of(o.from->settings, o.level == "high"))
            o.pieces.push_back(pieces_.add(name, v));
        o.pieces.push_back(pieces_.add(key::scenario_name.name, value(o.from->name)));
        o.pieces.push_back(pieces_.add(key::severity.name, value(o.level)));
        return o.pieces;
    }
    void take(overrides const& given) {
        if (given.empty()) return;
        array names;
        std::vector<palette::member> variables;
        for (auto const& [name, v] : given.keys()) {
            names.emplace_back(name);
            if (!key::own_variable(name).empty()) {
                variables.emplace_back(name, v);
            } else if (name == key::failure_modes.name) {
                given_modes_ = key::modes_of(std::get<key::words>(*key::read(key::failure_modes, v)).are);
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
        given_.push_back(pieces_.add(key::overrides.name, value(std::move(names))));
        for (auto const* each : key::by_name) {
            if (!each->not_above) continue;
            auto const low = each->name, high = each->not_above->name;
            auto const *const a = given.keys().if_contains(low), *const b = given.keys().if_contains(high);
            if (!a == !b) continue;
            follows_.push_back({palette::slot_of(low), palette::slot_of(high), a ? pieces_.add(high, *a) : pieces_.add(low, *b)});
        }
    }

    generator_options options_;
    palette pieces_;
    std::vector<ladder> scalars_;
    ladder latency_ = choices(key::network_latency_ms), jitter_ = choices(key::network_jitter_ms),
           loss_ = choices(key::packet_loss), api_ = choices(key::api_latency_ms), copies_ = choices(key::concurrency_level),
           threat_ = choices(key::threat_intensity),
           min_ = choices(key::min_bandwidth), max_ = choices(key::max_bandwidth), gpu_ = choices(key::gpu_limit);
    id random_name_ = pieces_.add(key::scenario_name.name, value("random")),
       random_severity_ = pieces_.add(key::severity.name, value("random")),
       latency_name_ = pieces_.add(key::scenario_name.name, value("high_latency_api"));
    std::vector<effect> effects_;
    key::mode_set effective_ = [] {
        key::mode_set set;
        for (auto const& each : detail::side_effects) set |= key::mode_bit(each.mode);
        return set;
    }();
    key::mode_set slow_api_ = key::mode_bit("api_latency"), slow_link_ = key::mode_bit("network");
    std::vector<key::mode_set> pool_;
    std::vector<overlay> overlays_;
    std::vector<guest> guests_;
    std::unordered_map<key::mode_set, mode_pieces, key::hash_of_bits> names_; ///< filled when a set is first used
    std::vector<id> given_; ///< pieces given by hand
    std::vector<follow> follows_;
    std::optional<key::mode_set> given_modes_;
};

} // namespace sb::stress
