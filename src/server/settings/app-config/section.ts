import type { z } from "zod";
import type { Viewer } from "../../platform/core/context.ts";
import type { FieldError } from "../../platform/core/errors.ts";

type Json = Record<string, unknown>;

/** One section of the configuration. A new setting is declared here and nowhere else. */
export interface Section<T extends object = object> {
  readonly name: string;
  readonly schema: z.ZodType<T>;
  readonly defaults: T;
  /**
   * Paths of secrets within the section; `*` matches each member of a list or map. They are encrypted at rest and
   * masked in replies.
   */
  readonly secrets: readonly string[];
  /** Exceptions from `secrets`: paths (`*` is allowed) that are shown. */
  readonly shown: readonly string[];
  /**
   * The fields that identify the entries of a list. A mask in an entry stands for the secret of the old entry with
   * the same values.
   */
  readonly entries: Readonly<Record<string, readonly string[]>>;
  /** For each secret, the fields that determine who receives it. If they change, the secret must be sent again. */
  readonly boundTo: Readonly<Record<string, readonly string[]>>;
  /** Paths that can be set only on the premium tier. */
  readonly premium: readonly string[];
  /** Read-only paths, with what determines their values. A change may contain them as they are shown. */
  readonly returned: Readonly<Record<string, string>>;
  /** Paths whose values are stored by other endpoints, which the text names. They can only be set to nothing. */
  readonly elsewhere: Readonly<Record<string, string>>;
  /** Paths of URLs to which the server sends requests. */
  readonly outbound: readonly string[];
  /**
   * Whether a change replaces each of its fields as a whole, because maps in them have keys that can be removed. With
   * `overwrite`, the section is what the change contains.
   */
  readonly whole: boolean;
  /** Converts alternative spellings of a change to the stored ones. */
  respell(change: Json): unknown;
  /** Checks a change before it is merged (throws 400). */
  checkInput(change: unknown, options: { force: boolean }): void;
  /** Fills in fields of the merged section that follow from its other fields. */
  complete(value: T, change: unknown, before: T): T;
  /** The rules that the resulting section violates. Names are paths within the section. */
  check(value: T): FieldError[];
  visibleTo(user: Viewer): boolean;
}

/** Creates a section. By default it has no secrets or rules, and every reader of the configuration sees it. */
export const section = <T extends object>(
  definition: Pick<Section<T>, "name" | "schema" | "defaults"> & Partial<Section<T>>,
): Section<T> => ({
  secrets: [],
  shown: [],
  entries: {},
  boundTo: {},
  premium: [],
  returned: {},
  elsewhere: {},
  outbound: [],
  whole: false,
  respell: (input) => input,
  checkInput: () => {},
  complete: (value) => value,
  check: () => [],
  visibleTo: () => true,
  ...definition,
});
