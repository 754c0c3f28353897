#!/bin/sh
# Orders are data/orders.tsv: number, e-mail, item, date, state and amount, separated by tabs. Both number and e-mail must
# match, so that nobody sees the order of somebody else.
set -eu
awk -F '\t' -v number="$1" -v mail="$2" '
    $1 == number && tolower($2) == tolower(mail) { print "Order " $1 ": " $3 ", " $4 ", " $5 ", " $6; found = 1 }
    END { if (!found) print "No order with this number and e-mail address." }
' data/orders.tsv
