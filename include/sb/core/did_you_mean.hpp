// SPDX-License-Identifier: MIT
// The word a person most likely meant.
#pragma once
#include <sb/core/text.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sb {

/// Edits (insert, drop, replace, swap neighbours) from one word to the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

/// The nearest of `words`, empty when none is near; a word that begins with the text counts as near.
template <class Words>
std::string_view nearest(std::string_view text, Words const& words) {
    std::string_view best;
    auto best_distance = std::max<std::size_t>(text.size() / 3, 1) + 1;
    for (std::string_view word : words) {
        auto distance = edit_distance(lowered(text), lowered(word));
        if (text.size() > 3 && word.starts_with(text)) distance = std::min<std::size_t>(distance, 1);
        if (distance < best_distance) best = word, best_distance = distance;
    }
    return best;
}

/// `; did you mean "x"?` or nothing.
template <class Words>
std::string did_you_mean(std::string_view text, Words const& words) {
    auto const word = nearest(text, words);
    return word.empty() ? std::string{} : cat("; did you mean \"", word, "\"?");
}

} // namespace sb
