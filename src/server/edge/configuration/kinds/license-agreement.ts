import { checkPdf, dropEula, type EulaRow, hasOne, keepEula } from "../../../devices/apple/setup/eula.ts";
import { requireAppleMdm } from "../../../devices/gate.ts";
import type { Context } from "../../../platform/core/context.ts";
import { needPremium } from "../../../platform/core/http/tier.ts";
import { may } from "../../../platform/core/security/access.ts";
import { everything } from "../../../platform/store/query.ts";
import { locating, refusal } from "../changes.ts";
import type { Kind, Part } from "../kind.ts";
import type { Thing } from "../values.ts";
import { count, differs, type Work } from "../work.ts";
import { checkUploads, type DesiredFile, digestsOf, filesIn, readFileValue } from "./large-file.ts";

interface Rows {
  readonly agreements: readonly EulaRow[];
  readonly digests: ReadonlyMap<number, string>;
}

function* things({ agreements, digests }: Rows): Generator<Thing> {
  for (const { name, file_id } of agreements)
    yield { kind: "license_agreement", owner: null, name, value: { sha256: digests.get(file_id) ?? "" } };
}

const current = ({ store }: Context): Promise<EulaRow | null> => store.eulas.first({ where: everything });

async function write(work: Work, { steps, gone }: Part<Rows, DesiredFile, void>): Promise<void> {
  const { ctx } = work;
  const changed = steps.filter((step) => differs(work, step, step.desired));
  for (const step of changed) {
    await locating(step, () => requireAppleMdm({ config: ctx.config.over(ctx.store) }));
    const before = await current(ctx);
    // One with another name takes the place of the one before, which the same request deletes.
    const isFree = before === null || before.name === step.name || gone.some(({ name }) => name === before.name);
    if (!isFree) throw refusal(step, hasOne());
    const file_id = work.files.get(step.desired.sha256);
    // When the apply is only tried, the file was not uploaded.
    if (file_id === undefined) continue;
    if (before) await dropEula(ctx, before);
    await locating(step, () => keepEula(ctx, { name: step.name, file_id }));
  }
  count(work, changed);
}

async function remove(work: Work, { gone }: Part<Rows, DesiredFile, void>): Promise<void> {
  for (const { name } of gone) {
    const row = await current(work.ctx);
    if (row?.name === name) await dropEula(work.ctx, row);
  }
  count(work, gone);
}

/** One agreement at most exists. */
export const licenseAgreement: Kind<Rows, DesiredFile, void> = {
  name: "license_agreement",
  owners: ["global"],
  per: "many",
  action: () => "eula:write",
  async load(ctx) {
    const agreements = may(ctx.user, "eula:write", null) ? await ctx.store.eulas.list({ where: everything }) : [];
    const ids = agreements.map(({ file_id }) => file_id);
    return { agreements, digests: await digestsOf(ctx, ids) };
  },
  things,
  async downloads(_ctx, { agreements, digests }) {
    return new Map(agreements.map(({ file_id, token }) => [digests.get(file_id) ?? "", token]));
  },
  read(ctx: Context, { value }) {
    needPremium(ctx);
    return readFileValue(value);
  },
  files: filesIn,
  prepare: (ctx, steps) => checkUploads(ctx, steps, (file) => checkPdf(ctx, file)),
  write,
  remove,
};
