import { linuxUndo } from "./linux-undo.ts";

/**
 * Disables sign-in and ends all sessions. The previous state is saved in /var/lib/svc-lock for the unlock script. On
 * failure it is restored, because the server then still shows the host as unlocked. Running it again completes a
 * partial lock.
 */
export const linuxLock = String.raw`#!/bin/sh
# Locks this computer. Runs as root.
ROOT=""
STATE="$ROOT/var/lib/svc-lock"
UNIT="$ROOT/etc/systemd/system/svc-lock.service"
NOTICE="This computer was locked by its administrator."
failed=0
${linuxUndo}
[ "$(id -u)" = 0 ] || { echo "must run as root" >&2; exit 1; }
umask 077
mkdir -p "$STATE/files" || { echo "cannot write $STATE" >&2; exit 1; }

# Nobody comes in from here on. Kept over restarts: the service that would lift it is masked, and a unit writes it anew.
printf '%s\n' "$NOTICE" > "$ROOT/etc/nologin" && chmod 644 "$ROOT/etc/nologin" || fail "write /etc/nologin"
mkdir -p "$ROOT/run"
printf '%s\n' "$NOTICE" > "$ROOT/run/nologin" && chmod 644 "$ROOT/run/nologin" || fail "write /run/nologin"
if command -v systemctl > /dev/null 2>&1; then
  mkdir -p "$ROOT/etc/systemd/system"
  cat > "$UNIT" << UNIT_END
[Unit]
Description=Keeps this computer locked
After=local-fs.target
Before=display-manager.service getty.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'echo "$NOTICE" > /etc/nologin; echo "$NOTICE" > /run/nologin'

[Install]
WantedBy=sysinit.target multi-user.target
UNIT_END
  chmod 644 "$UNIT"
  systemctl daemon-reload
  systemctl enable svc-lock.service > /dev/null 2>&1 || fail "enable svc-lock.service"
  systemctl mask systemd-user-sessions.service > /dev/null 2>&1 || fail "mask systemd-user-sessions"
fi

# No automatic sign-in: a display manager's own does not ask for a password.
without_autologin() {
  file="$ROOT$1"
  [ -f "$file" ] || return 0
  grep -Eiq '^[[:space:]]*(AutomaticLoginEnable|TimedLoginEnable|autologin-user|User)[[:space:]]*=' "$file" || return 0
  saved="$STATE/files/$(printf '%s' "$1" | tr '/' '+')"
  [ -e "$saved" ] || cp -p "$file" "$saved" || { fail "save $1"; return 0; }
  sed -E -i \
    -e 's/^[[:space:]]*((Automatic|Timed)LoginEnable)[[:space:]]*=.*/\1=false/I' \
    -e 's/^[[:space:]]*(autologin-user)[[:space:]]*=.*/#\1=/I' \
    -e '/^\[Autologin\]/,/^\[/ s/^[[:space:]]*User[[:space:]]*=.*/User=/' "$file" || fail "change $1"
}
for one in /etc/gdm3/custom.conf /etc/gdm3/daemon.conf /etc/gdm/custom.conf /etc/lightdm/lightdm.conf /etc/sddm.conf; do
  without_autologin "$one"
done
for one in "$ROOT"/etc/lightdm/lightdm.conf.d/*.conf "$ROOT"/etc/sddm.conf.d/*.conf; do
  [ -f "$one" ] && without_autologin "$(printf '%s' "$one" | cut -c"$(( $(printf '%s' "$ROOT" | wc -c) + 1 ))"-)"
done

end_sessions() {
  loginctl terminate-user "$1" > /dev/null 2>&1
  pkill -KILL -u "$1" > /dev/null 2>&1
  return 0
}

# Accounts of people: no password opens them, and their sessions end.
people=" "
while IFS=: read -r name _ uid _; do
  case "$uid" in '' | *[!0-9]*) continue ;; esac
  [ "$uid" -ge 1000 ] && [ "$uid" -le 59999 ] || continue
  people="$people$name "
  state=$(passwd -S "$name" 2> /dev/null | awk '{ print $2 }')
  case "$state" in
    L | LK) ;;
    *)
      grep -qxF "$name" "$STATE/accounts" 2> /dev/null || printf '%s\n' "$name" >> "$STATE/accounts"
      passwd -l "$name" > /dev/null 2>&1 || fail "lock the account $name"
      ;;
  esac
  end_sessions "$name"
done << PEOPLE_END
$(getent passwd)
PEOPLE_END

# Whoever else is signed in.
for name in $(who | awk '{ print $1 }' | sort -u); do
  case "$people" in *" $name "*) continue ;; esac
  end_sessions "$name"
done

if [ "$failed" != 0 ]; then
  put_back || echo "and not everything could be undone"
  echo "not everything could be locked"
  exit 1
fi

# Ubuntu's display manager shows a black screen where nobody may sign in: text mode from the next start on.
if grep -qi '^ID=ubuntu' "$ROOT/etc/os-release" 2> /dev/null && systemctl list-unit-files 2> /dev/null | grep -q '^gdm'; then
  [ -e "$STATE/target" ] || systemctl get-default > "$STATE/target" 2> /dev/null
  systemctl set-default multi-user.target > /dev/null 2>&1
  # A minute later, so that this result is reported first.
  shutdown -r +1 > /dev/null 2>&1
fi
echo "locked"
exit 0
`;
