import { type CaRow, sameAs } from "../../../../certificates/ca/rules.ts";
import { CERTIFICATE_AUTHORITIES_LOCK } from "../../../../certificates/ca/service.ts";
import { askSteps, type Step as CaStep, checkSteps } from "../../../../certificates/ca/specs.ts";
import { may } from "../../../../platform/core/security/access.ts";
import { locating, type RequestedChange } from "../../changes.ts";
import type { Kind } from "../../kind.ts";
import { authorityStep, authorityThings, type DesiredAuthorityValue, readAuthority, typeAndName } from "./value.ts";
import { type CheckedSteps, removeAuthorities, writeAuthorities } from "./write.ts";

export const certificateAuthority: Kind<readonly CaRow[], DesiredAuthorityValue, CheckedSteps> = {
  name: "certificate_authority",
  owners: ["global"],
  per: "many",
  isNameInValue: true,
  lock: CERTIFICATE_AUTHORITIES_LOCK,
  action: () => "ca:write",
  load: async ({ user, store }) => (may(user, "ca:write", null) ? store.certificateAuthorities.list() : []),
  things: authorityThings,
  read: (_, given, texts) => readAuthority(given, texts),
  checkGone: ({ name }) => void typeAndName(name),
  /** Authorities that do not change are not checked. */
  async prepare(ctx, steps, skip) {
    const asked = new Map<RequestedChange, CaStep>();
    if (steps.length === 0) return asked;
    const rows = await ctx.store.certificateAuthorities.list();
    const existing = new Map(rows.map((row) => [`${row.type}/${row.name}`, row]));
    for (const step of steps)
      await locating(step, async () => {
        const one = authorityStep(existing.get(step.name), step.wanted);
        if (one.before && sameAs(one.before, one.wanted)) return;
        await checkSteps(ctx, [one]);
        if (!skip) await askSteps(ctx, [one]);
        asked.set(step, one);
      });
    return asked;
  },
  write: (work, { steps, prepared }) => writeAuthorities(work, steps, prepared),
  remove: (work, { rows, gone }) => removeAuthorities(work, rows, gone),
};
