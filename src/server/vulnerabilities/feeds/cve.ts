export const isCve = (value: unknown): value is string => typeof value === "string" && CVE.test(value);
const CVE = /^CVE-\d{4}-\d{4,12}$/;
