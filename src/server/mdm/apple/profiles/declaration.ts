// Declarations of Apple devices: JSON files with a type, an identifier and a payload.
import { invalid } from "../../../core/errors.ts";
import type { ProfileFile, ReadProfile } from "../../profiles/platform.ts";
import { OWN_IDENTIFIERS } from "./own.ts";

const CONFIGURATION = "com.apple.configuration.";
const FIELD = "profile";
const DEPTH_MAX = 64;
/** What the server declares itself: deadlines of updates, and the subscriptions to the device's status. */
const refusedTypes: Readonly<Record<string, string>> = {
  "com.apple.configuration.management.status-subscriptions": "the server subscribes to the status that it needs",
  "com.apple.configuration.softwareupdate.enforcement.specific":
    "set the minimum version and the deadline in the settings of updates instead",
};

export function readDeclaration({ bytes, name }: ProfileFile): ReadProfile | null {
  const text = Buffer.from(bytes).toString("utf8");
  if (!/^\s*\{/.test(text)) return null;
  const value = parsed(text);
  if (value === null || !("Type" in value || "Identifier" in value || "Payload" in value)) return null;
  const { Type: type, Identifier: identifier, Payload: payload } = value;
  if (typeof type !== "string" || !type.startsWith(CONFIGURATION))
    throw invalid(FIELD, `the Type of a declaration has to begin with ${CONFIGURATION}`);
  const reason = Object.hasOwn(refusedTypes, type) ? refusedTypes[type] : undefined;
  if (reason !== undefined) throw invalid(FIELD, `declarations of the type ${type} cannot be uploaded: ${reason}`);
  if (typeof identifier !== "string" || identifier.trim() === "")
    throw invalid(FIELD, "the declaration has no Identifier");
  if (OWN_IDENTIFIERS.some((own) => identifier.toLowerCase().startsWith(own)))
    throw invalid(FIELD, `the identifier ${JSON.stringify(identifier)} is reserved for the server`);
  if (typeof payload !== "object" || payload === null || Array.isArray(payload))
    throw invalid(FIELD, "the declaration has no Payload, which has to be an object");
  if (isDeeper(payload, DEPTH_MAX))
    throw invalid(
      FIELD,
      `the Payload of the declaration has more than ${DEPTH_MAX} lists and objects inside each other`,
    );
  if (name === null || name.trim() === "")
    throw invalid("display_name", "a declaration needs a name: display_name is required");
  return { letter: "d", kind: "declaration", name: name.trim(), identifier };
}

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return most === 0 || Object.values(value).some((member) => isDeeper(member, most - 1));
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    throw invalid(FIELD, "the declaration is not valid JSON");
  }
}
