import type { z } from "zod";
import type { Viewer } from "../core/context.ts";
import type { FieldError } from "../core/errors.ts";

/** One section of the configuration: everything that a new setting needs is said here. */
export interface Section<T extends object = object> {
  readonly name: string;
  readonly schema: z.ZodType<T>;
  readonly defaults: T;
  /** Paths in the section (`password`, `auth.token`) of secret texts: sealed at rest, masked in replies. */
  readonly secrets: readonly string[];
  /** Paths that only the premium tier may give. */
  readonly premium: readonly string[];
  /** Whether a change gives the section as a whole, instead of some of its fields. */
  readonly whole: boolean;
  /** Refusals of what a change gives before it is merged (throws 400). */
  checkInput(given: unknown, options: { force: boolean }): void;
  /** The rules that the resulting section breaks; names are paths in the section. */
  check(value: T): FieldError[];
  visibleTo(user: Viewer): boolean;
}

/** A section; what is not said is none, and every reader of the configuration sees it. */
export const section = <T extends object>(
  given: Pick<Section<T>, "name" | "schema" | "defaults"> & Partial<Section<T>>,
): Section<T> => ({
  secrets: [],
  premium: [],
  whole: false,
  checkInput: () => {},
  check: () => [],
  visibleTo: () => true,
  ...given,
});
