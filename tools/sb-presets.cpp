// SPDX-License-Identifier: MIT
// sb-presets - write presets: environments to run a workload in
#include "manual.hpp"
#include <sb/cli/tool.hpp>
#include <sb/core/read_regular.hpp>
#include <sb/stress/describe.hpp>
#include <sb/stress/gate.hpp>
#include <sb/stress/plan.hpp>
#include <algorithm>
#include <vector>

namespace {

namespace stress = sb::stress;

struct choices {
    stress::plan plan;
    std::optional<std::int64_t> count;
    std::int64_t seed = 0;
    std::string severity, mode = "random", format, describe;
    std::vector<std::string> profiles, profile_files, modules, set;
    bool guests = false, list = false;
};

/// Words given one by one, or with commas between; who gives an option means something by it.
sb::result<std::vector<std::string>> apart(std::string_view option, std::vector<std::string> const& given) {
    std::vector<std::string> all;
    for (auto const& each : given)
        sb::split(each, ',', [&](std::string_view word) {
            if (!sb::trim(word).empty()) all.emplace_back(sb::trim(word));
        });
    if (all.empty() && !given.empty()) return sb::caller_error(sb::cat(option, ": names nothing"));
    return all;
}

std::string plain(sb::value const& v) {
    auto const* const s = v.if_string();
    return s ? *s : sb::json::text_of(v);
}

/// Rows of equal members in the format asked for; kind is for programs, not for tables.
void show(sb::cli::io& io, std::vector<sb::object> const& rows, std::string const& format) {
    if (format == "jsonl") {
        for (auto const& row : rows) io.out << sb::json::text_of(sb::value{row}) << "\n";
        return;
    }
    if (rows.empty()) return;
    sb::cli::table t;
    for (auto const& [name, v] : rows[0])
        if (name != "kind" || format == "csv") t.column(name);
    for (auto const& row : rows) {
        std::vector<std::string> cells;
        for (auto const& [name, v] : row)
            if (name != "kind" || format == "csv") cells.push_back(plain(v));
        t.row(std::move(cells));
    }
    io.out << (format == "csv" ? t.csv(io.out_terminal) : format == "md" ? t.markdown() : t.text(io.out_color));
}

/// A preset as a row for people: its labels, then what it sets.
sb::object row_of(sb::preset_record const& p) {
    std::string settings;
    for (auto const& [key, v] : p.keys)
        if (auto const* k = stress::find_key(key); !k || k->acts)
            settings += sb::cat(settings.empty() ? "" : " ", key, "=", plain(v));
    return {{"scenario", p.scenario()}, {"severity", p.text("SEVERITY")}, {"seed", *p.keys.find("SEED")}, {"id", p.id},
        {"sets", settings}};
}

/// One table each for profiles, their other names, stages and keys; what is long stands only in documents.
void show_list(sb::cli::io& io, stress::profile_set const& profiles, std::string const& format) {
    auto const rows = stress::list_rows(profiles);
    if (format == "jsonl" || format == "csv") return show(io, rows, format);
    struct part {
        std::string_view kind, title, sort, choices;
    };
    constexpr part parts[] = {{"profile", "Profiles", "category", "severity"},
                              {"alias", "Other names", "", ""},
                              {"stage", "Stages", "category", "severity"},
                              {"key", "Keys", "unit", "ladder"}};
    for (auto const& [kind, title, sort, choices] : parts) {
        std::vector<sb::object> shown;
        for (auto const& row : rows) {
            if (row.find("kind")->string_or({}) != kind) continue;
            auto const& is = *row.find("name");
            sb::object cells{{std::string{kind}, is}};
            if (!sort.empty()) cells.set(sort, *row.find("sort")), cells.set(choices, *row.find("choices"));
            if (kind == "key" && format == "md") cells.set("valid", *row.find("valid"));
            cells.set("help", *row.find("help"));
            if (sort == "unit" || kind == "stage")
                if (format == "md") cells.set("note", *row.find("note"));
            shown.push_back(std::move(cells));
        }
        if (kind != "profile") io.out << "\n";
        if (format == "md") io.out << "# " << title << "\n\n";
        show(io, shown, format);
    }
}

sb::result<stress::profile_set> read_profiles(sb::cli::io& io, std::vector<std::string> const& files) {
    stress::profile_set profiles;
    for (auto const& path : files) {
        SB_TRY(auto const text, sb::read_input(path, io.waits()));
        auto stem = path.substr(path.rfind('/') + 1);
        SB_CHECK(profiles.add(text, path, stem.substr(0, stem.find('.'))));
    }
    for (auto const& each : profiles.remarks()) io.log.warn(each);
    return profiles;
}

/// Is one of these profiles in any of the presets? A combination has the names of all its parts.
bool any_is_of(std::vector<sb::preset_record> const& presets, std::vector<std::string> const& profiles) {
    bool found = false;
    for (auto const& each : presets)
        sb::split(each.scenario(), '+', [&](std::string_view part) { found = found || std::find(profiles.begin(), profiles.end(), part) != profiles.end(); });
    return found;
}

/// Random presets as bytes, block by block: nothing grows with their number.
void write_random(sb::cli::io& io, stress::generator& random, std::uint64_t count) {
    constexpr std::uint64_t lines = 128;
    std::vector<char> block(std::min(count, lines) * random.most_bytes());
    for (std::uint64_t i = 0; i < count && io.out.usable(); i += lines) {
        char const* const end = random.write_lines(block.data(), i, std::min(count, i + lines));
        io.out << std::string_view{block.data(), end};
    }
}

sb::result<void> presets(sb::cli::io& io, choices asked) {
    auto const format = std::string{io.format_of(asked.format)};
    SB_TRY(auto const profiles, read_profiles(io, asked.profile_files));
    if (asked.list) return show_list(io, profiles, format), sb::result<void>{};
    if (!asked.describe.empty()) {
        SB_TRY(auto rows, stress::describe_rows(asked.describe, profiles));
        if (rows.size() == 1 && format != "jsonl" && format != "csv") { // a key: one thing a line
            auto const only = std::move(rows[0]);
            rows.clear();
            for (auto const& [name, v] : only)
                if (name != "kind" && !plain(v).empty()) rows.push_back({{"about", name}, {"is", v}});
        }
        show(io, rows, format);
        return {};
    }

    auto& plan = asked.plan;
    constexpr std::int64_t largest_seed = (std::int64_t{1} << 53) - 1;
    if (asked.seed < 0 || asked.seed > largest_seed)
        return sb::caller_error(sb::cat("--seed: must be from 0 to ", largest_seed));
    if (asked.count && *asked.count < 0) return sb::caller_error("--count: must be 0 or more");
    plan.seed = static_cast<std::uint64_t>(asked.seed), plan.count = asked.count;
    SB_TRY(plan.profiles, apart("--profile", asked.profiles));
    SB_TRY(plan.categories_named, apart("--category", plan.categories_named));
    SB_TRY(plan.stages_named, apart("--stage", plan.stages_named));
    plan.misuse = plan.misuse || asked.mode != "random";
    for (auto const& path : asked.modules) {
        auto const source = sb::read_regular(path, std::size_t{4} << 20); // a module need not be a file here: its name says enough
        plan.modules.push_back({path, source.has_value() ? *source : std::string{}});
    }
    if (!plan.names_something()) {
        plan.custom_only = !asked.profile_files.empty();
        plan.canonical = asked.mode == "canonical" && !plan.custom_only;
    }
    SB_TRY(plan.levels, stress::severity::parse(asked.severity));

    stress::keyword_map keywords;
    if (auto const* own = io.settings.find("keyword_profiles")) SB_CHECK(keywords.merge(*own, profiles));
    stress::lookup const env = [&](std::string const& name) -> std::optional<std::string> {
        if (auto got = io.env.find(name)) return std::move(got->value);
        return std::nullopt;
    };
    stress::overrides given;
    for (auto const& each : asked.set)
        if (auto const got = given.set(each); got.has_error())
            return sb::caller_error(sb::cat("--set: ", got.error().what));
    SB_CHECK(given.take_environment(env));
    for (auto const& [name, v] : given.keys())
        io.log.info(sb::cat(name, " is ", sb::json::text_of(v), " in every preset"));

    SB_TRY(auto planned, stress::named_presets(plan, profiles, keywords, given, env));
    auto const more = plan.random_presets(planned.named.size());
    if (auto const named = static_cast<std::int64_t>(planned.named.size()); asked.count && *asked.count < named)
        io.log.warn(sb::cat("--count ", *asked.count, ": ", named, " presets are named, and all are written"));
    if (auto const own = profiles.custom_names(); !own.empty() && !any_is_of(planned.named, own))
        io.log.warn(sb::cat("no profile of ", asked.profile_files.size() == 1 ? asked.profile_files.front() : "the profile files", " is used: --profile ", own.front(), " would name one"));
    if (planned.baseline) planned.named.insert(planned.named.begin(), std::move(*planned.baseline));
    bool const known_level = plan.levels.for_all == "low" || plan.levels.for_all == "high";
    std::optional<stress::generator> random;
    if (more > 0) random.emplace(stress::generator_options{plan.seed, known_level ? plan.levels.for_all : std::string{},
        plan.misuse, asked.guests}, given);
    if (format == "jsonl") {
        for (auto const& each : planned.named) io.out << sb::json::line(each);
        if (random) write_random(io, *random, more);
        return {};
    }
    std::vector<sb::object> rows;
    for (auto const& each : planned.named) rows.push_back(row_of(each));
    for (std::uint64_t i = 0; i < more; ++i) rows.push_back(row_of(random->make(i)));
    show(io, rows, format);
    return {};
}

} // namespace

