// A session of declarative management: the device fetches what has changed, and reports what is in effect.
import type { ReceivedDeclaration } from "./state.ts";
import { type UpdateFacts, updateItems } from "./updates.ts";

/** Sends the check-in message and returns the reply's JSON; null: the reply is empty, or there is no such declaration. */
export type Ask = (endpoint: string, data?: object) => Promise<unknown>;

type Kind = ReceivedDeclaration["kind"];

const kinds: readonly { readonly list: string; readonly kind: Kind }[] = [
  { list: "Activations", kind: "activation" },
  { list: "Configurations", kind: "configuration" },
  { list: "Assets", kind: "asset" },
  { list: "Management", kind: "management" },
];

interface Item {
  readonly Identifier: string;
  readonly ServerToken: string;
}

/** Returns how many declarations are active afterwards. */
export async function synchronize(
  ask: Ask,
  received: Map<string, ReceivedDeclaration>,
  facts: UpdateFacts,
): Promise<number> {
  const items = await ask("declaration-items");
  const listed = new Map<string, { kind: Kind; item: Item }>();
  for (const { list, kind } of kinds)
    for (const item of itemsIn(items, list)) listed.set(`${kind}/${item.Identifier}`, { kind, item });
  for (const key of received.keys()) if (!listed.has(key)) received.delete(key);
  for (const [key, { kind, item }] of listed) {
    const { Identifier: identifier, ServerToken: serverToken } = item;
    if (received.get(key)?.serverToken === serverToken) continue;
    const declaration = await ask(`declaration/${key}`);
    const valid = isDeclaration(declaration, item);
    const activates = kind === "activation" && valid ? configurationsOf(declaration) : [];
    const details = { items: itemsOf(declaration), version: versionOf(declaration) };
    received.set(key, { kind, identifier, serverToken, valid, activates, active: false, ...details });
  }
  // A configuration is in effect if an activation names it.
  const activated = new Set([...received.values()].flatMap(({ activates }) => activates));
  for (const [key, { kind, identifier, valid, ...rest }] of received)
    received.set(key, {
      ...rest,
      kind,
      identifier,
      valid,
      active: valid && (kind !== "configuration" || activated.has(identifier)),
    });
  const status = { management: managementOf([...received.values()]), ...updateItems([...received.values()], facts) };
  await ask("status", { StatusItems: status, Errors: [], FullReport: true });
  return [...received.values()].filter(({ active }) => active).length;
}

function managementOf(declarations: readonly ReceivedDeclaration[]): object {
  const statusesOf = (kindName: Kind) =>
    declarations
      .filter(({ kind }) => kind === kindName)
      .map(({ identifier, serverToken, active, valid }) => ({
        identifier,
        "server-token": serverToken,
        active,
        valid: valid ? "valid" : "invalid",
        ...(valid ? {} : { reasons: [{ code: "Error.ConfigurationCannotBeApplied" }] }),
      }));
  return { declarations: Object.fromEntries(kinds.map(({ list, kind }) => [list.toLowerCase(), statusesOf(kind)])) };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function itemsIn(reply: unknown, list: string): Item[] {
  const lists = isObject(reply) && isObject(reply.Declarations) ? reply.Declarations : null;
  const items = lists?.[list];
  if (!Array.isArray(items)) throw new Error(`declaration-items has no list ${list}`);
  return items.map((item) => {
    if (!isObject(item) || typeof item.Identifier !== "string" || typeof item.ServerToken !== "string")
      throw new Error(`declaration-items: a member of ${list} has no Identifier or ServerToken`);
    return { Identifier: item.Identifier, ServerToken: item.ServerToken };
  });
}

const isDeclaration = (reply: unknown, { Identifier, ServerToken }: Item): boolean =>
  isObject(reply) &&
  reply.Identifier === Identifier &&
  reply.ServerToken === ServerToken &&
  typeof reply.Type === "string" &&
  isObject(reply.Payload);

/** The payload of a declaration of this type; empty for others. */
const payloadOf = (declaration: unknown, type: string): Record<string, unknown> =>
  isObject(declaration) && declaration.Type === type && isObject(declaration.Payload) ? declaration.Payload : {};

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((word): word is string => typeof word === "string") : [];

const configurationsOf = (activation: unknown): string[] =>
  isObject(activation) && isObject(activation.Payload) ? texts(activation.Payload.StandardConfigurations) : [];

function itemsOf(declaration: unknown): string[] {
  const { StatusItems } = payloadOf(declaration, "com.apple.configuration.management.status-subscriptions");
  return Array.isArray(StatusItems) ? texts(StatusItems.map((item) => (isObject(item) ? item.Name : null))) : [];
}

function versionOf(declaration: unknown): string | null {
  const { TargetOSVersion } = payloadOf(declaration, "com.apple.configuration.softwareupdate.enforcement.specific");
  return typeof TargetOSVersion === "string" ? TargetOSVersion : null;
}
