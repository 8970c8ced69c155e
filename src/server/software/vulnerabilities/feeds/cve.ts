export const isCve = (value: unknown): value is string => typeof value === "string" && CVE.test(value);
const CVE = /^CVE-\d{4}-\d{4,12}$/;

/** Hosts report no longer versions and names, and comparing them takes time. */
const LENGTH_MAX = 255;
export const isShort = (text: string): boolean => text.length <= LENGTH_MAX;
