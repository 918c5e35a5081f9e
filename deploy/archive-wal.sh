#!/bin/sh
# PostgreSQL's archive_command: `archive-wal.sh PATH NAME FOLDER` keeps a segment of its write-ahead log as FOLDER/NAME.gz. It
# succeeds only once the file is complete and on the disk, since PostgreSQL then drops its own. After a crash it is given the
# same segment again; another one of that name, as of a second database with this folder, is refused.
set -eu
if [ -e "$3/$2.gz" ]; then
  gzip -dc "$3/$2.gz" | cmp -s - "$1"
  exit
fi
gzip -1 -c "$1" >"$3/$2.part"
sync "$3/$2.part"
mv "$3/$2.part" "$3/$2.gz"
sync "$3"
