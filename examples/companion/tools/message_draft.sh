#!/bin/sh
# Appends a message to data/drafts.txt. Nadia sends drafts herself.
set -eu
printf 'To: %s\n%s\n\n' "$1" "$2" >>data/drafts.txt
echo "Saved as a draft. Nadia sends it."
