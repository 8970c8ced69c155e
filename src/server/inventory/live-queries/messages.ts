// Notifications about live queries between servers, on the channel `channels.live`.
import { channels } from "../../platform/core/channels.ts";
import type { ServerTx } from "../../platform/core/tables.ts";

export type LiveMessage =
  /** All targets of the query are written, so servers may send it to hosts. */
  | { readonly kind: "new"; readonly id: number }
  /** The outcomes of these hosts have been recorded. */
  | { readonly kind: "out"; readonly id: number; readonly hosts: readonly number[] }
  | { readonly kind: "end"; readonly id: number };

export const notifyServers = (tx: ServerTx, message: LiveMessage): Promise<void> =>
  tx.notify(channels.live, JSON.stringify(message));

export const readMessage = (payload: string): LiveMessage => JSON.parse(payload) as LiveMessage;
