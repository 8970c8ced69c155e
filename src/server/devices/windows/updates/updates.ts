// Deadlines of Windows updates: sent to each device as its team's settings have them.
import { and, eq, isNull } from "../../../platform/store/query.ts";
import { SettingSender } from "../settings/sent-setting.ts";
import { commandOf, type Deadlines, windowsDeadlines } from "./commands.ts";
import { windowsUpdates } from "./tables.ts";

const sender = new SettingSender<NonNullable<Deadlines>>({
  name: "windows_updates",
  title: "update deadlines",
  kind: windowsDeadlines,
  table: windowsUpdates,
  valueIn: ({ windows_updates: { deadline_days, grace_period_days } }) =>
    deadline_days === null || grace_period_days === null ? null : { deadline_days, grace_period_days },
  isValue: (deadlines) =>
    deadlines === null
      ? isNull("deadline_days")
      : and(eq("deadline_days", deadlines.deadline_days), eq("grace_period_days", deadlines.grace_period_days)),
  commandOf,
  async read(store, where) {
    const rows = await store.windowsUpdates.list({ where });
    return rows.map(({ id, deadline_days, grace_period_days, command_uuid }) => {
      const isNone = deadline_days === null || grace_period_days === null;
      return { id, value: isNone ? null : { deadline_days, grace_period_days }, command_uuid };
    });
  },
  async record(store, values) {
    await store.windowsUpdates.upsert(
      values.map(({ id, value, command_uuid }) => ({
        id,
        deadline_days: value?.deadline_days ?? null,
        grace_period_days: value?.grace_period_days ?? null,
        command_uuid,
      })),
      { on: ["id"], returning: [] },
    );
  },
  forget: (store, where) => store.windowsUpdates.delete(where),
});

export const { listener: windowsUpdateListener, follower: windowsUpdateDeadlines, job: windowsUpdatesJob } = sender;
