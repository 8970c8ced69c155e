// The files that values refer to. They are uploaded before the apply, so that it stays one short transaction.
import { invalid, invalidFields } from "../../platform/core/errors.ts";
import { filesOf } from "../../platform/files/service.ts";
import { completeUploads } from "../../platform/uploads/service.ts";
import { MAX_LISTED, type RequestedChange, refusal } from "./changes.ts";
import type { FileRef, Kind } from "./kind.ts";
import { configurationKind } from "./kinds.ts";
import type { Request } from "./request.ts";
import type { Work } from "./work.ts";

/**
 * Finds the rows of all files that the request refers to, by digest. The caller must have uploaded them, or be allowed to
 * write an object that has them already: knowing a digest does not give access to a content.
 */
export async function resolveFiles({ ctx, current }: Pick<Work, "ctx" | "current">, request: Request) {
  const refs = [...request].flatMap(([kind, { steps }]) =>
    steps.flatMap((step) => filesIn(kind, step.value).map((ref) => ({ step, ref }))),
  );
  if (refs.length === 0) return new Map<string, number>();
  const digests = new Set(refs.map(({ ref }) => ref.sha256));
  const present = new Set<string>();
  for (const thing of current.values())
    for (const { sha256 } of filesIn(configurationKind(thing), thing.value))
      if (digests.has(sha256)) present.add(sha256);
  const fileIds = new Map([...(await completeUploads(ctx, [...digests])), ...(await filesOf(ctx, [...present]))]);
  // What would be uploaded is not there when an apply is only tried.
  if (ctx.dryRun !== null) return fileIds;
  const missing = refs.filter(({ ref }) => !fileIds.has(ref.sha256)).slice(0, MAX_LISTED);
  if (missing.length > 0) throw invalidFields(missing.flatMap(({ step, ref }) => missingError(step, ref)));
  return fileIds;
}

const filesIn = (kind: Kind, value: unknown): readonly FileRef[] => kind.files?.(value) ?? [];

const missingError = (change: RequestedChange, { name, sha256 }: FileRef) =>
  refusal(
    change,
    invalid("value", `the file ${JSON.stringify(name)} with the SHA-256 digest ${sha256} was not uploaded`),
  ).errors;
