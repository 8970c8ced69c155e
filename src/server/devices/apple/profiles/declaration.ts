// Declarations of Apple devices: JSON files with a type, an identifier and a payload.
import { isDeeper, isRecord } from "../../../../text/record.ts";
import { ApiError, invalid } from "../../../platform/core/errors.ts";
import type { ProfileFile, ReadProfile } from "../../profiles/platform.ts";
import { isLate, namesIn } from "../../profiles/variables.ts";
import { comparable, isOwnIdentifier } from "./own.ts";

const CONFIGURATION = "com.apple.configuration.";
const FIELD = "profile";
const DEPTH_MAX = 64;
const IDENTIFIER_MAX = 255;
/** What the server declares itself: deadlines of updates, and the subscriptions to the device's status. */
const refusedTypes: ReadonlyMap<string, string> = new Map([
  ["com.apple.configuration.management.status-subscriptions", "the server subscribes to the status that it needs"],
  [
    "com.apple.configuration.softwareupdate.enforcement.specific",
    "set the minimum version and the deadline in the settings of updates instead",
  ],
]);

export function readDeclaration({ bytes, name }: ProfileFile): ReadProfile | null {
  const text = Buffer.from(bytes).toString("utf8");
  if (!/^\s*\{/.test(text)) return null;
  const value = parsed(text, FIELD);
  if (value === null || !Object.keys(value).some((key) => keyMeantBy(key) !== undefined)) return null;
  const { type, identifier } = checked(value, { field: FIELD, types: CONFIGURATION });
  const reason = refusedTypes.get(comparable(type));
  if (reason !== undefined) throw invalid(FIELD, `declarations of the type ${type} cannot be uploaded: ${reason}`);
  if (name === null || name.trim() === "")
    throw invalid("display_name", "a declaration needs a name: display_name is required");
  return { letter: "d", kind: "declaration", name: name.trim(), identifier };
}

/** Whether the declaration with a host's values is still one that may be uploaded. */
export function isPossible(text: string, name: string): boolean {
  try {
    return readDeclaration({ bytes: Buffer.from(text), name }) !== null;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

const ACTIVATION = "com.apple.activation.";

/** An activation activates the declaration to which it belongs, and nothing else. */
export function readActivation(bytes: Uint8Array, profile: ReadProfile, field: string): string {
  if (profile.kind !== "declaration") throw invalid(field, "only declarations have activations");
  const text = Buffer.from(bytes).toString("utf8");
  const { identifier, payload } = readJsonDeclaration(text, { field, types: ACTIVATION });
  const { StandardConfigurations: listed } = payload;
  if (!Array.isArray(listed) || listed.length !== 1 || listed[0] !== profile.identifier)
    throw invalid(
      field,
      `the StandardConfigurations of the activation have to be the declaration's identifier, ${JSON.stringify(profile.identifier)}, and no other`,
    );
  return identifier;
}

interface Rules {
  /** The field that errors name. */
  readonly field: string;
  /** How types have to begin. */
  readonly types: string;
}

interface JsonDeclaration {
  readonly type: string;
  readonly identifier: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** 422 that names the reason if the text is not a declaration of such a type. */
export function readJsonDeclaration(text: string, rules: Rules): JsonDeclaration {
  const value = parsed(text, rules.field);
  if (value === null) throw invalid(rules.field, "the declaration has to be a JSON object");
  return checked(value, rules);
}

const keys = ["Type", "Identifier", "Payload"] as const;

/** In whatever letters it is written: neither policies for Android nor anything else have such keys. */
const keyMeantBy = (key: string) => keys.find((candidate) => candidate.toLowerCase() === key.toLowerCase());

function checked(value: Record<string, unknown>, { field, types }: Rules): JsonDeclaration {
  for (const key of Object.keys(value)) {
    const meant = keyMeantBy(key);
    if (meant !== undefined && meant !== key)
      throw invalid(
        field,
        `a declaration has no key ${JSON.stringify(key)}: write ${meant}, with a capital first letter only`,
      );
  }
  const { Type: type, Identifier: identifier, Payload: payload } = value;
  if (typeof type !== "string" || !type.startsWith(types))
    throw invalid(field, `the Type of a declaration has to begin with ${types}`);
  if (typeof identifier !== "string" || identifier.trim() === "")
    throw invalid(field, "the declaration has no Identifier");
  for (const text of [type, identifier])
    if (namesIn(text).some(isLate))
      throw invalid(
        field,
        `${text} cannot contain a secret: types and identifiers of declarations are checked before secrets are filled in`,
      );
  if (identifier.length > IDENTIFIER_MAX)
    throw invalid(field, `the identifier of the declaration has more than ${IDENTIFIER_MAX} characters`);
  if (isOwnIdentifier(identifier))
    throw invalid(field, `the identifier ${JSON.stringify(identifier)} is reserved for the server`);
  if (!isRecord(payload)) throw invalid(field, "the declaration has no Payload, which has to be an object");
  if (isDeeper(payload, DEPTH_MAX))
    throw invalid(
      field,
      `the Payload of the declaration has more than ${DEPTH_MAX} lists and objects inside each other`,
    );
  return { type, identifier, payload };
}

function parsed(text: string, field: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    throw invalid(field, "the declaration is not valid JSON");
  }
}
