// The flags of commands that set plain fields of a resource.

import * as Flags from "@oclif/core/flags";
import type { BooleanFlag, OptionFlag } from "@oclif/core/interfaces";
import type { PlainField, PlainFields } from "../api/plain-fields.ts";

type FlagName<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}-${FlagName<Tail>}` : S;
type PlainFlag<F extends PlainField> =
  F extends PlainField<boolean>
    ? BooleanFlag<boolean>
    : F extends PlainField<number>
      ? OptionFlag<number | undefined>
      : OptionFlag<string | undefined>;
type PlainFlags<F extends PlainFields> = { [K in keyof F & string as FlagName<K>]: PlainFlag<F[K]> };

export const plainFlags = <F extends PlainFields>(fields: F): PlainFlags<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name.replaceAll("_", "-"), flagOf(field)]),
  ) as PlainFlags<F>;

/** The fields of a request that the flags set. */
export const fieldsOfFlags = (
  flags: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> =>
  Object.fromEntries(
    names.map((name) => [name, flags[name.replaceAll("_", "-")]] as const).filter(([, value]) => value !== undefined),
  );

function flagOf({ kind, summary, helpValue, values }: PlainField) {
  const help = { summary, ...(helpValue === undefined ? {} : { helpValue }) };
  if (kind === "flag") return Flags.boolean({ summary, allowNo: true });
  if (kind === "number") return Flags.integer({ ...help, min: 0 });
  return kind === "choice" ? Flags.option({ options: values })({ summary }) : Flags.string(help);
}
