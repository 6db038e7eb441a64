// SPDX-License-Identifier: MIT
// Two columns of values, many of them equal, paired by chance: how often do they go together so far?
//
// How it works: pairs of equal values look the same, so a pairing is a table of whole numbers with known sums, and as likely as it
// has orders. Its rows are laid one after the other. What is to come depends only on how much of each column is left and on the score
// so far, so that tables which agree in both go on as one, and each row's ways are sorted lists that are merged. The longest row
// comes last and gets what is left: of pass and fail there is one sum, whatever the number of values. Where that takes long, what is
// seldom is counted alone: how many values that are not the commonest are drawn, or meet.
#pragma once
#include <sb/stats/normal.hpp>
#include <sb/stats/saddle_point.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace sb::stats::detail {

inline constexpr double most_table_steps = 5e5; // a few milliseconds

/// The score of a table: the sum of products of ranks, or concordant minus discordant pairs.
enum class table_score : std::uint8_t { products, pairs };

/// All tables with these sums of rows and columns; a row or column stands for a group of equal values, in order.
class tie_tables {
public:
    /// `values` of the columns, for products; those of the rows are twice their ranks less n + 1.
    tie_tables(std::span<std::size_t const> rows, std::span<std::size_t const> columns, table_score by, std::span<std::int64_t const> values = {})
        : given_{rows}, columns_{columns}, by_{by}, values_{values},
          widest_{static_cast<std::size_t>(std::max_element(columns.begin(), columns.end()) - columns.begin())} {}
    /// The chance of a score this far from 0; none if it takes more steps than that.
    std::optional<double> farther(std::int64_t far, double most_steps = most_table_steps) {
        auto const size = static_cast<double>(given_.size());
        if (size * size > 2 * most_steps) return {}; // one value may be in any of the rows so far
        order_rows();
        left_.resize(columns_.size()), last_cells_.resize(columns_.size());
        if (is_hopeless(most_steps) || !number_columns()) return {};
        states_.assign(1, {0, 0, 1});
        double steps = 0;
        for (std::size_t at = 0; at + 1 < rows_.size(); ++at) {
            auto const states = static_cast<double>(states_.size());
            if (!lay_ways(rows_[at].count, (most_steps - steps) / states)) return {};
            bool const ends = at + 2 == rows_.size();
            steps += steps_of(states, static_cast<double>(ways_.size()), ends);
            if (steps > most_steps) return {};
            if (ends) return std::min(1.0, end_with(rows_[at], rows_.back(), far) / chance_of(all_, columns_));
            extend(rows_[at]);
        }
        return {};
    }

private:
    struct row {
        std::size_t count = 0;
        std::int64_t rank = 0; ///< of pairs: 1 where all that are left lie above, else -1
    };
    struct state {
        std::uint64_t taken = 0; ///< of each column but the widest
        std::int64_t score = 0;
        double chance = 0;
        bool precedes(state const& b) const noexcept { return taken < b.taken || (taken == b.taken && score < b.score); }
    };
    struct way {
        std::uint64_t takes = 0;
        double chance = 0;
    };
    struct stretch {
        std::size_t begin = 0, end = 0;
    };

