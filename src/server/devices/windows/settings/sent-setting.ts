// Sends a setting of teams to their enrolled devices: once, again when it changes or a host changes its team, and a
// command that deletes it from devices which should not have it any more.
import type { SyncCommand } from "../../../../syncml/value.ts";
import type { OperationKind } from "../../../hosts/operations/kind.ts";
import { lockOperations } from "../../../hosts/operations/queue.ts";
import { minutes } from "../../../platform/core/clock.ts";
import { type Follower, settingsFollower } from "../../../platform/core/concurrency/settings-follower.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import type { StartedPart } from "../../../platform/core/running.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, exists, isNull, not, oneOf, type Predicate } from "../../../platform/store/query.ts";
import type { Table } from "../../../platform/store/table.ts";
import { hostsBySetting, mdmOfTeams, type SharedMdm } from "../../../settings/teams/mdm.ts";
import { isEnrolled } from "../channel/devices.ts";
import type { WindowsDeviceListener } from "../channel/listeners.ts";
import { windowsEnrollments } from "../channel/tables.ts";
import type { WindowsAnswer } from "../commands/kind.ts";
import { sendWindowsCommands } from "../commands/send.ts";

/** Hosts in one transaction. */
const BATCH_SIZE = 500;

interface SentValue<V> {
  /** The id of the host. */
  readonly id: number;
  /** Null: to delete the setting from the device. */
  readonly value: V | null;
  /** Null: the command was dropped, and has to be sent again. */
  readonly command_uuid: string | null;
}

/** The values are plain JSON. Null: devices do not have the setting. */
interface SentSetting<V> {
  /** Name of the lock and the job. */
  readonly name: "windows_startup_pins" | "windows_updates";
  /** In messages. */
  readonly title: string;
  readonly kind: OperationKind<WindowsAnswer>;
  /** What was last sent to each host. No row: nothing. It has the columns `id` and `command_uuid`. */
  readonly table: Table;
  valueIn(mdm: SharedMdm): V | null;
  /** Rows of the table with this value. */
  isValue(value: V | null): Predicate;
  commandOf(value: V | null): SyncCommand;
  read(store: ServerTx, hosts: Predicate): Promise<readonly SentValue<V>[]>;
  record(store: ServerTx, values: readonly SentValue<V>[]): Promise<void>;
  forget(store: ServerTx, hosts: Predicate): Promise<unknown>;
}

const managed = and(eq("platform", "windows"), exists(windowsEnrollments, "host_id", isEnrolled));
const wasSent = not(isNull("command_uuid"));

export class SettingSender<V> {
  readonly #setting: SentSetting<V>;
  readonly listener: WindowsDeviceListener;
  readonly follower: StartedPart<Follower>;
  readonly job: Job;

  constructor(setting: SentSetting<V>) {
    const { name, title } = setting;
    this.#setting = setting;
    this.listener = {
      enrolled: (inside, { host_id }) => this.#sendTo(inside, [host_id]),
      // Windows itself drops what the server has set when the enrollment ends.
      reset: async ({ store }, { host_id }) => void (await setting.forget(store, eq("id", host_id))),
    };
    this.follower = settingsFollower(
      `${title} of Windows devices`,
      { failure: `cannot send ${title}; trying again` },
      (services) => this.send(services),
    );
    this.job = {
      name,
      every: minutes(10),
      run: async (services, signal) => void (await this.send(services, signal)),
    };
  }

  /** Sends what has changed to the devices concerned. Returns how many there were. */
  async send(services: Services, signal?: AbortSignal): Promise<number> {
    const { name, title, valueIn } = this.#setting;
    const ctx = serviceContext(services, title);
    if (!(await ctx.config.current()).mdm.windows_enabled_and_configured) return 0;
    let count = 0;
    for (const { value, hosts } of hostsBySetting(await mdmOfTeams(ctx), valueIn)) {
      const where = and(managed, hosts, this.#isLagging(value));
      for await (const page of ctx.store.hosts.pages({ where }, BATCH_SIZE, ["id"])) {
        if (signal?.aborted) return count;
        count += page.length;
        const ids = page.map(({ id }) => id);
        // The lock serializes the comparison, so that two servers do not send the same.
        await ctx.store.tx(
          async (store) => {
            await lockOperations(store, ids);
            await this.#sendTo(within(ctx, store), ids);
          },
          { lock: name },
        );
      }
    }
    return count;
  }

  /** Compares these hosts with their settings, in the caller's transaction, under the locks of their operations. */
  async #sendTo(inside: Context, hostIds: readonly number[]): Promise<void> {
    const setting = this.#setting;
    const { store } = inside;
    const hosts = await store.hosts.pick(["id", "team_id"], { where: and(oneOf("id", hostIds), managed) });
    const settings = await mdmOfTeams({ ...inside, config: inside.config.over(store) });
    const rows = await setting.read(store, oneOf("id", hostIds));
    const sentTo = new Map(rows.map((row) => [row.id, row]));
    const different = hosts.flatMap(({ id, team_id }) => {
      const value = setting.valueIn(settings.get(team_id)!);
      return isSent(sentTo.get(id), value) ? [] : [{ id, value }];
    });
    if (different.length === 0) return;
    const uuids = await sendWindowsCommands(
      inside,
      setting.kind,
      different.map(({ id, value }) => ({ hostId: id, command: setting.commandOf(value) })),
    );
    await setting.record(
      store,
      different.map((row, i) => ({ ...row, command_uuid: uuids[i]! })),
    );
  }

  /** Hosts to which another value was sent, or none. */
  #isLagging(value: V | null): Predicate {
    const { table, isValue } = this.#setting;
    const hasValue = and(isValue(value), wasSent);
    return value === null ? exists(table, "id", not(hasValue)) : not(exists(table, "id", hasValue));
  }
}

function isSent<V>(row: SentValue<V> | undefined, value: V | null): boolean {
  if (row === undefined) return value === null;
  return row.command_uuid !== null && JSON.stringify(row.value) === JSON.stringify(value);
}
