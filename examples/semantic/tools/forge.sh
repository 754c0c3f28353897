#!/bin/sh
# A forge in files: forge/issues/NUMBER.md, and forge/pulls/BRANCH.md for the pull request of a branch.
set -eu
pull() { printf 'forge/pulls/%s.md' "$(git branch --show-current | tr / -)"; }
case "$1" in
open)
    mkdir -p forge/pulls
    printf '# %s\n\n%s\n\n## Comments\n\n' "$2" "$3" >"$(pull)"
    echo "Opened $(pull)."
    ;;
comment)
    printf -- '- %s: %s\n' "$2" "$3" >>"$(pull)"
    echo "Commented."
    ;;
issue)
    case "$2" in *[!0-9]* | '') echo "an issue has a number" >&2; exit 1 ;; esac
    cat "forge/issues/$2.md"
    ;;
esac
