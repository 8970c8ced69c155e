// Stores the result lines of hosts as reports. A log request is acknowledged only after its results are stored.
// Requests that arrive while a batch is being written share the next transaction.

import type { ResultLine } from "../../platform/agent-protocol/lines.ts";
import { channels } from "../../platform/core/channels.ts";
import type { Services } from "../../platform/core/context.ts";
import { limit } from "../../platform/core/limits.ts";
import { BadRow } from "../../platform/store/rows.ts";
import { ReferenceViolation, StoreUnavailable } from "../../platform/store/store.ts";
import { answersIn, sizeOf } from "./answers.ts";
import type { Plan, PlanCache } from "./plan.ts";
import { type Report, ReportWriter } from "./report-writer.ts";

/** The host that sent the lines. */
interface ReportingHost {
  readonly id: number;
  readonly teamId: number | null;
}

interface WaitingReport extends Report {
  /** The plan in which the query was found. */
  readonly plan: Plan;
  /** In characters. */
  readonly size: number;
  /** Called when the result is written, or with an error if that failed. */
  readonly settled: readonly ((error?: unknown) => void)[];
}

/** Results per transaction. */
const BATCH_SIZE = 200;
/** Maximum text (characters) per transaction, so that other requests are not delayed. */
const BATCH_CHARS = 2 * 1024 * 1024;
/** Maximum text (characters) of pending results. Beyond it requests are rejected, and agents keep their lines. */
export const waitingReports = limit({
  what: "results of queries that wait to be stored",
  max: 128 * 1024 * 1024,
  unit: "characters",
  per: "server",
  beyond: "Log messages are refused until there is room; agents keep their lines.",
});
interface Deps {
  readonly plans: PlanCache;
  readonly writer: ReportWriter;
  readonly stops: readonly (() => Promise<void>)[];
}

export class ReportIntake {
  readonly #clock: Services["clock"];
  readonly #log: Services["log"];
  readonly #plans: PlanCache;
  readonly #writer: ReportWriter;
  readonly #stops: readonly (() => Promise<void>)[];
  /** By host and query: a newer result replaces one that is still pending. */
  readonly #waiting = new Map<string, WaitingReport>();
  #size = 0;
  #working: Promise<void> | null = null;

  static async start(services: Services, plans: PlanCache): Promise<ReportIntake> {
    const writer = new ReportWriter(services);
    const forget = () => writer.forgetTotals();
    const stops = [
      await services.store.listen(channels.queries, forget, forget),
      await services.store.listen(channels.hosts, forget, forget),
    ];
    return new ReportIntake(services, { plans, writer, stops });
  }

  constructor({ clock, log }: Services, { plans, writer, stops }: Deps) {
    this.#clock = clock;
    this.#log = log;
    this.#plans = plans;
    this.#writer = writer;
    this.#stops = stops;
  }

  /**
   * Resolves once the results in the lines are stored; undefined: there is nothing to store. Rejects if storing fails,
   * so that the agent keeps the lines and sends them again.
   */
  storeReports(host: ReportingHost, lines: readonly ResultLine[]): Promise<void> | undefined {
    const plans = this.#plans;
    const plan = plans.now();
    const areKnown =
      plan && !lines.some(({ value: { name } }) => typeof name === "string" && plans.mayBeNew(plan, name));
    if (areKnown) return this.#add(plan, host, lines);
    const { id, teamId } = host;
    const names = lines.flatMap(({ value: { name } }) => (typeof name === "string" ? [name] : []));
    return (plan ? plans.reread(plan, names) : plans.get()).then((read) => this.#add(read, { id, teamId }, lines));
  }

  /** Resolves when all pending results are written or rejected. */
  async idle(): Promise<void> {
    await this.#working;
  }

  async stop(): Promise<void> {
    await this.#working;
    for (const stop of this.#stops) await stop();
  }

  #add(plan: Plan, host: ReportingHost, lines: readonly ResultLine[]): Promise<void> | undefined {
    if (!plan.reportsEnabled) return undefined;
    const answers = answersIn(plan, host.teamId, lines);
    if (answers.length === 0) return undefined;
    const at = this.#clock.iso();
    const sizes = answers.map(({ rows }) => sizeOf(rows));
    if (this.#size > 0 && this.#size + sizes.reduce((sum, size) => sum + size, 0) > waitingReports.max)
      return Promise.reject(new StoreUnavailable("too many query results are waiting to be written"));
    return new Promise((resolve, reject) => {
      let pending = answers.length;
      const settled = (error?: unknown) => {
        if (error !== undefined) reject(error);
        else if (--pending === 0) resolve();
      };
      for (const [i, { query, rows }] of answers.entries())
        this.#enqueue({ hostId: host.id, query, plan, rows, size: sizes[i]!, at, settled: [settled] });
    });
  }

  #enqueue(report: WaitingReport): void {
    const key = `${report.hostId}/${report.query.id}`;
    const old = this.#waiting.get(key);
    this.#size += report.size - (old?.size ?? 0);
    this.#waiting.set(key, old ? { ...report, settled: [...old.settled, ...report.settled] } : report);
    this.#working ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    // Results of the current turn of the event loop join the same batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.size > 0) await this.#writeBatch(this.#nextBatch());
    this.#working = null;
  }

  #nextBatch(): WaitingReport[] {
    const batch: WaitingReport[] = [];
    let size = 0;
    for (const [key, report] of this.#waiting) {
      this.#waiting.delete(key);
      this.#size -= report.size;
      size += report.size;
      batch.push(report);
      if (batch.length === BATCH_SIZE || size >= BATCH_CHARS) break;
    }
    return batch;
  }

  async #writeBatch(batch: readonly WaitingReport[]): Promise<void> {
    let outdated: readonly WaitingReport[] = [];
    try {
      outdated = await this.#writer.write(batch);
    } catch (error) {
      await this.#endFailed(batch, error);
      return;
    }
    const outdatedReports = new Set(outdated);
    for (const report of batch) if (!outdatedReports.has(report)) end(report);
    for (const report of outdated) await this.#requeue(report).catch((error: unknown) => end(report, error));
  }

  async #endFailed(batch: readonly WaitingReport[], error: unknown): Promise<void> {
    this.#writer.forgetTotals();
    // Retry individually: a host or query deleted meanwhile must not affect the others.
    if (batch.length > 1 && !(error instanceof StoreUnavailable))
      for (const report of batch) await this.#writeBatch([report]);
    else if (error instanceof ReferenceViolation || error instanceof BadRow) {
      // A retry would fail again and block all further lines of the host.
      if (error instanceof BadRow)
        this.#log.warn({ err: error, host_id: batch[0]!.hostId }, "query results could not be stored");
      for (const report of batch) end(report);
    } else for (const report of batch) end(report, error);
  }

  /** The query has changed: discard the result, unless this server's plan is outdated. */
  async #requeue(report: WaitingReport): Promise<void> {
    const isBehind = this.#plans.now() === report.plan;
    const plan = isBehind ? await this.#plans.reread(report.plan, []) : null;
    const query = plan?.query(report.query.id);
    if (plan && query?.logging === "snapshot" && !query.discard_data) this.#enqueue({ ...report, plan, query });
    else end(report);
  }
}

function end({ settled }: WaitingReport, error?: unknown): void {
  for (const settle of settled) settle(error);
}
