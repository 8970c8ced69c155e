// How programs write a text inside of other formats, so that secrets are found there too.
import { xmlAttribute, xmlText } from "../../../xml/write.ts";

const codeUnit = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
const inCapitals = (escaped: string): string => escaped.replace(/%[0-9a-f]{2}/g, (hex) => hex.toUpperCase());
const inSmallLetters = (escaped: string): string => escaped.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());

/** The text in strings of JSON: as most programs write it, with `\/`, in ASCII only, and safe inside of HTML. */
function inJson(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = (json: string) => json.replace(/[\u007f-\uffff]/g, codeUnit);
  const forHtml = plain.replace(/[<>&'+\u2028\u2029]/g, codeUnit);
  const forHtmlButQuotes = plain.replace(/[<>&\u2028\u2029]/g, codeUnit);
  const usual = [plain, plain.replaceAll("/", "\\/"), forHtml, forHtmlButQuotes];
  // Some programs write the digits of the escapes in capitals.
  const capitals = (json: string) => json.replace(/\\u[0-9a-f]{4}/g, (unit) => `\\u${unit.slice(2).toUpperCase()}`);
  return [...usual, ...usual.map(ascii)].flatMap((json) => [json, capitals(json)]);
}

/** The text in XML and HTML: as content, and as an attribute in either kind of quotes. */
function inXml(text: string): string[] {
  const content = xmlText(text);
  const named = content.replaceAll('"', "&quot;");
  return [
    content,
    xmlAttribute(text),
    named,
    ...["&apos;", "&#39;", "&#x27;"].map((entity) => named.replaceAll("'", entity)),
  ];
}

/** The text in addresses and forms. */
function inUrl(text: string): string[] {
  const component = encodeURIComponent(text.toWellFormed());
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  const usual = [component, inCapitals(strict), encodeURI(text.toWellFormed())];
  return [...usual, ...usual.map((form) => form.replaceAll("%20", "+"))].flatMap((form) => [
    form,
    inSmallLetters(form),
  ]);
}

/** The text in words of a shell, as it prints them when it traces a script. */
const inShell = (text: string): string[] => [
  text.replaceAll("'", `'\\''`),
  text.replaceAll("'", `'"'"'`),
  text.replace(/["\\$`]/g, "\\$&"),
  text.replace(/[^A-Za-z0-9_./:=@%+,-]/g, "\\$&"),
];

/** With fewer characters it would be found in any text. */
const BASE64_FROM = 8;

/** What is the same in the Base64 of every text that contains this one, for each of the three places where it may begin. */
function inBase64(text: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    const start = Math.ceil((offset * 8) / 6);
    const core = bytes.toString("base64").slice(start, Math.floor((bytes.length * 8) / 6));
    return core.length < BASE64_FROM ? [] : [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** The spellings of the text that differ from it, each once. */
export function escapedForms(text: string): string[] {
  const forms = new Set([...inJson(text), ...inXml(text), ...inUrl(text), ...inShell(text), ...inBase64(text)]);
  forms.delete(text);
  return [...forms];
}
