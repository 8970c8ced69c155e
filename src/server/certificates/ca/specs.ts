// Certificate authorities as configuration: read in groups, and written by name in one transaction.
import { type CaGroups, type CaSpecs, type CaType, caTypes, isSingle } from "../../../api/certificates/ca.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { conflict, invalid } from "../../platform/core/errors.ts";
import { everything } from "../../platform/store/query.ts";
import { checkLive } from "./live-check.ts";
import {
  authorityFrom,
  type CaRow,
  changed,
  checkAddresses,
  type DesiredAuthority,
  isOnlyRenamed,
  objectOf,
  type Settings,
  sameAs,
} from "./rules.ts";
import { addCa, CERTIFICATE_AUTHORITIES_LOCK, type Checking, changeCa, nameTaken } from "./service.ts";

export async function caSpecs({ store }: Context): Promise<{ certificate_authorities: CaGroups }> {
  const rows = await store.certificateAuthorities.list({ order: [{ column: "name", direction: "asc" }] });
  const of = (type: CaType) => rows.filter((row) => row.type === type).map(objectOf);
  return {
    certificate_authorities: {
      hosted_ca_a: of("hosted_ca_a"),
      directory_scep_proxy: of("directory_scep_proxy")[0] ?? null,
      custom_scep_proxy: of("custom_scep_proxy"),
      custom_est_proxy: of("custom_est_proxy"),
      hosted_est_ca: of("hosted_est_ca"),
      hosted_scep_ca: of("hosted_scep_ca"),
    },
  };
}

export interface Step {
  readonly before: CaRow | undefined;
  readonly desired: DesiredAuthority;
  /** The path of the spec in the body. */
  readonly at: string;
}

/** Authorities checked concurrently. Each check sends one or two requests to another server. */
const MAX_CONCURRENT = 4;

export async function applyCaSpecs(
  ctx: Context,
  specs: CaSpecs,
  { skip_check: skip }: Checking,
): Promise<Record<string, never>> {
  const rows = await ctx.store.certificateAuthorities.list({ where: everything });
  const steps = stepsOf(specs, new Map(rows.map((row) => [row.name, row])));
  await checkSteps(ctx, steps);
  if (!skip) await askSteps(ctx, steps);
  if (steps.length === 0) return {};
  await nameTaken("given", () =>
    ctx.store.tx((store) => keepSteps(within(ctx, store), steps), { lock: CERTIFICATE_AUTHORITIES_LOCK }),
  );
  return {};
}

/** 422 if the server may not send requests to a changed URL. */
export async function checkSteps(ctx: Context, steps: readonly Step[]): Promise<void> {
  for (const { before, desired, at } of steps) await checkAddresses(ctx, before, desired, at);
}

/** Live checks of new and changed authorities. They use the network, so they run before the transaction. */
export async function askSteps(ctx: Context, steps: readonly Step[]): Promise<void> {
  const changedSteps = steps.filter(({ before, desired }) => !before || !isOnlyRenamed(before, desired));
  for (let i = 0; i < changedSteps.length; i += MAX_CONCURRENT)
    await Promise.all(changedSteps.slice(i, i + MAX_CONCURRENT).map(({ desired, at }) => checkLive(ctx, desired, at)));
}

function stepsOf(specs: CaSpecs, existing: ReadonlyMap<string, CaRow>): Step[] {
  const steps: Step[] = [];
  const names = new Set<string>();
  for (const type of caTypes) {
    const group = specs[type];
    const inputs = Array.isArray(group) ? group : group ? [group] : [];
    for (const [i, input] of inputs.entries()) {
      const at = `certificate_authorities.${type}${Array.isArray(group) ? `.${i}` : ""}`;
      const name = isSingle(type) ? type : String((input as Settings).name);
      if (names.has(name)) throw invalid(`${at}.name`, `the name ${name} is given twice`);
      names.add(name);
      const before = existing.get(name);
      if (before && before.type !== type)
        throw invalid(`${at}.name`, `${name} is a ${before.type}: that cannot be changed`);
      const desired = before ? changed(before, input as Settings, at) : authorityFrom(type, input as Settings, at);
      if (!before || !sameAs(before, desired)) steps.push({ before, desired, at });
    }
  }
  return steps;
}

/**
 * Writes in the caller's transaction, which must hold the lock of changes. 409 if a row changed after it was checked.
 */
export async function keepSteps(ctx: Context, steps: readonly Step[]): Promise<void> {
  for (const { before, desired } of steps) {
    if (!before) {
      await addCa(ctx, desired);
      continue;
    }
    const now = await ctx.store.certificateAuthorities.get(before.id);
    if (now?.revision !== before.revision)
      throw conflict(`the certificate authority ${before.name} was changed meanwhile; try again`);
    await changeCa(ctx, before, desired);
  }
}
