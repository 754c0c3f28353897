#!/bin/sh
# The calendar is data/calendar.tsv: start, end, title and place, separated by tabs, one event per line.
set -eu
file=data/calendar.tsv
plain() { printf '%s' "$1" | tr '\t\r\n' '   '; }
case "$1" in
list)
    awk -F '\t' -v from="$2" -v to="$3" '
        { day = substr($1, 1, 10) }
        day >= from && day <= to { print $1 " to " $2 ": " $3 ($4 == "" ? "" : " (" $4 ")"); found = 1 }
        END { if (!found) print "No events." }
    ' "$file"
    ;;
add)
    printf '%s\t%s\t%s\t%s\n' "$(plain "$2")" "$(plain "$3")" "$(plain "$4")" "$(plain "${5:-}")" >>"$file"
    LC_ALL=C sort -o "$file" "$file"
    echo "Added."
    ;;
esac
