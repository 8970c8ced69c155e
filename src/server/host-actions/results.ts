// Script execution by the managed agent: fetching a script and reporting its result.
import { recordActivity } from "../activities/record.ts";
import { channels, hostsPayload } from "../core/channels.ts";
import { type Context, service } from "../core/context.ts";
import { notFound } from "../core/errors.ts";
import type { ServerTx } from "../core/tables.ts";
import { and, eq } from "../store/query.ts";
import type { HostAction } from "./deliverer.ts";
import { actionLock, type ScriptRun } from "./upcoming.ts";

export interface ScriptResult {
  readonly execution_id: string;
  readonly output: string;
  /** Seconds. */
  readonly runtime: number;
  readonly exit_code: number;
}

type Backing = Pick<Context, "store" | "clock" | "extensions">;

const runOf = (store: ServerTx, hostId: number, executionId: string) =>
  store.scriptRuns.first({ where: and(eq("execution_id", executionId), eq("host_id", hostId)) });

/** Marks the script as started. 404 if it belongs to another host or is not pending. */
export async function fetchScript({ store, clock }: Backing, hostId: number, executionId: string): Promise<ScriptRun> {
  return store.tx(async (tx) => {
    const run = await runOf(tx, hostId, executionId);
    if (run?.state !== "pending") throw notFound("script execution", executionId);
    if (run.started_at === null)
      await tx.scriptRuns.update({ where: eq("id", run.id), set: { started_at: clock.iso() } });
    return run;
  }, actionLock(hostId));
}

/** Ignores repeated results and results of cancelled scripts. */
export async function keepResult(ctx: Backing, hostId: number, result: ScriptResult): Promise<void> {
  const { store, clock } = ctx;
  await store.tx(async (tx) => {
    const run = await runOf(tx, hostId, result.execution_id);
    if (!run) throw notFound("script execution", result.execution_id);
    if (run.state !== "pending") return;
    const { exit_code, runtime } = result;
    const output = endOf(result.output, OUTPUT_MAX);
    await tx.scriptRuns.update({
      where: eq("id", run.id),
      set: { state: "done", ended_at: clock.iso(), exit_code, output, runtime },
    });
    if (run.kind !== "script") await settle({ ...ctx, store: tx }, { ...run, exit_code, output }, run.kind);
    await tx.notify(channels.hosts, hostsPayload([hostId]));
  }, actionLock(hostId));
}

async function settle(ctx: Backing, run: ScriptRun, action: HostAction): Promise<void> {
  const { store: tx } = ctx;
  const row = await tx.hostActions.get(run.host_id);
  if (row?.reference !== run.execution_id) return;
  const over = { pending: "" as const, reference: "" };
  if (run.exit_code === 0) {
    await tx.hostActions.update({
      where: eq("id", run.host_id),
      set: { ...over, failure: "", locked: action === "lock", wiped: action === "wipe" },
    });
    return;
  }
  await tx.hostActions.update({ where: eq("id", run.host_id), set: { ...over, failure: failureOf(run, action) } });
  if (action !== "wipe") return;
  const host = await tx.hosts.get(run.host_id);
  await recordActivity(
    { ...ctx, user: service },
    "failed_wipe",
    { host_id: run.host_id, host_display_name: host?.display_name ?? "", host_platform: host?.platform ?? "" },
    { hostId: run.host_id },
  );
}

/** Maximum stored output (characters). The end is kept, since it usually contains the error. */
const OUTPUT_MAX = 10_000;
const FAILURE_OUTPUT_MAX = 1_000;

const endOf = (text: string, most: number): string => (text.length <= most ? text : text.slice(-most));

function failureOf({ exit_code, output, timeout }: ScriptRun, action: HostAction): string {
  const lastOutput = endOf((output ?? "").trim(), FAILURE_OUTPUT_MAX);
  const why =
    exit_code === -1
      ? `timed out after ${timeout} s, or was killed`
      : exit_code === -2
        ? "was not run: scripts are disabled on the host"
        : `ended with exit code ${exit_code}`;
  return `the ${action} script ${why}${lastOutput === "" ? "" : `: ${lastOutput}`}`;
}
