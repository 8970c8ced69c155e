// `Dry-Run: true`: the handler runs in a transaction that is rolled back, and nothing leaves the server.
import { DRY_RUN } from "../../../../api/dry-run.ts";
import { isMask, MASK } from "../../../../api/fields.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import { Trial } from "../../store/trial.ts";
import type { Context } from "../context.ts";
import { badRequest, cannotDryRun, overloaded } from "../errors.ts";
import { createMetrics } from "../logging/metrics.ts";
import { Running } from "../running.ts";

/** Some checks cannot be made in a dry run although they may affect the outcome: the reply lists them. */
export interface DryRun {
  /**
   * Records a check that the real request would make and this one cannot, such as "the mail server was not asked".
   */
  unchecked(what: string): void;
  /** The context around the dry run, whose store has nothing of what the dry run writes. */
  readonly outside: Context;
}

/** Limited because each dry run occupies a store connection while it runs. */
const MAX_CONCURRENT = 4;
const MAX_ATTEMPTS = 5;
let running = 0;

/** Whether the caller requests a dry run. Throws 400 for any value but true and false. */
export function wantsDryRun({ headers }: Pick<Context, "headers">): boolean {
  const value = headers?.get(DRY_RUN)?.trim().toLowerCase();
  if (value === undefined || value === "" || value === "false") return false;
  if (value === "true") return true;
  throw badRequest(`${DRY_RUN} must be true or false`, DRY_RUN);
}

interface TrialResult {
  readonly value: unknown;
  readonly unchecked: readonly string[];
}

/** Runs the work in its own context: everything that it writes, sends, counts or caches is discarded. */
export async function dryRun(ctx: Context, work: (inside: Context) => Promise<unknown>): Promise<TrialResult> {
  // Work within another dry run takes the place of that one, which writes nothing meanwhile.
  const connections = ctx.dryRun === null ? 1 : 0;
  if (running + connections > MAX_CONCURRENT) throw overloaded("too many dry runs are under way; try again");
  running += connections;
  try {
    for (let tried = 1; ; tried++) {
      const attempt = await once(ctx, work);
      if (!attempt.conflicted || tried === MAX_ATTEMPTS) return await attempt.outcome;
      attempt.outcome.catch(() => {});
    }
  } finally {
    running -= connections;
  }
}

async function once(ctx: Context, work: (inside: Context) => Promise<unknown>) {
  const trial = new Trial(ctx.store);
  const unchecked = new Set<string>();
  const inside: Context = {
    ...ctx,
    store: trial.store,
    config: ctx.config.over(trial.store),
    running: new Running(() => inside),
    blobs: readOnly(ctx.blobs),
    metrics: createMetrics(),
    log: ctx.log.child({ dry_run: true }),
    dryRun: { unchecked: (what) => void unchecked.add(what), outside: ctx },
  };
  const running = work(inside).then((value): TrialResult => ({ value: masked(value), unchecked: [...unchecked] }));
  await running.catch(() => {});
  await inside.running.stop();
  const conflicted = await trial.end();
  return { conflicted, outcome: running };
}

const readOnly = (blobs: Blobs): Blobs => ({
  place: blobs.place,
  get: (...args) => blobs.get(...args),
  localPath: (key) => blobs.localPath(key),
  checkRoom: (bytes) => blobs.checkRoom(bytes),
  growing: null,
  stat: (...args) => blobs.stat(...args),
  list: (...args) => blobs.list(...args),
  async put() {
    throw cannotDryRun("it stores a file");
  },
  delete: async (key) => (await blobs.stat(key)) !== null,
  removeUnfinished: async () => 0,
  check: () => blobs.check(),
  problem: () => blobs.problem(),
  async close() {},
});

/** Fields with newly generated values, which are useless after the rollback. */
const MINTED: ReadonlySet<string> = new Set(["token", "link", "unlock_pin", "secret"]);

/**
 * Removes secrets from the reply: newly generated ones do not exist after the rollback and must not be mistaken for
 * real ones.
 */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) =>
      MINTED.has(key) && typeof item === "string" && item !== "" && !isMask(item) ? [key, MASK] : [key, masked(item)],
    ),
  );
}
