// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/json/write.hpp>
#include <sb/yaml/read_yaml.hpp>
#include <string>

namespace {

std::string as_json(std::string const& text) {
    auto const settings = sb::yaml::read_text(text, "f");
    return settings.has_error() ? settings.error().what : sb::json::text_of(sb::value(*settings));
}

} // namespace

TEST_CASE("a plain word is what YAML's core schema says, a quoted one is text") {
    CHECK(as_json("a: yes\nb: 'yes'\nc: 12\nd: 1.5\ne: ~\nf: word\ng: \"12\"\nh: 9223372036854775807\n") ==
          R"({"a":true,"b":"yes","c":12,"d":1.5,"e":null,"f":"word","g":"12","h":9223372036854775807})");
}

TEST_CASE("maps, lists and anchors are read, and a merge does not win over what is there") {
    CHECK(as_json("base: &b {x: 1, y: 2}\nall:\n  y: 3\n  <<: *b\nlist: [a, [1]]\n") == R"({"base":{"x":1,"y":2},"all":{"y":3,"x":1},"list":["a",[1]]})");
}

TEST_CASE("an empty file sets nothing, and what is no map is refused") {
    CHECK(as_json("") == "{}");
    CHECK(as_json("# nothing\n") == "{}");
    CHECK(as_json("[1]") == "f: must be a map of names to values");
    CHECK(as_json("? [a]\n: 1\n") == "f: line 1: a key must be a word");
}

TEST_CASE("what is wrong is told with its place") { CHECK(as_json("a: 1\nb: [1\n").starts_with("f: line 3, byte 1: ")); }

TEST_CASE("aliases of aliases end in an error, not in all memory") {
    std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        auto const last = "*a" + std::to_string(i - 1);
        text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) text += (k ? ", " : "") + last;
        text += "]\n";
    }
    CHECK(as_json(text) == "f: more than 1,000,000 values");
}
