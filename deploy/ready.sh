#!/usr/bin/env bash
# Health check of a container: `ready.sh PORT [PATH]` asks the process of this container whether it is ready, and prints
# the answer, which says why not. Without a program of its own: the image has neither curl nor wget, and a Node process
# for each check would cost more than what it checks.
set -u
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1:%s\r\n\r\n' "${2:-/ready}" "$1" >&3
read -r -t 5 _ status _ <&3 || exit 1
while read -r -t 5 line <&3 && [[ $line != $'\r' ]]; do :; done
while read -r -t 5 line <&3 || [[ -n $line ]]; do
  printf '%s\n' "$line"
  line=
done
[[ $status == 200 ]]
