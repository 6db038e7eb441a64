// SPDX-License-Identifier: MIT
// Rows as a table: aligned for a terminal, as CSV for spreadsheets, as Markdown for documents.
#pragma once
#include <sb/cli/terminal.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/concat.hpp>
#include <range/v3/view/counted.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sb::cli {

class table {
public:
    enum class align { left, right };
    /// `least`: the fewest cells that the column takes in `text`, however short its words are.
    table& column(std::string title, align side = align::left, std::size_t least = 0) {
        titles_.push_back(std::move(title));
        sides_.push_back(side);
        least_.push_back(least);
        return *this;
    }
    void row(std::vector<std::string> cells) {
        cells.resize(titles_.size());
        rows_.push_back(std::move(cells));
    }
    std::size_t rows() const noexcept { return rows_.size(); }

    /// Aligned columns two blanks apart; `color` makes the titles bold. `wrap_at`: no line is longer than so many cells, because the
    /// last column, aligned left, continues on lines below.
    std::string text(bool color = false, std::size_t wrap_at = 0) const {
        auto wide = least_;
        std::vector<std::vector<std::string>> shown{titles_};
        shown.insert(shown.end(), rows_.begin(), rows_.end());
        for (auto& cells : shown)
            for (std::size_t c = 0; c < wide.size(); ++c) {
                cells[c] = printable(cells[c]);
                wide[c] = std::max(wide[c], width(cells[c]));
            }
        auto const last = wide.empty() ? 0 : wide.size() - 1;
        std::size_t before_last = 0;
        for (std::size_t c = 0; c < last; ++c) before_last += wide[c] + 2;
        std::string out;
        bool title = true;
        for (auto const& cells : shown) {
            std::string line;
            for (std::size_t c = 0; c < wide.size(); ++c) {
                auto const pad = std::string(wide[c] - width(cells[c]), ' ');
                line += c ? "  " : "";
                if (wrap_at > 0 && c == last) line += wrapped(cells[c], before_last, wrap_at);
                else line += sides_[c] == align::right ? pad + cells[c] : cells[c] + pad;
            }
            while (line.ends_with(' ')) line.pop_back();
            out += title && color ? "\x1b[1m" + line + "\x1b[0m\n" : line + "\n";
            title = false;
        }
        return out;
    }
    /// RFC 4180, lines end with LF. A terminal gets cells that it does not obey, all else what they are.
    std::string csv(bool to_terminal = false) const {
        auto const quoted = [&](std::string const& cell) {
            auto text = to_terminal ? printable(cell) : cell;
            if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
            return '"' + replaced(text, '"', "\"\"") + '"';
        };
        return lines(quoted, ",");
    }
    std::string markdown() const {
        auto const escaped = [](std::string const& cell) { return replaced(printable(cell), '|', "\\|"); };
        auto under = sides_ | ranges::views::transform([](align side) { return std::string{side == align::right ? "---: | " : "--- | "}; }) | ranges::views::join | ranges::to<std::string>();
        std::string text = lines(escaped, " | ", "| ", " |");
        under.back() = '\n';
        return text.insert(text.find('\n') + 1, "| " + under);
    }

private:
    static std::string replaced(std::string const& text, char each, char const* by) {
        return text | ranges::views::transform([&](char c) { return c == each ? std::string{by} : std::string(1, c); }) | ranges::views::join | ranges::to<std::string>();
    }
    /// The titles and all rows, each cell as `shown` shows it.
    template <class Shown>
    std::string lines(Shown shown, std::string_view between, std::string_view before = {}, std::string_view after = {}) const {
        auto const line = [&](std::vector<std::string> const& cells) {
            return cat(before, cells | ranges::views::transform(shown) | ranges::views::join(between) | ranges::to<std::string>(), after, "\n");
        };
        return ranges::views::concat(ranges::views::counted(&titles_, 1), rows_) | ranges::views::transform(line) | ranges::views::join | ranges::to<std::string>();
    }

    std::vector<std::string> titles_;
    std::vector<align> sides_;
    std::vector<std::size_t> least_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace sb::cli
