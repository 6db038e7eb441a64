// SPDX-License-Identifier: MIT
// Lines of any kind into a rank table: which lines count, and where name, value and score stand in them.
#pragma once
#include <sb/json/line_reader.hpp>
#include <sb/json/quick_number.hpp>
#include <sb/json/dispatch.hpp>
#include <sb/record/delta.hpp>
#include <sb/record/partial.hpp>
#include <sb/record/run.hpp>
#include <sb/record/sample.hpp>
#include <sb/record/synergy.hpp>
#include <sb/track/rank_table.hpp>
#include <sb/track/roi_history.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sb::track {

struct rank_question {
    std::string by = "scenario"; ///< scenario, preset, module, workload or severity
    std::string metric = "roi";
    bool strict = false;
};

/// What became of the lines.
struct rank_counts {
    std::int64_t lines = 0, blank = 0, bad = 0;
    std::int64_t ranked = 0; ///< gave a value to a group
    std::int64_t histories = 0, partials = 0;
    std::int64_t other_kind = 0; ///< not a kind that is ranked
    std::int64_t off_arm = 0; ///< runs without the result: they are compared, not ranked
    std::int64_t unnamed = 0; ///< lines without the member that names the group
    std::int64_t without_metric = 0;
    std::int64_t other_partial = 0; ///< states of another ranking
    std::int64_t duplicate_keys = 0;

    void add(rank_counts const& o) noexcept {
        lines += o.lines, blank += o.blank, bad += o.bad, ranked += o.ranked, histories += o.histories;
        partials += o.partials, other_kind += o.other_kind, off_arm += o.off_arm, unnamed += o.unnamed;
        without_metric += o.without_metric, other_partial += o.other_partial, duplicate_keys += o.duplicate_keys;
    }
};

/// A bad line of a chunk; both count from 1.
struct rank_fault {
    std::int64_t line = 0;
    std::size_t byte = 0;
    std::string what;
};

class rank_reader {
public:
    static constexpr std::int64_t most_values = std::int64_t{1} << 53; ///< of a state; a double holds each such count

    explicit rank_reader(rank_question question, instruction_set use = chosen_instruction_set())
        : question_{std::move(question)}, read_scalar_{json::scalar_reader_for(use)}, is_decimal_{json::decimal_check_for(use)}, lines_{wanted(), {.strict = question_.strict}, use} {}

    /// Reads whole lines with `block_padding` readable bytes behind them. `place` grows with the place of the text in
    /// the input; `name` is for histories. Strict: stops behind the first bad line.
    void read(std::string_view text, std::uint64_t place, std::string const& name, std::vector<rank_fault>& faults) {
        place_ = place;
        auto const* at = text.data();
        auto const* const end = at + text.size();
        std::int64_t line = 0;
        while (at != end) {
            ++line;
            auto const kind = lines_.next(at, end);
            if (kind == json::line_reader::kind::fields) {
                counts_.duplicate_keys += lines_.duplicates();
                fault_ = {};
                if (take(name)) continue;
            } else if (kind == json::line_reader::kind::blank) {
                ++counts_.blank;
                continue;
            } else {
                fault_ = {0, lines_.wrong().at + 1, std::string{lines_.wrong().what}};
            }
            ++counts_.bad;
            fault_.line = line;
            faults.push_back(fault_);
            if (question_.strict) break;
        }
        read_scores();
        counts_.lines += line;
    }

    /// One document: a history, or records in an array. False: it is neither, and its text is to be read as lines.
    bool read_document(std::string_view text, std::uint64_t place, std::string const& name, std::vector<rank_fault>& faults) {
        value document;
        std::size_t duplicates = 0;
        if (json::parse(text, document, &duplicates)) return false;
        place_ = place;
        auto const* const object = document.if_object();
        auto const* const list = document.if_array();
        if (object && !is_roi_history(*object)) return as_line(document, name, faults), true;
        if (list && !list->empty() && list->front().if_object()) {
            for (auto const& each : *list) as_line(each, name, faults);
            return true;
        }
        counts_.duplicate_keys += static_cast<std::int64_t>(duplicates);
        ++counts_.lines;
        take_history(document, name);
        return true;
    }

    rank_table const& table() const noexcept { return table_; }
    rank_counts const& counts() const noexcept { return counts_; }

private:
    static constexpr std::string_view security_score = "security_score"; ///< a metric that a row shows the last of
    using field = json::field;
    using type = json::field_type;

