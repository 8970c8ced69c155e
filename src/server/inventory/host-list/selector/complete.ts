// Completes a selector at the cursor: fields, the operators of a field, its values, and what connects conditions.
import type { SelectorCompletion } from "../../../../api/inventory/selectors.ts";
import type { Context } from "../../../platform/core/context.ts";
import { type CursorPlace, placeAt } from "./cursor.ts";
import { fields, groups } from "./fields.ts";
import type { Field, OperatorText } from "./kinds.ts";
import { isBare } from "./parse.ts";
import { namesOf } from "./value-names.ts";
import { isNone } from "./values.ts";

/** Far more than fit on a screen. */
const MAX_COMPLETIONS = 100;
const MAX_VALUES = 10;

interface Candidate {
  readonly text: string;
  readonly kind: SelectorCompletion["kind"];
  readonly description: string;
}

const kindTexts: Record<Field["kind"], string> = {
  text: "text",
  number: "a number or size",
  time: "a time, or an age such as 7d",
  flag: "true or false",
  word: "one of a few words",
};

const operatorTexts: Record<OperatorText, string> = {
  "=": "equal",
  "!=": "not equal",
  "~": "contains, in any case",
  in: "one of a list",
  "not in": "none of a list",
  "<": "less; of an age: more recent",
  "<=": "at most",
  ">": "greater; of an age: longer ago",
  ">=": "at least",
};

const connectives: readonly Candidate[] = [
  { text: "and", kind: "keyword", description: "both conditions" },
  { text: "or", kind: "keyword", description: "one of the conditions" },
];
const CLOSING: Candidate = { text: ")", kind: "sign", description: "end of the parenthesis" };

export async function completionsAt(ctx: Context, text: string, cursor: number): Promise<SelectorCompletion[]> {
  const place = placeAt(text, cursor);
  const candidates = await candidatesFor(ctx, place);
  return candidates.slice(0, MAX_COMPLETIONS).map(({ text: completion, kind, description }) => ({
    text: completion,
    from: place.from,
    to: place.to,
    kind,
    description,
  }));
}

async function candidatesFor(ctx: Context, place: CursorPlace): Promise<Candidate[]> {
  const { expects, typed } = place;
  if (expects.kind === "value") return valuesOf(ctx, place, expects.field);
  if (place.quote !== "") return [];
  return likeliest(wordsFor(place), typed);
}

/** The candidates that begin with the typed text, then those that contain it. */
function likeliest(candidates: readonly Candidate[], typed: string): Candidate[] {
  const start = typed.toLowerCase();
  const begin = candidates.filter(({ text }) => text.toLowerCase().startsWith(start));
  const contain = candidates.filter(({ text }) => !begin.some((other) => other.text === text) && text.includes(start));
  return [...begin, ...contain];
}

function wordsFor({ expects, group, isNested }: CursorPlace): Candidate[] {
  const connecting = isNested ? [...connectives, CLOSING] : connectives;
  switch (expects.kind) {
    case "condition":
      return conditionWords(group);
    case "operator": {
      const isGroup = group === null && groups.has(expects.field);
      const field = fieldIn(group, expects.field);
      return [
        ...(isGroup ? [{ text: "(", kind: "sign" as const, description: "conditions on one of them" }] : []),
        ...(field?.operators ?? []).map(operatorWord),
        ...(field?.flag ? connecting : []),
      ];
    }
    case "in":
      return [operatorWord("in")];
    case "list":
      return [{ text: "(", kind: "sign", description: "the list of values" }];
    case "next value":
      return [
        { text: ",", kind: "sign", description: "another value" },
        { text: ")", kind: "sign", description: "end of the list" },
      ];
    default:
      return [...connecting];
  }
}

const operatorWord = (operator: OperatorText): Candidate => ({
  text: operator.endsWith("in") ? `${operator} (` : operator,
  kind: "operator",
  description: operatorTexts[operator],
});

const fieldIn = (group: string | null, name: string): Field | undefined =>
  (group === null ? fields : groups.get(group)?.fields)?.get(name);

function conditionWords(group: string | null): Candidate[] {
  const names = group === null ? fields : (groups.get(group)?.fields ?? fields);
  return [
    ...[...names].map(([text, { kind }]): Candidate => ({ text, kind: "field", description: kindTexts[kind] })),
    ...(group === null
      ? [...groups.keys()].map(
          (name): Candidate => ({ text: `${name}(`, kind: "group", description: "conditions on one of them" }),
        )
      : []),
    { text: "not", kind: "keyword", description: "the opposite" },
    { text: "(", kind: "sign", description: "conditions in a parenthesis" },
  ];
}

/** What is typed within quotes is text, so none and never have no meaning there. */
async function valuesOf(ctx: Context, { group, typed, quote }: CursorPlace, name: string): Promise<Candidate[]> {
  const field = fieldIn(group, name);
  if (field === undefined) return [];
  const start = typed.toLowerCase();
  const special = quote === "" ? field.values.filter((value) => value.startsWith(start)) : [];
  const names = await namesOf(ctx, group === null ? name : `${group}.${name}`, typed, MAX_VALUES);
  const examples = field.kind === "time" && typed === "" ? ["1h", "24h", "7d", "30d"] : [];
  return [
    ...examples.map((text): Candidate => ({ text, kind: "value", description: "an age" })),
    ...names.map((text): Candidate => ({ text: quoted(text, quote), kind: "value", description: name })),
    ...special.map(
      (text): Candidate => ({ text, kind: "value", description: isNone(bareWord(text)) ? "no value" : name }),
    ),
  ];
}

const bareWord = (text: string) => ({ text, quoted: false, at: 0 });

/** The value as the language needs it: in quotes unless it is one word without a meaning of its own. */
function quoted(text: string, quote: string): string {
  if (quote === "" && isBare(text) && !isNone(bareWord(text))) return text;
  const sign = quote === "'" ? "'" : '"';
  return `${sign}${text.replace(/["'\\]/g, (char) => (char === sign || char === "\\" ? `\\${char}` : char))}${sign}`;
}
