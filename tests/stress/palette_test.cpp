// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stress/palette.hpp>
#include <set>

using namespace sb;
using namespace sb::stress;

namespace {
std::string written(palette const& all, palette::id piece) {
    std::string room(all.most_bytes(), '!');
    char* const end = all.write(room.data(), piece);
    REQUIRE(static_cast<std::size_t>(end - room.data()) + palette::slack <= room.size());
    return {room.data(), end};
}
} // namespace

TEST_CASE("every key has a slot of its own, in the order of writing, and so have the user's variables") {
    std::string before;
    std::set<unsigned> slots;
    for (auto const* k : key::by_name) {
        auto const slot = palette::slot_of(k->name);
        REQUIRE(slot < palette::slots);
        CHECK(slot != palette::env_slot);
        CHECK(slots.insert(slot).second);
        CHECK((k->name < std::string_view{"ENV_"}) == (slot < palette::env_slot));
        CHECK(before < k->name);
        before = k->name;
    }
}

TEST_CASE("a piece is written as its key and its value, however long") {
    palette all;
    std::string const text(3 * palette::slack, 'x');
    auto const number = all.add("TIMEOUT", value(2.5)), words = all.add("FAILURE_MODES", value(array{"cpu", "disk"})), image = all.add("CONTAINER_IMAGE", value(text)),
               quoted = all.add("SCENARIO_NAME", value("a \"b\"\n"));
    CHECK(written(all, number) == R"("TIMEOUT":2.5,)");
    CHECK(written(all, words) == R"("FAILURE_MODES":["cpu","disk"],)");
    CHECK(written(all, image) == R"("CONTAINER_IMAGE":")" + text + R"(",)");
    CHECK(written(all, quoted) == R"("SCENARIO_NAME":"a \"b\"\n",)");
    CHECK(all.slot(image) == palette::slot_of("CONTAINER_IMAGE"));
}

TEST_CASE("the same key and value are the same piece, in whichever form the number came") {
    palette all;
    auto const two = all.add("TIMEOUT", value(2.0));
    CHECK(all.add("TIMEOUT", value(2)) == two);
    CHECK(all.add("TIMEOUT", value(3)) != two);
    CHECK(all.add("FILE_LIMIT", value(2)) != two);
    CHECK(written(all, two) == R"("TIMEOUT":2,)");
    REQUIRE(all.members(two).size() == 1);
    CHECK(all.members(two)[0] == palette::member{"TIMEOUT", value(2)});
}

TEST_CASE("a piece knows its amount in its key's unit, and a text has none") {
    palette all;
    CHECK(all.amount(all.add("MEMORY_LIMIT", value("512Mi"))) == 536870912);
    CHECK(all.amount(all.add("MIN_BANDWIDTH", value("5Mbps"))) == 5e6);
    CHECK(all.amount(all.add("CPU_LIMIT", value("0.5"))) == 0.5);
    CHECK(all.amount(all.add("SCENARIO_NAME", value("7"))) == 0);
    CHECK(all.amount(all.add("CPU_LIMIT", value("much"))) == 0);
}

TEST_CASE("the user's variables are one piece in the place of their name") {
    palette all;
    auto const piece = all.add_variables({{"ENV_A", value(1.0)}, {"ENV_B", value("x")}});
    CHECK(all.slot(piece) == palette::env_slot);
    CHECK(written(all, piece) == R"("ENV_A":1,"ENV_B":"x",)");
    CHECK(all.members(piece).size() == 2);
}

TEST_CASE("the room for a preset is that of the widest piece of each slot") {
    palette all;
    CHECK(all.most_bytes() == palette::slack);
    all.add("TIMEOUT", value(2));
    CHECK(all.most_bytes() == palette::slack + std::string_view{R"("TIMEOUT":2,)"}.size());
    all.add("TIMEOUT", value(2500));
    all.add("TIMEOUT", value(30));
    CHECK(all.most_bytes() == palette::slack + std::string_view{R"("TIMEOUT":2500,)"}.size());
    all.add("CPU_LIMIT", value("1"));
    CHECK(all.most_bytes() == palette::slack + std::string_view{R"("TIMEOUT":2500,"CPU_LIMIT":"1",)"}.size());
}
