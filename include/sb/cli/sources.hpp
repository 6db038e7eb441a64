// SPDX-License-Identifier: MIT
// Gives options their values after the flags: the strongest source comes first, and a value that is set stays.
//
// How it works. The environment, a file of variables that was named, and the settings file that was named (else the user's, else
// the machine's) may set every option. Then .env and sandbox_settings.yaml of the current folder may set those that cannot harm,
// unless others were named in their place: see trust.hpp.
#pragma once
#include <sb/cli/environment.hpp>
#include <sb/cli/help.hpp>
#include <sb/cli/log.hpp>
#include <sb/cli/settings.hpp>
#include <sb/cli/terminal.hpp>
#include <sb/cli/trust.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::cli {

inline constexpr std::string_view found_variables = ".env", found_settings = "sandbox_settings.yaml";
inline constexpr std::size_t most_bytes_found = std::size_t{1} << 20; ///< of either of them

class sources {
public:
    environment env;
    object settings; ///< what the work may look at: of a found file, the sections that cannot harm
    std::vector<std::string> later; ///< warnings, to be said when it is known how
    std::map<std::string, std::string> section_source; ///< of each section in `settings`

    result<void> from_environment(option& o) {
        for (bool const file : {false, true}) {
            auto const use = [&](std::string const& name, std::string_view instead) -> result<bool> {
                auto const variable = env.find(name);
                if (!variable || variable->from_file != file) return false;
                auto const named = file ? cat(env.file_name(), " ", name) : name;
                if (auto const taken = take_list(o, variable->value, named); taken.has_error()) {
                    if (!is_foreign(o, name)) return taken.error();
                    later.push_back(cat(taken.error().what, "; ignored"));
                    return false;
                }
                o.source = cat(file ? cat(env.file_name(), " ") : "environment ", name);
                if (!instead.empty()) later.push_back(cat(name, " is deprecated; use ", instead));
                return true;
            };
            for (auto const& name : o.environment_names) {
                SB_TRY(bool const done, use(name, {}));
                if (done) return {};
            }
            for (auto const& [name, instead] : o.deprecated) {
                SB_TRY(bool const done, use(name, instead));
                if (done) return {};
            }
        }
        return {};
    }

    /// `is_named`: by the caller. What lies in the usual places is read only when nobody else can have written it; false: it is ignored.
    result<bool> read_trusted_settings(declaration& d, std::string const& path, bool is_named) {
        found_report told;
        auto file = is_named ? open_regular(path, true) : open_usual(path, ::geteuid(), told.why);
        if (file.has_error()) return error{file.error().on, cat("settings ", file.error().what)};
        if (!file->fd) {
            told.file = path, told.kind = "settings ", told.place.clear(), told.trusts = "--settings", told.may_be_named = true;
            reports_.push_back(std::move(told));
            return false;
        }
        auto document = read_settings(file->fd.get(), path);
        if (document.has_error()) return error{document.error().on == blame::input ? blame::caller : document.error().on, document.error().what};
        settings = std::move(*document);
        SB_CHECK(check_section(d, path));
        for (auto& o : d.options)
            if (o.source == "default") SB_CHECK(from_settings(d, o, path));
        for (auto const& each : d.sections) section_source[each] = cat("settings ", path);
        return true;
    }

    void take_found_variables(declaration& d) {
        auto& told = reports_.emplace_back();
        told.file = found_variables, told.trusts = "--env-file";
        auto const file = open_found(told);
        if (!file.fd) return;
        auto const text = read_all(file.fd.get(), told.file, most_bytes_found);
        if (text.has_error()) return;
        for (auto const& each : read_variables(*text)) {
            auto const& name = each.first; // clang 14 captures no part of a pair
            auto const& value = each.second.value;
            if (value.empty() || env.find(name)) continue;
            auto const o = std::find_if(d.options.begin(), d.options.end(), [&](option const& one) { return one.is_set_by(name) && !is_foreign(one, name); });
            if (o == d.options.end()) {
                if (d.looks_up && d.looks_up(name)) told.ignored.push_back(printable(name));
            } else if (o->source == "default") {
                if (!told.why.empty() || !o->may_be_found(value)) told.ignored.push_back(name);
                else take_found(*o, value, cat(told.file, " ", name), cat(told.file, ", line ", each.second.line, ": ", name), name, told);
            }
        }
        if (told.ignored.empty()) told.why.clear(); // a file that has nothing for us is the project's own, whoever may write it
    }

    void take_found_settings(declaration& d) {
        auto& told = reports_.emplace_back();
        told.file = found_settings, told.kind = "settings ", told.trusts = "--settings";
        auto const file = open_found(told);
        if (!file.fd || !told.why.empty()) return;
        auto const document = read_settings(file.fd.get(), told.file);
        if (document.has_error()) return told.why = printable(without(document.error().what, cat("settings ", told.file, ": "))), void();
        auto const* const own = document->if_contains(d.name);
        if (own && !own->if_object()) told.ignored.push_back(d.name);
        if (own && own->if_object())
            for (auto const& [key, v] : *own->if_object()) {
                auto const o = std::find_if(d.options.begin(), d.options.end(), [&key = key](option const& each) { return each.section_key() == key; });
                take_found_setting(o == d.options.end() ? nullptr : &*o, v, cat(d.name, ".", printable(key)), told);
            }
        for (auto const& [key, v] : *document) {
            for (auto& o : d.options)
                if (o.setting_key == key) take_found_setting(&o, v, key, told);
            if (std::find(d.sections.begin(), d.sections.end(), key) == d.sections.end() || settings.if_contains(key)) continue;
            if (auto const wrong = wrong_with(d, key, v); !wrong.empty()) {
                later.push_back(cat(told.name(), printable(without(wrong, "settings: ")), "; ignored"));
                continue;
            }
            settings[key] = v, section_source[key] = cat("settings ", told.file);
            if (!v.if_object()) told.used.push_back(key);
            else
                for (auto const& [name, each] : *v.if_object()) told.used.push_back(cat(key, ".", printable(name)));
        }
    }

