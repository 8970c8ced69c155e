import { linuxUndo } from "./linux-undo.ts";

/** Restores the state saved by the lock script in /var/lib/svc-lock and restarts. */
export const linuxUnlock = `#!/bin/sh
# Unlocks this computer. Runs as root.
ROOT=""
STATE="$ROOT/var/lib/svc-lock"
UNIT="$ROOT/etc/systemd/system/svc-lock.service"
${linuxUndo}
[ "$(id -u)" = 0 ] || { echo "must run as root" >&2; exit 1; }

if ! put_back; then
  echo "not everything could be unlocked"
  exit 1
fi
# A minute later, so that this result is told first.
shutdown -r +1 > /dev/null 2>&1
echo "unlocked"
exit 0
`;
