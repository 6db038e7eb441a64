// SPDX-License-Identifier: MIT
// A chart of lines over a common axis, as SVG: what the pages of docs/ show is drawn from numbers that were computed here.
#pragma once
#include <sb/core/text.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sb::test {

struct chart_line {
    std::string name, color;
    std::vector<double> y; ///< at 0, 1, …; NaN: a gap
    std::vector<double> lo = {}, hi = {}; ///< a band around it
    bool dashed = false;
};
struct chart_panel {
    std::string title;
    std::vector<chart_line> lines;
};

/// Panels one below the other, over the same axis of `length` places.
class chart {
public:
    explicit chart(std::size_t length) : length_{length} {}

    void add(chart_panel panel) { panels_.push_back(std::move(panel)); }
    std::string svg() const {
        int const height = static_cast<int>(panels_.size()) * step + 4;
        auto all = cat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width, " ", height, "\" font-family=\"sans-serif\" font-size=\"12\">\n",
                       "<rect width=\"", width, "\" height=\"", height, "\" fill=\"#ffffff\"/>\n");
        int top = 26;
        for (auto const& panel : panels_) {
            draw(panel, top, all);
            top += step;
        }
        return all + "</svg>\n";
    }

private:
    static constexpr int width = 720, left = 52, right = 16, panel_height = 150, step = panel_height + 54;

    void draw(chart_panel const& panel, int top, std::string& to) const {
        double lo = INFINITY, hi = -INFINITY;
        for (auto const& line : panel.lines)
            for (auto const* values : {&line.y, &line.lo, &line.hi})
                for (double const y : *values)
                    if (std::isfinite(y)) lo = std::min(lo, y), hi = std::max(hi, y);
        double const unit = tick(hi - lo);
        lo = std::floor(lo / unit) * unit, hi = std::ceil(hi / unit) * unit;
        auto const x_of = [&](double at) { return left + (width - left - right) * at / static_cast<double>(length_ - 1); };
        auto const y_of = [&](double y) { return top + panel_height * (hi - y) / (hi - lo); };
        to += cat("<text x=\"", left, "\" y=\"", top - 10, "\" font-weight=\"bold\" fill=\"#222222\">", panel.title, "</text>\n");
        int const decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(unit) - 1e-9)));
        for (double y = lo; y < hi + unit / 2; y += unit)
            to += cat("<path d=\"M", left, " ", fixed(y_of(y), 1), "H", width - right, "\" stroke=\"#e4e4e4\"/><text x=\"", left - 6, "\" y=\"", fixed(y_of(y) + 4, 1),
                      "\" text-anchor=\"end\" fill=\"#555555\">", fixed(y == 0 ? 0.0 : y, decimals), "</text>\n");
        double const across = tick(static_cast<double>(length_ - 1));
        for (double x = 0; x < static_cast<double>(length_); x += across)
            to += cat("<text x=\"", fixed(x_of(x), 1), "\" y=\"", top + panel_height + 16, "\" text-anchor=\"middle\" fill=\"#555555\">", fixed(x, 0), "</text>\n");
        int name_at = width - right;
        for (std::size_t i = panel.lines.size(); i-- > 0;) {
            auto const& line = panel.lines[i];
            if (!line.lo.empty()) {
                std::string there, back;
                for (std::size_t at = 0; at < line.lo.size(); ++at) {
                    if (!std::isfinite(line.lo[at])) continue;
                    there += cat(there.empty() ? "M" : "L", fixed(x_of(static_cast<double>(at)), 1), " ", fixed(y_of(line.hi[at]), 1));
                    back = cat("L", fixed(x_of(static_cast<double>(at)), 1), " ", fixed(y_of(line.lo[at]), 1)) + back;
                }
                to += cat("<path d=\"", there, back, "Z\" fill=\"", line.color, "\" fill-opacity=\"0.18\"/>\n");
            }
            std::string path;
            bool gap = true;
            for (std::size_t at = 0; at < line.y.size(); ++at) {
                if (std::isfinite(line.y[at])) path += cat(gap ? "M" : "L", fixed(x_of(static_cast<double>(at)), 1), " ", fixed(y_of(line.y[at]), 1));
                gap = !std::isfinite(line.y[at]);
            }
            to += cat("<path d=\"", path, "\" fill=\"none\" stroke=\"", line.color, "\" stroke-width=\"1.5\"", line.dashed ? " stroke-dasharray=\"5 4\"" : "", "/>\n");
            to += cat("<text x=\"", name_at, "\" y=\"", top - 10, "\" text-anchor=\"end\" fill=\"", line.color, "\">", line.name, "</text>\n");
            name_at -= static_cast<int>(line.name.size()) * 7 + 16;
        }
    }
    /// 1, 2 or 5 times a power of ten, three to six of them.
    static double tick(double range) {
        if (!(range > 0)) return 1;
        double const power = std::pow(10, std::floor(std::log10(range / 3)));
        for (double const times : {5.0, 2.0})
            if (range / (power * times) >= 3) return power * times;
        return power;
    }
    std::size_t length_;
    std::vector<chart_panel> panels_;
};

} // namespace sb::test
