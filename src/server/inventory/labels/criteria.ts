// Labels whose members the server computes: from a vital of the host or from a host expression.

import {
  type CriteriaInput,
  CUSTOM_VITAL,
  type LabelCriteria,
  type LabelVital,
  labelVitals,
} from "../../../api/hosts/labels.ts";
import { setMembers } from "../../hosts/labels/members.ts";
import type { LabelRow } from "../../hosts/labels/wire.ts";
import { hostsOfDepartment, hostsOfGroup } from "../../hosts/scim/people.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, invalid } from "../../platform/core/errors.ts";
import { and, eq, exists, type Predicate } from "../../platform/store/query.ts";
import { hostVitalValues } from "../../settings/variables/tables.ts";
import { compileWhere } from "../host-list/selector/where.ts";

type Deps = Pick<Context, "clock">;

const isVital = (text: string): text is LabelVital => (labelVitals as readonly string[]).includes(text);

/** Returns the criteria in their stored form. 422 for invalid criteria. */
export function checkCriteria(ctx: Deps, input: CriteriaInput, field = "criteria"): LabelCriteria {
  if (input.where !== undefined) {
    if (input.vital !== undefined || input.value !== undefined || input.custom_host_vital_id !== undefined)
      throw invalid(field, "give either vital and value, or where");
    const where = input.where.trim();
    if (where === "") throw invalid(field, "where must not be empty");
    try {
      compileWhere(where, ctx);
    } catch (error) {
      if (error instanceof ApiError) throw invalid(field, error.errors[0]?.reason ?? error.message);
      throw error;
    }
    return { where };
  }
  const { vital, custom_host_vital_id } = input;
  const value = (input.value ?? "").trim();
  if (vital !== CUSTOM_VITAL && (vital === undefined || !isVital(vital)))
    throw invalid(field, `vital must be one of ${[...labelVitals, CUSTOM_VITAL].join(", ")}`);
  if ((vital === CUSTOM_VITAL) !== (custom_host_vital_id !== undefined))
    throw invalid(field, `custom_host_vital_id is required with the vital ${CUSTOM_VITAL}, and only with it`);
  if (value === "") throw invalid(field, "value must not be empty");
  return vital === CUSTOM_VITAL ? { vital, custom_host_vital_id: custom_host_vital_id!, value } : { vital, value };
}

const vitals: Record<LabelVital, (value: string) => Predicate> = {
  end_user_idp_group: hostsOfGroup,
  end_user_idp_department: hostsOfDepartment,
};

/** The hosts that the criteria select, among all hosts. */
export function hostsOfCriteria(ctx: Deps, criteria: LabelCriteria): Predicate {
  if ("where" in criteria) return compileWhere(criteria.where, ctx);
  if (criteria.vital !== CUSTOM_VITAL) return vitals[criteria.vital](criteria.value);
  const { custom_host_vital_id: id, value } = criteria;
  return exists(hostVitalValues, "host_id", and(eq("vital_id", id), eq("value", value)));
}

type Criterial = Pick<LabelRow, "id" | "criteria">;

/** Recomputes the members of a label with criteria, among all hosts. Returns whether any changed. */
export async function findMembers(ctx: Deps & Pick<Context, "store">, label: Criterial): Promise<boolean> {
  if (label.criteria === null) return false;
  return setMembers(ctx.store, label.id, hostsOfCriteria(ctx, label.criteria));
}
