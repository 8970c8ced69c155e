// Values of firmware that mean nothing: boards of many makers have the same ones.
import { withoutInvisible } from "./invisible.ts";

const PLACEHOLDERS: ReadonlySet<string> = new Set([
  "-1",
  "chassis serial number",
  "default",
  "default string",
  "empty",
  "filled by o.e.m.",
  "invalid",
  "n/a",
  "na",
  "none",
  "not applicable",
  "not available",
  "not settable",
  "not specified",
  "null",
  "o.e.m.",
  "oem",
  "serial number",
  "serialnumber",
  "system manufacturer",
  "system product name",
  "system serial number",
  "system version",
  "to be filled by o.e.m",
  "to be filled by o.e.m.",
  "to be filled by oem",
  "type1productconfigid",
  "unknown",
  "unspecified",
  "undefined",
  "0123456789",
  "123456789",
  "1234567890",
]);
/** UUIDs that boards have if their maker has set none. */
const NO_UUIDS: ReadonlySet<string> = new Set([
  "03000200-0400-0500-0006-000700080009",
  "00020003-0004-0005-0006-000700080009",
]);

/** The text of a firmware field without invisible characters and spaces around it; empty for a placeholder. */
export function firmwareText(text: string): string {
  const trimmed = withoutInvisible(text).trim();
  return PLACEHOLDERS.has(trimmed.toLowerCase()) ? "" : trimmed;
}

/** Empty for placeholders, and for texts of one repeated character, such as 0 or xxxx. */
export function serialNumber(text: string): string {
  const serial = firmwareText(text);
  return /^([0x.*\-_ ])\1*$/i.test(serial) || /^to be filled\b/i.test(serial) ? "" : serial;
}

export function hardwareUuid(text: string): string {
  const uuid = firmwareText(text);
  return NO_UUIDS.has(uuid.toLowerCase()) || /^([0f])(?:\1|-)*$/i.test(uuid) ? "" : uuid;
}
