// Things as files can say them: what one is called, what it is, and a digest of that which tells nobody what its secrets are.
import { createHmac } from "node:crypto";
import type { z } from "zod";
import type { ThingKey } from "../../api/configuration.ts";
import { isMask } from "../../api/fields.ts";
import type { Services } from "../core/context.ts";
import { invalid } from "../core/errors.ts";
import { serverSecret } from "../secrets/service.ts";
import type { ServerTx } from "../tables.ts";

type Json = z.core.util.JSONType;

/** A secret's text where it stands in a value: never sent, only compared and digested. */
export class Secret {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface Thing extends ThingKey {
  /** JSON with `Secret`s in it. */
  readonly value: unknown;
}

export const keyOf = ({ kind, owner, name }: ThingKey): string => JSON.stringify([kind, owner, name]);

/** One text for equal values, whatever the order of keys. */
export function canonical(value: unknown): string {
  if (value instanceof Secret) return `{"$secret":${JSON.stringify(value.text)}}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const parts: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const one = (value as Record<string, unknown>)[key];
    if (one !== undefined) parts.push(`${JSON.stringify(key)}:${canonical(one)}`);
  }
  return `{${parts.join()}}`;
}

/** Equal as JSON, secrets by their texts. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof Secret || b instanceof Secret)
    return a instanceof Secret && b instanceof Secret && a.text === b.text;
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, i) => isSame(one, b[i]));
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [keys, others] = [definedKeys(a), definedKeys(b)];
  return (
    keys.length === others.length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) && isSame((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
}

const definedKeys = (value: object): string[] =>
  Object.keys(value).filter((key) => (value as Record<string, unknown>)[key] !== undefined);

export type Refs = ReadonlyMap<string, string>;

/** As it is sent: each secret by the ref of the given text that equals it; "" for one that is none of them. */
export function shown(value: unknown, refs: Refs): Json {
  if (value instanceof Secret) return { $secret: refs.get(value.text) ?? "" };
  if (Array.isArray(value)) return value.map((one) => shown(one, refs));
  if (typeof value !== "object" || value === null) return value as Json;
  const result: Record<string, Json> = {};
  for (const [key, one] of Object.entries(value)) if (one !== undefined) result[key] = shown(one, refs);
  return result;
}

/** Keyed: without the server's key nobody can try guesses of a secret against it. */
export const revisionOf = (key: string, { value, ...thing }: Thing): string =>
  createHmac("sha256", key).update(keyOf(thing)).update("\0").update(canonical(value)).digest("hex").slice(0, 32);

/** Makes the key at the first call, so not in a transaction that only reads. */
export const revisionKey = (services: Pick<Services, "clock" | "random"> & { readonly store: ServerTx }) =>
  serverSecret(services, "revisions of configuration");

/** Texts by their refs, as a request gives them. */
export type Texts = ReadonlyMap<string, string>;

export const KEPT = Symbol("the secret that is there");

/** What stands where a secret belongs: its text, none, or that it stays. 422 for anything else, a text above all. */
export function givenSecret(value: unknown, texts: Texts, at: string): string | typeof KEPT {
  if (value === "") return "";
  const ref = typeof value === "object" && value !== null && "$secret" in value ? value.$secret : undefined;
  if (typeof ref !== "string" || Object.keys(value as object).length !== 1)
    throw invalid(at, 'a secret must be {"$secret": ref} or ""');
  if (ref === "") return KEPT;
  const text = texts.get(ref);
  if (text === undefined) throw invalid(at, "no secret is given for its ref");
  if (isMask(text)) throw invalid(at, "the secret given for its ref is a mask");
  return text;
}
