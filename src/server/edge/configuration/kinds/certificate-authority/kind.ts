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
  read: (_, change, texts) => readAuthority(change, texts),
  checkGone: ({ name }) => void typeAndName(name),
  /** Authorities that do not change are not checked. */
  async prepare(ctx, steps, skip) {
    const caSteps = new Map<RequestedChange, CaStep>();
    if (steps.length === 0) return caSteps;
    const rows = await ctx.store.certificateAuthorities.list();
    const existing = new Map(rows.map((row) => [`${row.type}/${row.name}`, row]));
    for (const step of steps)
      await locating(step, async () => {
        const caStep = authorityStep(existing.get(step.name), step.desired);
        if (caStep.before && sameAs(caStep.before, caStep.desired)) return;
        await checkSteps(ctx, [caStep]);
        if (!skip) await askSteps(ctx, [caStep]);
        caSteps.set(step, caStep);
      });
    return caSteps;
  },
  write: (work, { steps, prepared }) => writeAuthorities(work, steps, prepared),
  remove: (work, { rows, gone }) => removeAuthorities(work, rows, gone),
};
