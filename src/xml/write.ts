// Text as the content of elements and attributes.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML 1.0 does not allow.
export const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;
// Readers would turn a carriage return into a line feed.
const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" };

/** The text, escaped. Throws for control characters and halves of characters. */
export function xmlText(text: string): string {
  if (NOT_XML.test(text)) throw new RangeError("XML cannot contain this text");
  return text.replace(/[&<>\r]/g, (character) => entities[character]!);
}

/** The text as the value of an attribute in double quotes, in which readers turn white space into spaces. */
export const xmlAttribute = (text: string): string =>
  xmlText(text).replace(/["\n\t]/g, (character) => `&#${character.charCodeAt(0)};`);
