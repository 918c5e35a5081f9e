#!/bin/sh
# Stands for the init that the engine puts before a command (`init: true`): hands signals on, and ends as the command ends.
trap 'kill -TERM "$child" 2>/dev/null' TERM
trap 'kill -INT "$child" 2>/dev/null' INT
"$@" &
child=$!
code=0
wait "$child" || code=$?
while kill -0 "$child" 2>/dev/null; do
  code=0
  wait "$child" || code=$?
done
exit "$code"
