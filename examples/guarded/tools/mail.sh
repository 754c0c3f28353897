#!/bin/sh
# The mailbox is the folder mail/, one text file per message, named by date and sender. Drafts go to mail/drafts.txt.
set -eu
case "$1" in
list)
    for file in mail/*.eml; do
        name=$(basename "$file" .eml)
        subject=$(sed -n 's/^Subject: //p' "$file" | head -n 1)
        printf '%s: %s\n' "$name" "$subject"
    done | grep -iF -e "${2:-}" || echo "No messages."
    ;;
read)
    case "$2" in */*) echo "no such message: $2" >&2; exit 1 ;; esac
    cat "mail/$2.eml"
    ;;
draft)
    printf 'In reply to: %s\n\n%s\n\n' "$2" "$3" >>mail/drafts.txt
    echo "Saved as a draft. A partner sends it."
    ;;
esac
