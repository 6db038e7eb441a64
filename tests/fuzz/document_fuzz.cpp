// SPDX-License-Identifier: MIT
// Any bytes as a JSON document: refused with a place inside the text, or accepted and then stable under writing and reading.
#include <sb/json/parse.hpp>
#include <sb/json/write.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    sb::value first, second;
    if (auto const wrong = sb::json::parse(text, first)) {
        if (wrong->at > size || wrong->what.empty()) std::abort();
        return 0;
    }
    auto const once = sb::json::text_of(first);
    if (sb::json::parse(once, second)) std::abort();
    if (sb::json::text_of(second) != once) std::abort();
    return 0;
}
