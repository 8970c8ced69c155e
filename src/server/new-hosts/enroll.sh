#!/bin/sh
# Installs the agent of svc as a service of this machine (Linux, macOS), and enrolls it.
#
#   --server-url URL   the server
#   --token TOKEN      an enroll token or secret; or --token-file FILE
#   --ca-file FILE     certificates to trust instead of the system's (PEM); default: what the server put into this script
#   --pin SHA256       fingerprint of the server's certificate, or of one that signed it; may be repeated
#   --no-scripts       the agent runs no scripts and installs no software
#   --sign-requests    the agent gets a certificate, and signs its requests with it
#   --root DIR         write into the file system of an image, and start nothing
#
# Run again, it replaces the agent by the server's version, and changes only what is different.
set -eu

sha256='@AGENT_SHA256@'
# Of a server whose certificate no system trusts.
authority='@AUTHORITY@'

fail() {
  printf 'enroll: %s\n' "$1" >&2
  exit 1
}

need() {
  [ "$1" -ge 2 ] || fail "$2 needs a value"
}

find_node() {
  # sudo may have a shorter PATH than the user.
  for one in "${SVC_NODE:-}" "$(command -v node || true)" /usr/bin/node /usr/local/bin/node /opt/homebrew/bin/node; do
    [ -n "$one" ] && [ -x "$one" ] || continue
    if "$one" -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)'; then
      printf '%s' "$one"
      return 0
    fi
  done
  return 1
}

# Everything is in a function, so that nothing runs if the download of this script was cut.
main() {
  server='' token='' token_file='' ca_file='' root=''
  # The arguments of `agent.mjs install` are collected behind the own ones.
  count=$#
  while [ "$count" -gt 0 ]; do
    case "$1" in
      --server-url) need "$count" "$1"; server=$2; shift 2; count=$((count - 2)) ;;
      --token) need "$count" "$1"; token=$2; shift 2; count=$((count - 2)) ;;
      --token-file) need "$count" "$1"; token_file=$2; shift 2; count=$((count - 2)) ;;
      --ca-file) need "$count" "$1"; ca_file=$2; set -- "$@" "--ca-file=$2"; shift 2; count=$((count - 2)) ;;
      --pin) need "$count" "$1"; set -- "$@" "--pin=$2"; shift 2; count=$((count - 2)) ;;
      --root) need "$count" "$1"; root=$2; set -- "$@" "--root=$2"; shift 2; count=$((count - 2)) ;;
      --no-scripts | --sign-requests) set -- "$@" "$1"; shift; count=$((count - 1)) ;;
      *) fail "unknown argument: $1" ;;
    esac
  done
  [ -n "$server" ] || fail '--server-url URL is required'
  [ -n "$token$token_file" ] || fail '--token TOKEN is required; `svc agent enroll-command` prints the whole command'
  case "$server" in
    https://* | http://*) ;;
    *) fail "--server-url: $server is not a URL" ;;
  esac
  [ -n "$root" ] || [ "$(id -u)" = 0 ] || fail 'run this as root, for example with sudo'
  command -v curl > /dev/null || fail 'curl is needed. Install it, for example: apt-get install curl'
  node=$(find_node) || fail 'Node.js 20.19 or newer is needed. Install it (https://nodejs.org, or the package nodejs of your distribution), then run this again. If it is not in the PATH, set SVC_NODE to its path.'

  umask 022
  folder="$root/opt/svc-agent"
  mkdir -p "$folder"
  draft="$folder/.agent.$$.mjs"
  secret=$(umask 077 && mktemp)
  own_ca=$(mktemp)
  trap 'rm -f "$draft" "$secret" "$own_ca"' EXIT
  trap 'exit 1' HUP INT TERM
  if [ -n "$token_file" ]; then cat "$token_file" > "$secret"; else printf '%s' "$token" > "$secret"; fi
  if [ -z "$ca_file" ] && [ -n "$authority" ]; then
    ca_file=$own_ca
    printf '%s\n' "$authority" > "$ca_file"
    set -- "$@" "--ca-file=$ca_file"
  fi

  if [ -n "$ca_file" ]; then
    curl -fsSL --connect-timeout 30 --max-time 900 --cacert "$ca_file" -o "$draft" "${server%/}/enroll/agent.mjs" || fail 'the agent could not be downloaded'
  else
    curl -fsSL --connect-timeout 30 --max-time 900 -o "$draft" "${server%/}/enroll/agent.mjs" || fail 'the agent could not be downloaded'
  fi
  found=$("$node" -e 'process.stdout.write(require("crypto").createHash("sha256").update(require("fs").readFileSync(process.argv[1])).digest("hex"))' "$draft")
  [ "$found" = "$sha256" ] || fail "the agent has the SHA-256 $found instead of $sha256. If the server is just being updated, try again."
  chmod 755 "$draft"
  mv -f "$draft" "$folder/agent.mjs"

  "$node" "$folder/agent.mjs" install --restart "--server-url=$server" "--enroll-secret-file=$secret" "$@"
}

main "$@"
