// Checks a selector while it is typed: whether it is valid, how many hosts it matches, and how it can go on.
import { setTimeout } from "node:timers/promises";
import type { z } from "zod";
import type { SelectorCheck, selectorsApi } from "../../../api/inventory/selectors.ts";
import { seconds } from "../../platform/core/clock.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { visible } from "../../platform/core/security/access.ts";
import { hostsWhere } from "./filters.ts";
import { compileExpression } from "./selector/compile.ts";
import { completionsAt } from "./selector/complete.ts";
import { unknownName } from "./selector/known-names.ts";
import { parseSelector, SelectorError, tokenAt } from "./selector/parse.ts";

type Input = z.output<typeof selectorsApi.check.body>;

/** Nobody waits longer for a count while typing. */
const MAX_COUNT_MS = seconds(2);

export async function checkSelector(
  ctx: Context,
  { where, cursor = where.length, team_id }: Input,
): Promise<SelectorCheck> {
  if (cursor > where.length)
    throw invalid("cursor", `is after the end of the selector, which has ${where.length} characters`);
  const [error, completions] = await Promise.all([errorIn(ctx, where), completionsAt(ctx, where, cursor)]);
  return {
    valid: error === null,
    error: error === null ? null : { message: error.message, position: error.at, length: lengthAt(where, error.at) },
    count: error === null ? await countWithin(ctx, { where, team_id }) : null,
    completions,
  };
}

const isBlank = (where: string): boolean => where.trim() === "";

async function errorIn(ctx: Context, where: string): Promise<SelectorError | null> {
  if (isBlank(where)) return null;
  try {
    const expression = parseSelector(where);
    compileExpression(expression, ctx.clock.now());
    return await unknownName(ctx, expression);
  } catch (error) {
    if (error instanceof SelectorError) return error;
    throw error;
  }
}

/** The length of the word or sign at the position; 0 at the end of the text. */
function lengthAt(where: string, at: number): number {
  try {
    return (tokenAt(where, at)?.end ?? Math.min(at + 1, where.length)) - at;
  } catch {
    // A quote that is never closed.
    return where.length - at;
  }
}

/** Null if counting takes too long. */
async function countWithin(ctx: Context, { where, team_id }: Pick<Input, "where" | "team_id">): Promise<number | null> {
  const filter = { team_id, ...(isBlank(where) ? {} : { where }) };
  const hosts = hostsWhere(ctx, filter, "hosts:list");
  const key = JSON.stringify(["selector", visible(ctx, "hosts:list"), filter]);
  const stop = new AbortController();
  const tooLong = setTimeout(MAX_COUNT_MS, null, { signal: stop.signal }).catch(() => null);
  try {
    return await Promise.race([ctx.running.of(sharing).run(key, () => ctx.store.hosts.count(hosts)), tooLong]);
  } finally {
    stop.abort();
  }
}
