// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stress/preset_id.hpp>
#include <sb/json/parse.hpp>

using namespace sb;
using namespace sb::stress;

namespace {
preset_record sealed(std::string_view keys) {
    preset_record p;
    p.keys = json::parse_document(keys, "keys").value().as_object();
    seal(p);
    return p;
}
std::string text(preset_record const& p) { return json::text_of(value(p.keys)); }
} // namespace

TEST_CASE("an id is what sha256sum says of the keys") {
    CHECK(sealed("{}").id == "44136fa355b3678a");
    CHECK(sealed(R"({"CPU_LIMIT":"1"})").id == "aad4b89db8295ca9");
    CHECK(sealed(R"({"A":1,"B":{"x":2,"y":[1,0.5]}})").id == "c303135ff56953d1");
    CHECK(id_of_text("{}") == "44136fa355b3678a");
}

TEST_CASE("the same keys have the same id in any order and with any form of whole numbers") {
    auto const p = sealed(R"({ "B" : {"y":[1.0, 0.5], "x":2e0}, "A":1.0 })");
    CHECK(text(p) == R"({"A":1,"B":{"x":2,"y":[1,0.5]}})");
    CHECK(p.id == "c303135ff56953d1");
}

TEST_CASE("keys are sorted by their bytes, and lists keep their order") {
    CHECK(text(sealed(R"({"b":1,"a":[{"z":1,"y":2},"x"],"C":2,"B_":3,"BA":4})")) == R"({"BA":4,"B_":3,"C":2,"a":[{"y":2,"z":1},"x"],"b":1})");
}

TEST_CASE("a number stays a fraction where it has no exact integer") {
    auto const canonical = [](double x) {
        value v(x);
        make_canonical(v);
        return v;
    };
    CHECK(canonical(0x1p53 - 1).if_int64());
    CHECK(canonical(-0x1p53 + 1).if_int64());
    CHECK(*canonical(-3.0).if_int64() == -3);
    CHECK(canonical(0x1p53).if_double());
    CHECK(canonical(1e300).if_double());
    CHECK(canonical(2.5).if_double());
}

TEST_CASE("another value or another key is another id, and the old id does not count") {
    CHECK(sealed(R"({"CPU_LIMIT":"1"})").id != sealed(R"({"CPU_LIMIT":1})").id);
    CHECK(sealed(R"({"CPU_LIMIT":"1"})").id != sealed(R"({"CPU_LIMIT":"1","SEED":0})").id);
    auto p = sealed(R"({"CPU_LIMIT":"1"})");
    p.id = "0000000000000000";
    seal(p);
    CHECK(p.id == "aad4b89db8295ca9");
}
