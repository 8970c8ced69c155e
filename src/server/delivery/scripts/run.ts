// Runs scripts on hosts, and shows their results.
import { SCRIPT_CONTENTS_MAX, type ScriptResult, type ScriptRun } from "../../../api/delivery/scripts.ts";
import { type HostRow, hostFor } from "../../hosts/hosts/access.ts";
import { online } from "../../hosts/hosts/status.ts";
import { addOperations, isOpen, openOperations, operationLock } from "../../hosts/operations/queue.ts";
import { seconds } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { ApiError, forbidden, forbiddenFor, invalid, notFound } from "../../platform/core/errors.ts";
import type { Reply } from "../../platform/core/http/route.ts";
import { inTeam, may } from "../../platform/core/security/access.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { checkVariables } from "../../settings/variables/use.ts";
import { checkText, extensionOf, keepText, runsOn, scriptText } from "../../software/script-texts/texts.ts";
import { type ScriptRow, scriptFor } from "./access.ts";
import { runScript } from "./kind.ts";
import type { scriptExecutions } from "./tables.ts";

type Execution = RowOf<typeof scriptExecutions>;

/** Seconds, unless the agent options say otherwise. */
const TIMEOUT = 300;
export const QUEUED_MAX = 1_000;
const conflicting = (reason: string) => new ApiError(409, "Conflict", [{ name: "base", reason }]);

/** What is to run: a saved script, or the text of the request. */
interface Chosen {
  readonly script: ScriptRow | null;
  readonly text: string;
}

const ways = ["script_id", "script_contents", "script_name"] as const;

async function chosen(ctx: Context, host: HostRow, request: ScriptRun): Promise<Chosen> {
  const named = ways.filter((way) => request[way] !== undefined && request[way] !== null && request[way] !== "");
  const [way, ...others] = named;
  if (way === undefined) throw invalid("script_id", `one of ${ways.join(", ")} is required`);
  if (others.length > 0) throw invalid(others[0]!, `only one of ${ways.join(", ")} can be given`);
  if (way === "script_contents") {
    const text = request.script_contents!.replaceAll("\r\n", "\n");
    if (text.length >= SCRIPT_CONTENTS_MAX)
      throw invalid(way, `the script has ${text.length} characters; fewer than ${SCRIPT_CONTENTS_MAX} are accepted`);
    checkText(text, null, way);
    return { script: null, text };
  }
  const script =
    way === "script_id"
      ? await scriptFor(ctx, "scripts:read", request.script_id!, way)
      : await scriptNamed(ctx, request);
  if (script.team_id !== host.team_id) throw invalid(way, "the script and the host belong to different teams");
  if (!runsOn(extensionOf(script.name, way), host.platform, host.platform_like))
    throw invalid(way, `${script.name} cannot run on a host with the platform ${host.platform || "unknown"}`);
  return { script, text: await scriptText(ctx.store, script.text_id) };
}

async function scriptNamed(ctx: Context, { script_name, team_id }: ScriptRun): Promise<ScriptRow> {
  const teamId = team_id || null;
  if (!may(ctx.user, "scripts:read", teamId)) throw forbidden();
  const where = and(inTeam(teamId ?? 0), eq("name", script_name!));
  const script = await ctx.store.scripts.first({ where });
  if (!script) throw invalid("script_name", `there is no script with the name ${JSON.stringify(script_name)}`);
  return script;
}

async function requireAgent({ store }: Context, host: HostRow): Promise<void> {
  if ((await store.managedAgents.get(host.id)) === null)
    throw invalid("host_id", `the host ${host.display_name} has no managed agent, which runs scripts`);
  // Null: the agent is too old to report it. It reports exit code -2 if scripts are disabled.
  if (host.scripts_enabled === false) throw invalid("host_id", `${host.display_name} does not have scripts enabled`);
}

async function isOnline({ store, clock }: Context, id: number): Promise<boolean> {
  return (await store.hosts.count(and(eq("id", id), online(clock.now())))) > 0;
}

async function start(
  ctx: Context,
  request: ScriptRun,
  { isSync = false, policyId = null }: { readonly isSync?: boolean; readonly policyId?: number | null } = {},
): Promise<Execution> {
  const host = await hostFor(ctx, "scripts:run", request.host_id);
  await assertScriptsEnabled(ctx);
  const { script, text } = await chosen(ctx, host, request);
  await requireAgent(ctx, host);
  if (isSync && !(await isOnline(ctx, host.id)))
    throw invalid("host_id", `${host.display_name} is offline: run the script without waiting for it`);
  const timeout = await timeoutOf(ctx, host.team_id);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const scope = { use: script === null ? "one_off_scripts" : "scripts", teamId: host.team_id } as const;
    const isFree = script === null && may(ctx.user, "variables:write", null);
    await checkVariables(store, text, script === null ? "script_contents" : "script_id", isFree ? null : scope);
    const open = (await openOperations(store, [host.id])).filter(({ kind }) => kind === runScript.name);
    const uuids = open.map(({ uuid }) => uuid);
    if (open.length >= QUEUED_MAX) throw conflicting(`${QUEUED_MAX} scripts are waiting for the host`);
    if (isSync && open.length > 0) throw conflicting("other scripts are waiting for the host");
    if (script !== null && (await isAmong(store, uuids, script.id)))
      throw conflicting(`${script.name} is already waiting for the host`);
    const [operation] = await addOperations(inside, runScript, {
      hostIds: [host.id],
      content: text,
      timeout,
    });
    return store.scriptExecutions.insert({
      uuid: operation!.uuid,
      host_id: host.id,
      hostname: host.hostname,
      team_id: host.team_id,
      script_id: script?.id ?? null,
      script_name: script?.name ?? "",
      text_id: script?.text_id ?? (await keepText(store, text)),
      policy_id: policyId,
      batch_uuid: null,
      is_sync: isSync,
      exit_code: null,
      created_at: operation!.created_at,
      ended_at: null,
    });
  }, operationLock(host.id));
}

