import type { z } from "zod";
import type { Viewer } from "../core/context.ts";
import type { FieldError } from "../core/errors.ts";

type Json = Record<string, unknown>;

/** One section of the configuration: everything that a new setting needs is said here. */
export interface Section<T extends object = object> {
  readonly name: string;
  readonly schema: z.ZodType<T>;
  readonly defaults: T;
  /** Paths in the section of what is secret, `*` standing for each member of a list or map: sealed at rest, masked in replies. */
  readonly secrets: readonly string[];
  /** Paths, with `*` too, that are no secrets though `secrets` takes them in. */
  readonly shown: readonly string[];
  /** What tells the entries of a list apart: a mask in an entry stands for the secret of the entry that had the same. */
  readonly entries: Readonly<Record<string, readonly string[]>>;
  /** For a secret, the fields that say who receives it: where they change, it has to be sent again. */
  readonly boundTo: Readonly<Record<string, readonly string[]>>;
  /** Paths that only the premium tier may give. */
  readonly premium: readonly string[];
  /** Paths that are only told: ignored in a change. */
  readonly returned: readonly string[];
  /** Whether a change gives the section as a whole, instead of some of its fields. */
  readonly whole: boolean;
  /** A change in other spellings, in those that are kept. */
  respell(given: Json): unknown;
  /** Refusals of what a change gives before it is merged (throws 400). */
  checkInput(given: unknown, options: { force: boolean }): void;
  /** The merged section with what follows from the rest of it. */
  complete(value: T, given: unknown, before: T): T;
  /** The rules that the resulting section breaks; names are paths in the section. */
  check(value: T): FieldError[];
  visibleTo(user: Viewer): boolean;
}

/** A section; what is not said is none, and every reader of the configuration sees it. */
export const section = <T extends object>(
  given: Pick<Section<T>, "name" | "schema" | "defaults"> & Partial<Section<T>>,
): Section<T> => ({
  secrets: [],
  shown: [],
  entries: {},
  boundTo: {},
  premium: [],
  returned: [],
  whole: false,
  respell: (input) => input,
  checkInput: () => {},
  complete: (value) => value,
  check: () => [],
  visibleTo: () => true,
  ...given,
});
