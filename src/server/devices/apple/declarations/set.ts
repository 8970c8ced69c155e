// The declarations of one device, computed from the store each time, so that any server answers alike.

import { createHash } from "node:crypto";
import { inJson } from "../../../../text/json.ts";
import { isRecord } from "../../../../text/record.ts";
import type { Context } from "../../../platform/core/context.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";
import { activationsOf, contentsOf } from "../../profiles/contents.ts";
import type { HostProfileRow, ProfileRow } from "../../profiles/platform.ts";
import { fillVariables, valuesOfHosts } from "../../profiles/variables.ts";
import { isPossible } from "../profiles/declaration.ts";
import { assetsFor } from "./assets.ts";
import { updateConfigurations } from "./updates.ts";

export type DeclarationKind = "activation" | "asset" | "configuration" | "management";

export interface Declaration {
  readonly kind: DeclarationKind;
  readonly type: string;
  readonly identifier: string;
  /** Changes with everything that the device has to read again. */
  readonly token: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A profile of the device, with what the device gets for it. */
export interface DeclaredProfile {
  readonly team_id: number | null;
  readonly row: HostProfileRow;
  readonly configuration: Declaration;
  readonly activation: Declaration;
}

export interface DeclarationSet {
  readonly profiles: readonly DeclaredProfile[];
  readonly declarations: readonly Declaration[];
}

export const noDeclarations: DeclarationSet = { profiles: [], declarations: [] };

const ACTIVATION = "com.apple.activation.simple";
const activationName = (name: string): string => `svc.activation.${name}`;
/** Name of what the server declares about updates. */
const UPDATES = "update";
export const UPDATE_ACTIVATION = activationName(UPDATES);

type Deps = Pick<Context, "store">;

export async function declarationsOf(backing: Deps, hostId: number): Promise<DeclarationSet> {
  const profiles = await declaredProfiles(backing, hostId);
  const updates = (await updateConfigurations(backing.store, hostId)).map((content) =>
    declare({ kind: "configuration", ...content }),
  );
  return {
    profiles,
    declarations: [
      ...profiles.flatMap(({ configuration, activation }) => [configuration, activation]),
      ...(await assetsOf(backing, profiles)),
      ...updates,
      ...(updates.length === 0 ? [] : [activationOf(updates, UPDATES)]),
    ],
  };
}

/** Stands for all of them: it changes if one is added, changed or removed. */
export const tokenOf = ({ declarations }: DeclarationSet): string =>
  digest(declarations.map(({ kind, identifier, token }) => `${kind} ${identifier} ${token}`).sort());

const digest = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

type Content = Omit<Declaration, "token">;

/** `delivery` changes when the same content is to be read once more. */
const declare = (content: Content, delivery = ""): Declaration => ({
  ...content,
  token: digest([content.type, content.identifier, content.payload, delivery]),
});

/** Without an activation that lists it, a configuration has no effect. */
const activationOf = (configurations: readonly Declaration[], name: string): Declaration =>
  declare({
    kind: "activation",
    type: ACTIVATION,
    identifier: activationName(name),
    payload: { StandardConfigurations: configurations.map(({ identifier }) => identifier) },
  });

const ownActivation = ({ activation_identifier }: ProfileRow, base64: string): Declaration =>
  declare({
    kind: "activation",
    identifier: activation_identifier!,
    ...readContent(Buffer.from(base64, "base64").toString()),
  });

async function declaredProfiles({ store }: Deps, hostId: number): Promise<DeclaredProfile[]> {
  const rows = await store.hostProfiles.list({
    where: and(eq("host_id", hostId), eq("kind", "declaration"), eq("operation_type", "install")),
    order: [{ column: "id", direction: "asc" }],
  });
  if (rows.length === 0) return [];
  // After a move the device may still have a profile of its former team: of two with one identifier the newer counts.
  const newest = [...new Map(rows.map((row) => [row.identifier, row])).values()];
  const list = await store.configurationProfiles.list({
    where: oneOf(
      "uuid",
      newest.map(({ profile_uuid }) => profile_uuid),
    ),
  });
  const profiles = new Map(list.map((profile) => [profile.uuid, profile]));
  const contents = await contentsOf(
    store,
    list.map(({ id }) => id),
  );
  const activations = await activationsOf(store, list);
  const varied = list.filter(({ has_variables }) => has_variables);
  const fill = await fillerFor(
    store,
    hostId,
    varied.map(({ id }) => contents.get(id)?.toString() ?? ""),
  );
  return newest.flatMap((row) => {
    const profile = profiles.get(row.profile_uuid);
    const content = profile && contents.get(profile.id);
    const text = content && fill(content.toString(), profile.uuid);
    if (!text || (profile.has_variables && !profile.is_own && !isPossible(text, profile.name))) return [];
    const configuration = declare(
      { kind: "configuration", identifier: row.identifier, ...readContent(text) },
      row.command_uuid ?? "",
    );
    const activationId = activations.get(profile.id);
    const activation =
      activationId === undefined
        ? activationOf([configuration], row.profile_uuid)
        : ownActivation(profile, activationId);
    return { team_id: profile.team_id, row, configuration, activation };
  });
}

async function assetsOf({ store }: Deps, profiles: readonly DeclaredProfile[]): Promise<Declaration[]> {
  const assets = new Map<string, Declaration>();
  for (const [teamId, teamProfiles] of groupBy(profiles, ({ team_id }) => team_id)) {
    const payloads = teamProfiles.map(({ configuration }) => configuration.payload);
    for (const { identifier, content } of await assetsFor(store, teamId, payloads)) {
      const text = Buffer.from(content, "base64").toString();
      assets.set(identifier, declare({ kind: "asset", identifier, ...readContent(text) }));
    }
  }
  return [...assets.values()];
}

/** Replaces the variables but those with secrets by the host's values. Null: the host has no value for one, so that nothing can be declared. */
async function fillerFor(
  store: Context["store"],
  hostId: number,
  contents: readonly string[],
): Promise<(text: string, profileUuid: string) => string | null> {
  if (contents.length === 0) return (text) => text;
  const values = (await valuesOfHosts(store, [hostId], contents)).get(hostId);
  return (text, profileUuid) => {
    if (values === undefined) return null;
    const filled = fillVariables(text, profileUuid, values, inJson);
    return filled.missing.length === 0 ? filled.text : null;
  };
}

function readContent(text: string): Pick<Content, "type" | "payload"> {
  const { Type: type, Payload: payload } = JSON.parse(text) as Record<string, unknown>;
  if (typeof type !== "string" || !isRecord(payload)) throw new Error("a stored declaration has no type or payload");
  return { type, payload };
}
