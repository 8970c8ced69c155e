// Completion words from the API's own schemas: fields, resources, actions, settings, and parts of selectors. This
// module is loaded only if one of them is completed, because loading the schemas takes time.
import type { z } from "zod";
import { ownOf } from "../../text/record.ts";
import { fieldPaths } from "../output/fields.ts";

type Word = readonly [value: string, about?: string];
interface Taker {
  readonly name: string;
  readonly helpValue?: string | string[];
}
/** Finds the names of teams or labels. */
type Names = (kind: "team" | "label", start: string) => Promise<readonly string[]>;

/** The words for the flag or argument; null if none are known for it. */
export async function wordsFor(command: string, { name }: Taker, start: string, names: Names): Promise<Word[] | null> {
  if (name === "fields") return fieldsOf(command);
  if (name === "where") return selectorWords(start, names);
  if (command === "explain" && name === "resource") return resourceWords(start);
  if (command === "can-i" && name === "action") {
    const { actions, sameAs } = await import("../../api/access.ts");
    return [...Object.keys(actions), ...Object.keys(sameAs)].map((action): Word => [action]);
  }
  if (command.startsWith("config:") && (name === "path" || name === "assignments")) {
    const { appConfigApi } = await import("../../api/settings/app-config.ts");
    return fieldPaths(appConfigApi.get.response).map((path): Word => [name === "path" ? path : `${path}=`]);
  }
  return null;
}

/** The fields of the objects that the command prints, from the endpoints that it calls. */
async function fieldsOf(command: string): Promise<Word[]> {
  const here = import.meta.url;
  const file = `../../commands/${command.replaceAll(":", "/")}${here.slice(here.lastIndexOf("."))}`;
  const loaded = (await import(/* @vite-ignore */ new URL(file, here).href)) as {
    default: { endpoints?: readonly { method: string; response: z.ZodType; produces: string | null }[] };
  };
  const printed = (loaded.default.endpoints ?? []).filter(({ produces }) => produces === null);
  const endpoint = printed.find(({ method }) => method === "GET") ?? printed[0];
  return endpoint ? fieldPaths(rowOf(endpoint.response)).map((path): Word => [path]) : [];
}

interface Shape {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
}
const defOf = (schema: z.ZodType): Shape => schema.def as unknown as Shape;
function bare(schema: z.ZodType): z.ZodType {
  const { innerType } = defOf(schema);
  return innerType ? bare(innerType) : schema;
}

/** The schema of a row in a reply: the element of its list, the single object in it, or the reply itself. */
function rowOf(response: z.ZodType): z.ZodType {
  const members = Object.values(defOf(bare(response)).shape ?? {}).map(bare);
  const list = members.find((member) => defOf(member).type === "array");
  const element = list && defOf(list).element;
  if (element && defOf(bare(element)).type === "object") return element;
  const objects = members.filter((member) => defOf(member).type === "object");
  return members.length === 1 && objects[0] ? objects[0] : response;
}

async function resourceWords(start: string): Promise<Word[]> {
  const { resources } = await import("../help/explain.ts");
  const dot = start.indexOf(".");
  if (dot === -1) return resources().flatMap(({ name, plural }): Word[] => [[name], [plural]]);
  const text = start.slice(0, dot);
  const resource = resources().find(({ name, plural }) => text === name || text === plural);
  return resource ? fieldPaths(resource.schema).map((path): Word => [`${text}.${path}`]) : [];
}

const OPERATORS = ["= ", "!= ", "~ ", "< ", "<= ", "> ", ">= ", "in (", "not in ("];
const beforeValue = /([\w.]+)\s*(?:!=|<=|>=|=|~|<|>|(?:not\s+)?in\s*\((?:[^()]*,)?)\s*$/;

/** Matches a complete value, or the end of a list of values, before the cursor. */
const afterValue = /(?:[=~<>]\s*(?:[^\s()=!<>~,"']+|"[^"]*"|'[^']*')|\))\s+$/;

/** Continuations of the selector; each word includes the text before it. */
async function selectorWords(start: string, names: Names): Promise<Word[]> {
  const { selectorFields, selectorGroups, selectorValues } = await import("../../api/inventory/selector-fields.ts");
  const [word = ""] = /[^\s()=!<>~,"']*$/.exec(start) ?? [];
  const head = start.slice(0, start.length - word.length);
  const on = (words: readonly string[]): Word[] => words.map((candidate) => [`${head}${candidate}`]);
  const [, field] = beforeValue.exec(head) ?? [];
  if (field !== undefined) {
    const values = ownOf(selectorValues, field);
    if (values) return on(values);
    if (field !== "team" && field !== "label") return [];
    const plain = (await names(field, word)).filter((name) => /^[^\s()=!<>~,"']+$/.test(name));
    return on([...plain, "none"]);
  }
  if (afterValue.test(head)) return on(["and", "or"]);
  const last = /([\w.]+|[()])\s*$/.exec(head)?.[1];
  const group = ownOf(selectorGroups, groupAround(head));
  const fields = group ?? [...selectorFields, ...Object.keys(selectorGroups).map((name) => `${name}(`)];
  if (last === undefined || ["and", "or", "not", "("].includes(last.toLowerCase()))
    return [...on(["not"]), ...on(fields)];
  return fields.includes(last) ? on(OPERATORS) : on(["and", "or"]);
}

/** The word before the last parenthesis that is still open; empty: there is none. */
function groupAround(head: string): string {
  const open: string[] = [];
  for (const [part] of head.matchAll(/"[^"]*"|'[^']*'|[\w.]*\(|\)/g)) {
    if (part === ")") open.pop();
    else if (part.endsWith("(")) open.push(part === "(" ? (open.at(-1) ?? "") : part.slice(0, -1).toLowerCase());
  }
  return open.at(-1) ?? "";
}
