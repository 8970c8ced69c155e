// Notifies the user of a host before a patch policy installs an app: by a script, since agents show no messages.

import type { PolicyRow } from "../../checks/policies/applies.ts";
import { isOpen } from "../../hosts/operations/queue.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { isoAt, minutes } from "../../platform/core/clock.ts";
import { type Context, service } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";

/** Between the message and the installation. */
const NOTICE_PERIOD = minutes(5);

const inShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const inPowerShell = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A script that shows the message to the user who is signed in. Without one it succeeds, for nobody is disturbed. */
export function noticeScript(platform: string, app: string, version: string): string {
  const text = `${app} will be updated to version ${version} in ${NOTICE_PERIOD / minutes(1)} minutes. Save your work.`;
  if (platform === "windows")
    return [
      "$users = (Get-CimInstance -ClassName Win32_ComputerSystem).UserName",
      "if (-not $users) { Write-Output 'nobody is signed in'; exit 0 }",
      `& "$env:SystemRoot\\System32\\msg.exe" * /TIME:${NOTICE_PERIOD / 1_000} ${inPowerShell(text)}`,
      "exit $LASTEXITCODE",
      "",
    ].join("\r\n");
  return [
    "#!/bin/sh",
    "user=$(stat -f %Su /dev/console)",
    'if [ -z "$user" ] || [ "$user" = root ] || [ "$user" = loginwindow ]; then echo "nobody is signed in"; exit 0; fi',
    `exec launchctl asuser "$(id -u "$user")" sudo -u "$user" osascript -e 'on run argv' \\`,
    `  -e 'display notification (item 1 of argv) with title (item 2 of argv)' -e 'end run' ${inShell(text)} ${inShell(app)}`,
    "",
  ].join("\n");
}

/** Where the notice of an installation stands. `at`: when the app is to be installed. */
type NoticeState =
  | { readonly isOver: false }
  | { readonly isOver: true; readonly exitCode: number | null; readonly at: string | null };

/** A notice that was cancelled, or whose host was deleted, is over without a result. */
export async function noticeState(store: ServerTx, uuid: string, now: number): Promise<NoticeState> {
  const execution = await store.scriptExecutions.first({ where: eq("uuid", uuid) });
  if (execution === null) return { isOver: true, exitCode: null, at: null };
  if (execution.ended_at === null) {
    const waits = (await store.operations.count(and(eq("uuid", uuid), isOpen))) > 0;
    return waits ? { isOver: false } : { isOver: true, exitCode: null, at: null };
  }
  const due = Date.parse(execution.ended_at) + NOTICE_PERIOD;
  return now < due ? { isOver: false } : { isOver: true, exitCode: execution.exit_code, at: isoAt(due) };
}

/** Records that the user was notified, or could not be. */
export async function recordNotice(
  inside: Context,
  host: { readonly id: number; readonly display_name: string },
  policy: PolicyRow,
  { uuid, title, exitCode, at }: { uuid: string; title: string; exitCode: number | null; at: string | null },
): Promise<void> {
  await recordActivity(
    { ...inside, user: service },
    "notified_end_user_before_patching",
    {
      host_id: host.id,
      host_display_name: host.display_name,
      patch_notification_uuid: uuid,
      software_titles: [title],
      policy_ids: [policy.id],
      time_before: NOTICE_PERIOD / 1_000,
      install_at: at,
      status: exitCode === 0 ? "notified" : "failed",
      script_execution_id: uuid,
      exit_code: exitCode,
    },
    { hostId: host.id },
  );
}
