// What the server knows about one kind of configuration. README.md describes how to add a kind.

import type { Action } from "../../../api/access.ts";
import type { ConfigurationState } from "../../../api/edge/configuration.ts";
import type { Context } from "../../platform/core/context.ts";
import type { OrderedLock } from "../../platform/store/locks.ts";
import type { KindShape, RequestedChange, Step } from "./changes.ts";
import type { SharedRows } from "./shared-rows.ts";
import type { Contents, Json, Texts, Thing } from "./values.ts";
import type { Work } from "./work.ts";

/** A file that a value contains only by reference. The digest is in hex, in lower case. */
export interface FileRef {
  readonly name: string;
  readonly sha256: string;
}

/** The changes of one kind in one apply. */
export interface Part<Rows, Desired, Prepared> {
  readonly rows: Rows;
  /** What is created or updated, in the order of the request. */
  readonly steps: readonly Step<Desired>[];
  readonly gone: readonly RequestedChange[];
  readonly prepared: Prepared;
}

/**
 * A descriptor. What a kind does in the store goes through the services of its feature, so that rules exist only there.
 * Written as methods, so that a list can contain kinds with different rows and values.
 */
export interface Kind<Rows = unknown, Desired = unknown, Prepared = unknown> extends KindShape {
  readonly name: string;
  /** The lock of the feature, if it is none of those that every apply takes (`locks` in kinds.ts). */
  readonly lock?: OrderedLock;
  /** What the caller must be allowed to do. */
  action(change: RequestedChange): Action;
  /** Another kind that parses and writes this change together with its own. */
  writtenWith?(change: RequestedChange): string | null;
  /** Rows that the caller may write, besides those of `SharedRows`. Runs in the transaction. */
  load(ctx: Context, shared: SharedRows): Promise<Rows>;
  /** The current objects. A generator builds each of them only when it is used. */
  things(rows: Rows, shared: SharedRows): Iterable<Thing>;
  /** Parts of the default settings that files are completed with. */
  defaults?(): Partial<Record<keyof ConfigurationState["defaults"], unknown>>;
  /** Small files to which the values refer by digest. Requests contain those that they change, so nothing is uploaded. */
  contents?(ctx: Context, rows: Rows): Promise<Contents>;
  /** Larger files to which the values refer by digest: the tokens with which the API lets callers download them. */
  downloads?(ctx: Context, rows: Rows): Promise<ReadonlyMap<string, string>>;
  /** Reorders what has no order, so that the order in a reply does not depend on secret texts. */
  inReply?(value: Json): Json;
  /** Parses a value, without the store. 422 for a violated rule. */
  read(ctx: Context, change: RequestedChange, texts: Texts, contents: Contents): Desired;
  /** The files that a value refers to. `write` gets the ids of their rows in `work.files`. */
  files?(value: unknown): readonly FileRef[];
  /** Checks the name in a deletion. */
  checkGone?(change: RequestedChange): void;
  /** Checks that need the network, before the transaction. */
  prepare?(ctx: Context, steps: readonly Step<Desired>[], skip: boolean): Promise<Prepared>;
  /** Writes what differs. Without `remove`, also deletes. */
  write(work: Work, part: Part<Rows, Desired, Prepared>): Promise<void>;
  /** Deletes after all kinds have written, in the reverse order. */
  remove?(work: Work, part: Part<Rows, Desired, Prepared>): Promise<void>;
}
