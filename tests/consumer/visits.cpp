// SPDX-License-Identifier: MIT
// A consumer's own record, written and read by its one definition.
#include <sb/core/units.hpp>
#include <sb/json/parse.hpp>
#include <sb/json/record.hpp>
#include <sb/json/compiled_once.hpp> // in one file of the program
#include <cstdio>
#include <string>

namespace shop {
enum class device { phone, desk };
BOOST_DESCRIBE_ENUM(device, phone, desk)

struct visit {
    static constexpr auto kind = "visit";
    static constexpr int version = 1;
    std::string page;
    device on = device::phone;
    std::int64_t sent_bytes = 0;
    double wall_s = 0;
    std::optional<double> spent;
};
BOOST_DESCRIBE_STRUCT(visit, (), (page, on, sent_bytes, wall_s, spent))
} // namespace shop

int main() {
    auto const sent = sb::parse_bytes("2 KiB");
    shop::visit const out{"/a \"b\"", shop::device::desk, sent ? sent->count : -1, 0.25, std::nullopt};
    auto const line = sb::json::line(out);
    bool right = line == "{\"kind\":\"visit\",\"v\":1,\"page\":\"/a \\\"b\\\"\",\"on\":\"desk\",\"sent_bytes\":2048,"
                         "\"wall_s\":0.25,\"spent\":null}\n";
    std::fputs(line.c_str(), stdout);

    shop::visit back;
    auto const parsed = sb::json::parse_document(line, "line");
    right = right && parsed && !sb::json::read_record(*parsed, back).has_error() && sb::json::line(back) == line;
    std::puts(right ? "visits: right" : "visits: wrong");
    return right ? 0 : 1;
}
