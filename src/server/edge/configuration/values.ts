// Configuration objects in the form used by files: their key, their value, and a digest that does not reveal their
// secrets.
import { createHmac } from "node:crypto";
import type { z } from "zod";
import type { ThingKey } from "../../../api/edge/configuration.ts";
import { isMask } from "../../../api/fields.ts";
import type { Services } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { serverSecret } from "../../platform/shared-rows/secrets.ts";

export type Json = z.core.util.JSONType;

/** A secret within a value. Its text is never sent, only compared and digested. */
export class Secret {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface Thing extends ThingKey {
  /** What people call an object whose name is a digest. */
  readonly title?: string;
  /** JSON that may contain `Secret` instances. */
  readonly value: unknown;
}

export const keyOf = ({ kind, owner, name }: ThingKey): string => JSON.stringify([kind, owner, name]);

/** Serializes equal values to the same text, independent of the order of keys. */
function canonical(value: unknown): string {
  if (value instanceof Secret) return `{"$secret":${JSON.stringify(value.text)}}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const parts: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) parts.push(`${JSON.stringify(key)}:${canonical(member)}`);
  }
  return `{${parts.join()}}`;
}

/** Equality as JSON. Secrets are equal if their texts are. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof Secret || b instanceof Secret)
    return a instanceof Secret && b instanceof Secret && a.text === b.text;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((element, i) => isSame(element, b[i]))
    );
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

/** The form for replies: each secret becomes the ref of the given text that equals it, or "" if there is none. */
export function shown(value: unknown, refs: Refs): Json {
  if (value instanceof Secret) return { $secret: refs.get(value.text) ?? "" };
  if (Array.isArray(value)) return value.map((element) => shown(element, refs));
  if (typeof value !== "object" || value === null) return value as Json;
  const result: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) if (member !== undefined) result[key] = shown(member, refs);
  return result;
}

/** A keyed digest: without the server's key, nobody can use it to check guesses of a secret. */
export const revisionOf = (key: string, { value, ...thing }: Thing): string =>
  createHmac("sha256", key).update(keyOf(thing)).update("\0").update(canonical(value)).digest("hex").slice(0, 32);

/** The first call creates the key, so do not call it in a read-only transaction. */
export const revisionKey = (services: Pick<Services, "clock" | "random"> & { readonly store: ServerTx }) =>
  serverSecret(services, "revisions of configuration");

/** Secret texts by their refs, from the request. */
export type Texts = ReadonlyMap<string, string>;

/** Contents of small files by their SHA-256 digests, in hex. */
export type Contents = ReadonlyMap<string, Uint8Array>;

export const KEPT = Symbol("the secret that is there");

/** Parses a secret: its text, "" for none, or `KEPT`. 422 for anything else, including a plain text. */
export function secretFrom(value: unknown, texts: Texts, at: string): string | typeof KEPT {
  if (value === "") return "";
  const ref = typeof value === "object" && value !== null && "$secret" in value ? value.$secret : undefined;
  if (typeof ref !== "string" || Object.keys(value as object).length !== 1)
    throw invalid(at, 'a secret must be {"$secret": ref} or ""');
  if (ref === "") return KEPT;
  const text = texts.get(ref);
  if (text === undefined) throw invalid(at, "the request contains no secret for this ref");
  if (isMask(text)) throw invalid(at, "the secret for this ref is a mask");
  return text;
}
