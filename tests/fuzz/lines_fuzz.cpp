// SPDX-License-Identifier: MIT
// Any bytes as lines, arriving in any pieces: the same lines come out however the input was cut, every instruction set
// finds the same members, strict reading agrees with the parser, and a line is dispatched exactly where the locator finds no fault.
#include <sb/core/input_source.hpp>
#include <sb/json/dispatch.hpp>
#include <sb/json/line_reader.hpp>
#include <sb/record/rank.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// A pipe in packet mode: each write is one read, so the cuts are where we make them.
sb::unique_fd in_pieces(std::string_view text, std::size_t piece) {
    auto ends = sb::make_pipe(O_DIRECT).value();
    while (!text.empty()) {
        auto const n = std::min(piece, text.size());
        if (::write(ends.write.get(), text.data(), n) != static_cast<ssize_t>(n)) std::abort();
        text.remove_prefix(n);
    }
    return std::move(ends.read);
}

std::string all_lines(sb::source from) {
    std::string all;
    std::string_view block;
    while (from.next_block(block).value()) all += block;
    return all;
}

sb::json::wanted_fields wanted() {
    sb::json::wanted_fields w;
    w.add("scenario"), w.add("roi"), w.add("metrics", "security_score"), w.add("metrics"), w.add("kind");
    return w;
}

/// What a reader makes of the block, as text.
std::string seen(sb::json::line_reader reader, std::string_view block, std::vector<bool>* good = nullptr) {
    std::string all;
    auto const* at = block.data();
    auto const* const end = at + block.size();
    while (at < end) {
        auto const kind = reader.next(at, end);
        all += sb::cat("|", static_cast<int>(kind), ":", reader.line().size());
        if (good) good->push_back(kind != sb::json::line_reader::kind::bad);
        if (kind == sb::json::line_reader::kind::bad) {
            if (reader.wrong().at > reader.line().size()) std::abort();
            all += sb::cat("@", reader.wrong().at, reader.wrong().what);
        } else if (kind == sb::json::line_reader::kind::fields) {
            all += sb::cat("d", reader.duplicates());
            for (std::size_t slot = 0; slot < 5; ++slot)
                all += sb::cat(",", static_cast<int>(reader[slot].type), "=", reader[slot].raw());
        }
    }
    return all;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size < 2 || size > 4096) return 0;
    std::string_view const text{reinterpret_cast<char const*>(data) + 1, size - 1};
    auto const piece = std::max<std::size_t>(data[0] % 64, size / 12 + 1); // the pipe holds sixteen packets

    auto const cut = in_pieces(text, piece);
    if (all_lines(sb::source{cut.get()}) != text) std::abort();

    std::string padded{text};
    padded.append(sb::block_padding, '\0');
    std::string_view const block{padded.data(), text.size()};
    auto const plain = seen({wanted(), {}, sb::instruction_set::plain}, block);
    if (sb::best_instruction_set() >= sb::instruction_set::avx2 && seen({wanted(), {}, sb::instruction_set::avx2}, block) != plain) std::abort();
    if (sb::best_instruction_set() >= sb::instruction_set::avx512 && seen({wanted(), {}, sb::instruction_set::avx512}, block) != plain) std::abort();

    sb::json::line_rules strict;
    strict.strict = true;
    std::vector<bool> good;
    (void)seen({wanted(), strict}, block, &good);
    std::size_t number = 0;
    for (auto rest = text; !rest.empty(); ++number) {
        auto const end = rest.find('\n');
        auto const line = rest.substr(0, end);
        sb::value v;
        bool const fine = sb::trim(line).empty() || (!sb::json::parse(line, v) && v.if_object());
        if (good.at(number) != fine) std::abort();
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }

    for (auto rest = text; !rest.empty();) {
        auto const end = rest.find('\n');
        auto const line = rest.substr(0, end);
        auto const got = sb::json::dispatch(line, sb::json::on<sb::rank_record>([](sb::rank_record const& r) {
            sb::value v;
            if (sb::json::parse(sb::trim(sb::json::line(r)), v)) std::abort();
        }));
        bool const bad = got.is == sb::json::dispatched::line_is::broken;
        if (bad != sb::json::locate(line).has_value() || (bad && (got.what.empty() || got.at > line.size()))) std::abort();
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return 0;
}