    /// Says what is to be known of all that.
    void tell(logger& log, bool of_found_files) const {
        for (auto const& each : later) log.warn(each);
        if (!of_found_files) return;
        for (auto const& each : reports_) {
            if (auto const line = each.use_line(); !line.empty()) log.note(line);
            if (auto const line = each.ignore_line(); !line.empty()) log.warn(line);
        }
    }

private:
    static bool is_foreign(option const& o, std::string const& name) {
        return std::find(o.foreign_names.begin(), o.foreign_names.end(), name) != o.foreign_names.end();
    }

    static std::string wrong_with(declaration const& d, std::string const& section, value const& v) {
        object one;
        one[section] = v;
        auto const judged = d.judges ? d.judges(one) : result<void>{};
        return judged.has_error() ? judged.error().what : std::string{};
    }
    static std::string without(std::string text, std::string_view beginning) {
        if (text.starts_with(beginning)) text.erase(0, beginning.size());
        return text;
    }

    /// If the result is closed, nothing can be read, and `why` gives the reason if the file exists. If it is open and `why` is
    /// set, it can be read but not trusted.
    static readable_file open_found(found_report& told) {
        bool const is_ours = told.file == found_settings; // a file called .env serves other programs
        auto file = open_regular(told.file, false);
        if (file.has_error()) {
            struct stat facts {};
            bool const there = ::stat(told.file.c_str(), &facts) == 0;
            if (there && (is_ours || (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)))) told.why = without(file.error().what, told.file + ": "), told.why.insert(0, told.why.starts_with("is ") ? "it " : "");
            return {};
        }
        told.why = distrust(file->facts, ::geteuid()), told.may_be_named = !told.why.empty();
        if (file->facts.st_size > static_cast<off_t>(most_bytes_found)) told.why = cat("it is larger than ", most_bytes_found, " bytes"), told.may_be_named = false, file->fd.reset();
        return std::move(*file);
    }

    /// `where`: for a value that will not do. It is not quoted: it may be a secret that stands there for another program, and a log has many readers.
    void take_found(option& o, std::string_view text, std::string source, std::string const& where, std::string name, found_report& told) {
        if (o.take(text, source).has_error())
            return later.push_back(cat(where, ": its value is ", o.is_switch() ? std::string{"neither yes nor no"} : o.words.empty() ? cat("not valid for ", o.flag) : cat("not one of ", joined(o.words, ", ")), "; ignored"));
        o.source = std::move(source);
        told.used.push_back(std::move(name));
    }
    void take_found_setting(option* o, value const& v, std::string name, found_report& told) {
        if (o && o->source != "default") return;
        if (!o || v.if_array() || v.if_object() || !o->may_be_found(text_of(v))) return told.ignored.push_back(std::move(name));
        auto const label = cat("settings ", told.file);
        if (v.is_null()) return;
        auto const where = cat(label, ": ", name);
        take_found(*o, text_of(v), label, where, std::move(name), told);
    }

    static std::string text_of(value const& v) {
        if (auto const* s = v.if_string()) return std::string{*s};
        if (auto const* b = v.if_bool()) return std::string{*b ? "yes" : "no"};
        return json::text_of(v);
    }

    static result<void> take_list(option& o, std::string_view text, std::string const& named) {
        o.clear();
        if (!o.list) return o.take(text, named);
        std::optional<error> wrong;
        split(text, ',', [&](std::string_view each) {
            if (wrong || trim(each).empty()) return;
            if (auto const taken = o.take(trim(each), named); taken.has_error()) wrong = taken.error();
        });
        if (wrong) return *wrong;
        return {};
    }

    static result<void> take_setting(option& o, value const& v, std::string const& path, std::string const& key) {
        auto const named = cat("settings ", path, ": ", key);
        o.clear();
        o.source = cat("settings ", path);
        if (auto const* items = v.if_array(); items && o.list) {
            for (auto const& each : *items) SB_CHECK(o.take(text_of(each), named));
            return {};
        }
        if (v.if_array() || v.if_object()) return caller_error(cat(named, ": must be a single value"));
        if (v.is_null()) return {};
        return o.take(text_of(v), named);
    }

    /// The tool's own section first, then the top-level key that several tools share.
    result<void> from_settings(declaration const& d, option& o, std::string const& path) const {
        if (auto const* mine = settings.if_contains(d.name); mine && mine->if_object())
            if (auto const* v = mine->if_object()->if_contains(o.section_key())) return take_setting(o, *v, path, cat(d.name, ".", o.section_key()));
        if (!o.setting_key.empty())
            if (auto const* v = settings.if_contains(o.setting_key)) return take_setting(o, *v, path, o.setting_key);
        return {};
    }

    /// A key of our own section that is no option is a slip of the pen, and said.
    result<void> check_section(declaration const& d, std::string const& path) const {
        auto const* mine = settings.if_contains(d.name);
        if (!mine) return {};
        if (!mine->if_object()) return caller_error(cat("settings ", path, ": ", d.name, ": must be a map"));
        std::vector<std::string> known;
        for (auto const& o : d.options) known.push_back(o.section_key());
        for (auto const& [key, v] : *mine->if_object())
            if (std::find(known.begin(), known.end(), key) == known.end())
                return caller_error(cat("settings ", path, ": ", d.name, ": unknown key \"", key, "\"", did_you_mean(key, known)));
        return {};
    }

    std::vector<found_report> reports_;
};

} // namespace sb::cli
