// SPDX-License-Identifier: MIT
// The package's headers are found, compile, and work.
#include <sb/core/units.hpp>
#include <sb/json/record.hpp>
#include <cstdio>

struct upload {
    static constexpr auto kind = "upload";
    static constexpr int version = 1;
    std::string name;
    std::int64_t size_bytes = 0;
};
BOOST_DESCRIBE_STRUCT(upload, (), (name, size_bytes))

int main() {
    auto const size = sb::parse_bytes("1.5Ki");
    if (!size) return 1;
    auto const line = sb::json::line(upload{"photo", size->count});
    std::fputs(line.c_str(), stdout);
    return line == "{\"kind\":\"upload\",\"v\":1,\"name\":\"photo\",\"size_bytes\":1536}\n" ? 0 : 1;
}
