/** The text as a value of a host selector (`--where`): in double quotes, with quotes and backslashes escaped. */
export const quotedInSelector = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;
