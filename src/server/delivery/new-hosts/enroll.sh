#!/bin/sh
# Installs the agent of svc as a service of this machine (Linux, macOS), and enrolls it. It uses sudo or doas where it needs
# root. Nothing is written before the machine was found to have what the agent needs.
#
#   --server-url URL   the server
#   --token TOKEN      an enroll token or secret; or --token-file FILE
#   --ca-file FILE     certificates to trust instead of the system's (PEM); default: what the server put into this script
#   --pin SHA256       fingerprint of the server's certificate, or of one that signed it; may be repeated
#   --no-scripts       the agent runs no scripts and installs no software
#   --sign-requests    the agent gets a certificate, and signs its requests with it
#   --run              run the agent until interrupted, without a service: for containers
#   --hardware-uuid ID with --run: UUID to enroll with, because containers have the one of the machine below
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

# Whether the system's service manager runs, so that it can start the agent.
has_service_manager() {
  [ "$(uname -s)" != Linux ] || [ -d /run/systemd/system ] || [ -e /run/openrc/softlevel ]
}

# Runs a command as root, without the rest of this script as its input.
as_root() {
  if [ "$elevate" = '' ]; then "$@" < /dev/null; else "$elevate" "$@" < /dev/null; fi
}

# What is done as root: $1 the agent as it was downloaded, $2 its SHA-256, $3 where it belongs, $4 Node.
place_agent='set -eu
umask 022
mkdir -p "$(dirname "$3")"
draft="$3.$$"
trap "rm -f \"$draft\"" EXIT
cat "$1" > "$draft"
found=$("$4" -e "process.stdout.write(require(\"crypto\").createHash(\"sha256\").update(require(\"fs\").readFileSync(process.argv[1])).digest(\"hex\"))" "$draft")
if [ "$found" != "$2" ]; then
  printf "enroll: the agent has the SHA-256 %s instead of %s. If the server is just being updated, try again.\n" "$found" "$2" >&2
  exit 1
fi
chmod 755 "$draft"
mv -f "$draft" "$3"'

# Where a service has its secret too: $1 the secret, $2 the certificates that the server put into this script, or nothing.
place_settings='set -eu
umask 077
mkdir -p /etc/svc-agent
cat "$1" > /etc/svc-agent/secret
[ -z "$2" ] || cat "$2" > /etc/svc-agent/ca.pem'

# Everything is in a function, so that nothing runs if the download of this script was cut.
main() {
  server='' token='' token_file='' ca_file='' root='' elevate='' verb=install uuid=''
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
      --run) verb=run; shift; count=$((count - 1)) ;;
      --hardware-uuid) need "$count" "$1"; uuid=$2; set -- "$@" "--hardware-uuid=$2"; shift 2; count=$((count - 2)) ;;
      --no-scripts | --sign-requests) set -- "$@" "$1"; shift; count=$((count - 1)) ;;
      *) fail "unknown argument: $1" ;;
    esac
  done
  [ -z "$uuid" ] || [ "$verb" = run ] || fail '--hardware-uuid needs --run'
  [ "$verb" = install ] || [ -z "$root" ] || fail '--run and --root exclude each other'
  [ -n "$server" ] || fail '--server-url URL is required'
  [ -n "$token$token_file" ] || fail '--token TOKEN is required; `svc agent enroll-command` prints the whole command'
  case "$server" in
    https://* | http://*) ;;
    *) fail "--server-url: $server is not a URL" ;;
  esac
  if [ -z "$root" ] && [ "$(id -u)" != 0 ]; then
    for one in sudo doas; do
      if command -v "$one" > /dev/null; then elevate=$one; break; fi
    done
    [ -n "$elevate" ] || fail 'this machine has neither sudo nor doas: run this as root'
  fi
  command -v curl > /dev/null || fail 'curl is needed. Install it, for example: apt-get install curl'
  node=$(find_node) || fail 'Node.js 20.19 or newer is needed. Install it (https://nodejs.org, or the package nodejs of your distribution), then run this again. If it is not in the PATH, set SVC_NODE to its path.'
  [ -n "$root" ] || [ "$verb" = run ] || has_service_manager ||
    fail 'neither systemd nor OpenRC runs on this machine, which may be a container. Nothing was written. Add --run to this command to run the agent without a service.'

  umask 077
  drafts=$(mktemp -d)
  trap 'rm -rf "$drafts"' EXIT
  trap 'exit 1' HUP INT TERM
  secret="$drafts/secret"
  if [ -n "$token_file" ]; then cat "$token_file" > "$secret"; else printf '%s' "$token" > "$secret"; fi
  own_ca=''
  if [ -z "$ca_file" ] && [ -n "$authority" ]; then
    own_ca="$drafts/ca.pem"
    printf '%s\n' "$authority" > "$own_ca"
  fi

  draft="$drafts/agent.mjs"
  trusted=${ca_file:-$own_ca}
  curl -fsSL --connect-timeout 30 --max-time 900 ${trusted:+--cacert "$trusted"} -o "$draft" "${server%/}/enroll/agent.mjs" || fail 'the agent could not be downloaded'
  agent="$root/opt/svc-agent/agent.mjs"
  as_root sh -c "$place_agent" sh "$draft" "$sha256" "$agent" "$node"
  if [ "$verb" = install ]; then
    as_root "$node" "$agent" install --restart "--server-url=$server" "--enroll-secret-file=$secret" ${own_ca:+"--ca-file=$own_ca"} "$@"
    return
  fi
  as_root sh -c "$place_settings" sh "$secret" "$own_ca"
  rm -rf "$drafts"
  set -- run "--server-url=$server" --enroll-secret-file=/etc/svc-agent/secret ${own_ca:+--ca-file=/etc/svc-agent/ca.pem} "$@"
  # In the place of this shell, so that a container stops the agent itself.
  exec $elevate "$node" "$agent" "$@" < /dev/null
}

main "$@"
