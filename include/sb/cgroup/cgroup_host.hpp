// SPDX-License-Identifier: MIT
// Which control groups this process can make, and where. Each answer is proven by making a group and removing it.
//
// How it works: our groups are folders named "sandbench-", an id, and "." with a word. On v1 a group lies in our own group
// of each hierarchy, so the limits on us also apply to our runs. On v2 it also lies in our own group, or in the one that the
// caller names (cgroup_plan.hpp). We write to no other group, except for the one switch that hands a controller down; we
// restore that switch.
#pragma once
#include <sb/cgroup/cgroup_limits.hpp>
#include <sb/cgroup/cgroup_plan.hpp>
#include <sb/cgroup/cgroup_remove.hpp>
#include <sb/cgroup/cgroup_text.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/sole.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/remove_tree.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <cstdint>
#include <functional>
#include <iterator>
#include <linux/magic.h>
#include <memory>
#include <string>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::cgroup {

enum class cgroup_kind { none, v1, v2, hybrid };

constexpr std::string_view name_of(cgroup_kind k) noexcept {
    constexpr std::string_view names[] = {"none", "v1", "v2", "hybrid"};
    return names[static_cast<std::size_t>(k)];
}

/// Twelve random hexadecimal digits: a name that nobody guesses and nobody else has.
inline std::string random_id() {
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint64_t>(::getpid());
    std::string id;
    for (int i = 0; i < 12; ++i, random >>= 4) id.push_back("0123456789abcdef"[random & 15]);
    return id;
}

/// What may be used, and what was switched on for it. The process that found it restores everything; a forked child does
/// not.
class cgroup_host {
public:
    /// Is called with the folders in which groups may be made from now on, and with the controllers that are about to be
    /// switched on in the last of them. An error: they are not switched on.
    using announcement = std::function<result<void>(std::vector<std::string> const& bases, std::vector<std::string> const& switched_on)>;

    /// Looks for places and proves them. `id` is in the name of all groups made from here on. `below` is a v2 folder in
    /// which the groups are made, wherever we are ourselves; empty: our own group. What is not announced is lost if we are
    /// killed meanwhile.
    static result<cgroup_host> find(std::string id = random_id(), std::string const& below = {}) {
        return announced(std::move(id), below, [](auto const&, auto const&) -> result<void> { return {}; });
    }
    static result<cgroup_host> announced(std::string id, std::string const& below, announcement const& announce) {
        cgroup_host host{std::move(id)};
        std::string named;
        if (!below.empty()) {
            SB_TRY(named, named_place(below));
        }
        auto const mounts = read_file("/proc/self/mountinfo"), groups = read_file("/proc/self/cgroup");
        if (mounts.has_error() || groups.has_error()) {
            for (auto& why : host.why_not_) why = mounts.has_error() ? mounts.error().what : groups.error().what;
            return host;
        }
        for (auto& why : host.why_not_) why = "no control group hierarchy is mounted";
        auto const hierarchies = read_hierarchies(*mounts, *groups);
        if (auto const places = writable_places(hierarchies, named); !places.empty()) SB_CHECK(announce(places, {}));
        for (auto const& h : hierarchies)
            if (h.version == 1) host.take_v1(h);
        for (auto const& h : hierarchies)
            if (h.version == 2) SB_CHECK(host.take_v2(h, named, announce));
        return host;
    }
    cgroup_host(cgroup_host&&) noexcept = default;
    cgroup_host& operator=(cgroup_host&& from) noexcept { return take_over(*this, std::move(from)); }
    ~cgroup_host() {
        if (owner_ == ::getpid()) (void)restore();
    }

    bool has(controller c) const noexcept { return version_[at(c)] != 0; }
    std::string const& why_not(controller c) const noexcept { return why_not_[at(c)]; } ///< empty when the controller is available
    /// The folder in which groups with this controller are made, of v1 or of v2.
    std::string const& base(controller c) const noexcept { return base_[at(c)]; }
    int version(controller c) const noexcept { return version_[at(c)]; } ///< 0: not available
    cgroup_kind kind() const noexcept {
        bool const one = !v1_bases_.empty(), two = !v2_base_.empty();
        return one && two ? cgroup_kind::hybrid : one ? cgroup_kind::v1 : two ? cgroup_kind::v2 : cgroup_kind::none;
    }
    /// The folder in the v2 tree, with controllers or without; empty: none.
    std::string const& v2_base() const noexcept { return v2_base_; }
    std::string const& v2_why_not() const noexcept { return v2_why_not_; }
    std::vector<std::string> const& v1_bases() const noexcept { return v1_bases_; }
    /// All folders that may contain groups of this session: a lease keeps them.
    std::vector<std::string> bases() const {
        auto bases = v1_bases_;
        if (!v2_base_.empty()) bases.push_back(v2_base_);
        return bases;
    }
    std::string const& id() const noexcept { return id_; }
    std::string group_name(std::string_view word) const { return cat(group_prefix, id_, ".", word); }
    /// Controllers that were switched on in v2_base(): restore() undoes "+memory" and so on.
    std::vector<std::string> const& switched_on() const noexcept { return switched_on_; }

