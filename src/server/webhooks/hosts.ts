import type { ServerTx } from "../tables.ts";

export interface ToldHost {
  readonly id: number;
  readonly hostname: string;
  readonly display_name: string;
  /** Its page in the console; empty while no server_url is set. */
  readonly url: string;
}

const SLICE = 5_000;

/** The hosts as webhooks and tickets name them, in the order of their ids; those that are gone are left out. */
export async function toldHosts(
  store: Pick<ServerTx, "hosts">,
  ids: readonly number[],
  serverUrl: string,
): Promise<ToldHost[]> {
  const told: ToldHost[] = [];
  for (let at = 0; at < ids.length; at += SLICE)
    for (const { id, hostname, display_name } of await store.hosts.getMany(ids.slice(at, at + SLICE)))
      told.push({
        id,
        hostname,
        display_name: display_name || hostname,
        url: serverUrl === "" ? "" : `${serverUrl}/hosts/${id}`,
      });
  return told.sort((a, b) => a.id - b.id);
}
