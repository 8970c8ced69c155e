// Serial numbers that name a machine.

/** What makers of boards and virtual machines leave in the place of a serial number. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  ...["0", "none", "n/a", "na", "unknown", "invalid", "empty", "default", "default string", "system serial number"],
  ...["to be filled by o.e.m.", "to be filled by o.e.m", "to be filled by oem", "not specified", "not applicable"],
  ...["not available", "serial number", "chassis serial number", "123456789", "1234567890", "0123456789"],
]);

/** Whether the text is a serial number: not blank, a placeholder, or one character over and over. */
export function isSerialNumber(text: string): boolean {
  const serial = text.trim().toLowerCase();
  return serial !== "" && !PLACEHOLDERS.has(serial) && !/^(.)\1*$/.test(serial.replaceAll(/[\s.-]/g, "") || "0");
}
