// How features use the variables of users in texts that they store: see README.md.

import type { VariableUse } from "../../../api/settings/variables.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import { byId } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, oneOf } from "../../platform/store/query.ts";
import { mask } from "./mask.ts";
import { isInScope, outOfScope, type TextScope } from "./scope.ts";
import {
  replaceVariables,
  secretKey,
  secretOf,
  type VariableKey,
  variablesIn,
  vitalKey,
  vitalOf,
  written,
} from "./text.ts";

export type IsUsedIn = (text: string) => boolean;

/** A feature that stores texts with variables. */
export interface VariableUser {
  /** Something whose text has the variable, as its users call it: `the script "a.sh"`. Null: there is none. */
  findUse(store: ServerTx, isUsedIn: IsUsedIn): Promise<string | null>;
  /** Runs in the transaction that has changed the values of variables. `hostIds`: only on these hosts. */
  changed?(inside: Context, isUsedIn: IsUsedIn, hostIds?: readonly number[]): Promise<void>;
}

export const variableUsers = extensionPoint<VariableUser>("users of variables");

type Variables = Pick<ServerTx, "customVariables" | "customHostVitals" | "hostVitalValues" | "hosts">;

const distinct = <T>(values: readonly (T | null)[]): T[] => [
  ...new Set(values.filter((value): value is T => value !== null)),
];

/**
 * Whether the text has variables. 422 if one of them does not exist, 403 if one may not be used here; without a scope, all
 * may. Call it in the transaction that stores the text.
 */
export async function checkVariables(
  store: Variables,
  text: string,
  field: string,
  scope: TextScope | null,
): Promise<boolean> {
  const keys = distinct(variablesIn(text));
  if (keys.length === 0) return false;
  const [secrets, vitals] = await Promise.all([
    store.customVariables.pick(["name", "team_ids", "uses"], { where: oneOf("name", distinct(keys.map(secretOf))) }),
    store.customHostVitals.pick(["id"], { where: oneOf("id", distinct(keys.map(vitalOf))) }),
  ]);
  const names = new Set(secrets.map(({ name }) => name));
  const ids = new Set(vitals.map(({ id }) => id));
  const unknown = keys.filter((key) => !names.has(secretOf(key) ?? "") && !ids.has(vitalOf(key) ?? 0));
  if (unknown.length > 0)
    throw invalid(
      field,
      `${unknown.map(written).join(", ")} ${unknown.length === 1 ? "is" : "are"} not defined on this server`,
    );
  const outside = scope === null ? undefined : secrets.find((secret) => !isInScope(secret, scope));
  if (outside && scope) throw outOfScope(written(secretKey(outside.name)), outside, scope);
  return true;
}

/** By key. A variable without a value on this host is not among them. */
type VariableValues = ReadonlyMap<VariableKey, string>;

/**
 * The values of these variables on each of the hosts. Without a use, the scope of secrets does not count: it was checked
 * when a user asked for the text.
 */
export async function valuesOnHosts(
  store: Variables,
  keys: readonly VariableKey[],
  hostIds: readonly number[],
  use: VariableUse | null,
): Promise<ReadonlyMap<number, VariableValues>> {
  const names = distinct(keys.map(secretOf));
  const vitalIds = distinct(keys.map(vitalOf));
  const [secrets, vitals] = await Promise.all([
    names.length === 0 ? [] : store.customVariables.list({ where: oneOf("name", names) }),
    vitalIds.length === 0
      ? []
      : store.hostVitalValues.list({ where: and(oneOf("host_id", hostIds), oneOf("vital_id", vitalIds)) }),
  ]);
  const hasTeams = use && secrets.some(({ team_ids }) => team_ids !== null);
  const teams = byId(hasTeams ? await store.hosts.pick(["id", "team_id"], { where: oneOf("id", hostIds) }) : []);
  const secretsOn = (id: number) =>
    secrets.filter((secret) => !use || isInScope(secret, { use, teamId: teams.get(id)?.team_id ?? null }));
  const values = new Map(
    hostIds.map((id) => [
      id,
      new Map<VariableKey, string>(secretsOn(id).map(({ name, value }) => [secretKey(name), value])),
    ]),
  );
  for (const { host_id, vital_id, value } of vitals) values.get(host_id)?.set(vitalKey(vital_id), value);
  return values;
}

/** By key, for each of these that is a secret: a text that changes with the value, and says nothing about it. */
export async function secretVersions(
  store: Variables,
  keys: readonly VariableKey[],
): Promise<ReadonlyMap<VariableKey, string>> {
  const names = distinct(keys.map(secretOf));
  const rows =
    names.length === 0
      ? []
      : await store.customVariables.pick(["id", "name", "revision"], { where: oneOf("name", names) });
  return new Map(rows.map(({ id, name, revision }) => [secretKey(name), `${id}.${revision}`]));
}

/** The text with its secrets, for the moment at which it is sent. Other variables stay, and those that are gone. */
export async function expandSecrets(
  store: Variables,
  { text, hostId, use }: { readonly text: string; readonly hostId: number; readonly use: VariableUse },
  escaped: (value: string) => string,
): Promise<string> {
  const keys = variablesIn(text).filter((key) => secretOf(key) !== null);
  if (keys.length === 0) return text;
  const values = (await valuesOnHosts(store, keys, [hostId], use)).get(hostId)!;
  return replaceVariables(text, (key) => {
    const value = values.get(key);
    return value === undefined ? `\${SVC_${key}}` : escaped(value);
  });
}

interface ExpandedText {
  readonly text: string;
  /** The variables without a value on this host, as users write them. The text must not be sent if there are any. */
  readonly missing: readonly string[];
}

/** `escaped` makes a value fit for the format of the text. */
function expand(text: string, values: VariableValues, escaped = (value: string): string => value): ExpandedText {
  const missing = new Set<string>();
  const replaced = replaceVariables(text, (key) => {
    const value = values.get(key) ?? "";
    if (value === "") missing.add(written(key));
    return escaped(value);
  });
  return { text: replaced, missing: [...missing] };
}

/** The text as this host gets it: for the moment at which it is sent. It is never stored or logged. */
export async function expandFor(
  store: Variables,
  hostId: number,
  text: string,
  use: VariableUse | null,
): Promise<ExpandedText> {
  const keys = variablesIn(text);
  if (keys.length === 0) return { text, missing: [] };
  return expand(text, (await valuesOnHosts(store, keys, [hostId], use)).get(hostId)!);
}

/**
 * The output of what was sent, with the secrets of the sent text replaced by their names. Call it before the output is
 * shortened, or a part of a secret may be left at its end.
 */
export async function maskSecrets(
  store: Pick<ServerTx, "customVariables">,
  sentText: string,
  output: string,
): Promise<string> {
  const names = distinct(variablesIn(sentText).map(secretOf));
  if (names.length === 0) return output;
  const rows = await store.customVariables.list({ where: oneOf("name", names) });
  return mask(
    output,
    rows.flatMap(({ name, value, previous }) =>
      [value, previous ?? ""].map((secret) => ({ secret, shown: written(secretKey(name)) })),
    ),
  );
}