int main(int argc, char** argv) {
    choices c;
    sb::cli::tool tool{"sb-presets", "write presets: environments to run a workload in"};
    tool.about(sb::generated::version, sb::generated::manual);
    tool.writes<sb::preset_record>();
    tool.option("--count", "N", "presets, the baseline aside: random ones fill up; without it 3, or what is named", c.count)
        .alias("--preset-count");
    tool.option("--seed", "N", "where all chance begins: the same seed, the same bytes", c.seed).env("SANDBOX_SEED");
    tool.option("--profile", "NAME", "presets of these profiles; a+b is one preset of both", c.profiles)
        .many().alias("--profiles");
    tool.option("--severity", "LEVEL",
                "low or high, or PROFILE=LEVEL with commas between; without it high, but low for --scenarios, "
                "--trajectory and --stage", c.severity);
    tool.flag("--canonical", "the six canonical profiles, low and high", c.plan.canonical);
    tool.flag("--with-baseline", "begin with the scenario normal, which has no fault", c.plan.baseline);
    tool.flag("--scenarios", "the suite normal, concurrency_spike, hostile_input, schema_drift, flaky_upstream",
              c.plan.scenarios);
    tool.flag("--trajectory", "the stages normal, high_latency, resource_strain, schema_drift, chaotic_failure",
              c.plan.trajectory);
    tool.option("--stage", "NAME", "these stages of the trajectory", c.plan.stages_named).many();
    tool.option("--category", "NAME", "all profiles of a category: baseline, stress, security, concurrency",
                c.plan.categories_named).many();
    tool.option("--module", "PATH", "profiles that suit a module, by the words of its path and source", c.modules).many();
    tool.option("--profile-file", "FILE", "JSON file with profiles of your own", c.profile_files).many();
    tool.option("--set", "KEY=VALUE",
                "value that wins over every profile; an environment variable called like a key does the same", c.set).many();
    tool.option("--mode", "MODE",
                "canonical writes the canonical profiles where nothing is named; all but random let user_misuse be drawn",
                c.mode)
        .choices({"random", "canonical", "chaos", "robustness"}).env("SANDBOX_PRESET_MODE");
    tool.flag("--misuse", "let user_misuse be drawn and suggested where nobody named it", c.plan.misuse)
        .env("SANDBOX_INCLUDE_USER_MISUSE");
    tool.flag("--guests", "let OS_TYPE and VM_SETTINGS be drawn: they need disk images of yours", c.guests);
    tool.flag("--list", "print all profiles, stages and keys, then end", c.list);
    tool.option("--describe", "NAME", "print what a profile sets or a key takes, then end", c.describe);
    tool.formats(c.format);
    tool.sections({"keyword_profiles"}).looks_up(stress::is_variable);
    return tool.run(argc, argv, [&](sb::cli::io& io) { return presets(io, c); });
}