    json::wanted_fields wanted() {
        json::wanted_fields fields;
        using json::name_of_member;
        constexpr auto metrics = name_of_member<&sample_record::metrics>();
        kind_ = fields.add("kind"), scenario_ = fields.add(name_of_member<&sample_record::scenario>());
        roi_ = fields.add(name_of_member<&sample_record::roi>()), arm_ = fields.add(name_of_member<&run_record::arm>());
        metric_name_ = fields.add(name_of_member<&sample_record::metric>()), value_ = fields.add(name_of_member<&sample_record::value>());
        scores_ = {fields.add(metrics, security_score), fields.add(security_score)};
        auto const& by = question_.by;
        if (by == "preset") names_ = {fields.add(name_of_member<&sample_record::preset_id>()), fields.add("preset"), fields.add("preset", "name")}; // the predecessor's
        else if (by == "workload") names_ = {fields.add(name_of_member<&sample_record::workload>()), fields.add("workflow")}; // likewise
        else names_ = {fields.add(by)};
        auto const& metric = question_.metric;
        values_ = {fields.add(metric), fields.add(metrics, metric)};
        auto const other = other_metric();
        synergy_values_ = {fields.add(other), fields.add(metrics, other)};
        for (auto const key : roi_history_keys) histories_.push_back(fields.add(key));
        return fields;
    }
    /// A synergy record may write its metric with the prefix or without.
    std::string other_metric() const {
        constexpr std::string_view prefix = "synergy_";
        return question_.metric.starts_with(prefix) ? question_.metric.substr(prefix.size()) : std::string{prefix} + question_.metric;
    }

    field const& at(std::size_t slot) const noexcept { return lines_[slot]; }
    /// False, with the fault set: a line that is not what it should be.
    bool bad(char const* where, std::string_view what) {
        fault_.byte = static_cast<std::size_t>(where - lines_.line().data()) + 1;
        fault_.what = what;
        return false;
    }
    bool spells(field const& f, std::string_view word) const {
        if (f.type != type::text) return false;
        if (f.raw() == word) return true;
        if (f.raw().find('\\') == std::string_view::npos) return false;
        std::string text;
        return !json::unescape(f.raw(), text) && text == word;
    }

    bool take(std::string const& name) {
        enum { sample, synergy, other } what = other;
        auto const& kind = at(kind_);
        if (kind.type == type::absent) {
            if (at(scenario_).type == type::text && at(roi_).type == type::scalar) what = sample;
            else if (any_history()) return take_history_line(name);
        } else if (kind.type == type::text) {
            if (spells(kind, run_record::kind) || spells(kind, sample_record::kind) || spells(kind, delta_record::kind)) what = sample;
            else if (spells(kind, synergy_record::kind)) what = synergy;
            else if (spells(kind, partial_record::kind)) return take_partial();
        }
        if (what == other) return ++counts_.other_kind, true;
        if (spells(at(arm_), "off")) return ++counts_.off_arm, true;

        double x = 0;
        bool found = false;
        if (!number_at(values_, x, found)) return false;
        if (!found && what == synergy && !number_at(synergy_values_, x, found)) return false;
        auto const& named = at(metric_name_); // {metric: "roi", value: 1} says it the other way round
        if (named.type == type::text) {
            bool const asked = spells(named, question_.metric) || (what == synergy && spells(named, other_metric()));
            if (question_.metric == "value") found = asked;
            else if (!found && asked && !number_at({value_, value_}, x, found)) return false;
        }
        std::string_view score;
        if (!score_at(score)) return false;
        if (!found) return ++counts_.without_metric, true;

        for (auto const slot : names_) {
            auto const& f = at(slot);
            bool const number = f.type == type::scalar && f.size > 0 && f.at[0] != 'n' && f.at[0] != 't' && f.at[0] != 'f';
            if (f.type != type::text && !number) continue;
            std::optional<json::fault> wrong;
            auto* const group = table_.of_spelling(f.raw(), wrong);
            if (!group) return bad(f.at + wrong->at, wrong->what);
            group->values.push(x);
            if (!score.empty()) {
                if (group->score_text.empty()) scored_.push_back(group);
                group->score_text = score;
            }
            return ++counts_.ranked, true;
        }
        return ++counts_.unnamed, true;
    }

