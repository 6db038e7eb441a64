// SPDX-License-Identifier: MIT
// Any bytes as a JSON document: simdjson and the locator agree on what is good; it is refused with a place inside the text, or
// accepted and then stable under writing and reading.
#include <sb/json/parse.hpp>
#include <sb/json/write.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    sb::value first, second;
    bool const good = !sb::json::locate(text);
    if (!sb::json::check(text) != good || !sb::json::parse(text, first) != good) std::abort();
    sb::json::wanted_member kind[]{{"kind"}}; // what is good can be read in part
    if (good && first.is_object() && (sb::json::read_members(text, kind) || kind[0].is_there != first.as_object().contains("kind"))) std::abort();
    if (auto const wrong = sb::json::parse(text, first)) {
        if (wrong->at > size || wrong->what.empty()) std::abort();
        return 0;
    }
    auto const once = sb::json::text_of(first);
    if (sb::json::parse(once, second)) std::abort();
    if (sb::json::text_of(second) != once) std::abort();
    return 0;
}
