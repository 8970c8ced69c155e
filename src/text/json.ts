/** The text as a part of a JSON string. */
export const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
