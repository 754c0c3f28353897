#!/bin/sh
# Stands in for Tideline's own systems, with plain files in ops/. Replace each command with the one that asks yours.
#   logs.txt     time, service, level and message
#   metrics.tsv  time, metric and value
#   deploys.tsv  region, version and state
set -eu
case "$1" in
logs)
    awk -v service="$2" -v from="$3" -v to="$4" '
        $1 >= from && $1 <= to && $2 == service { print; found = 1 }
        END { if (!found) print "No lines." }
    ' ops/logs.txt
    ;;
metric)
    awk -F '\t' -v metric="$2" -v from="$3" -v to="$4" '
        $2 == metric && $1 >= from && $1 <= to {
            n++; sum += $3; if (n == 1 || $3 > most) most = $3; if (n == 1 || $3 < least) least = $3
        }
        END { if (n) printf "%d values: least %s, mean %.1f, most %s\n", n, least, sum / n, most; else print "No values." }
    ' ops/metrics.tsv
    ;;
status)
    cat ops/deploys.tsv
    ;;
deploy)
    printf '%s\t%s\trequested\n' "$3" "$2" >>ops/deploys.tsv
    echo "Requested: version $2 in $3."
    ;;
incident)
    printf -- '- %s\n' "$(printf '%s' "$2" | tr '\r\n' '  ')" >>ops/incident.md
    echo "Posted."
    ;;
esac