    /// Removes every group of this id and kills what runs in it, switches off what was switched on unless others need it,
    /// and moves us back.
    result<void> restore() {
        if (owner_ != ::getpid()) return {};
        owner_ = -1;
        result<void> restored{};
        auto const note = [&](result<void> one) {
            if (one.has_error() && !restored.has_error()) restored = std::move(one);
        };
        for (auto const& base : bases()) note(remove_groups(base, id_, group_name("supervisor")));
        if (!switched_on_.empty() && !switch_off(v2_base_, switched_on_)) note(system_error(cat("controllers stay enabled in ", v2_base_, ", because other groups need them")));
        if (!own_group_.empty()) {
            note(write_once(own_group_ + "/cgroup.procs", cat(::getpid())));
            note(remove_groups(v2_base_, id_));
        }
        return restored;
    }

private:
    explicit cgroup_host(std::string id) : id_{std::move(id)}, owner_{::getpid()} {}
    static constexpr std::size_t at(controller c) noexcept { return static_cast<std::size_t>(c); }
    /// Makes a group in `base`, checks that it has `file`, removes it. Empty when all succeeded.
    std::string try_group(std::string const& base, std::vector<std::string> const& files) const {
        auto const path = cat(base, "/", group_name("probe"));
        if (::mkdir(path.c_str(), 0755) != 0) return last_error("make group", path).what;
        std::string why;
        for (auto const& file : files)
            if (::access(cat(path, "/", file).c_str(), W_OK) != 0 && why.empty()) why = last_error("write", cat(path, "/", file)).what;
        if (::rmdir(path.c_str()) != 0 && why.empty()) why = last_error("remove group", path).what;
        return why;
    }

    /// The real path of what the caller named. If it does not exist, that is the caller's error, and we do not go on without
    /// it.
    static result<std::string> named_place(std::string const& below) {
        if (!below.starts_with('/')) return caller_error(cat("--cgroup ", below, ": must be an absolute path"));
        auto const folder = files::open_folder(AT_FDCWD, below.c_str());
        if (!folder) return caller_error(cat("--cgroup ", below, ": ", std::strerror(errno)));
        struct statfs facts {};
        if (::fstatfs(folder.get(), &facts) != 0 || facts.f_type != CGROUP2_SUPER_MAGIC) return caller_error(cat("--cgroup ", below, ": not a control group of version 2"));
        std::unique_ptr<char, void (*)(void*)> const real{::realpath(below.c_str(), nullptr), ::free};
        if (!real) return last_error("--cgroup", below);
        return std::string{real.get()};
    }

