// Parses an apply request: checks each change by itself and groups the parsed changes by kind.

import { createHash } from "node:crypto";
import type { ThingKey } from "../../../api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, alreadyExists, invalid } from "../../platform/core/errors.ts";
import { needPremium } from "../../platform/core/http/tier.ts";
import { authorize } from "../../platform/core/security/access.ts";
import { MAX_LISTED, type RequestedChange, readAll, type Step } from "./changes.ts";
import type { Kind } from "./kind.ts";
import { configurationKind, isKnown, kinds } from "./kinds.ts";
import { type Contents, keyOf, type Texts } from "./values.ts";

/** All errors of unknown kinds are reported together: nothing else of such a request can be checked. */
export function checkKinds(lists: { changes: readonly ThingKey[]; pins?: readonly ThingKey[] | undefined }): void {
  const errors = Object.entries(lists).flatMap(([list, things]) =>
    (things ?? []).flatMap((thing, i) =>
      isKnown(thing)
        ? []
        : [{ name: `${list}.${i}.kind`, reason: `must be one of ${kinds.map(({ name }) => name).join(", ")}` }],
    ),
  );
  if (errors.length > 0) throw new ApiError(422, "Validation Failed", errors.slice(0, MAX_LISTED));
}

/** 422 for contents that have other digests than the request says. */
export function contentsIn(files: Readonly<Record<string, string>>): Contents {
  return new Map(
    Object.entries(files).map(([sha256, text]) => {
      const content = Buffer.from(text, "base64");
      if (createHash("sha256").update(content).digest("hex") !== sha256)
        throw invalid(`files.${sha256}`, "the content has another SHA-256 digest");
      return [sha256, content];
    }),
  );
}

/** The parsed changes of one kind. */
interface Changes {
  readonly steps: Step<unknown>[];
  readonly gone: RequestedChange[];
}
export type Request = ReadonlyMap<Kind, Changes>;

export async function readRequest(
  ctx: Context,
  changes: readonly RequestedChange[],
  texts: Texts,
  contents: Contents,
): Promise<Request> {
  const keys = new Set<string>();
  const request: Request = new Map(kinds.map((kind) => [kind, { steps: [], gone: [] }]));
  await readAll(changes, (change) => {
    checkShape(change);
    const key = keyOf(change);
    if (keys.has(key)) throw invalid("base", "is changed twice");
    keys.add(key);
    admit(ctx, change);
    readOne(ctx, request, change, texts, contents);
  });
  return request;
}

function checkShape({ kind, owner, name, action, shape: { owners, per } }: RequestedChange): void {
  if (!owners.includes(owner === null ? "global" : owner === NO_TEAM_NAME ? "no_team" : "team"))
    throw invalid("change.owner", `objects of kind ${kind} cannot have this owner`);
  if (per === "one" && name !== kind) throw invalid("change.name", `must be ${kind}`);
  if (per === "many") return;
  if (action === "create") throw alreadyExists("already exists");
  if (action === "delete") throw invalid("change.action", "cannot be deleted: it goes with its scope");
}

/** Checks the role for an object of a team whose id is known. */
export const authorizeOn = (ctx: Context, change: RequestedChange, teamId: number | null): void =>
  authorize(ctx, configurationKind(change).action(change), teamId);

/** Checks that need no data from the store: the tier, and the role for objects that belong to no team. */
function admit(ctx: Context, change: RequestedChange): void {
  if (change.owner !== null || change.kind === "team") needPremium(ctx);
  const isTeams = change.kind === "team" && change.action === "update";
  if ((change.owner === null && !isTeams) || change.owner === NO_TEAM_NAME) authorizeOn(ctx, change, null);
}

function readOne(ctx: Context, request: Request, change: RequestedChange, texts: Texts, contents: Contents): void {
  const ownKind = configurationKind(change);
  const other = ownKind.writtenWith?.(change) ?? null;
  const kind = other === null ? ownKind : configurationKind({ kind: other });
  const { steps, gone } = request.get(kind)!;
  if (change.action === "delete") {
    kind.checkGone?.(change);
    gone.push(change);
  } else steps.push({ ...change, desired: kind.read(ctx, change, texts, contents) });
}