    /// The first of two places that holds a number. False: one that was looked at is no JSON.
    bool number_at(std::array<std::size_t, 2> slots, double& into, bool& found) {
        for (auto const slot : slots) {
            auto const& f = at(slot);
            if (f.type != type::scalar) continue;
            switch (read_scalar_(f.raw(), into)) {
            case json::scalar_kind::number: return found = true;
            case json::scalar_kind::word: break;
            case json::scalar_kind::malformed: return bad(f.at, "not a value");
            case json::scalar_kind::overflow: return bad(f.at, "a number too large for a double");
            }
        }
        return true;
    }

    /// The score's text. Only the last of a group counts, so it is checked here and read when the block is through.
    bool score_at(std::string_view& into) {
        for (auto const slot : scores_) {
            auto const& f = at(slot);
            if (f.type != type::scalar) continue;
            if (!is_decimal_(f.raw())) {
                double x = 0;
                bool number = false;
                if (!number_at({slot, slot}, x, number)) return false;
                if (!number) continue;
            }
            into = f.raw();
            return true;
        }
        return true;
    }
    void read_scores() {
        for (auto* const group : scored_) {
            double x = 0;
            (void)read_scalar_(group->score_text, x);
            group->score(x, place_);
            group->score_text = {};
        }
        scored_.clear();
    }

    bool any_history() const noexcept {
        for (auto const slot : histories_)
            if (at(slot).type != type::absent) return true;
        return false;
    }
    bool take_history_line(std::string const& name) {
        value document;
        if (auto const wrong = json::parse(lines_.line(), document)) return bad(lines_.line().data() + wrong->at, wrong->what);
        take_history(document, name);
        return true;
    }
    void take_history(value const& document, std::string const& name) {
        ++counts_.histories;
        read_scores(); // in their order
        read_roi_history(
            document, name, question_.by, question_.metric,
            [&](std::string const& row, double x) { table_.of_name(row).values.push(x), ++counts_.ranked; },
            [&](std::string const& row, double x) { table_.of_name(row).score(x, place_); });
    }
    void as_line(value const& v, std::string const& name, std::vector<rank_fault>& faults) {
        auto text = json::text_of(v);
        auto const size = text.size();
        text.append(block_padding, '\0');
        auto const before = faults.size(), line = static_cast<std::size_t>(counts_.lines);
        read({text.data(), size}, place_, name, faults);
        for (auto i = before; i < faults.size(); ++i) faults[i].line = static_cast<std::int64_t>(line) + 1;
    }

    bool take_partial() {
        partial_record state;
        auto const got = json::dispatch(lines_.line(), json::on<partial_record>([&](partial_record there) { state = std::move(there); }));
        if (got.is != json::dispatched::line_is::taken) return bad(lines_.line().data() + got.at, got.what);
        if (state.by != question_.by || state.metric != question_.metric) return ++counts_.other_partial, true;
        exact_integer sum, squares;
        if (state.n < 0 || state.n > most_values || !read_terms(state.sum, sum) || !read_terms(state.squares, squares) || squares.negative())
            return bad(lines_.line().data(), "not a valid state of a sum");
        read_scores(); // in their order
        auto& group = table_.of_name(state.name);
        group.values.merge(state.n, std::move(sum), std::move(squares));
        if (state.last_security_score) group.score(*state.last_security_score, place_);
        ++counts_.partials;
        return ++counts_.ranked, true;
    }
    static bool read_terms(std::vector<std::vector<std::int64_t>> const& terms, exact_integer& into) {
        constexpr std::int64_t large = std::int64_t{1} << 53, far = 2300;
        for (auto const& t : terms) {
            if (t.size() != 2 || t[0] >= large || t[0] <= -large || t[1] > far || t[1] < -far) return false;
            bool const negative = t[0] < 0;
            into += exact_integer{static_cast<wide_natural>(negative ? -t[0] : t[0]), static_cast<int>(t[1]), negative};
        }
        return true;
    }

    rank_question question_;
    std::size_t kind_ = 0, scenario_ = 0, roi_ = 0, arm_ = 0, metric_name_ = 0, value_ = 0;
    std::array<std::size_t, 2> scores_{}, values_{}, synergy_values_{};
    std::vector<std::size_t> names_, histories_;
    json::scalar_read read_scalar_;
    json::decimal_check is_decimal_;
    std::vector<rank_group*> scored_; // in this block
    json::line_reader lines_; // after the slots that its wanted fields set
    rank_table table_;
    rank_counts counts_;
    std::uint64_t place_ = 0;
    rank_fault fault_;
};

} // namespace sb::track
