// Values that are one uploaded file.
import { z } from "zod";
import type { Context } from "../../../platform/core/context.ts";
import { byId } from "../../../platform/core/maps.ts";
import { completeUploads } from "../../../platform/uploads/service.ts";
import { locating, type Step } from "../changes.ts";
import type { FileRef } from "../kind.ts";
import { parsed } from "../parse.ts";

const FileValue = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 digest in hex" }),
});
export type DesiredFile = z.output<typeof FileValue>;

export const readFileValue = (value: unknown): DesiredFile => parsed(FileValue, value);

/** Values of other forms are refused when they are read. */
export function filesIn(value: unknown): readonly FileRef[] {
  const file = FileValue.safeParse(value);
  return file.success ? [{ name: "content", sha256: file.data.sha256 }] : [];
}

/** The digests of files by their ids. */
export async function digestsOf({ store }: Pick<Context, "store">, ids: readonly number[]) {
  const files = byId(await store.files.getMany([...new Set(ids)]));
  return new Map([...files].map(([id, { sha256 }]) => [id, sha256]));
}

/** Checks the files that the caller has uploaded for the changes; those that objects have already were checked before. */
export async function checkUploads(
  ctx: Context,
  steps: readonly Step<DesiredFile>[],
  check: (file: { readonly id: number; readonly name: string; readonly size: number }) => Promise<void>,
): Promise<void> {
  if (steps.length === 0) return;
  const ids = await completeUploads(
    ctx,
    steps.map(({ desired }) => desired.sha256),
  );
  for (const step of steps) {
    const id = ids.get(step.desired.sha256);
    if (id === undefined) continue;
    const { size } = (await ctx.store.files.get(id))!;
    await locating(step, () => check({ id, name: step.name, size }));
  }
}
