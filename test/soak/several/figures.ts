// Figures that must not depend on the number of servers.
import type { Caller } from "../../../bench/support/serve.ts";
import { insist } from "../support/check.ts";
import { nameOf, type SoakAgent } from "./agents.ts";

export type Figures = Record<string, unknown>;

/** The replies of three servers to the same request. */
export async function inAll<T>(ask: () => Promise<T>): Promise<T[]> {
  return [await ask(), await ask(), await ask()];
}

export interface PolicyCounts {
  readonly id: number;
  readonly query: string;
  readonly passing_host_count: number;
  readonly failing_host_count: number;
  readonly unanswered_host_count: number;
}

export const policiesOf = async (call: Caller): Promise<PolicyCounts[]> =>
  (await call<{ policies: PolicyCounts[] }>("GET", "/policies?order_key=id&per_page=1000")).policies;

interface ReportRow {
  readonly host_name: string;
  readonly columns: Readonly<Record<string, string>>;
}

export const reportOf = async (call: Caller, id: number): Promise<ReportRow[]> =>
  (await call<{ results: ReportRow[] }>("GET", `/queries/${id}/report`)).results;

export async function countThings(call: Caller, queries: readonly number[]): Promise<Figures> {
  const figures: Figures = {};
  for (const one of await policiesOf(call))
    figures[`policy ${one.id}`] = [one.passing_host_count, one.failing_host_count, one.unanswered_host_count];
  const { labels } = await call<{ labels: { name: string; count: number }[] }>("GET", "/labels");
  for (const { name, count } of labels) figures[`label ${name}`] = count;
  const { hosts } = await call<{ hosts: Record<string, unknown>[] }>("GET", "/hosts?per_page=10000");
  figures.hosts = hosts
    .map(({ hostname, platform, status, issues }) => JSON.stringify([hostname, platform, status, issues]))
    .sort();
  figures.summary = await call("GET", "/host_summary");
  for (const id of queries)
    figures[`report ${id}`] = (await reportOf(call, id))
      .map(({ host_name, columns }) => `${host_name} ${JSON.stringify(columns)}`)
      .sort();
  const { activities } = await call<{ activities: { type: string }[] }>("GET", "/activities?per_page=10000");
  figures.activities = activities.map(({ type }) => type).sort();
  return figures;
}

const BLOCKS = ["abcd", "efgh", "ij"];

/** Sends each block of a carve to another server than the one before; the result must be the complete file. */
export async function carveFiles(call: Caller, agents: readonly SoakAgent[]): Promise<unknown> {
  for (const agent of agents) {
    const request_id = `request-${nameOf(agent.number)}`;
    const plan = { block_count: BLOCKS.length, block_size: 4, carve_size: 10 };
    const { session_id } = await agent.call("carve/begin", { ...plan, request_id, carve_id: `carve-${agent.number}` });
    for (const [block_id, text] of BLOCKS.entries()) {
      const data = Buffer.from(text).toString("base64");
      const reply = await agent.call("carve/block", { session_id, request_id, block_id, data });
      insist(reply.success === true, () => `a block was refused: ${JSON.stringify(reply)}`);
    }
  }
  const { carves } = await call<{ carves: Record<string, unknown>[] }>("GET", "/carves?order_key=id");
  insist(carves.length === agents.length, `${carves.length} carves instead of ${agents.length}`);
  return carves
    .map(({ request_id, max_block, error }) => JSON.stringify([request_id, max_block, error ?? null]))
    .sort();
}
