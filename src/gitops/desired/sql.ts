// Broken SQL, at its place in the files: reported before anything is downloaded or applied.
import { loadSqlSyntax, sqlProblem } from "../../sql/syntax.ts";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import { startOf } from "../files/problems.ts";
import type { Files } from "../files/read.ts";
import { kinds } from "../kinds.ts";
import { keyOf, type Thing } from "../plan/diff.ts";

interface Sql {
  readonly thing: Thing;
  readonly field: string;
  readonly sql: string;
}

/** `before`: the values on the server. SQL that it has already stays as it is. */
export async function checkSql(
  things: readonly Thing[],
  before: ReadonlyMap<string, Json>,
  { items, contents, problems }: Pick<Files, "items" | "contents" | "problems">,
): Promise<void> {
  const texts = things.flatMap((thing) => changedSql(thing, before.get(keyOf(thing)), contents));
  if (texts.length === 0) return;
  await loadSqlSyntax();
  for (const { thing, field, sql } of texts) {
    const problem = sqlProblem(sql);
    if (problem === null) continue;
    const { kind, owner, name } = thing;
    const item = items.get(kind)?.find((candidate) => candidate.owner === owner && candidate.value.name === name);
    problems.error(
      item?.place(field) ?? startOf("-f"),
      `${kinds[kind]?.noun ?? kind} ${JSON.stringify(name)}: ${problem}`,
    );
  }
}

function changedSql(thing: Thing, before: Json | undefined, contents: Files["contents"]): Sql[] {
  const { kind, value } = thing;
  if (!isRecord(value)) return [];
  return Object.entries(kinds[kind]?.items?.sql?.(value, contents) ?? {}).flatMap(([field, sql]) =>
    typeof sql !== "string" || (isRecord(before) && before[field] === value[field]) ? [] : [{ thing, field, sql }],
  );
}
