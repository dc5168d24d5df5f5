#!/bin/sh
# Secrets come as files. One whose name is that of a variable, such as PGPASSWORD or OPENAI_API_KEY, becomes that variable.
set -eu
for file in "${PROCTOR_SECRETS:-/run/secrets}"/*; do
  [ -f "$file" ] || continue
  name=${file##*/}
  case $name in
    *[!A-Z0-9_]* | [0-9]*) continue ;;
  esac
  [ -r "$file" ] || { echo "$file cannot be read by user $(id -u): chmod 444, in a folder that only you can enter." >&2; exit 2; }
  value=$(cat "$file")
  export "$name=$value"
done
exec "$@"
