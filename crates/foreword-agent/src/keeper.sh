# Waits until the agent is gone or closes the pipe, then ends every process of its group and every
# descendant of one, whatever group that has. They are stopped first, so that none starts another.
read -r _
trap '' TERM HUP
descendants() {
    list=' '
    more=1
    while [ $more = 1 ]; do
        more=0
        for stat in /proc/[0-9]*/stat; do
            pid=${stat#/proc/}
            pid=${pid%/stat}
            case $list in *" $pid "*) continue ;; esac
            [ "$pid" = $$ ] && continue
            { read -r line <"$stat"; } 2>/dev/null || continue
            # After the name in parentheses: state, parent, group.
            set -- ${line##*) }
            [ "$1" = Z ] && continue
            if [ "$3" != $$ ]; then
                case $list in *" $2 "*) ;; *) continue ;; esac
            fi
            list="$list$pid "
            more=1
        done
    done
}
descendants
[ "$list" = ' ' ] || kill -STOP $list 2>/dev/null
descendants
[ "$list" = ' ' ] || kill -KILL $list 2>/dev/null
kill -KILL 0
