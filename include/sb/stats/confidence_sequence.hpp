// SPDX-License-Identifier: MIT
// Intervals that hold at every look: a loop may ask after each value and stop when it likes what it sees, and the chance that any
// of them all misses the truth is still at most α.
//
// How it works: against each possible mean stands a bettor whose capital, fair while that mean is true, reaches 1/α with a chance of
// at most α (Ville 1939); the interval is the means that are not that badly beaten yet. How the bets are laid is what the three
// differ in: on how far bounded values lie off (Waudby-Smith, Ramdas 2024), on t values (Wang, Ramdas 2024), on all shares at once.
// Capital is evidence by itself: an e value, and 1/e is a p value that may be looked at whenever one likes.
//
// All take for granted that each value has the same mean whatever came before it. A drift is no sampling error: where what several
// looks leave to each other is nothing (`narrowing`), the mean was not one.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/scaled_moments.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sb::stats {

/// What one look at the sequence tells.
struct sequence_answer {
    no_answer why = no_answer::none; ///< with a reason, the interval is all that may be: no claim is made
    interval within{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    double estimate = std::numeric_limits<double>::quiet_NaN(); ///< what the interval lies around
    std::int64_t n = 0;
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

/// The p value for the logarithm of an e value. It is valid at any time, for the evidence at the time of the look.
inline double anytime_p(double log_e) noexcept { return log_e > 0 ? std::exp(-log_e) : 1; }

namespace detail {

inline bool reasonable_alpha(double alpha) noexcept { return alpha >= 1e-200 && alpha < 1; }

/// log((exp(a) + exp(b)) / 2)
inline double log_of_half_sum(double a, double b) noexcept {
    return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))) - 0.69314718055994531;
}

/// -log(1 - x) - x for 0 <= x <= ½, where small x would cancel.
inline double log_excess(double x) noexcept {
    if (x > 0.0625) return -std::log1p(-x) - x;
    double sum = 0;
    for (double k = 13; k >= 2; --k) sum = sum * x + 1 / k;
    return sum * x * x;
}

/// Values between two bounds, as shares of the way from the one to the other.
class bounded_values {
public:
    bounded_values(double lo, double hi, double alpha) noexcept : lo_{lo}, hi_{hi}, width_{hi - lo} {
        if (!(width_ > 0) || !std::isfinite(lo) || !std::isfinite(width_) || !reasonable_alpha(alpha)) why_ = no_answer::bad_request;
    }
    /// Counts the value and says where it lies; false for one that ends it all, or comes after its end.
    bool take(double x, double& at) noexcept {
        if (why_ != no_answer::none) return false;
        at = share(x);
        if (at >= 0 && at <= 1) return ++count_, true;
        why_ = std::isfinite(x) ? no_answer::bad_request : no_answer::not_finite;
        return false;
    }
    bool has_answer() const noexcept { return why_ == no_answer::none && count_ > 0; }
    double count() const noexcept { return static_cast<double>(count_); }
    double share(double x) const noexcept { return (x - lo_) / width_; }
    double value(double share) const noexcept { return share == 1 ? hi_ : lo_ + width_ * share; }
    /// The answer before the first bet.
    sequence_answer frame() const noexcept {
        sequence_answer answer;
        answer.why = why_ == no_answer::none && count_ == 0 ? no_answer::too_short : why_, answer.n = count_;
        if (why_ == no_answer::none) answer.within = {lo_, hi_};
        return answer;
    }

private:
    double lo_, hi_, width_;
    no_answer why_ = no_answer::none;
    std::int64_t count_ = 0;
};

} // namespace detail

