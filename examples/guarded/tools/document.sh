#!/bin/sh
# Documents are text files in matters/NUMBER/.
set -eu
case "$1/$2" in *..*) echo "no such document" >&2; exit 1 ;; esac
if [ -z "$2" ]; then ls "matters/$1"; else cat "matters/$1/$2"; fi
