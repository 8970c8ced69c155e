import { ALL_MEMBERS, channels, HOSTS_MOVED } from "../../platform/core/channels.ts";
import type { ServerStore, ServerTx } from "../../platform/core/tables.ts";

export interface HostChanges {
  /** Number of notifications so far. A row that was being read when this number changed may be outdated. */
  readonly notifications: number;
  stop(): Promise<void>;
}

/** Invalidates cached hosts that another server has changed, or all of them if notifications may have been missed. */
export async function watchHosts(
  store: Pick<ServerStore, "listen">,
  forget: { host(hostId: number): void; all(): void },
): Promise<HostChanges> {
  let notifications = 0;
  const all = () => {
    notifications++;
    forget.all();
  };
  const stops = [
    await store.listen(
      channels.hosts,
      (payload) => {
        if (payload === "*") return all();
        notifications++;
        for (const id of JSON.parse(payload) as number[]) forget.host(id);
      },
      all,
    ),
    // Deleting a team moves its hosts to no team.
    await store.listen(channels.teams, all, all),
  ];
  return {
    get notifications() {
      return notifications;
    },
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}

/** Call this in the transaction that deletes hosts: their memberships are deleted too. */
export const notifyHostsGone = (store: ServerTx): Promise<void> => store.notify(channels.labelMembers, ALL_MEMBERS);

/** Call this in the transaction that moves hosts between teams: the members that team users see change. */
export const notifyHostsMoved = (store: ServerTx): Promise<void> => store.notify(channels.labelMembers, HOSTS_MOVED);
