/** Whether the text is the name of a vulnerability, such as CVE-2026-1234, in capitals. */
export const isCve = (text: string): boolean => /^CVE-\d{4}-\d{4,19}$/.test(text);
