// What the server knows about one kind of configuration. README.md describes how to add a kind.
import type { Action } from "../../api/access.ts";
import type { ConfigurationState, ThingKind } from "../../api/configuration.ts";
import type { Context } from "../core/context.ts";
import type { Given, Step } from "./changes.ts";
import type { SharedRows } from "./shared-rows.ts";
import type { Json, Texts, Thing } from "./values.ts";
import type { Work } from "./work.ts";

/** A file that a value contains only by reference. */
export interface BlobRef {
  readonly name: string;
  readonly sha256: string;
}

/** The changes of one kind in one apply. */
export interface Part<Rows, Wanted, Prepared> {
  readonly rows: Rows;
  /** What is created or updated, in the order of the request. */
  readonly steps: readonly Step<Wanted>[];
  readonly gone: readonly Given[];
  readonly prepared: Prepared;
}

/**
 * A descriptor. What a kind does in the store goes through the services of its feature, so that rules exist only there.
 * Written as methods, so that a list can contain kinds with different rows and values.
 */
export interface Kind<Rows = unknown, Wanted = unknown, Prepared = unknown> {
  readonly name: ThingKind;
  /** The lock of the feature, if it is none of those that every apply takes (`locks` in kinds.ts). */
  readonly lock?: string;
  /** What the caller must be allowed to do. */
  action(given: Given): Action;
  /** Another kind that parses and writes this change together with its own. */
  writtenWith?(given: Given): ThingKind | null;
  /** Rows that the caller may write, besides those of `SharedRows`. Runs in the transaction. */
  load(ctx: Context, shared: SharedRows): Promise<Rows>;
  /** The current objects. A generator builds each of them only when it is used. */
  things(rows: Rows, shared: SharedRows): Iterable<Thing>;
  /** Its parts of the default settings that files are completed with. */
  defaults?(): Partial<Record<keyof ConfigurationState["defaults"], unknown>>;
  /** Reorders what has no order, so that the order in a reply does not depend on secret texts. */
  inReply?(value: Json): Json;
  /** Parses a value, without the store. 422 for a violated rule. */
  read(ctx: Context, given: Given, texts: Texts): Wanted;
  /** The blobs that a value refers to: they are uploaded before the apply, so that the apply stays one transaction. */
  blobs?(value: unknown): readonly BlobRef[];
  /** Checks the name in a deletion. */
  checkGone?(given: Given): void;
  /** Checks that need the network, before the transaction. */
  prepare?(ctx: Context, steps: readonly Step<Wanted>[], skip: boolean): Promise<Prepared>;
  /** Writes what differs. Without `remove`, also deletes. */
  write(work: Work, part: Part<Rows, Wanted, Prepared>): Promise<void>;
  /** Deletes after all kinds have written, in the reverse order. */
  remove?(work: Work, part: Part<Rows, Wanted, Prepared>): Promise<void>;
}
