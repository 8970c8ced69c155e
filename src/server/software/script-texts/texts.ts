// Texts of scripts: what is accepted, and where they are kept.
import { createHash } from "node:crypto";
import { cachedContents } from "../../hosts/operations/cached-contents.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { type PlatformFamily, platformFamily } from "../../platform/core/platforms.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { scriptTexts } from "./tables.ts";

const extensions = [".sh", ".py", ".ps1"] as const;
type ScriptExtension = (typeof extensions)[number];

/** 422 if a script's file may not have this name. */
export function extensionOf(name: string, field: string): ScriptExtension {
  const ending = extensions.find((extension) => name.toLowerCase().endsWith(extension));
  if (ending === undefined) throw invalid(field, `the file has to be named ${extensions.join(", ")}`);
  if (name.length > 255) throw invalid(field, "the name of the file has more than 255 characters");
  return ending;
}

/** The first line of a script may name a shell or Python. Without one, it is run by sh. */
const INTERPRETER = /^#!\s*(\/usr\/bin\/env(\s+-S)?\s+)?([\w./-]*\/)?(sh|bash|zsh|dash|python3?(\.\d+)?)(\s.*)?$/;

/** 422 if the text cannot be a script. `extension` is null for one without a file. */
export function checkText(text: string, extension: ScriptExtension | null, field: string): void {
  if (text.trim() === "") throw invalid(field, "the script is empty");
  if (text.includes("\0")) throw invalid(field, "the script contains binary data");
  const [first = ""] = text.split("\n", 1);
  if (extension !== ".ps1" && first.startsWith("#!") && !INTERPRETER.test(first.trim()))
    throw invalid(field, `the interpreter in the first line is not supported: use sh, bash, zsh, dash or python`);
}

/** Windows runs PowerShell scripts, all others shell and Python scripts. */
export const runsOn = (extension: ScriptExtension, platform: string, platformLike: string): boolean => {
  const family: PlatformFamily = platformFamily(platform, platformLike);
  return family === "windows"
    ? extension === ".ps1"
    : extension !== ".ps1" && (family === "darwin" || family === "linux");
};

/** Keeps the text in the caller's transaction. Returns its id. */
export async function keepText(store: ServerTx, content: string): Promise<number> {
  const digest = createHash("sha256").update(content).digest("hex");
  const [row] = await store.scriptTexts.upsert([{ digest, content }], { on: ["digest"], set: [], returning: ["id"] });
  return row!.id;
}

export async function scriptText(store: ServerTx, id: number): Promise<string> {
  return (await store.scriptTexts.get(id))?.content ?? "";
}

/** A text that is read once for all hosts that run it at the same time. */
export async function knownTextOf({ store, running }: Pick<Context, "store" | "running">, id: number): Promise<string> {
  const [row] = await store.scriptTexts.pick(["digest"], { where: eq("id", id) });
  if (row === undefined) return "";
  return (await running.of(cachedContents).get(row.digest, () => scriptText(store, id))).text;
}

/** Columns of the texts of scripts, each text once. */
export async function textsOf<const C extends keyof RowOf<typeof scriptTexts> & string>(
  store: ServerTx,
  scripts: readonly { readonly text_id: number }[],
  columns: readonly C[],
): Promise<Pick<RowOf<typeof scriptTexts>, C>[]> {
  const rows: Pick<RowOf<typeof scriptTexts>, C>[] = [];
  for await (const batch of parts([...new Set(scripts.map(({ text_id }) => text_id))]))
    rows.push(...(await store.scriptTexts.pick(columns, { where: oneOf("id", batch) })));
  return rows;
}
