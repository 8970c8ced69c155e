// What is put into a profile only when the device gets it: custom variables, and what belongs to one certificate.
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq } from "../../platform/store/query.ts";
import { newestSecrets } from "../../settings/enroll-secrets/newest.ts";
import { secretOf } from "../../settings/variables/text.ts";
import { valuesOnHosts } from "../../settings/variables/use.ts";
import { authorityVariable } from "./authorities.ts";
import { proxyValues } from "./scep.ts";
import { AGENT_SECRET, isLate, namesIn, replaceNames } from "./variables.ts";

/**
 * The content of the command with these values. Variables without one stay: the profile was changed meanwhile, or they
 * are requested from an authority afterwards.
 */
export async function fillLate(
  store: ServerTx,
  command: { readonly host_id: number; readonly uuid: string },
  content: string,
  escaped: (value: string) => string,
): Promise<string> {
  const names = namesIn(content).filter(isLate);
  if (names.length === 0) return content;
  const secrets = names.filter((name) => secretOf(name) !== null);
  const proxies = names.filter((name) => authorityVariable(name) !== null);
  const values = new Map([
    ...((await valuesOnHosts(store, secrets, [command.host_id], "profiles")).get(command.host_id) ?? []),
    ...(await proxyValues(store, proxies, command)),
    ...(names.includes(AGENT_SECRET) ? await agentSecretOf(store, command.host_id) : []),
  ]);
  return replaceNames(content, (name, whole) => {
    const value = values.get(name);
    return value === undefined ? whole : escaped(value);
  });
}

async function agentSecretOf(store: ServerTx, hostId: number): Promise<[string, string][]> {
  const [host] = await store.hosts.pick(["team_id"], { where: eq("id", hostId) });
  const row = host && (await newestSecrets(store)).get(host.team_id);
  return row ? [[AGENT_SECRET, row.secret]] : [];
}
