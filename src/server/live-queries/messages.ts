// What servers tell each other of live queries, by `channels.live`.
import { channels } from "../core/channels.ts";
import type { ServerTx } from "../tables.ts";

export type LiveMessage =
  /** All targets of a query are written: its hosts are to be asked. */
  | { readonly kind: "new"; readonly id: number }
  /** The outcomes of these hosts are known. */
  | { readonly kind: "out"; readonly id: number; readonly hosts: readonly number[] }
  | { readonly kind: "end"; readonly id: number };

export const tell = (tx: ServerTx, message: LiveMessage): Promise<void> =>
  tx.notify(channels.live, JSON.stringify(message));

export const readMessage = (payload: string): LiveMessage => JSON.parse(payload) as LiveMessage;
