const xml: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** A value in the place of a variable. */
export const inPlist = (value: string): string => value.replace(/[&<>"']/g, (sign) => xml[sign]!);