/// The mean of values that lie between `lo` and `hi`, however they are distributed. No other assumption: the empirical Bernstein
/// interval with a predictable plug-in, in closed form. Half width from n = 30 log(2/α) on, for values spread over the bounds, to some
/// millions: 0.7 to 1 of σ sqrt(log(2/α) log n / n); after fewer, and for a small σ, the width of the bounds decides.
/// A value outside the bounds ends it (`bad_request`), as does one that is not finite.
class bounded_sequence {
public:
    bounded_sequence(double lo, double hi, double alpha = 0.05) noexcept : values_{lo, hi, alpha}, budget_{std::log(2 / alpha)} {}
    void push(double x) noexcept {
        double at = 0;
        if (!values_.take(x, at)) return;
        // the bet, from what came before only: large where the spread seems small, and ever smaller, so that all bets add up
        double const t = values_.count();
        double const mean = (sum_ + 0.5) / t, variance = (squares_ + 0.25) / t;
        double const bet = std::min(0.5, std::sqrt(2 * budget_ / (variance * t * std::log(1 + t))));
        double const off = at - mean;
        sum_ += at, bets_ += bet, won_ += bet * at, spent_ += off * off * detail::log_excess(bet);
        double const after = at - (sum_ + 0.5) / (t + 1);
        squares_ += after * after;
    }
    sequence_answer now() const noexcept {
        auto answer = values_.frame();
        if (!answer) return answer;
        double const middle = won_ / bets_, half = (budget_ + spent_) / bets_;
        answer.estimate = values_.value(middle);
        if (half < middle) answer.within.lo = values_.value(middle - half);
        if (half < 1 - middle) answer.within.hi = values_.value(middle + half);
        return answer;
    }
    /// The logarithm of the evidence against this mean; half of the capital was bet on a larger mean, half on a smaller. 0: none.
    double log_e(double mean) const noexcept {
        if (!values_.has_answer() || !std::isfinite(mean)) return 0;
        double const more = won_ - bets_ * values_.share(mean);
        return detail::log_of_half_sum(more, -more) - spent_;
    }

private:
    detail::bounded_values values_;
    double budget_;
    double sum_ = 0, squares_ = 0; // of the values in [0, 1], and of their distances from the mean up to each
    double bets_ = 0, won_ = 0, spent_ = 0;
};

/// The mean of normal values whose spread is not known. Exact for independent normal values. For others with a finite variance only
/// as n grows (it comes to equal the asymptotic sequence of Waudby-Smith et al. 2021): looks at the first values of a skewed stream
/// miss more often; of 2000 streams looked at 5000 times with α = 5 %, 3.6 % normal ones were missed, 4.6 % uniform, 11 % exponential,
/// 20 % log-normal. Neighbours that depend on each other are not allowed for (59 % where they correlate by a half). Where bounds are
/// known, bounded_sequence holds without any of this. Half width for large n: s sqrt((n + c) log((n + c) / (c α²))) / n with
/// c = best_at / 8.2 (at α = 0.05).
/// No interval (`too_short`) until it is finite, from the fifth to some dozenth value on, nor (`constant`) while all are the same.
class normal_sequence {
public:
    /// `best_at`: the number of values at which the interval is to be narrowest for what it is at others, above 0.
    explicit normal_sequence(double alpha = 0.05, double best_at = 50) noexcept : log_alpha_{std::log(alpha)} {
        if (!detail::reasonable_alpha(alpha) || !(best_at > 0) || !std::isfinite(best_at)) {
            why_ = no_answer::bad_request;
            return;
        }
        double y = 1 - 2 * log_alpha_; // at n = (y - 1) c the width of the mixture is least: y = 1 - 2 log α + log y
        for (int i = 0; i < 40; ++i) y = 1 - 2 * log_alpha_ + std::log(y);
        precision_ = best_at / (y - 1);
    }
    void push(double x) noexcept {
        if (why_ == no_answer::none && !values_.push(x)) why_ = no_answer::not_finite;
    }
    sequence_answer now() const noexcept {
        sequence_answer answer;
        answer.n = values_.count(), answer.why = lacks();
        if (answer.n == 0 || why_ != no_answer::none) return answer;
        answer.estimate = values_.mean();
        if (!answer) return answer;
        // the t whose evidence is 1/α
        double const n = static_cast<double>(answer.n), excess = std::expm1((std::log1p(n / precision_) - 2 * log_alpha_) / n);
        double const left = n / precision_ - excess; // (n + c) / c - (1 + excess)
        if (!(left > 0)) return answer.why = no_answer::too_short, answer;
        double const half = values_.stddev() * std::sqrt(excess * (1 + n / precision_) / left * ((n - 1) / n));
        answer.within = {answer.estimate - half, answer.estimate + half};
        return answer;
    }
    /// Of the evidence against this mean; 0 where there is none. An e value for rules to stop that look at the values' ratios to each
    /// other only, as the capital does itself; 1/e is a p value whatever the rule.
    double log_e(double mean) const noexcept {
        if (lacks() != no_answer::none || !std::isfinite(mean)) return 0;
        double const n = static_cast<double>(values_.count()), more = n / precision_;
        double const t = values_.distance(mean), square = t * t * (n / (n - 1)); // t²/(n - 1) of Student's t
        // (1 + square) / (1 + square / (1 + more)): what the mixture explains better
        double const odds = std::isfinite(square) ? std::log1p(square * more / (1 + more + square)) : std::log1p(more);
        return 0.5 * (n * odds - std::log1p(more));
    }

private:
    no_answer lacks() const noexcept {
        if (why_ != no_answer::none) return why_;
        return values_.count() < 2 ? no_answer::too_short : values_.constant() ? no_answer::constant : no_answer::none;
    }
    scaled_moments values_;
    double log_alpha_, precision_ = 1; // of the means, in standard deviations, that are bet on
    no_answer why_ = no_answer::none;
};

