// SPDX-License-Identifier: MIT
// Reads the wanted members of line after line, with vector instructions and the same results as the plain walk.
#pragma once
#include <sb/core/cpu.hpp>
#include <sb/core/input_source.hpp>
#include <sb/json/fields.hpp>
#include <sb/json/parse.hpp>
#include <sb/json/scan.hpp>
#include <sb/json/shape.hpp>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>

namespace sb::json {

struct line_rules {
    bool strict = false; ///< every byte is checked, not only the line's structure and the values that are read
    std::size_t longest = default_line_limit;
};

/// Reads lines from a block of complete lines, followed by `block_padding` readable bytes.
class line_reader {
public:
    enum class kind { fields, blank, bad };

    line_reader(wanted_fields wanted, line_rules rules = {}, instruction_set use = chosen_instruction_set())
        : wanted_{std::move(wanted)}, rules_{rules}, scan_{scanner_for(use)} {
        if (scan_) skeleton_ = std::make_unique<line_skeleton>();
    }

    /// Reads the line at `at` and moves `at` past its newline (or to `end`). Requires at < end.
    kind next(char const*& at, char const* end) {
        auto const found = structure(at, end);
        if (!rules_.strict || found == kind::blank || line_.size() > rules_.longest) return found;
        auto const wrong = check(line_);
        if (!wrong || (found == kind::bad && fault_.at <= wrong->at)) return found;
        return fault_ = *wrong, kind::bad;
    }

    std::string_view line() const noexcept { return line_; }
    /// The field of a slot, valid after `kind::fields` until the next line.
    field const& operator[](std::size_t slot) const noexcept { return fields_[slot]; }
    /// Wanted keys that the line has more than once; the last one counts.
    std::uint32_t duplicates() const noexcept { return duplicates_; }
    /// After `kind::bad`: the problem and its byte in the line, from 0.
    fault const& wrong() const noexcept { return fault_; }

private:
    kind structure(char const*& at, char const* end) {
        auto const* const line = at;
        duplicates_ = 0;
        if (scan_) {
            auto& s = *skeleton_;
            scan_(line, end, s);
            line_ = {line, s.line_size};
            at = line + s.line_size + (line + s.line_size < end ? 1 : 0);
            if (s.usable && s.line_size <= rules_.longest)
                if (auto const* const shape = shapes_.find(s.text())) {
                    if (shape != shape_) fields_.fill({}), shape_ = shape;
                    duplicates_ = shape->duplicates;
                    place(*shape, s, line);
                    return kind::fields;
                }
        } else {
            auto const left = static_cast<std::size_t>(end - line);
            auto const* const newline = static_cast<char const*>(std::memchr(line, '\n', left));
            line_ = {line, newline ? static_cast<std::size_t>(newline - line) : left};
            at = newline ? newline + 1 : end;
        }
        return slowly();
    }

    void place(line_shape const& shape, line_skeleton const& s, char const* line) noexcept {
#if SB_X86
        detail::place_fields_bmi(shape, s, line, fields_.data()); // a CPU that can scan with vectors has these instructions
#else
        detail::place_fields_plain(shape, s, line, fields_.data());
#endif
    }
    bool walk() {
        detail::field_walk walk{wanted_, line_.data(), line_.data() + line_.size(), fields_.data()};
        if (!walk.object()) return fault_ = walk.wrong(), false;
        duplicates_ = walk.duplicates();
        return true;
    }
    [[gnu::noinline]] kind slowly() {
        shape_ = nullptr;
        if (line_.size() > rules_.longest) return fault_ = {rules_.longest, "the line is too long"}, kind::bad;
        std::size_t blank = 0;
        while (blank < line_.size() && is_blank(line_[blank])) ++blank;
        if (blank == line_.size()) return kind::blank;
        if (!walk()) return kind::bad;
        if (scan_ && skeleton_->usable)
            shapes_.learn(*skeleton_, line_.data(), fields_.data(), wanted_.size(), duplicates_);
        return kind::fields;
    }

    wanted_fields wanted_;
    line_rules rules_;
    line_scan scan_;
    std::unique_ptr<line_skeleton> skeleton_;
    shape_cache shapes_;
    line_shape const* shape_ = nullptr; // the shape whose missing members are marked as missing in `fields_`
    std::array<field, wanted_fields::most> fields_{};
    std::string_view line_;
    std::uint32_t duplicates_ = 0;
    fault fault_;
};

} // namespace sb::json
