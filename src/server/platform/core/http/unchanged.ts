// Keys that a change contains because clients send back what GET returned.
import { ApiError, type FieldError } from "../errors.ts";

/** 422 that names each key whose value is not the existing one. Keys that were not sent are ignored. */
export function checkUnchanged<T extends object>(
  sent: { readonly [K in keyof T]?: T[K] | undefined },
  existing: T,
): void {
  const errors = (Object.keys(existing) as (keyof T & string)[]).flatMap((key): FieldError[] =>
    sent[key] === undefined || sent[key] === existing[key]
      ? []
      : [{ name: key, reason: `it cannot be changed: it is ${JSON.stringify(existing[key])}` }],
  );
  if (errors.length > 0) throw new ApiError(422, "Validation Failed", errors);
}