/// A share: so many hits of so many tries. Exact whatever the share, by a mixture of all of them (a beta distribution of ½ and ½,
/// Robbins 1970); the assumption is that each try hits with the same chance whatever came before. Half width for large n:
/// sqrt(p (1 - p) log(π n / (2 α²)) / n).
class share_sequence {
public:
    explicit share_sequence(double alpha = 0.05) noexcept : budget_{-std::log(alpha)} {
        if (!detail::reasonable_alpha(alpha)) why_ = no_answer::bad_request;
    }
    void push(bool hit) noexcept {
        double& of = hit ? hits_ : misses_;
        // the chance that the mixture gave what came
        chance_ *= (of + 0.5) / (hits_ + misses_ + 1);
        if (chance_ < 0x1p-500) chance_ *= 0x1p500, ++folds_;
        ++of;
    }
    /// Faster where it is asked after each value: remembers the bounds as a start for the next.
    sequence_answer now() noexcept { return look(lo_, hi_); }
    sequence_answer now() const noexcept {
        double lo = 0, hi = 0;
        return look(lo, hi);
    }
    /// The logarithm of the evidence against this share.
    double log_e(double share) const noexcept {
        if (why_ != no_answer::none || !(share >= 0 && share <= 1)) return 0;
        return log_chance() - part(hits_, share) - (misses_ > 0 ? misses_ * std::log1p(-share) : 0);
    }

private:
    static double part(double count, double share) noexcept { return count > 0 ? count * std::log(share) : 0; }
    double log_chance() const noexcept { return std::log(chance_) - static_cast<double>(folds_) * (500 * 0.69314718055994531); }
    sequence_answer look(double& lo, double& hi) const noexcept {
        sequence_answer answer;
        answer.n = static_cast<std::int64_t>(hits_ + misses_), answer.within = {0, 1};
        answer.why = why_ == no_answer::none && answer.n == 0 ? no_answer::too_short : why_;
        if (!answer) return answer;
        double const n = hits_ + misses_, least = log_chance() - budget_; // log likelihood at the bounds
        answer.estimate = hits_ / n;
        if (hits_ == 0) answer.within.hi = -std::expm1(least / n);
        else if (misses_ == 0) answer.within.lo = std::exp(least / n);
        else answer.within = {1 / (1 + std::exp(lo = bound(misses_, hits_, least, lo))), 1 / (1 + std::exp(-(hi = bound(hits_, misses_, least, hi))))};
        return answer;
    }
    /// The log odds of the share above hits / n that has this log likelihood, sought from `odds` if that is a good start. It is concave
    /// in them, so that a last step of Newton's ends on the far side: the bound is too wide by less than a billionth of the interval,
    /// never too narrow.
    static double bound(double hits, double misses, double least, double odds) noexcept {
        double const n = hits + misses;
        for (int i = 0; i < 50; ++i) {
            double const away = std::exp(-odds), p = 1 / (1 + away), q = away * p;
            double const slope = n * p - hits, bend = n * p * q, over = least - hits * odds - n * std::log(q);
            if (i == 0 && !(std::abs(over) * bend < 0.5 * slope * slope && slope > 0)) {
                double const share = hits / n, rest = misses / n, square = 2 * (part(hits, share) + part(misses, rest) - least) / n;
                double const root = std::sqrt(square * (share * rest + square / 4)); // Wilson's bound
                odds = std::log((share + square / 2 + root) * (rest + square / 2 + root) / (rest * rest * (1 + square)));
                continue;
            }
            double const step = over / slope;
            if (std::abs(step) < 1e-3 && std::abs(step) * bend < 3e-5 * slope) return odds - step;
            odds -= step / std::max(0.5, 1 - step * bend / (2 * slope)); // Halley's
        }
        return odds;
    }

