// Changes of the organization's configuration: the request, what is read again after it, and the same as a command.
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { shellWord } from "../../../../text/shell.ts";
import { client } from "../../../api.ts";
import { isListChange, listToSend } from "../../../parts/form/lists.ts";
import { session } from "../../../session.ts";
import { bodyOf, valueAt, withoutSecrets } from "./fields.ts";
import type { SettingChange } from "./setting-types.ts";

interface SendOptions {
  readonly dryRun?: boolean;
  /** Whether the checks are skipped that need other servers. */
  readonly isForced?: boolean;
}

export async function changeConfig(
  changes: readonly SettingChange[],
  { dryRun = false, isForced = false }: SendOptions = {},
): Promise<void> {
  const body = bodyOf(await withOthersEntries(changes)) as never;
  await client.call(appConfigApi.modify, { query: { force: isForced }, body }, { dryRun });
  // The name of the organization and GitOps mode are shown around every page.
  if (!dryRun) await session.renew();
}

/** Lists are replaced as a whole: what others have added to them and removed from them meanwhile stays so. */
async function withOthersEntries(changes: readonly SettingChange[]): Promise<readonly SettingChange[]> {
  if (!changes.some(isListChange)) return changes;
  const config = await client.call(appConfigApi.get);
  return changes.map((change) =>
    isListChange(change)
      ? { ...change, after: listToSend(change.path, { ...change, stored: valueAt(config, change.path) }) }
      : change,
  );
}

/** Texts stand as they are in the command line, everything else as JSON. */
export const configCommand = (changes: readonly SettingChange[], isForced = false): string =>
  [
    isForced ? "svc config set --force" : "svc config set",
    ...withoutSecrets(changes).map(({ path, after }) =>
      shellWord(`${path}=${typeof after === "string" ? after : JSON.stringify(after)}`),
    ),
  ].join(" ");
