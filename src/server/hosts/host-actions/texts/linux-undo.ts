/**
 * Shell functions shared by lock and unlock. `put_back` restores what the lock script saved in $STATE. Failures are
 * reported on stderr and set $failed; the saved state is kept for another attempt.
 */
export const linuxUndo = `
fail() { echo "FAILED: $*" >&2; failed=1; }

put_back_accounts() {
  [ -f "$STATE/accounts" ] || return 0
  while IFS= read -r name; do
    [ -n "$name" ] || continue
    # An account that has gone since needs nothing.
    getent passwd "$name" > /dev/null || continue
    passwd -u "$name" > /dev/null 2>&1
    case $? in
      0) ;;
      # It had no password: unlocked it would have none again, which -u refuses.
      3) passwd -d "$name" > /dev/null 2>&1 || fail "unlock the account $name, which has no password" ;;
      *) fail "unlock the account $name" ;;
    esac
  done < "$STATE/accounts"
}

put_back() {
  failed=0
  put_back_accounts
  for saved in "$STATE"/files/*; do
    [ -f "$saved" ] || continue
    file="$ROOT$(basename "$saved" | tr '+' '/')"
    cp -p "$saved" "$file" || fail "put back $file"
  done
  if command -v systemctl > /dev/null 2>&1; then
    systemctl unmask systemd-user-sessions.service > /dev/null 2>&1 || fail "unmask systemd-user-sessions"
    if [ -e "$UNIT" ]; then
      systemctl disable svc-lock.service > /dev/null 2>&1
      rm -f "$UNIT"
      systemctl daemon-reload
    fi
    if [ -s "$STATE/target" ]; then
      systemctl set-default "$(cat "$STATE/target")" > /dev/null 2>&1 || fail "put back the default target"
    fi
  fi
  # Last: while anything above failed, nobody comes in.
  [ "$failed" = 0 ] || return 1
  rm -f "$ROOT/etc/nologin" "$ROOT/run/nologin"
  rm -rf "$STATE"
}
`;
