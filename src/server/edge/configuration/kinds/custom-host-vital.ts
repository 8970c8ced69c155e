import { z } from "zod";
import { VitalName } from "../../../../api/settings/variables.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { may } from "../../../platform/core/security/access.ts";
import { addVital, removeVitals, VITAL_LOCK_OPTIONS, type VitalRow } from "../../../settings/variables/vitals.ts";
import { locating } from "../changes.ts";
import type { Kind } from "../kind.ts";
import { parsed } from "../parse.ts";
import { count, creating } from "../work.ts";

const KIND = "custom_host_vital";

/** Definitions only: the name is all that they have. */
export const customHostVital: Kind<readonly VitalRow[], object> = {
  name: KIND,
  owners: ["global"],
  per: "many",
  lock: VITAL_LOCK_OPTIONS.lock,
  action: () => "variables:write",
  load: async (ctx) => (may(ctx.user, "variables:write", null) ? ctx.store.customHostVitals.list() : []),
  things: (rows) => rows.map(({ name }) => ({ kind: KIND, owner: null, name, value: {} })),
  read(_, { name, value }) {
    if (VitalName.safeParse(name).data !== name)
      throw invalid("change.name", "must have 1 to 255 characters, without surrounding spaces");
    return parsed(z.strictObject({}), value);
  },
  async write(work, { steps }) {
    const created = creating(steps);
    for (const step of created) await locating(step, () => addVital(work.ctx, step.name));
    count(work, created);
  },
  async remove(work, { rows, gone }) {
    for (const change of gone)
      await locating(change, () =>
        removeVitals(
          work.ctx,
          rows.filter(({ name }) => name === change.name),
        ),
      );
    count(work, gone);
  },
};
