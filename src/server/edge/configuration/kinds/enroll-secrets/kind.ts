import { type Context, isPremium } from "../../../../platform/core/context.ts";
import { may, visible } from "../../../../platform/core/security/access.ts";
import { and, isNull } from "../../../../platform/store/query.ts";
import type { Kind } from "../../kind.ts";
import { byTeam, type DesiredSecrets, readSecrets, type SecretRow, secretsThing } from "./value.ts";
import { writeSecrets } from "./write.ts";

interface Rows {
  readonly secrets: readonly SecretRow[];
  readonly mayWrite: (teamId: number | null) => boolean;
}

async function load(ctx: Context): Promise<Rows> {
  const hasTeams = isPremium(ctx);
  const visibleSecrets = visible(ctx, "enroll_secrets:write");
  return {
    secrets: await ctx.store.enrollSecrets.list({
      where: hasTeams ? visibleSecrets : and(visibleSecrets, isNull("team_id")),
    }),
    mayWrite: (teamId) => may(ctx.user, "enroll_secrets:write", teamId) && (teamId === null || hasTeams),
  };
}

export const enrollSecrets: Kind<Rows, DesiredSecrets> = {
  name: "enroll_secrets",
  owners: ["global", "team"],
  per: "one",
  action: () => "enroll_secrets:write",
  load,
  things({ secrets, mayWrite }, { teams }) {
    const rows = byTeam(secrets);
    const owners = [{ id: null, name: null }, ...teams].filter(({ id }) => mayWrite(id));
    return owners.map(({ id, name }) => secretsThing(name, rows.get(id) ?? []));
  },
  inReply(value) {
    const { secrets } = value as { secrets: { $secret: string }[] };
    return { secrets: secrets.sort((a, b) => (a.$secret < b.$secret ? -1 : a.$secret > b.$secret ? 1 : 0)) };
  },
  read: (_, change, texts) => readSecrets(change, texts),
  write: (work, { rows, steps }) => writeSecrets(work, rows.secrets, steps),
};
