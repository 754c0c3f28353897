#!/bin/sh
# Renames a name in every tracked file. Only whole words, made of letters, digits and `_`.
set -eu
case "$1$2" in *[!A-Za-z0-9_]*) echo "a name has letters, digits and _" >&2; exit 1 ;; esac
files=$(git grep -lIw -e "$1") || { echo "\`$1\` is in no tracked file" >&2; exit 1; }
printf '%s\n' "$files" | while IFS= read -r file; do
    sed -i "s/\b$1\b/$2/g" -- "$file"
    echo "changed $file"
done
