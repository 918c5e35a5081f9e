#!/bin/sh
# First process of a container: enter.sh ROOT MOUNTS UID:GID WORKDIR READ_ONLY HOSTNAME CGROUPS PRIVILEGES -- COMMAND...
# It is alone in namespaces of its own for processes, mounts and the host name. MOUNTS is a file with a line for each
# mount, fields divided by tabs: kind (bind, tmpfs), source or options, target below ROOT, rw or ro.
set -eu
root=$1 mounts=$2 user=$3 workdir=$4 read_only=$5 hostname=$6 cgroups=$7 privileges=$8
shift 9
path=$PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin
for cgroup in $cgroups; do echo 0 >"$cgroup/cgroup.procs"; done
echo "$hostname" >/proc/sys/kernel/hostname
ulimit -c 0
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
tab=$(printf '\t')
while IFS="$tab" read -r kind source target mode; do
  case $kind in
    tmpfs) mount -t tmpfs -o "nosuid,nodev$source" tmpfs "$root$target" ;;
    bind)
      mount --rbind "$source" "$root$target"
      if [ "$mode" = ro ]; then mount -o remount,bind,ro "$root$target"; fi
      ;;
  esac
done <"$mounts"
if [ "$read_only" = true ]; then mount -o remount,bind,ro "$root"; fi
unset PWD OLDPWD
PATH=$path
# shellcheck disable=SC2086 # several options
exec /usr/bin/setpriv --inh-caps=-all $privileges \
  /usr/bin/unshare --root="$root" --wd="$workdir" --setgid="${user#*:}" --setuid="${user%:*}" -- "$@"
