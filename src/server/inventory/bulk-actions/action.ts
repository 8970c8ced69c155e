// What an action on many hosts is.
import type { Action } from "../../../api/access.ts";
import { admitToHost, type HostRow } from "../../hosts/hosts/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError } from "../../platform/core/errors.ts";
import { byId } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";

/** An action that hosts get together: its queries are as many for a thousand hosts as for one. */
export interface BulkAction<O> {
  /** The kind of the task, which users see. */
  readonly name: string;
  readonly permission: Action;
  /** Takes the locks that it needs for the hosts, before anything else of a transaction. */
  lock(store: ServerTx, hostIds: readonly number[]): Promise<void>;
  /** Why it cannot be done on some of the hosts, by their ids. It writes nothing: it is all that a dry run does. */
  refusals(ctx: Context, hosts: readonly HostRow[], options: O): Promise<ReadonlyMap<number, ApiError>>;
  /**
   * Does it on hosts that were not refused, in the caller's transaction. Returns the ids of what it has queued, by the
   * ids of the hosts.
   */
  onHosts(inside: Context, hosts: readonly HostRow[], options: O): Promise<ReadonlyMap<number, string>>;
}

/** Whether the error is about the host, which is then skipped, and not about the server. */
export const isRefusal = (error: unknown): error is ApiError => error instanceof ApiError && error.status < 500;

export interface JudgedHosts {
  /** The hosts on which it can be done. */
  readonly admitted: readonly HostRow[];
  readonly refusals: ReadonlyMap<number, ApiError>;
  readonly names: ReadonlyMap<number, string>;
}

/** Which of the hosts the action can be done on. Those that are gone, or not the caller's any more, are refused. */
export async function judge<O>(
  ctx: Context,
  action: BulkAction<O>,
  ids: readonly number[],
  options: O,
): Promise<JudgedHosts> {
  const hosts = byId(await ctx.store.hosts.list({ where: oneOf("id", ids) }));
  const refusals = new Map<number, ApiError>();
  const theirs: HostRow[] = [];
  for (const id of ids)
    try {
      const host = hosts.get(id);
      admitToHost(ctx, action.permission, id, host);
      if (host) theirs.push(host);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusals.set(id, error);
    }
  for (const [id, refusal] of await action.refusals(ctx, theirs, options)) refusals.set(id, refusal);
  return {
    admitted: theirs.filter(({ id }) => !refusals.has(id)),
    refusals,
    names: new Map([...hosts.values()].map(({ id, display_name }) => [id, display_name])),
  };
}
