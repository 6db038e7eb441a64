// SPDX-License-Identifier: MIT
// The caller's folder as the payload's own: root's files belong to nobody that a payload may be, so they are shown under
// another owner, or copied where the file system cannot do that.
#pragma once
#include <sb/isolate/copy_tree.hpp>
#include <sb/isolate/mount.hpp>
#include <sb/isolate/payload_user.hpp>
#include <sb/isolate/workspace.hpp>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <utility>

namespace sb::isolate {

/// What a nursery_plan takes from it; the copy lives as long as this does.
struct lent_work {
    unique_fd owners; ///< for nursery_plan::owners
    std::string lower; ///< for nursery_plan::lower
    std::optional<session_folder> copy;
};

namespace detail {

inline result<lent_work> copy_work(std::string const& work, payload_user const& user) {
    lent_work made;
    SB_TRY(auto folder, session_folder::make());
    made.lower = folder.path() + "/work";
    if (::mkdir(made.lower.c_str(), 0755) != 0) return last_error("make folder", made.lower);
    auto const from = open_folder(AT_FDCWD, work.c_str()), to = open_folder(AT_FDCWD, made.lower.c_str());
    if (!from || !to) return last_error("open", from ? made.lower : work);
    tree_owner const owner{user.uid, user.gid};
    auto const copied = copy_tree(from.get(), to.get(), owner);
    if (copied.has_error()) return system_error(cat("workspace ", work, ": its file system cannot show files under another owner, and it cannot be copied: ", copied.error().what));
    struct stat facts {};
    if (::fstat(from.get(), &facts) != 0 || ::fchmod(to.get(), facts.st_mode & 0777) != 0 || ::fchown(to.get(), owner.uid, owner.gid) != 0)
        return last_error("change owner of", made.lower);
    made.copy.emplace(std::move(folder));
    return made;
}

} // namespace detail

/// `work` is a real path, or empty. Whoever is not root lends what is theirs already, and nothing has to be done.
inline result<lent_work> lend_work(std::string const& work, payload_user const& user) {
    lent_work made;
    if (work.empty() || ::geteuid() != 0) return made;
    struct stat owner {};
    if (::stat(work.c_str(), &owner) != 0) return last_error("stat", work);
    SB_TRY(auto map, owner_map(owner, user));
    SB_TRY(auto const trial, copy_mount(AT_FDCWD, work, false));
    if (map_owners(trial.get(), map.get()).has_error()) return detail::copy_work(work, user);
    made.owners = std::move(map);
    return made;
}

} // namespace sb::isolate
