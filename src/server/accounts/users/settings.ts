// What the user has set for the console and lists.
import { changedConsole } from "../../../api/accounts/console-change.ts";
import type { SettingsChange, UserSettings } from "../../../api/accounts/user-settings.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { may } from "../../platform/core/security/access.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";

/** Bytes of a user's settings of the console, as JSON. */
const MAX_BYTES = 16 * 1024;

const none: UserSettings = { hidden_host_columns: [] };

/** Others see which columns a user hides, and only global admins what the user has set for the console. */
export function shownSettings(ctx: Pick<Context, "user">, { id, settings }: UserRow): UserSettings {
  const { hidden_host_columns, console = {} } = settings ?? none;
  const isShown = ctx.user.id === id || may(ctx.user, "users:write", null);
  return isShown ? { hidden_host_columns, console } : { hidden_host_columns };
}

export function changedSettings(current: UserSettings | null, change: SettingsChange): UserSettings {
  const { hidden_host_columns, console = {} } = current ?? none;
  const changed = change.console === undefined ? console : changedConsole(console, change.console);
  if (Buffer.byteLength(JSON.stringify(changed)) > MAX_BYTES)
    throw invalid("settings.console", `would have more than ${MAX_BYTES / 1024} KiB`);
  return { hidden_host_columns: change.hidden_host_columns ?? hidden_host_columns, console: changed };
}
