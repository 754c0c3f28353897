#!/bin/sh
# Appends a text to a file in data/, from where a person takes it.
set -eu
printf '%s\n\n' "$2" >>"data/$1.txt"
echo "Saved for a person."
