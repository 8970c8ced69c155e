// Profiles of Android devices: JSON files with settings of a policy of the Android Management API.
import { isDeeper, isRecord } from "../../../../text/record.ts";
import { invalid } from "../../../platform/core/errors.ts";
import type { ProfileFile, ReadProfile } from "../../profiles/platform.ts";

const FIELD = "profile";
/** Every uuid of such a profile begins with it. */
const LETTER = "g";
const DEPTH_MAX = 64;

/** Settings that the server makes itself. */
const refused: Readonly<Record<string, string>> = {
  name: "the server names policies",
  version: "the vendor numbers policies",
  statusReportingSettings: "the server sets it, because the inventory depends on it",
};

/** Null: the file is not JSON, or is a declaration for Apple devices. */
export function readPolicyProfile({ bytes, name }: ProfileFile): ReadProfile | null {
  const text = Buffer.from(bytes).toString("utf8");
  if (!/^\s*\{/.test(text)) return null;
  const value = parsed(text);
  if ("Type" in value && "Payload" in value) return null;
  const settings = Object.keys(value);
  if (settings.length === 0) throw invalid(FIELD, "the profile contains no settings");
  for (const setting of settings) {
    if (Object.hasOwn(refused, setting)) throw invalid(FIELD, `${setting} cannot be set: ${refused[setting]}`);
    if (!/^[a-z][A-Za-z0-9]{0,99}$/.test(setting))
      throw invalid(FIELD, `${JSON.stringify(setting.slice(0, 100))} is not the name of a setting`);
  }
  if (isDeeper(value, DEPTH_MAX))
    throw invalid(FIELD, `the profile has more than ${DEPTH_MAX} lists and objects inside each other`);
  if (name === null || name.trim() === "")
    throw invalid("display_name", "a profile for Android needs a name: display_name is required");
  return { letter: LETTER, kind: "profile", name: name.trim(), identifier: name.trim() };
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Text that cannot be parsed is refused below, like other text that is no object.
  }
  throw invalid(FIELD, "the profile is not valid JSON");
}
