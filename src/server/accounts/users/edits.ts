import { type Recorder, recordActivity } from "../../platform/activities/record.ts";
import { aboutUser, type UserRow } from "../../platform/core/security/viewer.ts";

/** The fields whose changes are recorded. A user's display settings are private and not among them. */
const recordedFields = ["name", "email", "position", "gravatar_url", "sso_enabled", "mfa_enabled"] as const;

/** Records which fields of the account changed, if any. Call it after the change, in its transaction. */
export async function recordEdit(ctx: Recorder, before: UserRow): Promise<void> {
  const after = await ctx.store.users.get(before.id);
  if (!after) return;
  const changed = recordedFields.filter((field) => after[field] !== before[field]);
  if (changed.length === 0) return;
  const moved = after.email === before.email ? {} : { old_email: before.email };
  await recordActivity(ctx, "edited_user", { ...aboutUser(after), changed, ...moved });
}
