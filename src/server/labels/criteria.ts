// Labels whose members the server computes: from a vital of the host or from a host expression.
import { type GivenCriteria, type LabelCriteria, type LabelVital, labelVitals } from "../../api/labels.ts";
import type { Context } from "../core/context.ts";
import { ApiError, invalid } from "../core/errors.ts";
import { hostsOfDepartment, hostsOfGroup } from "../scim/people.ts";
import type { Predicate } from "../store/query.ts";
import { setMembers } from "./members.ts";
import type { LabelRow } from "./wire.ts";

declare module "../core/extensions.ts" {
  interface Extensions {
    /** The hosts that an expression describes. 400 if it is invalid. */
    readonly hostsWhere: (text: string, deps: Pick<Context, "clock">) => Predicate;
  }
}

type Deps = Pick<Context, "clock" | "extensions">;

const isVital = (text: string): text is LabelVital => (labelVitals as readonly string[]).includes(text);

/** Returns the criteria in their stored form. 422 for invalid criteria. */
export function checkCriteria(ctx: Deps, given: GivenCriteria, field = "criteria"): LabelCriteria {
  if (given.where !== undefined) {
    if (given.vital !== undefined || given.value !== undefined)
      throw invalid(field, "give either vital and value, or where");
    const where = given.where.trim();
    if (where === "") throw invalid(field, "where must not be empty");
    try {
      ctx.extensions.hostsWhere(where, ctx);
    } catch (error) {
      if (error instanceof ApiError) throw invalid(field, error.errors[0]?.reason ?? error.message);
      throw error;
    }
    return { where };
  }
  if (given.vital === undefined || !isVital(given.vital))
    throw invalid(field, `vital must be one of ${labelVitals.join(", ")}`);
  const value = (given.value ?? "").trim();
  if (value === "") throw invalid(field, "value must not be empty");
  return { vital: given.vital, value };
}

const vitals: Record<LabelVital, (value: string) => Predicate> = {
  end_user_idp_group: hostsOfGroup,
  end_user_idp_department: hostsOfDepartment,
};

const hostsOf = (ctx: Deps, criteria: LabelCriteria): Predicate =>
  "where" in criteria ? ctx.extensions.hostsWhere(criteria.where, ctx) : vitals[criteria.vital](criteria.value);

type Criterial = Pick<LabelRow, "id" | "criteria">;

/** Recomputes the members of a label with criteria, among all hosts. Returns whether any changed. */
export async function findMembers(ctx: Deps & Pick<Context, "store">, label: Criterial): Promise<boolean> {
  if (label.criteria === null) return false;
  return setMembers(ctx.store, label.id, hostsOf(ctx, label.criteria));
}