    /// Places where try_group and all later steps may make a folder.
    static std::vector<std::string> writable_places(std::vector<cgroup_hierarchy> const& hierarchies, std::string const& named) {
        std::vector<std::string> places;
        auto const add = [&](std::string const& path) {
            if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0) places.push_back(path);
        };
        auto const useful = [](cgroup_hierarchy const& h) {
            return std::any_of(std::begin(all_controllers), std::end(all_controllers), [&](controller c) { return contains(h.controllers, name_of(c)); });
        };
        for (auto const& h : hierarchies)
            if (h.version == 1 && !h.own.empty() && useful(h)) add(h.own);
        for (auto const& h : hierarchies)
            if (h.version == 2 && (!named.empty() || !h.own.empty())) add(named.empty() ? h.own : named);
        return places;
    }

    static char const* limit_file(controller c, int version) noexcept {
        switch (c) {
        case controller::memory: return version == 1 ? "memory.limit_in_bytes" : "memory.max";
        case controller::pids: return "pids.max";
        case controller::cpu: return version == 1 ? "cpu.cfs_quota_us" : "cpu.max";
        case controller::cpuacct: return "cgroup.procs"; // it has no limit: the group itself is enough
        }
        return "cgroup.procs";
    }

    void take_v1(cgroup_hierarchy const& h) {
        bool wanted = false;
        for (auto const c : all_controllers) {
            if (!contains(h.controllers, name_of(c))) continue;
            auto& why = why_not_[at(c)];
            told_[at(c)] = true;
            if (h.own.empty()) why = cat("our own ", name_of(c), " group is outside of what is mounted on ", h.mount);
            else why = try_group(h.own, {"cgroup.procs", limit_file(c, 1)});
            if (!why.empty()) continue;
            base_[at(c)] = h.own;
            version_[at(c)] = 1;
            wanted = true;
        }
        if (wanted) v1_bases_.push_back(h.own);
    }

    /// The current state of our own group, or of the named one.
    v2_place look_at(cgroup_hierarchy const& h, std::string const& named) const {
        v2_place one;
        one.path = named.empty() ? h.own : named;
        one.own = one.path == h.own, one.named = !named.empty();
        auto const text = [&](char const* name) {
            auto const got = read_file(cat(one.path, "/", name));
            return got.has_error() ? std::string{} : *got;
        };
        one.root = ::access((one.path + "/cgroup.type").c_str(), F_OK) != 0;
        one.available = words(text("cgroup.controllers"));
        one.enabled = words(text("cgroup.subtree_control"));
        one.can_switch = ::faccessat(AT_FDCWD, (one.path + "/cgroup.subtree_control").c_str(), W_OK, AT_EACCESS) == 0;
        // a process can move only if the group above both places is writable
        auto const above = cat(detail::shared_path(one.path, h.own.empty() ? one.path : h.own), "/cgroup.procs");
        if (::faccessat(AT_FDCWD, above.c_str(), W_OK, AT_EACCESS) != 0) one.cannot_make = last_error("write", above).what;
        else one.cannot_make = try_group(one.path, {"cgroup.procs"});
        for (auto const& pid : words(text("cgroup.procs"))) one.strangers += pid != cat(::getpid());
        return one;
    }

    result<void> take_v2(cgroup_hierarchy const& h, std::string const& named, announcement const& announce) {
        std::vector<controller> wanted;
        for (auto const c : all_controllers)
            if (!has(c)) wanted.push_back(c);
        if (h.own.empty() && named.empty()) {
            v2_why_not_ = cat("our own group is outside of what is mounted on ", h.mount);
            for (auto const c : wanted)
                if (!told_[at(c)]) why_not_[at(c)] = v2_why_not_;
            return {};
        }
        auto const place = look_at(h, named);
        auto plan = plan_v2(place, wanted);
        for (auto const c : wanted)
            if (auto& why = plan.why_not[at(c)]; !why.empty() && !told_[at(c)]) why_not_[at(c)] = std::move(why);
        if (!plan.usable) {
            v2_why_not_ = place.cannot_make;
            return {};
        }
        v2_base_ = place.path;
        if (!plan.switch_on.empty()) {
            std::vector<std::string> names;
            for (auto const c : plan.switch_on) names.emplace_back(name_of(c));
            SB_CHECK(announce(bases(), names));
        }
        if (plan.move_self) {
            auto const moved = move_self(place.path);
            if (!moved.empty()) give_up(plan, moved);
        }
        for (auto const c : plan.switch_on) {
            auto const on = write_once(v2_base_ + "/cgroup.subtree_control", cat("+", name_of(c)));
            if (on.has_error()) lose(plan, c, on.error().what);
            else switched_on_.emplace_back(name_of(c));
        }
        for (auto const c : plan.has) {
            auto const why = try_group(v2_base_, {limit_file(c, 2)});
            why_not_[at(c)] = why;
            if (!why.empty()) continue;
            base_[at(c)] = v2_base_;
            version_[at(c)] = 2;
        }
        return {};
    }
    void lose(v2_plan& plan, controller c, std::string const& why) {
        why_not_[at(c)] = why;
        std::erase(plan.has, c);
    }
    void give_up(v2_plan& plan, std::string const& why) {
        for (auto const c : plan.switch_on) lose(plan, c, why);
        plan.switch_on.clear();
    }
    std::string move_self(std::string const& from) {
        auto const path = cat(from, "/", group_name("supervisor"));
        if (::mkdir(path.c_str(), 0755) != 0) return last_error("make group", path).what;
        auto const moved = write_once(path + "/cgroup.procs", cat(::getpid()));
        if (!moved.has_error()) return own_group_ = from, std::string{};
        ::rmdir(path.c_str());
        return moved.error().what;
    }

    std::string id_, v2_base_, v2_why_not_, own_group_; // own_group_: where we were before we moved
    std::vector<std::string> v1_bases_, switched_on_;
    std::array<std::string, std::size(all_controllers)> base_, why_not_;
    std::array<int, std::size(all_controllers)> version_{};
    std::array<bool, std::size(all_controllers)> told_{}; // v1 has this controller, so the reason comes from v1
    sole<pid_t, -1> owner_;
};

} // namespace sb::cgroup
