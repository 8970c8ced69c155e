// What a feature adds to the inventory of hosts: what agents are asked, how the rows become values, and how these are
// written. `extensions.ts` lists the sources; the query engine's part of the server asks and writes for all of them.
import type { DetailQuery } from "../../../platform/agent-protocol/detail-query.ts";
import type { AgentRow, DetailResults, Warn } from "../../../platform/agent-protocol/rows.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import type { HostRow } from "../access.ts";
import type { HostDetails } from "./details.ts";

/** The results of one host's detail queries. */
export interface Answers {
  readonly platform: string;
  readonly platformLike: string;
  /** All results, failed ones too. */
  readonly results: DetailResults;
  /** The rows of a query that succeeded and is one for the host's platform; otherwise null. */
  rows(query: string): readonly AgentRow[] | null;
  /** The row of a query that has to return exactly one; null as for `rows`, and for any other number of rows. */
  single(query: string): AgentRow | null;
  /** Records that a part of the results was ignored. */
  readonly warn: Warn;
}

export interface InventorySource<V = unknown> {
  readonly queries: readonly DetailQuery[];
  /** The text of its `perHost` query for this host. Null: there is nothing to ask. */
  textFor?(services: Pick<Services, "store">, host: Pick<HostRow, "id" | "platform">): Promise<string | null>;
  /** A pure function. Null: nothing was reported, so what is stored stays. */
  read(answers: Answers): V | null;
  /** Columns of the host's row. */
  hostFields?(value: V): Partial<HostRow>;
  /** Columns of the host's details. */
  details?(value: V): Partial<HostDetails>;
  /** For values that are kept in other tables. Called once per server. */
  start?(services: Services): SourceWriter<V> | Promise<SourceWriter<V>>;
}

export interface ReportedValue<V> {
  readonly hostId: number;
  readonly value: V;
}

export interface SourceWriter<V> {
  /** Compares the values of a batch of hosts, at most one each, with those stored. */
  plan(reported: readonly ReportedValue<V>[], now: number): Promise<SourcePlan>;
  /** Clears caches, because a row that they refer to was deleted. */
  forget?(): void;
  stop?(): Promise<void>;
}

export interface SourcePlan {
  /** Writes what has changed, in the transaction that also writes the hosts' rows. */
  readonly write?: (tx: ServerTx) => Promise<void>;
  /** Columns of hosts' rows that change with it. */
  readonly hosts?: ReadonlyMap<number, Partial<HostRow>>;
}

export const NOTHING_TO_WRITE: SourcePlan = {};
