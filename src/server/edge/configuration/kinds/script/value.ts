import { z } from "zod";
import type { ScriptRow } from "../../../../delivery/scripts/access.ts";
import { readScriptAsIs } from "../../../../delivery/scripts/file.ts";
import type { Context } from "../../../../platform/core/context.ts";
import type { RequestedChange } from "../../changes.ts";
import { parsed } from "../../parse.ts";
import { ownersOf, type SharedRows } from "../../shared-rows.ts";
import type { Contents, Texts, Thing } from "../../values.ts";

/** The content only by its digest: plans compare it, and need not show it. */
const ScriptValue = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 digest in hex" }),
});

export interface DesiredScript {
  readonly value: z.output<typeof ScriptValue>;
  /** Undefined if the request does not contain it: then the script keeps its content. */
  readonly text: string | undefined;
}

export interface ScriptRows {
  readonly scripts: readonly ScriptRow[];
  /** By the id of the text. */
  readonly digests: ReadonlyMap<number, string>;
}

export function* scriptThings({ scripts, digests }: ScriptRows, shared: SharedRows): Generator<Thing> {
  const ownerOf = ownersOf(shared);
  for (const row of scripts) {
    const owner = ownerOf(row);
    if (owner !== undefined)
      yield { kind: "script", owner, name: row.name, value: { sha256: digests.get(row.text_id) ?? "" } };
  }
}

export function readScript(
  _: Context,
  { name, value }: RequestedChange,
  _texts: Texts,
  contents: Contents,
): DesiredScript {
  const input = parsed(ScriptValue, value);
  const bytes = contents.get(input.sha256);
  return { value: input, text: bytes === undefined ? undefined : readScriptAsIs({ bytes, name }, "value") };
}
