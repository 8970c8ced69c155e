import type { Credentials } from "../../../../hosts/directory/client.ts";
import {
  type CredentialsRow,
  checkWithDirectory,
  credentialsFrom,
  credentialsRow,
  DIRECTORY_CREDENTIALS_LOCK,
  isSame,
  keepCredentials,
} from "../../../../hosts/directory/credentials.ts";
import { isPremium } from "../../../../platform/core/context.ts";
import { needPremium } from "../../../../platform/core/http/tier.ts";
import { may } from "../../../../platform/core/security/access.ts";
import { locating, type RequestedChange } from "../../changes.ts";
import type { Kind } from "../../kind.ts";
import { count } from "../../work.ts";
import { checkName, credentialsThings, type DesiredCredentials, readCredentials } from "./value.ts";

/** What the directory has accepted, by the change that asks for it. */
type AcceptedCredentials = ReadonlyMap<
  RequestedChange,
  { readonly before: CredentialsRow | null; readonly desired: Credentials }
>;

export const directoryCredentials: Kind<CredentialsRow | null, DesiredCredentials, AcceptedCredentials> = {
  name: "directory_credentials",
  owners: ["global"],
  per: "many",
  noun: "credentials for the directory",
  lock: DIRECTORY_CREDENTIALS_LOCK,
  action: () => "directory:write",
  load: async (ctx) => (isPremium(ctx) && may(ctx.user, "directory:write", null) ? credentialsRow(ctx.store) : null),
  things: credentialsThings,
  read(ctx, change, texts) {
    needPremium(ctx);
    return readCredentials(change, texts);
  },
  checkGone: checkName,
  /** Credentials that do not change are not checked. */
  async prepare(ctx, steps, skip) {
    const accepted = new Map<RequestedChange, { before: CredentialsRow | null; desired: Credentials }>();
    for (const step of steps)
      await locating(step, async () => {
        const before = await credentialsRow(ctx.store);
        const desired = credentialsFrom(step.desired, before, "value");
        if (isSame(before, desired)) return;
        if (!skip) await checkWithDirectory(ctx, desired, "value");
        accepted.set(step, { before, desired });
      });
    return accepted;
  },
  async write(work, { steps, prepared }) {
    for (const step of steps) {
      const checked = prepared.get(step);
      if (!checked) continue;
      await locating(step, () => keepCredentials(work.ctx, checked.before, checked.desired));
      count(work, [step]);
    }
  },
  async remove(work, { rows, gone }) {
    for (const change of gone) await locating(change, () => keepCredentials(work.ctx, rows, null));
    count(work, gone);
  },
};
