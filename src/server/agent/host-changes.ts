import { channels } from "../core/channels.ts";
import type { ServerStore } from "../tables.ts";

export interface HostChanges {
  /** Messages so far. What was being read when one came may be older than what it tells of. */
  readonly heard: number;
  stop(): Promise<void>;
}

/** Tells a cache which hosts it is not to believe any more: those that any server has changed, or all where messages may have been missed. */
export async function hearOfHosts(
  store: Pick<ServerStore, "listen">,
  forget: { one(hostId: number): void; all(): void },
): Promise<HostChanges> {
  let heard = 0;
  const all = () => {
    heard++;
    forget.all();
  };
  const stops = [
    await store.listen(
      channels.hosts,
      (payload) => {
        if (payload === "*") return all();
        heard++;
        for (const id of JSON.parse(payload) as number[]) forget.one(id);
      },
      all,
    ),
    // Deleting a team moves its hosts.
    await store.listen(channels.teams, all, all),
  ];
  return {
    get heard() {
      return heard;
    },
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}
