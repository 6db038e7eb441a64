#!/bin/bash
# SPDX-License-Identifier: MIT
# read_back.sh BIN [TABLE]: each name that names.tsv calls ours is given to its tool and read back from --explain, or from
# what the tool then does; and no tool knows a name that the table calls later or dropped.
set -uo pipefail
bin=$(cd "${1:?usage: read_back.sh BIN [TABLE]}" && pwd)
table=${2:-$(cd "$(dirname "$0")/../.." && pwd)/docs/reference/names.tsv}
documents=$(cd "$(dirname "$0")/../.." && pwd)/../shared/seeds
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/tmp"
umask 022 # files that the group may write are not trusted

failed=0 proven=0
fail() { echo "names: $*" >&2; failed=1; }
fresh() { # an empty folder, with the files that samples name
    rm -rf "$work/cwd"
    mkdir "$work/cwd" && cd "$work/cwd" || exit 2
    echo '{}' >settings.json
    echo '[{"SCENARIO_NAME":"first"},{"SCENARIO_NAME":"second"}]' >presets.json
}
# [NAME=VALUE…] COMMAND: with nothing of the caller's environment that could colour the result
clean() { env -i PATH="$bin:/usr/bin:/bin" HOME="$work/home" TMPDIR="$work/tmp" LC_ALL=C.UTF-8 TZ=UTC "$@" </dev/null; }
csv() { case $1 in *[,\"]*) printf '"%s"' "${1//\"/\"\"}" ;; *) printf '%s' "$1" ;; esac; }
tools() { (cd "$bin" && ls | grep -E '^sb(-[a-z]+)?$'); }

# explained NAME "option,value,from" [NAME=VALUE…] TOOL [ARG…]: the line must be in what --explain prints
explained() {
    local name=$1 expected=$2 out
    shift 2
    out=$(clean "$@" --explain 2>"$work/err") || { fail "$name: $* --explain fails: $(head -n 1 "$work/err")"; return; }
    grep -qxF -e "$expected" <<<"$out" || { fail "$name: $* --explain has no line $expected"; return; }
    if grep -qF -e "$name is old" "$work/err"; then
        [[ $note == *'with a warning'* ]] || fail "$name: $1 warns that it is old, and the note does not say \"with a warning\""
    elif [[ $note == *'with a warning'* ]]; then
        fail "$name: no warning"
    fi
    proven=$((proven + 1))
}
# through_option TOOL --option: a variable or a flag gives the option its value
through_option() {
    local tool=$1 option=$2 shown
    [ -x "$bin/$tool" ] || { fail "$name: there is no $tool"; return; }
    shown=$(csv "$sample")
    if [ "$kind" = variable ]; then explained "$name" "${option#--},$shown,environment $name" "$name=$sample" "$tool"
    elif [ "$sample" = yes ]; then explained "$name" "${option#--},yes,flag $option" "$tool" "$name"
    else explained "$name" "${option#--},$shown,flag $option" "$tool" "$name" "$sample"; fi
}
# A preset takes the key from a variable of its name, and says so.
through_preset() {
    local out value=$sample
    out=$(clean "$name=$sample" sb-presets --count 2 --seed 1 2>"$work/err") || { fail "$name=$sample sb-presets fails: $(head -n 1 "$work/err")"; return; }
    [[ $value =~ ^(\{.*\}|[0-9.]+)$ ]] || value="\"$value\""
    [ "$(grep -cF -e "\"$name\":$value" -e "\"$name\":\"$sample\"" <<<"$out")" = 2 ] || { fail "$name: a variable of $sample does not stand in each preset: ${out%%$'\n'*}"; return; }
    [ "$(grep -cE "\"OVERRIDES\":\[[^]]*\"$name\"" <<<"$out")" = 2 ] || { fail "$name: is not in OVERRIDES"; return; }
    proven=$((proven + 1))
}

# What no option shows is proven by what the tool does: `@NAME` in the table is prove_NAME here.
# done_by NAME COUNT TEXT COMMAND…: the text stands in COUNT lines of what the command prints
done_by() {
    local count=$1 text=$2 out
    shift 2
    out=$(clean "$@" 2>"$work/err") || { fail "$name: $* fails: $(head -n 1 "$work/err")"; return; }
    [ "$(grep -cF -e "$text" <<<"$out")" = "$count" ] && proven=$((proven + 1)) || fail "$name: $*: not $count lines with $text: ${out:0:200}"
}
prove_dotenv() {
    echo 'SANDBOX_LOG_LEVEL=info' >.env
    for tool in $(tools); do explained "$name" 'log-level,info,.env SANDBOX_LOG_LEVEL' "$tool"; done
    echo 'SANDBOX_LOG_LEVEL=error' >.env
    for tool in $(tools); do explained "$name" 'log-level,error,.env SANDBOX_LOG_LEVEL' "$tool" --env-file .env; done
}
prove_settings_file() {
    echo 'log_level: info' >sandbox_settings.yaml
    for tool in $(tools); do
        [ "$tool" = sb-settings ] || explained "$name" "log-level,info,settings $name" "$tool"
    done
    echo 'log_level: error' >sandbox_settings.yaml
    for tool in $(tools); do
        [ "$tool" = sb-settings ] || explained "$name" "log-level,error,settings $name" "$tool" --settings sandbox_settings.yaml
    done
    done_by 1 '"log_level": "error"' sb-settings
}
prove_keyword_profiles() {
    echo 'keyword_profiles: {zebra: [concurrency_spike]}' >sandbox_settings.yaml
    done_by 1 '"SCENARIO_NAME":"concurrency_spike"' sb-presets --module src/zebra.py
}
prove_scenario_name() { done_by 13 '"SCENARIO_NAME":"' sb-presets --canonical --with-baseline; }
prove_env_presets() {
    done_by 1 '"scenario":"from_variable"' 'SANDBOX_ENV_PRESETS=[{"SCENARIO_NAME":"from_variable"}]' sb-exec -- true
    done_by 1 '"preset_source":"env"' 'SANDBOX_ENV_PRESETS={"SCENARIO_NAME":"from_variable"}' sb-exec -- true
}
prove_preset_mode() { done_by 12 '"preset_source":"canonical"' SANDBOX_PRESET_MODE=canonical sb-exec -- true; }
prove_generate_presets() {
    done_by 3 '"preset_source":"generated"' SANDBOX_GENERATE_PRESETS=1 sb-exec --seed 1 -- true
    done_by 1 '"preset_source":"none"' SANDBOX_GENERATE_PRESETS=0 sb-exec -- true
}
prove_presets_json() {
    done_by 1 '"scenario":"first"' sb-exec --preset-file presets.json -- true
    done_by 1 '"scenario":"second"' sb-exec --preset-file presets.json -- true
}
prove_roi_history() {
    mkdir run1
    echo '{"roi_history":[0.5,0.25]}' >run1/roi_history.json
    done_by 1 '"name":"run1","metric":"roi","total":0.75' sb-rank run1
    done_by 1 '"name":"run1","metric":"roi","total":0.75' sb-rank run1/roi_history.json
}

while IFS=$'\t' read -r area name of kind fate ours proof note; do
    if [ "$fate" = dropped ] && [ "$ours" != - ]; then # what takes its place must be there
        fresh
        ours=${ours/#every tool/sb}
        clean $ours --explain >/dev/null 2>"$work/err" || fail "$name: \"$ours\" takes its place, but fails: $(head -n 1 "$work/err")"
    fi
    [ "$fate" = same ] || [ "$fate" = alias ] || continue
    fresh
    before=$proven sample=${proof%@*} sample=${sample% } before_failed=$failed
    if [[ $proof == *@* ]]; then
        prove=prove_${proof##*@}
        if declare -F "$prove" >/dev/null; then "$prove"; else fail "$name: there is no $prove in $0"; fi
    fi
    if [ -n "$sample" ]; then
        case $kind:$ours in
            key:*) through_preset ;;
            variable:* | flag:*)
                while read -r tool option; do
                    if [[ $tool == every ]]; then
                        for each in $(tools); do through_option "$each" "${option#tool }"; done
                    elif [ -n "$option" ]; then
                        through_option "$tool" "$option"
                    fi
                done <<<"${ours//, /$'\n'}"
                ;;
            *) fail "$name: a $kind is proven by a function, not by \"$sample\"" ;;
        esac
    fi
    [ "$proven" -gt "$before" ] || [ "$failed" -gt "$before_failed" ] || fail "$name: the table calls it ours and nothing proves it"
done <"$table"

# The other way round: what a tool's help calls a variable of its own is in the table as ours, if it is a name of the documents.
for tool in $(tools); do
    clean "$tool" --help | tr -s ' \n' '  ' | grep -oE '\[\$[^]]*\]' | tr -c 'A-Z0-9_\n' '\n' | grep . | sort -u >"$work/known"
    while read -r name; do
        fate=$(awk -F '\t' -v name="$name" '$2 == name { print $5; exit }' "$table")
        case $fate in
            same | alias) ;;
            '') ! grep -rqwF -e "$name" "$documents" 2>/dev/null || fail "$name: $tool knows it, and the table lacks it" ;;
            *) fail "$name: $tool knows it, and the table says $fate" ;;
        esac
    done <"$work/known"
done

[ $failed = 0 ] && echo "names: $proven proofs"
exit $failed
