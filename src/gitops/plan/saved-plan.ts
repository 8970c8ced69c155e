// A plan in a file: exactly these changes, for exactly this server, valid until anything on it changes.
import { z } from "zod";
import {
  CHANGES_MAX,
  type ConfigurationState,
  Pin,
  SECRETS_MAX,
  ThingChange,
  type ThingKey,
  Title,
} from "../../api/edge/configuration.ts";
import type { FieldChange } from "../../text/differences.ts";
import { type Change, keyOf } from "./diff.ts";

const FORMAT = "svc-plan-1";

const Field = z.object({
  path: z.string(),
  old: z.json().optional(),
  new: z.json().optional(),
  isSecret: z.literal(true).optional(),
});

const Hosts = z.object({ count: z.int(), names: z.array(z.string()) });

const SavedPlan = z.object({
  format: z.literal(FORMAT),
  created_at: z.string(),
  server_url: z.string(),
  changes: z
    .array(
      ThingChange.extend({
        title: Title,
        fields: z.array(Field),
        hosts: Hosts.optional(),
        note: z.string().optional(),
      }),
    )
    .max(CHANGES_MAX),
  /** The revisions of everything that was read. */
  pins: z.array(Pin).max(CHANGES_MAX),
  secrets: z.record(z.string(), z.string()).refine((secrets) => Object.keys(secrets).length <= SECRETS_MAX),
  files: z.record(z.string(), z.string()).default({}),
  variables: z.record(z.string(), z.string()).default({}),
  uploads: z.array(z.object({ origin: z.string(), sha256: z.string() })).default([]),
  masks: z.array(z.tuple([z.string(), z.array(z.string())])).default([]),
});

export interface SavedPlan {
  readonly createdAt: string;
  readonly serverUrl: string;
  readonly changes: readonly Change[];
  readonly pins: readonly Pin[];
  readonly secrets: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** Values of custom variables by name. */
  readonly variables: Readonly<Record<string, string>>;
  /** Texts that come from variables of the environment, with their names: the texts are not printed. */
  readonly masks: readonly (readonly [text: string, names: readonly string[]])[];
  /** Large files, which are read when the plan is applied. */
  readonly uploads: readonly { readonly origin: string; readonly sha256: string }[];
}

export const savedPlanText = ({ createdAt, serverUrl, ...plan }: SavedPlan): string =>
  `${JSON.stringify({ format: FORMAT, created_at: createdAt, server_url: serverUrl, ...plan })}\n`;

/** The plan in the text; null if it is not a plan, or one in another format. */
export function readSavedPlan(text: string): SavedPlan | null {
  const parsed = SavedPlan.safeParse(parseJson(text));
  if (!parsed.success) return null;
  const { created_at, server_url, changes, pins, secrets, files, variables, uploads, masks } = parsed.data;
  return {
    createdAt: created_at,
    serverUrl: server_url,
    changes: changes.map(({ fields, value, ...change }) => ({
      ...change,
      value: value ?? null,
      fields: fields as FieldChange[],
    })),
    pins,
    secrets,
    files,
    variables,
    uploads,
    masks,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export interface MovedThing extends ThingKey {
  readonly how: "changed" | "gone" | "new";
}

/** The pins of a whole state that no longer match. */
export function movedSince(pins: readonly Pin[], { things }: Pick<ConfigurationState, "things">): MovedThing[] {
  const before = new Map(pins.map((pin) => [keyOf(pin), pin]));
  const moved: MovedThing[] = [];
  for (const { kind, owner, name, revision } of things) {
    const pin = before.get(keyOf({ kind, owner, name }));
    before.delete(keyOf({ kind, owner, name }));
    if (pin?.revision === revision) continue;
    moved.push({ kind, owner, name, how: pin === undefined || pin.revision === null ? "new" : "changed" });
  }
  for (const { kind, owner, name, revision } of before.values())
    if (revision !== null) moved.push({ kind, owner, name, how: "gone" });
  return moved;
}
