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
  { readonly before: CredentialsRow | null; readonly wanted: Credentials }
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
  read(ctx, given, texts) {
    needPremium(ctx);
    return readCredentials(given, texts);
  },
  checkGone: checkName,
  /** Credentials that do not change are not checked. */
  async prepare(ctx, steps, skip) {
    const accepted = new Map<RequestedChange, { before: CredentialsRow | null; wanted: Credentials }>();
    for (const step of steps)
      await locating(step, async () => {
        const before = await credentialsRow(ctx.store);
        const wanted = credentialsFrom(step.wanted, before, "value");
        if (isSame(before, wanted)) return;
        if (!skip) await checkWithDirectory(ctx, wanted, "value");
        accepted.set(step, { before, wanted });
      });
    return accepted;
  },
  async write(work, { steps, prepared }) {
    for (const step of steps) {
      const one = prepared.get(step);
      if (!one) continue;
      await locating(step, () => keepCredentials(work.ctx, one.before, one.wanted));
      count(work, [step]);
    }
  },
  async remove(work, { rows, gone }) {
    for (const one of gone) await locating(one, () => keepCredentials(work.ctx, rows, null));
    count(work, gone);
  },
};
