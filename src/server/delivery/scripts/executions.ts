// Rows of runs: for scripts that users run, and for other operations that hosts get as scripts.
import type { VariableUse } from "../../../api/settings/variables.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import type { Ending, Inside, Operation } from "../../hosts/operations/kind.ts";
import { shortened } from "../../hosts/operations/script-output.ts";
import type { ScriptResult } from "../../hosts/operations/tables.ts";
import { byId } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { readSection } from "../../settings/app-config/rows.ts";
import { sections } from "../../settings/app-config/sections.ts";
import { expandFor, maskSecrets } from "../../settings/variables/use.ts";
import { keepText, knownTextOf } from "../../software/script-texts/texts.ts";
import type { scriptExecutions } from "./tables.ts";

type Execution = RowOf<typeof scriptExecutions>;

export const executionOf = (store: ServerTx, { uuid }: Pick<Operation, "uuid">): Promise<Execution | null> =>
  store.scriptExecutions.first({ where: eq("uuid", uuid) });

/** The id of the saved script that an operation runs; null for any other text. */
export async function savedScriptOf(store: ServerTx, { uuid }: Pick<Operation, "uuid">): Promise<number | null> {
  const [execution] = await store.scriptExecutions.pick(["script_id"], { where: eq("uuid", uuid) });
  return execution?.script_id ?? null;
}

type NamedHost = Pick<HostRow, "id" | "hostname" | "team_id">;
type ScriptOperation = Pick<Operation, "uuid" | "host_id" | "created_at">;

/** Keeps the run of a text that is no saved script, under its name if it has one, so that its result can be read like those of all scripts. */
export const addExecution = (
  store: ServerTx,
  host: NamedHost,
  operation: ScriptOperation,
  text: string,
  name = "",
): Promise<void> => addExecutions(store, [host], [operation], text, name);

/** `addExecution` of the same text for several hosts. */
export async function addExecutions(
  store: ServerTx,
  hosts: readonly NamedHost[],
  operations: readonly ScriptOperation[],
  text: string,
  script_name = "",
): Promise<void> {
  const hostsById = byId(hosts);
  const text_id = await keepText(store, text);
  await store.scriptExecutions.insertMany(
    operations.map(({ uuid, host_id, created_at }) => {
      const { hostname, team_id } = hostsById.get(host_id)!;
      return {
        uuid,
        host_id,
        hostname,
        team_id,
        script_id: null,
        script_name,
        text_id,
        policy_id: null,
        batch_uuid: null,
        exit_code: null,
        created_at,
        ended_at: null,
      };
    }),
    { returning: [] },
  );
}

/** The row as it is after the run has ended. */
export async function endExecution(
  { store, clock }: Inside,
  operation: Operation,
  { state, result }: Ending<ScriptResult>,
): Promise<Execution | null> {
  const execution = await executionOf(store, operation);
  if (!execution) return null;
  // No answer is as if the agent had ended the script: nobody knows what it has done.
  const ended = result ?? { exit_code: state === "expired" ? -1 : null, output: "", runtime: 0 };
  const set = { ...ended, state: state === "cancelled" ? "cancelled" : "ended", ended_at: clock.iso() } as const;
  await store.scriptExecutions.update({ where: eq("id", execution.id), set });
  return { ...execution, ...set };
}

/** What the host runs instead of a script that cannot be sent: its result says why. */
function refusal(why: string, platform = ""): string {
  const reason = `not run: ${why}`;
  return platform === "windows" ? `Write-Output '${reason}'\nexit 1\n` : `#!/bin/sh\necho '${reason}'\nexit 1\n`;
}

/** The script with the values of its variables, for the moment at which the host gets it. */
export async function expandedScript(
  store: ServerTx,
  hostId: number,
  content: string,
  use: VariableUse | null,
): Promise<string> {
  const { text, missing } = await expandFor(store, hostId, content, use);
  if (missing.length === 0) return text;
  return refusal(
    `the host has no value for ${missing.join(", ")}, or may not use it`,
    (await store.hosts.get(hostId))?.platform,
  );
}

/** Saved scripts belong to a team. Texts that were given for a host go with it. */
export const isOfOtherTeam = (
  { script_name, team_id }: Pick<Execution, "script_name" | "team_id">,
  teamId: number | null,
): boolean => script_name !== "" && team_id !== teamId;

/**
 * The text of a script that users run. It does not run if scripts were disabled while it was waiting, or if it was
 * asked for while the host was being moved to another team.
 */
export async function allowedScript(store: ServerTx, operation: Operation, content: string): Promise<string> {
  const { host_id } = operation;
  const [[host], [execution]] = await Promise.all([
    store.hosts.pick(["platform", "team_id"], { where: eq("id", host_id) }),
    store.scriptExecutions.pick(["script_name", "team_id"], { where: eq("uuid", operation.uuid) }),
  ]);
  const { scripts_disabled } = await readSection(store, sections.server_settings);
  if (scripts_disabled) return refusal("scripts are disabled in the settings of the organization", host?.platform);
  if (host && execution && isOfOtherTeam(execution, host.team_id))
    return refusal("the host was moved to another team", host.platform);
  // Whoever ran a script that is not saved was allowed to use its variables at that time.
  return expandedScript(store, host_id, content, execution?.script_name ? "scripts" : null);
}

/** The result without the secrets that the output repeats. */
export async function storedResult(
  { store, running }: Pick<Inside, "store" | "running">,
  operation: Operation,
  result: ScriptResult,
): Promise<ScriptResult> {
  if (result.output === "") return result;
  const [execution] = await store.scriptExecutions.pick(["text_id"], { where: eq("uuid", operation.uuid) });
  const text = execution ? await knownTextOf({ store, running }, execution.text_id) : "";
  return shortened({ ...result, output: await maskSecrets(store, text, result.output) });
}
