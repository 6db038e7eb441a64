#!/bin/sh
# SPDX-License-Identifier: MIT
# ccache.sh FOLDER COMMAND…: a compiler by ccache, which finds what any clone of the tree (FOLDER) has compiled. An old precompiled
# header is removed before a new one is written: ccache takes it for one that is used, looks at it and not at the headers, and
# finds what was made of others. One is looked up by the bytes of its headers alone (depend mode): by the preprocessed text it would be
# found where only a comment differs, and the compiler, which compares bytes, would then not know the headers again.
export CCACHE_BASEDIR="$1" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
shift
last=
case " $* " in *' c++-header '*)
    export CCACHE_DEPEND=1 CCACHE_NAMESPACE=bytes # apart from what was cached otherwise
    for word; do [ "$last" != -o ] || rm -f "$word"; last=$word; done
    ;;
esac
exec ccache "$@"
