// SPDX-License-Identifier: MIT
// Makes the caller's folder the payload's own. No payload may run as the owner of root's files, so they are shown under
// another owner, or copied where the file system cannot do that.
#pragma once
#include <sb/files/copy_tree.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/mount.hpp>
#include <sb/files/pinned.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/files/workspace.hpp>
#include <sb/process/payload_user.hpp>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <utility>

namespace sb::sandbox {

/// What a template_plan takes from it. The copy lives as long as this object.
struct lent_work {
    unique_fd owners; ///< for template_plan::owners
    files::pinned lower = {}; ///< for template_plan::lower
    std::optional<files::session_folder> copy;
};

namespace detail {

inline result<lent_work> copy_work(files::pinned const& work, process::payload_user const& user) {
    lent_work made;
    SB_TRY(auto folder, files::session_folder::make());
    auto const copy = folder.path() + "/work";
    SB_TRY(auto const to, files::make_folder(folder.fd(), "work", folder.path()));
    SB_TRY(made.lower, files::pinned::open_in(folder.fd(), "work"));
    if (made.lower.lies_in(work.facts()))
        return caller_error(cat("workspace ", work.path(), ": its file system cannot show files under another owner, and it cannot be copied into itself; choose a folder outside of it with ", files::for_temporary.choose));
    auto const from = files::open_folder(work.fd(), ".");
    if (!from) return last_error("open", work.path());
    files::tree_owner const owner{user.uid, user.gid};
    files::tree_owner const reader{work.facts().st_uid, work.facts().st_gid}; // under a mapped owner the payload would have only their rights
    auto const copied = files::copy_tree(from.get(), to.get(), owner, -1, false, reader);
    if (copied.has_error()) return system_error(cat("workspace ", work.path(), ": its file system cannot show files under another owner, and it cannot be copied: ", copied.error().what));
    if (!copied->failed.empty()) return system_error(cat("workspace ", work.path(), ": its file system cannot show files under another owner, and it cannot be copied: ", copied->failed));
    struct stat facts {};
    if (::fstat(from.get(), &facts) != 0 || ::fchmod(to.get(), facts.st_mode & 0777) != 0 || ::fchown(to.get(), owner.uid, owner.gid) != 0)
        return last_error("change owner of", copy);
    made.copy.emplace(std::move(folder));
    return made;
}

} // namespace detail

/// `work` is the result of workspace_folder, or empty. A caller who is not root lends files that already have the right
/// owner, so nothing must be done.
inline result<lent_work> lend_work(files::pinned const& work, process::payload_user const& user) {
    lent_work made;
    if (!work || ::geteuid() != 0) return made;
    SB_TRY(auto map, process::owner_map(work.facts(), user));
    SB_TRY(auto const trial, work.copy(false));
    if (files::map_owners(trial.get(), map.get()).has_error()) return detail::copy_work(work, user);
    made.owners = std::move(map);
    return made;
}

} // namespace sb::sandbox
