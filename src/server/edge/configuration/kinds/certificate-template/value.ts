import { z } from "zod";
import { SUBJECT_MAX } from "../../../../../api/certificates/certificates.ts";
import type { CaRow } from "../../../../certificates/ca/rules.ts";
import {
  checkAlternativeName,
  checkSubjectName,
  type TemplateRow,
} from "../../../../certificates/certificates/rules.ts";
import { byId } from "../../../../platform/core/maps.ts";
import { parsed } from "../../parse.ts";
import { ownersOf, type SharedRows } from "../../shared-rows.ts";
import type { Thing } from "../../values.ts";

const TemplateValue = z.strictObject({
  certificate_authority_name: z.string().min(1).max(255),
  subject_name: z.string().min(1).max(SUBJECT_MAX),
  subject_alternative_name: z.string().max(SUBJECT_MAX).optional(),
});
export type DesiredTemplate = z.output<typeof TemplateValue>;

export interface TemplateRows {
  readonly templates: readonly TemplateRow[];
  readonly authorities: readonly Pick<CaRow, "id" | "name">[];
}

export function* templateThings({ templates, authorities }: TemplateRows, shared: SharedRows): Generator<Thing> {
  const ownerOf = ownersOf(shared);
  const names = byId(authorities);
  for (const row of templates) {
    const owner = ownerOf(row);
    if (owner === undefined) continue;
    const value: DesiredTemplate = {
      certificate_authority_name: names.get(row.certificate_authority_id)?.name ?? "",
      subject_name: row.subject_name,
      ...otherNames(row.subject_alternative_name),
    };
    yield { kind: "certificate_template", owner, name: row.name, value };
  }
}

/** Values of templates without such names do not contain the key, as earlier ones did not. */
const otherNames = (text: string) => (text === "" ? {} : { subject_alternative_name: text });

export function readTemplate(value: unknown): DesiredTemplate {
  const input = parsed(TemplateValue, value);
  const { subject_alternative_name, ...others } = input;
  return {
    ...others,
    subject_name: checkSubjectName(input.subject_name),
    ...otherNames(checkAlternativeName(subject_alternative_name)),
  };
}