    void order_rows() {
        for (auto const count : given_) all_ += count;
        std::vector<row> by_value;
        std::size_t before = 0;
        for (auto const count : given_) by_value.push_back({count, static_cast<std::int64_t>(2 * before + count) - static_cast<std::int64_t>(all_)}), before += count;
        if (by_ == table_score::products) {
            std::sort(by_value.begin(), by_value.end(), [](row const& a, row const& b) { return a.count < b.count || (a.count == b.count && a.rank < b.rank); });
            rows_ = std::move(by_value);
            return;
        }
        for (std::size_t low = 0, high = by_value.size(); low < high;) { // from both ends, so that all that are left lie on one side
            bool const from_low = by_value[low].count <= by_value[high - 1].count;
            rows_.push_back(by_value[from_low ? low++ : --high]);
            rows_.back().rank = from_low ? 1 : -1;
        }
    }
    /// Each state meets each way, and lists are merged two at a time.
    static double steps_of(double states, double ways, bool ends) { return states * ways * (ends ? 1 : std::ceil(std::log2(ways + 1))); }
    /// More steps for sure: there are as many states as ways to take so many values; of two columns, as many as different ranks have sums.
    bool is_hopeless(double most_steps) const {
        double steps = 0;
        std::size_t taken = 0;
        if (columns_.size() == 2) {
            auto const few = std::min(columns_[0], columns_[1]), many = std::max(columns_[0], columns_[1]);
            for (std::size_t t = 1; t + 2 < rows_.size() && steps <= most_steps; ++t) {
                taken += rows_[t - 1].count;
                for (auto k = taken > many ? taken - many : 0; k <= std::min(few, t); ++k) steps += 2 * static_cast<double>(k * (t - k) + 1);
            }
            return steps > most_steps;
        }
        auto const looked_at = std::min<std::size_t>(all_, 100'000 / columns_.size()); // values
        std::vector<double> ways(looked_at + 1), next(looked_at + 1); // to take so many from the columns
        ways[0] = 1;
        for (auto const column : columns_) {
            double sum = 0;
            for (std::size_t t = 0; t <= looked_at; ++t) next[t] = sum += ways[t] - (t > column ? ways[t - column - 1] : 0);
            ways.swap(next);
        }
        for (std::size_t at = 0; at + 1 < rows_.size() && taken <= looked_at && steps <= most_steps; taken += rows_[at++].count)
            if (rows_[at].count <= looked_at) steps += steps_of(ways[taken], ways[rows_[at].count], at + 2 == rows_.size());
        return steps > most_steps;
    }
    bool number_columns() {
        radix_.assign(columns_.size(), 0);
        double most = 1;
        std::uint64_t next = 1;
        for (std::size_t j = 0; j < columns_.size(); ++j) {
            if (j == widest_) continue;
            radix_[j] = next, next *= columns_[j] + 1, most *= static_cast<double>(columns_[j] + 1);
            if (most > 0x1p62) return false;
        }
        return true;
    }

    /// A cell's part in the chance of its row, and the row's own, after Loader (see saddle_point.hpp).
    static double of_cell(std::size_t count, double mean) noexcept {
        if (count == 0) return std::exp(-mean);
        auto const k = static_cast<double>(count);
        return std::exp(-stirling_rest(k) - deviance(k, mean)) / std::sqrt(2 * std::numbers::pi * k);
    }
    static double of_row(std::size_t count) noexcept {
        auto const c = static_cast<double>(count);
        return std::exp(stirling_rest(c)) * std::sqrt(2 * std::numbers::pi * c);
    }
    double mean_of(std::size_t count, std::size_t column) const noexcept { return static_cast<double>(count) * (static_cast<double>(columns_[column]) / static_cast<double>(all_)); }
    /// That `count` values, each of a column by that column's share of all, fall so.
    double chance_of(std::size_t count, std::span<std::size_t const> cells) const noexcept {
        double product = of_row(count);
        for (std::size_t j = 0; j < cells.size(); ++j) product *= of_cell(cells[j], mean_of(count, j));
        return product;
    }

    /// All rows of so many; false: more than `most`.
    bool lay_ways(std::size_t count, double most) {
        ways_.clear(), cells_.clear();
        std::vector<std::size_t> cells(columns_.size());
        if (columns_.size() > 2) return lay_cells(cells, 0, count, count, most);
        // from the middle on, as long as there is a chance
        auto const [small, large] = widest_ == 0 ? std::pair{columns_[1], columns_[0]} : std::pair{columns_[0], columns_[1]};
        auto const least = count > large ? count - large : 0, greatest = std::min(count, small);
        auto const middle = std::clamp(static_cast<std::size_t>(mean_of(count, 1 - widest_)), least, greatest);
        auto const take = [&](std::size_t k) {
            cells[1 - widest_] = k, cells[widest_] = count - k;
            return add_way(cells, count);
        };
        for (auto k = middle; k <= greatest && take(k); ++k) {}
        for (auto k = middle; k-- > least && take(k);) {}
        return static_cast<double>(ways_.size()) <= most;
    }
    bool lay_cells(std::vector<std::size_t>& cells, std::size_t at, std::size_t left, std::size_t count, double most) {
        if (at + 1 == columns_.size()) {
            cells[at] = left;
            if (left <= columns_[at]) add_way(cells, count);
            return static_cast<double>(ways_.size()) <= most;
        }
        for (cells[at] = 0; cells[at] <= std::min(left, columns_[at]); ++cells[at])
            if (!lay_cells(cells, at + 1, left - cells[at], count, most)) return false;
        return true;
    }
    bool add_way(std::vector<std::size_t> const& cells, std::size_t count) {
        way w{0, chance_of(count, cells)};
        if (!(w.chance > 0)) return false;
        for (std::size_t j = 0; j < cells.size(); ++j) w.takes += cells[j] * radix_[j];
        ways_.push_back(w), cells_.insert(cells_.end(), cells.begin(), cells.end());
        return true;
    }
    std::span<std::size_t const> cells_of(std::size_t which) const noexcept { return std::span{cells_}.subspan(which * columns_.size(), columns_.size()); }

    /// left_: of each column, after `laid` values.
    void find_left(std::uint64_t taken, std::size_t laid) {
        auto widest = laid;
        for (std::size_t j = 0; j < columns_.size(); ++j) {
            if (j == widest_) continue;
            auto const of = static_cast<std::size_t>(taken / radix_[j] % (columns_[j] + 1));
            left_[j] = columns_[j] - of, widest -= of;
        }
        left_[widest_] = columns_[widest_] - widest;
    }
    bool fits(std::span<std::size_t const> cells) const noexcept {
        for (std::size_t j = 0; j < cells.size(); ++j)
            if (cells[j] > left_[j]) return false;
        return true;
    }
    std::int64_t score_of(row const& at, std::span<std::size_t const> cells) const noexcept {
        std::int64_t sum = 0;
        if (by_ == table_score::products) {
            for (std::size_t j = 0; j < cells.size(); ++j) sum += values_[j] * static_cast<std::int64_t>(cells[j]);
        } else { // with all that are left
            std::int64_t below = 0, own = 0;
            for (std::size_t j = 0; j < cells.size(); ++j) {
                auto const rest = static_cast<std::int64_t>(left_[j] - cells[j]), here = static_cast<std::int64_t>(cells[j]);
                sum += own * rest - here * below;
                below += rest, own += here;
            }
        }
        return at.rank * sum;
    }
    /// Calls `visit(way, state)` for each way that a state may go on.
    template <class Visit>
    void each_step(Visit visit) {
        auto const* last = static_cast<state const*>(nullptr);
        for (auto const& from : states_) {
            if (last == nullptr || last->taken != from.taken) find_left(from.taken, laid_);
            last = &from;
            for (std::size_t w = 0; w < ways_.size(); ++w)
                if (fits(cells_of(w))) visit(w, from);
        }
    }
    void extend(row const& at) {
        auto const size = states_.size();
        grown_.resize(size * ways_.size());
        runs_.clear();
        for (std::size_t w = 0; w < ways_.size(); ++w) runs_.push_back({w * size, w * size});
        each_step([&](std::size_t w, state const& from) {
            grown_[runs_[w].end++] = {from.taken + ways_[w].takes, from.score + score_of(at, cells_of(w)), from.chance * ways_[w].chance};
        });
        laid_ += at.count;
        while (runs_.size() > 1) { // each is in order
            states_.clear(), merged_.clear();
            for (std::size_t i = 0; i < runs_.size(); i += 2) {
                auto const begin = states_.size();
                merge(runs_[i], i + 1 < runs_.size() ? runs_[i + 1] : stretch{});
                merged_.push_back({begin, states_.size()});
            }
            runs_.swap(merged_), grown_.swap(states_);
        }
        grown_.resize(runs_[0].end), grown_.erase(grown_.begin(), grown_.begin() + static_cast<std::ptrdiff_t>(runs_[0].begin));
        states_.swap(grown_);
    }
    void merge(stretch a, stretch b) {
        while (a.begin < a.end && b.begin < b.end) {
            auto const &one = grown_[a.begin], &other = grown_[b.begin];
            bool const first = !other.precedes(one), second = !one.precedes(other);
            states_.push_back(first ? one : other);
            if (first && second) states_.back().chance += other.chance;
            a.begin += first, b.begin += second;
        }
        for (auto const& rest : {a, b}) states_.insert(states_.end(), grown_.begin() + static_cast<std::ptrdiff_t>(rest.begin), grown_.begin() + static_cast<std::ptrdiff_t>(rest.end));
    }
    /// The last row but one in all its ways; the last gets what is left.
    double end_with(row const& at, row const& last, std::int64_t far) {
        double const of_last = of_row(last.count);
        for (std::size_t j = 0; j < columns_.size(); ++j) last_cells_[j].assign(columns_[j] + 1, std::numeric_limits<double>::quiet_NaN());
        double sum = 0;
        each_step([&](std::size_t w, state const& from) {
            auto const cells = cells_of(w);
            auto score = from.score + score_of(at, cells);
            double chance = from.chance * ways_[w].chance;
            for (std::size_t j = 0; j < columns_.size(); ++j) {
                auto const rest = left_[j] - cells[j];
                if (by_ == table_score::products) score += last.rank * values_[j] * static_cast<std::int64_t>(rest);
                auto& known = last_cells_[j][rest];
                if (std::isnan(known)) known = of_cell(rest, mean_of(last.count, j));
                chance *= known;
            }
            if (std::abs(score) >= far) sum += chance;
        });
        return sum * of_last;
    }

    std::span<std::size_t const> given_, columns_;
    table_score by_;
    std::span<std::int64_t const> values_;
    std::vector<row> rows_; // in the order in which they are laid
    std::size_t all_ = 0, widest_ = 0, laid_ = 0;
    std::vector<std::uint64_t> radix_;
    std::vector<state> states_, grown_;
    std::vector<stretch> runs_, merged_;
    std::vector<way> ways_;
    std::vector<std::size_t> cells_, left_; // of each way; of each column
    std::vector<std::vector<double>> last_cells_; // of_cell, where it was asked for
};

/// The logarithm of the number of ways to choose so many of `count`.
inline double log_choices(std::size_t count, std::size_t chosen) noexcept {
    if (chosen == 0 || chosen == count) return 0;
    auto const n = static_cast<double>(count), k = static_cast<double>(chosen);
    return stirling_rest(n) - stirling_rest(k) - stirling_rest(n - k) - k * std::log(k / n) - (n - k) * std::log1p(-k / n) + std::log(n / (2 * std::numbers::pi * k * (n - k))) / 2;
}

/// Calls `visit(k, chance)` for each number k of the marked ones among the drawn.
template <class Visit>
void each_overlap(std::size_t size, std::size_t marked, std::size_t drawn, Visit visit) {
    auto const others = size - marked, least = drawn > others ? drawn - others : 0, most = std::min(marked, drawn);
    auto const ratio = [&](std::size_t k) { // of k + 1 to k
        return static_cast<double>(marked - k) * static_cast<double>(drawn - k) / (static_cast<double>(k + 1) * static_cast<double>(others + k + 1 - drawn));
    };
    auto const middle = std::clamp(static_cast<std::size_t>(static_cast<double>(marked) * static_cast<double>(drawn) / static_cast<double>(size)), least, most);
    double const there = std::exp(log_choices(marked, middle) + log_choices(others, drawn - middle) - log_choices(size, drawn));
    double chance = there;
    for (auto k = middle; chance > 0; ++k) {
        visit(k, chance);
        if (k == most) break;
        chance *= ratio(k);
    }
    chance = there;
    for (auto k = middle; k > least && chance > 0;) {
        chance /= ratio(--k);
        visit(k, chance);
    }
}
/// Values that are not the commonest one: how far their doubled ranks are from its.
struct other_values {
    explicit other_values(std::span<std::size_t const> counts) {
        for (auto const c : counts) all += c;
        auto const commonest = std::max_element(counts.begin(), counts.end());
        others = all - *commonest;
        auto const own = static_cast<double>(2 * std::accumulate(counts.begin(), commonest, std::size_t{0}) + *commonest);
        for (bool const again : {false, true}) {
            std::size_t before = 0;
            for (auto at = counts.begin(); at != counts.end(); before += *at++) {
                double const off = static_cast<double>(2 * before + *at) - own, share_of_it = static_cast<double>(*at) / static_cast<double>(others);
                if (at != commonest) (again ? variance : mean) += share_of_it * (again ? (off - mean) * (off - mean) : off);
            }
        }
    }
    bool are_few() const noexcept { return 2 * others < all; }
    double share() const noexcept { return static_cast<double>(others) / static_cast<double>(all); }
    /// The factor by which drawing without replacement reduces the variance of a sum of k; it is 0 if all are drawn.
    double left_after(double k) const noexcept { return others > 1 ? (static_cast<double>(others) - k) / static_cast<double>(others - 1) : 0; }
    std::size_t all = 0, others = 0;
    double mean = 0, variance = 0;
};
/// The chance of a normal value this far from 0, on both sides.
inline double both_tails(double mean, double variance, double far) noexcept {
    if (!(variance > 0)) return std::abs(mean) >= far ? 1 : 0;
    double const spread = std::sqrt(variance);
    return normal_upper((far - mean) / spread) + normal_upper((far + mean) / spread);
}

} // namespace sb::stats::detail
