import type { ServerTx } from "../../platform/core/tables.ts";

export interface RenderedHost {
  readonly id: number;
  readonly hostname: string;
  readonly display_name: string;
  /** Address of the host's page in the web console; empty if server_url is not set. */
  readonly url: string;
}

const BATCH_SIZE = 5_000;

/** The hosts as rendered in webhooks and tickets, sorted by id; deleted hosts are omitted. */
export async function renderedHosts(
  store: Pick<ServerTx, "hosts">,
  ids: readonly number[],
  serverUrl: string,
): Promise<RenderedHost[]> {
  const rendered: RenderedHost[] = [];
  for (let at = 0; at < ids.length; at += BATCH_SIZE)
    for (const { id, hostname, display_name } of await store.hosts.getMany(ids.slice(at, at + BATCH_SIZE)))
      rendered.push({
        id,
        hostname,
        display_name: display_name || hostname,
        url: serverUrl === "" ? "" : `${serverUrl}/hosts/${id}`,
      });
  return rendered.sort((a, b) => a.id - b.id);
}