/** Seconds that a script of this team's hosts may run. */
export async function timeoutOf({ store, config }: Context, teamId: number | null): Promise<number> {
  const team = teamId === null ? null : await store.teams.get(teamId);
  const options = team?.agent_options ?? (await config.current()).agent_options;
  return options.script_execution_timeout ?? TIMEOUT;
}

const isAmong = async (store: Context["store"], uuids: readonly string[], scriptId: number): Promise<boolean> =>
  (await store.scriptExecutions.first({ where: and(oneOf("uuid", uuids), eq("script_id", scriptId)) })) !== null;

export async function runOnHost(ctx: Context, request: ScriptRun) {
  const { host_id, uuid } = await start(ctx, request);
  return { host_id, execution_id: uuid };
}

/** 403 while scripts are disabled for all hosts. */
export async function assertScriptsEnabled({ config }: Pick<Context, "config">): Promise<void> {
  if ((await config.current()).server_settings.scripts_disabled)
    throw forbiddenFor("running scripts is disabled in the settings of the organization");
}

/** Runs a saved script on a host that newly fails a policy of its team. */
export const runForPolicy = (
  ctx: Context,
  request: Pick<ScriptRun, "host_id"> & { readonly script_id: number },
  policyId: number,
): Promise<unknown> => start(ctx, request, { policyId });

/** Runs a script of the server's own, which is saved nowhere, for a policy. */
export const runNotice = (
  ctx: Context,
  host_id: number,
  script_contents: string,
  policyId: number,
): Promise<{ readonly uuid: string }> => start(ctx, { host_id, script_contents }, { policyId });

/** How often the store is asked for the result. */
const POLL = seconds(1) / 2;

/** Waits for the result; without one in time, the reply is the same with the status 408. */
export async function runAndWait(ctx: Context, request: ScriptRun, reply: Reply): Promise<ScriptResult> {
  const { uuid } = await start(ctx, request, { isSync: true });
  const until = performance.now() + Math.max(seconds(1), ctx.settings.script_sync_period);
  for (;;) {
    const execution = (await ctx.store.scriptExecutions.first({ where: eq("uuid", uuid) }))!;
    if (execution.state !== "pending") return onWire(ctx, execution, false);
    if (performance.now() >= until) {
      reply.status = 408;
      return onWire(ctx, execution, true);
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(POLL, Math.max(1, until - performance.now()))));
  }
}

export async function resultOf(ctx: Context, uuid: string): Promise<ScriptResult> {
  const execution = await ctx.store.scriptExecutions.first({ where: eq("uuid", uuid) });
  if (!execution) throw notFound("script execution", uuid);
  const host = await ctx.store.hosts.get(execution.host_id);
  // A host may have changed its team since; of one that was deleted, its last known team decides.
  if (!may(ctx.user, "scripts:read", host ? host.team_id : execution.team_id)) throw notFound("script execution", uuid);
  return onWire(ctx, execution, false);
}

async function onWire(
  { store, user }: Pick<Context, "store" | "user">,
  execution: Execution,
  host_timeout: boolean,
): Promise<ScriptResult> {
  const { exit_code } = execution;
  // A host that was deleted will not run it any more.
  const isLost =
    execution.state === "pending" && (await store.operations.count(and(eq("uuid", execution.uuid), isOpen))) === 0;
  const state = isLost ? "cancelled" : execution.state;
  // The host may have come from another team, whose saved scripts the caller may not read.
  const isReadable = execution.script_name === "" || may(user, "scripts:read", execution.team_id);
  return {
    script_contents: isReadable ? await scriptText(store, execution.text_id) : "",
    script_id: execution.script_id,
    exit_code,
    output: execution.output,
    message: messageOf(exit_code, state),
    hostname: execution.hostname,
    host_timeout,
    host_id: execution.host_id,
    execution_id: execution.uuid,
    runtime: execution.runtime,
    created_at: execution.created_at,
  };
}

function messageOf(exitCode: number | null, state: Execution["state"]): string {
  if (state === "cancelled") return "The script was cancelled before it ran.";
  if (exitCode === null) return "The script runs as soon as the host is online, or is running now.";
  if (exitCode === -1) return "The script did not end in time, or was killed or interrupted.";
  if (exitCode === -2) return "Scripts are disabled on this host, so it was not run.";
  return "";
}