    double budget_, hits_ = 0, misses_ = 0, chance_ = 1, lo_ = 0, hi_ = 0;
    std::int64_t folds_ = 0;
    no_answer why_ = no_answer::none;
};

/// The intersection of the intervals of all looks. The chance to miss the truth is still α, because all looks hold together with
/// that chance, and the intersection never widens. It is optional: if the mean drifts, the last look alone tells more.
class narrowing {
public:
    void push(sequence_answer const& look) noexcept {
        if (look) left_ = {std::max(left_.lo, look.within.lo), std::min(left_.hi, look.within.hi)};
    }
    interval const& within() const noexcept { return left_; }
    /// No mean is left: at the stated α, the mean was not the same all the time, or another assumption did not hold.
    bool contradicted() const noexcept { return left_.lo > left_.hi; }

private:
    interval left_{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
};

enum class decision : std::uint8_t { undecided, better, worse, equivalent };

inline char const* name_of(decision what) noexcept {
    switch (what) {
    case decision::undecided: return "undecided";
    case decision::better: return "better";
    case decision::worse: return "worse";
    case decision::equivalent: return "equivalent";
    }
    return "";
}

struct verdict {
    no_answer why = no_answer::none;
    decision is = decision::undecided;
    interval within; ///< where the mean lies
    double estimate = 0;
    double log_e = 0; ///< evidence that the mean lies on that side of the margin, or within it, where the estimate lies
    double p = 1; ///< of that evidence; good at any time
    std::int64_t n = 0;
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

/// Whether the mean of a sequence lies above `about + margin` (better), below `about - margin` (worse) or between (equivalent, which a
/// margin of nothing never is). For two arms, push what the second has more than the first, pair by pair: of values in [lo, hi] that
/// is a bounded_sequence of lo - hi to hi - lo. May be asked after each value, and the first decision be kept: that one is ever made
/// wrongly has a chance of at most the sequence's α, all three kinds together.
template <class Sequence>
verdict decided(Sequence const& sequence, double margin = 0, double about = 0) noexcept {
    auto const now = sequence.now();
    verdict answer{now.why, decision::undecided, now.within, now.estimate, 0, 1, now.n};
    if (!(margin >= 0) || !std::isfinite(margin) || !std::isfinite(about)) answer.why = no_answer::bad_request;
    if (!answer) return answer;
    double const below = about - margin, above = about + margin;
    if (now.within.lo > above) answer.is = decision::better;
    else if (now.within.hi < below) answer.is = decision::worse;
    else if (now.within.lo > below && now.within.hi < above) answer.is = decision::equivalent;
    double const of_above = sequence.log_e(above), of_below = sequence.log_e(below);
    answer.log_e = now.estimate > above ? of_above : now.estimate < below ? of_below : std::min(of_above, of_below);
    answer.p = anytime_p(answer.log_e);
    return answer;
}

} // namespace sb::stats
