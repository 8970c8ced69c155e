// Labels and teams that a selector expression names have to exist: `not label in (Typo)` would match every host.

import type { Context } from "../../../platform/core/context.ts";
import { nameKey } from "../../../platform/core/name-key.ts";
import { visible } from "../../../platform/core/security/access.ts";
import { everything, oneOf, type Predicate } from "../../../platform/store/query.ts";
import { hint } from "./compile.ts";
import { trimmed } from "./fields.ts";
import { type Expression, parseSelector, SelectorError, type Word } from "./parse.ts";
import { isNone } from "./values.ts";
import { refusing } from "./where.ts";

type Deps = Pick<Context, "store" | "user">;

interface NamesInText {
  readonly labels: Word[];
  readonly teams: Word[];
}

const NO_TEAM = "no team";

/**
 * 400 if the expression compares with a label that does not exist, or with a team whose hosts the caller may not list.
 * For expressions that are evaluated once: labels with criteria may be older than the labels and teams that they name.
 */
export async function checkNames(ctx: Deps, text: string | undefined, parameter = "where"): Promise<void> {
  if (text === undefined || text.trim() === "") return;
  const unknown = await unknownName(
    ctx,
    refusing(text, parameter, () => parseSelector(text)),
  );
  if (unknown === null) return;
  refusing(text, parameter, () => {
    throw unknown;
  });
}

/** The error for the first label or team in the expression that does not exist for the caller. */
export async function unknownName(ctx: Deps, expression: Expression): Promise<SelectorError | null> {
  const { labels, teams } = namedIn(expression);
  return (await unknownLabel(ctx, labels)) ?? (await unknownTeam(ctx, teams));
}

async function unknownLabel({ store }: Deps, words: readonly Word[]): Promise<SelectorError | null> {
  if (words.length === 0) return null;
  const namesOf = async (where: Predicate) => (await store.labels.pick(["name"], { where })).map(({ name }) => name);
  const labelNames = new Set(
    await namesOf(
      oneOf(
        "name",
        words.map((word) => trimmed(word.text)),
      ),
    ),
  );
  const missing = words.find(({ text }) => !labelNames.has(trimmed(text)));
  return missing ? noSuch("label", missing, await namesOf(everything)) : null;
}

async function unknownTeam(ctx: Deps, words: readonly Word[]): Promise<SelectorError | null> {
  const others = words.filter(({ text }) => nameKey(trimmed(text)) !== NO_TEAM);
  if (others.length === 0) return null;
  const teams = await ctx.store.teams.pick(["name", "name_key"], { where: visible(ctx, "hosts:list", "id") });
  const teamKeys = new Set(teams.map(({ name_key }) => name_key));
  const missing = others.find(({ text }) => !teamKeys.has(nameKey(trimmed(text))));
  return missing
    ? noSuch(
        "team",
        missing,
        teams.map(({ name }) => name),
      )
    : null;
}

function noSuch(kind: string, { text, at }: Word, candidates: readonly string[]): SelectorError {
  return new SelectorError(at, `there is no ${kind} "${text}"${hint(text, candidates)}`);
}

/** The labels that the expression compares with, by their stored names. None if it is invalid. */
export function labelsNamedIn(text: string): ReadonlySet<string> {
  if (!/label/i.test(text)) return new Set();
  try {
    return new Set(namedIn(parseSelector(text)).labels.map((word) => trimmed(word.text)));
  } catch (error) {
    if (error instanceof SelectorError) return new Set();
    throw error;
  }
}

function namedIn(expression: Expression): NamesInText {
  const names: NamesInText = { labels: [], teams: [] };
  const look = (operand: Expression): void => {
    if (operand.kind === "and" || operand.kind === "or") for (const part of operand.parts) look(part);
    else if (operand.kind === "not") look(operand.part);
    else if (operand.kind === "test" && operand.operator !== "~") {
      const field = operand.field.text.toLowerCase();
      const into = field === "label" ? names.labels : field === "team" ? names.teams : null;
      into?.push(...operand.values.filter((value) => !isNone(value)));
    }
  };
  look(expression);
  return names;
}
