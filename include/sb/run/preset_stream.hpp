// SPDX-License-Identifier: MIT
// Presets that come in a stream of records, among others that are passed on.
#pragma once
#include <sb/core/input_source.hpp>
#include <sb/core/result.hpp>
#include <sb/json/dispatch.hpp>
#include <sb/key/typed_preset.hpp>
#include <sb/record/preset.hpp>
#include <sb/stress/read_preset.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::run {

struct preset_stream {
    std::vector<key::preset> presets;
    std::int64_t bad = 0; ///< lines that are not presets
};

/// Reads presets from a descriptor to its end. A line that is a record of another kind goes to `pass` unchanged. A broken
/// line goes to `bad`. A preset that was accepted with a remark goes to `warn`. `pause` is called before a read that waits.
inline result<preset_stream> read_preset_stream(int fd, std::string name, std::function<void(std::string_view)> const& pass,
                                                stress::preset_reader::report const& bad, stress::preset_reader::report const& warn,
                                                std::function<void()> pause = {}) {
    preset_stream stream;
    stress::preset_reader reader{[&](key::preset p) { stream.presets.push_back(std::move(p)); },
                                 [&](stress::bad_preset const& wrong) { ++stream.bad, bad(wrong); }, warn};
    auto const is_other = [](std::string_view line) {
        if (line.find("\"kind\"") == std::string_view::npos) return false;
        return json::dispatch(line, json::on<preset_record>([] {})).is == json::dispatched::line_is::other;
    };
    source from{fd, std::move(name)};
    from.on_pause(std::move(pause));
    auto const one = [&](input_line const& line) {
        if (is_other(line.text)) pass(line.text); // its line end keeps the line numbers right
        else reader.feed(line.text);
        if (line.is_ended) reader.feed("\n");
        return true;
    };
    auto const too_long = [&](std::int64_t number, std::string_view what) {
        ++stream.bad, bad({number, 1, std::string{what}});
        reader.feed("\n");
        return true;
    };
    SB_CHECK(each_line(from, one, too_long));
    reader.finish();
    return stream;
}

} // namespace sb::run
